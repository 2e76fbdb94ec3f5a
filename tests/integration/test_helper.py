"""The helper, as it runs in containers: connections are passed on whole, names and ports are told as they are."""

import asyncio
import itertools
import json
import os
import platform
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import resources
from typing import Any

import pytest
from tests.docker_engine import Engine

from argus.core.circuit import Circuit
from argus.environments.helper import image
from argus.environments.networking.probing import Prober
from argus.host.children import Children
from argus.host.dns import Resolver
from argus.host.engine.building import DockerDock
from argus.host.engine.guard import judge
from argus.host.engine.guarded import GuardedDock
from argus.host.engine.resources import Dock
from argus.host.engine.wire import Line
from argus.host.leftovers import Leftovers

_ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine())
PROGRAM = str(resources.files(image.__package__) / f"argus-helper-{_ARCHITECTURE}")
pytestmark = pytest.mark.skipif(
    _ARCHITECTURE is None or sys.platform != "linux", reason="there is no helper for this machine"
)
_LIMIT = 60.0


class Echo:
    """Answers when its client has said all it wants to say, with the same backwards."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                came, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(came,), daemon=True).start()

    def _answer(self, came: socket.socket) -> None:
        with came:
            came.sendall(_all(came)[::-1])

    def close(self) -> None:
        self._listening.close()


def _all(connection: socket.socket) -> bytes:
    said = b""
    while piece := connection.recv(1 << 16):
        said += piece
    return said


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
        return port


@contextmanager
def relaying(to: int) -> Iterator[int]:
    port = next(one for one in iter(_free, None) if one != to)
    with subprocess.Popen([PROGRAM, "relay", f"{port}=127.0.0.1:{to}"], stderr=subprocess.PIPE) as program:
        try:
            while program.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    continue
                except ConnectionResetError:
                    break  # it listens, and nobody is behind it
            yield port
        finally:
            program.terminate()
            assert program.wait(_LIMIT) == 0


def probe(*words: str) -> dict[str, dict[str, Any]]:
    done = subprocess.run([PROGRAM, "probe", *words], capture_output=True, text=True, timeout=_LIMIT, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {f"{one['name']}:{one['port']}": one for one in lines}


def test_many_connections_are_passed_on_whole_also_after_one_side_has_said_all() -> None:
    echo = Echo()

    def one(n: int) -> bool:
        said = os.urandom(n * 1000) + b"end"
        with socket.create_connection(("127.0.0.1", port), timeout=_LIMIT) as connection:
            connection.sendall(said)
            connection.shutdown(socket.SHUT_WR)
            return _all(connection) == said[::-1]

    with relaying(echo.port) as port, ThreadPoolExecutor(20) as callers:
        assert all(callers.map(one, range(200)))
    echo.close()


def test_more_connections_than_it_holds_wait_and_are_served_when_others_end() -> None:
    echo = Echo()
    with relaying(echo.port) as port:
        held = [socket.create_connection(("127.0.0.1", port), timeout=_LIMIT) for _ in range(1100)]
        for one in held:
            one.close()
        with socket.create_connection(("127.0.0.1", port), timeout=_LIMIT) as late:
            late.sendall(b"abc")
            late.shutdown(socket.SHUT_WR)
            assert _all(late) == b"cba"
    echo.close()


def test_where_nobody_is_behind_it_the_connection_is_broken_and_not_ended_in_peace() -> None:
    def call() -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=_LIMIT) as connection:
            return connection.recv(1)

    with relaying(_free()) as port, pytest.raises(ConnectionResetError):
        call()


def test_a_probe_tells_what_is_reached_what_is_refused_and_what_has_no_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as open_one:
        port, closed = open_one.getsockname()[1], _free()
        said = probe("-t", "2000", f"127.0.0.1:{port}", f"127.0.0.1:{closed}", "a..b:80")
    reached, refused = said[f"127.0.0.1:{port}"], said[f"127.0.0.1:{closed}"]
    assert (reached["reachable"], reached["error"], reached["addresses"]) == (True, None, ["127.0.0.1"])
    assert reached["ms"] > 0
    assert (refused["reachable"], refused["error"], refused["ms"]) == (False, "refused", None)
    assert (said["a..b:80"]["dns"], said["a..b:80"]["reachable"]) == ("not a name", False)


def test_a_port_that_must_listen_is_waited_for() -> None:
    port = _free()
    begun = subprocess.Popen([PROGRAM, "probe", f"127.0.0.1:{port}!"], stdout=subprocess.PIPE, text=True)
    with socket.create_server(("127.0.0.1", port)), begun:
        said, _ = begun.communicate(timeout=_LIMIT)
    assert json.loads(said)["reachable"] is True


@pytest.mark.parametrize(
    "words", [(), ("relay",), ("relay", "80"), ("relay", "0=1.2.3.4:80"), ("relay", "1=x:2"), ("probe", "x:y")]
)
def test_what_it_does_not_understand_it_does_not_do(words: tuple[str, ...]) -> None:
    done = subprocess.run([PROGRAM, *words], capture_output=True, timeout=_LIMIT)
    assert (done.returncode, bool(done.stderr)) == (2, True)


# --- on an engine


@pytest.fixture
def at(docker: Engine) -> Iterator[Dock]:
    resolver, children, leftovers = Resolver(), Children(), Leftovers()
    environ = {**os.environ, "DOCKER_HOST": docker.url}
    made = DockerDock(Line(resolver, environ), children, leftovers, environ)
    yield GuardedDock(made, Circuit("docker:test", time.monotonic, judge))
    resolver.close()
    leftovers.close()
    children.close()


async def test_its_image_is_made_once_and_again_when_somebody_removed_it(docker: Engine, at: Dock) -> None:
    helper = image.HelperImage()
    await helper.made(at)
    docker.ask("DELETE", f"/images/{image.name()}?force=1")
    before = len(docker.ask("GET", "/images/json?all=1"))
    for _ in range(2):
        assert set(await asyncio.gather(*(helper.made(at) for _ in range(5)))) == {image.name()}
        made = docker.ask("GET", f"/images/{image.name()}/json")
        assert made["Config"]["Labels"] == {"argusai.managed": "true"}
        assert len(docker.ask("GET", "/images/json?all=1")) == before + 1
        docker.ask("DELETE", f"/images/{image.name()}?force=1")


async def test_from_inside_a_container_names_are_told_as_its_own_network_has_them(docker: Engine, at: Dock) -> None:
    docker.ask("POST", "/networks/create", {"Name": "net"})
    me = docker.run("me", host={"NetworkMode": "net"})
    docker.run("web", "httpd", "-f", "-p", "8080", host={"NetworkMode": "net"})
    ids = itertools.count()
    prober = Prober(at, image.HelperImage(), {}, "run", lambda: str(next(ids)))
    said = await prober.look(me, ["web:8080!", "web:9", "web", "nobody"])
    assert (said["web:8080!"].dns, said["web:8080!"].is_connected) == ("ok", True)
    assert (said["web:9"].error, said["web:9"].is_connected) == ("refused", False)
    assert said["web"].addresses == said["web:9"].addresses
    assert not said["nobody"].is_resolved
    assert [one.name for one in await at.containers({}, timeout=_LIMIT)] == ["me", "web"]
