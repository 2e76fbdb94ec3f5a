"""What must stand before the parts do: the folder, its lock, the configuration, the listener, the store, the token.

Whatever keeps Argus from starting is found here, before anything runs, and nothing is left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argus import __version__, config, discovery, home, installation, logs
from argus.config import Config
from argus.core import names
from argus.core.clock import Clock, SystemClock
from argus.core.errors import IN_THE_STORES_VARIABLE, IN_THE_WAY, ArgusError, Code
from argus.core.redact import Redactor, password_of, passwords_in
from argus.host import channels, disk, files, ports, state_folder
from argus.loops import log
from argus.ops.house import Facts, Setup
from argus.services.checks import HttpService
from argus.services.checks.base import Service
from argus.store import named, opening
from argus.store.interface import Store
from argus.store.lock import InstanceLock
from argus.store.sqlite import SqliteStore

_CLOSE = 1.0


@dataclass(frozen=True, slots=True)
class Options:
    home: Path
    config: Path | None
    host: str | None = None
    port: int | None = None
    detached: bool = False
    idle_exit: float | None = None
    """Ends by itself after so many seconds with nothing to watch and nobody asking."""
    folder: Path = field(default_factory=Path.cwd)
    """Where Argus was started: a configuration that appears there later is found by a reload."""


@dataclass(frozen=True, slots=True)
class Ground:
    options: Options
    config: Config
    services: tuple[Service, ...]
    facts: Facts
    setup: Setup
    host: str
    listener: Any
    store: Store
    clock: Clock
    redactor: Redactor
    token: str
    lock: InstanceLock

    @property
    def own_address(self) -> tuple[str, int]:
        """Where Argus reaches itself."""
        address = self.listener.getsockname()
        return _loopback(str(address[0])), int(address[1])

    def log_path(self, name: str) -> str:
        """Of a service's restarts: two that run at the same time must not write into one file."""
        return str(self.options.home / "logs" / f"restart-{names.apart(name, strictly=True)}.log")


@contextlib.asynccontextmanager
async def prepare(options: Options) -> AsyncIterator[Ground]:
    """Raises ArgusError when Argus cannot start."""
    with contextlib.ExitStack() as cleanup:
        lock = InstanceLock(options.home / "argus.lock")
        with usable(options.home, home.ANOTHER):
            state_folder.make(options.home)
            lock.take()
            closed = state_folder.close(options.home)
        cleanup.callback(lock.release)
        stand_in_folder_of(options.config, options.home)
        redactor, clock = Redactor(), SystemClock()
        redactor.learn_environment(os.environ)
        with usable(options.home, home.ANOTHER):
            logs.set_up(options.home / "logs" if options.detached else None, redactor)
        for notice in closed:
            log.warning("%s", notice)
        loaded = config.load(options.config, port=options.port)
        check(loaded, options.config, redactor)
        host = options.host or loaded.server.host
        listener = ports.listen(host, loaded.server.port if options.port is None else options.port)
        cleanup.callback(listener.close)
        port = int(listener.getsockname()[1])
        services = await to_watch(loaded, options.config, port)
        with usable(options.home, home.ANOTHER):
            token = _token(options.home)
        redactor.learn(token)
        facts = Facts(
            version=__version__,
            pid=os.getpid(),
            url=f"http://{_reachable(host)}:{port}",
            home=str(options.home),
            started=clock.wall(),
        )
        file = str(options.config) if options.config else None
        lasting = tuple(closed)
        setup = Setup(file, file is None, (*lasting, *loaded.notices(options.config), *exposed(host)), lasting)
        store = await _open_store(loaded, options.home, clock, redactor, cleanup)
        try:
            yield Ground(options, loaded, services, facts, setup, host, listener, store, clock, redactor, token, lock)
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE):
                    await store.close()


def stand_in_folder_of(file: Path | None, home: Path) -> None:
    """Commands with a relative path mean the folder of the file that names them, however Argus was started."""
    os.chdir(file.parent if file else home)


async def to_watch(loaded: Config, file: Path | None, own_port: int) -> tuple[Service, ...]:
    """What the file says; without one, what listens here."""
    if file is None:
        return discovery.services(await asyncio.to_thread(ports.listeners), own_port=own_port)
    return tuple(loaded.health.services) if loaded.health.enabled else ()


