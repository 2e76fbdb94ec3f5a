from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.acceptance.harness import Argus, Hook, Silent, WebServer


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
