from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.acceptance.harness import Argus, Hook, Silent, WebServer
from tests.acceptance.yard import COMMANDS, Yard
from tests.docker_engine import Engine

LISTEN = """
import socket, sys, time
held = [socket.create_server(("127.0.0.1", int(port))) for port in sys.argv[1:]]
print(flush=True)
time.sleep(600)
"""


@pytest.fixture
def argus(tmp_path: Path) -> Iterator[Argus]:
    one = Argus(tmp_path / "argus")
    yield one
    one.end()


@pytest.fixture
def web(argus: Argus) -> WebServer:
    """A running web server called `web`."""
    return WebServer(argus, "web").start()


@pytest.fixture
def servers(argus: Argus) -> Callable[..., list[WebServer]]:
    """Running web servers of these names."""
    return lambda *names: [WebServer(argus, name).start() for name in names]


@pytest.fixture
def hook() -> Iterator[Hook]:
    one = Hook()
    yield one
    one.close()


@pytest.fixture
def silent() -> Iterator[Silent]:
    one = Silent()
    yield one
    one.close()


@pytest.fixture
def resting(docker: Engine, tmp_path: Path) -> Iterator[Yard]:
    """An Argus for environments that is not up yet."""
    made = Yard(tmp_path / "argus", docker)
    made.configure([])
    for image, command in COMMANDS.items():
        docker.image(image, *command)
    yield made
    made.end()


@pytest.fixture
def mortal() -> Iterator[Engine]:
    """An engine whose containers die with it."""
    engine = Engine(keeps=False)
    yield engine
    engine.end()


@pytest.fixture
def yard(resting: Yard) -> Yard:
    resting.up()
    return resting


@pytest.fixture
def stranger(docker: Engine) -> Iterator[Callable[..., int]]:
    """A process that takes ports where the engine publishes its own."""
    begun: list[subprocess.Popen[str]] = []

    def take(*ports: int) -> int:
        words = [*docker.entering, sys.executable, "-c", LISTEN, *map(str, ports)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        begun.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process.pid

    yield take
    for process in begun:
        process.kill()
        process.communicate()