@contextlib.contextmanager
def usable(folder: Path, advice: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise state_folder.unusable(folder, error, advice) from None


def check(loaded: Config, file: Path | None, redactor: Redactor) -> None:
    """What keeps a configuration that reads well from working: found at the start, not in the first outage."""
    with _naming_the_variable():
        named.check(_store_url(loaded), redactor)
    _learn(loaded, redactor)
    if file is not None:
        # Whatever a URL in it is for: commands are given some, and print them in pieces.
        with contextlib.suppress(OSError):
            for secret in passwords_in(file.read_text(encoding="utf-8", errors="replace")):
                redactor.learn(secret)
    if loaded.notify.channels and not channels.available():
        message = f"needs Apprise, which is not installed: {installation.here().again()}"
        raise config.refused(file, {("notify", "channels"): message})
    bad: dict[tuple[str | int, ...], str] = {
        ("notify", "channels", place, "url"): "Apprise does not understand this URL"
        for place, channel in enumerate(loaded.notify.channels)
        if not channels.understood(channel.url.get_secret_value())
    }
    if bad:
        raise config.refused(file, bad)


def _learn(loaded: Config, redactor: Redactor) -> None:
    """The secrets of the file: agents may print what they are given, and whoever is asked what was sent. Of MCP servers
    the bridge learns them, when it knows what their variables mean."""
    for channel in loaded.notify.channels:
        redactor.learn_address(channel.url.get_secret_value())
    for agent in loaded.agents.configs.values():
        redactor.learn_environment(agent.env)
    for service in loaded.health.services:
        for name, value in service.headers.items() if isinstance(service, HttpService) else ():
            # Without its kind, too: `Bearer` is no secret.
            redactor.learn_environment({name: value})
            redactor.learn_environment({name: value.rpartition(" ")[2]})
            redactor.learn(password_of(value))


async def _open_store(
    loaded: Config, folder: Path, clock: Clock, redactor: Redactor, cleanup: contextlib.ExitStack
) -> Store:
    url = _store_url(loaded)
    if named.is_postgres(url):
        with _naming_the_variable():
            return await named.open_postgres(url, clock, redactor)
    # By its real name: two names of one file would have a lock, and a write-ahead log, each.
    path = named.path(url, folder).resolve()
    is_ours = path.parent == folder.resolve()  # noqa: ASYNC240 - at the start, before anything runs
    if not is_ours:
        with usable(path.parent):
            state_folder.check_kind(path)
        opening.check_file(path)
    # Two homes may name one store: the budget and the acts are the store's, so it has a lock of its own.
    lock = InstanceLock(path.with_name(f"{path.name}.lock"), "store", home=str(folder))
    with usable(path.parent):
        state_folder.check_owner(path)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if path.exists() and path.stat().st_nlink > 1:
            raise OSError(errno.EMLINK, f"{path.name} has another name (a hard link); remove one of them")
        lock.take()
    cleanup.callback(lock.release)
    try:
        return SqliteStore(path, clock=clock, redactor=redactor, is_ours=is_ours)
    except ArgusError:
        # SQLite says "disk I/O error" where there is no room for the files beside it.
        if _is_full(path.parent):
            raise state_folder.full(path.parent) from None
        raise


def _is_full(folder: Path) -> bool:
    free = disk.free(str(folder))
    return free is not None and free < disk.LEAST


@contextlib.contextmanager
def _naming_the_variable() -> Iterator[None]:
    """Of a URL that is in no file, no place of a file is to be corrected."""
    try:
        yield
    except ArgusError as error:
        if error.code is not Code.CONFIG_INVALID or not os.environ.get("ARGUS_STORE"):
            raise
        errors = [{"path": "ARGUS_STORE", "message": error.message}]
        refused = ArgusError(Code.CONFIG_INVALID, f"ARGUS_STORE: {error.message}", errors=errors)
        refused.actions = IN_THE_STORES_VARIABLE
        raise refused from None


def _store_url(loaded: Config) -> str:
    return os.environ.get("ARGUS_STORE") or (loaded.store.url.get_secret_value() if loaded.store.url else "")


def _token(folder: Path) -> str:
    path = folder / "token"
    if path.exists():
        try:
            kept = state_folder.read(path).strip()
        except UnicodeDecodeError:
            raise _unfit(path, "is no text") from None
        unfit = state_folder.unfit(kept) if kept else ""
        if unfit:
            raise _unfit(path, unfit)
        if kept:
            return kept
    made = secrets.token_urlsafe(32)
    files.write_private(path, made + "\n")
    return made


def _unfit(path: Path, why: str) -> ArgusError:
    refused = ArgusError(
        Code.STORE_UNAVAILABLE,
        f"the token in {path} {why}; where that file is not, a start makes a good one",
        path=str(path),
    )
    refused.actions = IN_THE_WAY
    return refused


def _loopback(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not listened on


def _reachable(host: str) -> str:
    name = _loopback(host)
    return f"[{name}]" if ":" in name else name


def exposed(host: str) -> tuple[str, ...]:
    """What to say about where Argus listens."""
    if _loopback(host) in ("127.0.0.1", "::1", "localhost") and host == _loopback(host):
        return ()
    return (f"Argus listens on {host} without TLS: the token travels in the clear",)
