"""The common faults of an environment, each as something that is done to it before or while its tests run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.acceptance.yard import SHOP
from tests.docker_engine import Engine

LIMIT = 32 << 20
DB, NETWORK, PORT = "db", "argusai-shop-network", 18080


@dataclass(frozen=True)
class Fault:
    name: str
    before: Callable[[Engine], AbstractContextManager[None]] | None = None
    """Around the setup, and all of the run."""
    meanwhile: Callable[[Engine], None] | None = None
    """While the tests run."""


def restarts(engine: Engine) -> None:
    engine.kill()
    time.sleep(1)
    engine.start()


@contextlib.contextmanager
def taken(engine: Engine) -> Iterator[None]:
    with engine.held(PORT):
        yield


@contextlib.contextmanager
def orphans(engine: Engine) -> Iterator[None]:
    """Containers of a run that nobody knows any more, under the very names that are wanted."""
    for name in (DB, "api"):
        engine.create(name, "sleep", "600", Labels=SHOP)
    yield


@contextlib.contextmanager
def stale(engine: Engine) -> Iterator[None]:
    """A network of such a run, with a container of it still on."""
    engine.ask("POST", "/networks/create", {"Name": NETWORK, "Labels": SHOP})
    engine.run("left", "sleep", "600", host={"NetworkMode": NETWORK}, Labels=SHOP)
    yield


def memory(engine: Engine) -> None:
    engine.ask("POST", f"/containers/{DB}/update", {"Memory": LIMIT, "MemorySwap": LIMIT})
    engine.ask("POST", f"/containers/{DB}/kill?signal=HUP")


def ends(engine: Engine) -> None:
    engine.ask("POST", f"/containers/{DB}/kill?signal=USR1")


FAULTS = (
    Fault("engine restarted", meanwhile=restarts),
    Fault("port taken", before=taken),
    Fault("orphans of a dead run", before=orphans),
    Fault("out of memory", meanwhile=memory),
    Fault("process ended", meanwhile=ends),
    Fault("stale network", before=stale),
)
