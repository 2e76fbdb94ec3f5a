"""The composition root: builds the parts, runs them in one TaskGroup, and takes them down in order."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import secrets
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from argus import __version__, config, discovery, home, logs
from argus.api.answers import Errors
from argus.api.app import build
from argus.api.guard import Keys
from argus.autonomy import Autonomy
from argus.config import Config
from argus.core.clock import Clock, SystemClock, milliseconds
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.core.redact import Redactor
from argus.host import channels, files, identity, ports
from argus.host.machine import MachineHost
from argus.loops import keep_running, log
from argus.notify.deliver import Deliveries
from argus.ops.house import Facts, House
from argus.services.checks.base import Service
from argus.services.tools import Tools
from argus.services.watch import Watch
from argus.store.lock import InstanceLock
from argus.store.records import Append
from argus.store.sqlite import SqliteStore
from argus.timekeeper import Timekeeper

_STOP = 2.0
"""Seconds that open requests get to end; the whole stop stays well under five."""


@dataclass(frozen=True, slots=True)
class Options:
    home: Path
    config: Path | None
    host: str | None = None
    port: int | None = None
    detached: bool = False
    idle_exit: float | None = None
    """Ends by itself after so many seconds with nothing to watch and nobody asking."""


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers and without its tick of ten a second, which alone costs 0.25 % of a core."""

    def __init__(self, settings: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(settings)
        self._stopping = stopping

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield

    async def main_loop(self) -> None:
        await self._stopping.wait()


class _Activity:
    """When somebody last asked for something."""

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock
        self._under_way = 0
        self._last = clock.monotonic()

    def idle(self) -> float:
        return 0.0 if self._under_way else self._clock.monotonic() - self._last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1
            self._last = self._clock.monotonic()


async def serve(options: Options, announce: Callable[[dict[str, Any]], None]) -> None:
    """Runs until SIGTERM or SIGINT. Raises ArgusError when it cannot start; then nothing is left behind."""
    with contextlib.ExitStack() as cleanup:
        files.private_folder(options.home)
        lock = InstanceLock(options.home)
        lock.take()
        cleanup.callback(lock.release)
        # Commands with a relative path mean the folder of the file that names them, however Argus was started.
        os.chdir(options.config.parent if options.config else options.home)
        redactor = Redactor()
        logs.set_up(options.home / "logs" if options.detached else None, redactor)
        loaded = config.load(options.config, port=options.port)
        _check_channels(loaded, redactor)
        settings = loaded.server
        host, wanted = options.host or settings.host, settings.port if options.port is None else options.port
        listener = ports.listen(host, wanted)
        cleanup.callback(listener.close)
        port = int(listener.getsockname()[1])
        clock = SystemClock()
        store = SqliteStore(_store_path(loaded, options.home), clock=clock, redactor=redactor)
        try:
            token = _token(options.home)
            redactor.learn(token)
            services = tuple(loaded.health.services) if loaded.health.enabled else ()
            discovered = options.config is None
            if discovered:
                found = await asyncio.to_thread(ports.listeners)
                services = discovery.services(found, own_port=port)
            facts = Facts(
                version=__version__,
                pid=os.getpid(),
                url=f"http://{_reachable(host)}:{port}",
                home=str(options.home),
                config=str(options.config) if options.config else None,
                started=clock.wall(),
                discovered=discovered,
                notices=(*loaded.notices(), *_exposed(host)),
            )
            await _run(options, loaded, services, facts, store, clock, redactor, token, listener, announce)
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP):
                    await store.close()


async def _run(
    options: Options,
    loaded: Config,
    services: tuple[Service, ...],
    facts: Facts,
    store: SqliteStore,
    clock: Clock,
    redactor: Redactor,
    token: str,
    listener: Any,
    announce: Callable[[dict[str, Any]], None],
) -> None:
    stopping = asyncio.Event()
    host = MachineHost()
    sender = channels.AppriseSender()
    autonomy = Autonomy(store, loaded.autonomy)
    timekeeper = Timekeeper(clock, store)
    witness = (str(listener.getsockname()[0]), int(listener.getsockname()[1]))
    watch = Watch(
        loaded.health,
        services,
        Tools(
            host=host,
            store=store,
            clock=clock,
            autonomy=lambda: autonomy.level,
            time_is_sound=timekeeper.sound,
            new_id=lambda: secrets.token_hex(6),
            log_path=lambda name: str(options.home / "logs" / f"restart-{_file_name(name)}.log"),
            witness=lambda: (_loopback(witness[0]), witness[1]),
        ),
    )
    timekeeper.on_jump(watch.time_jumped)
    keys = Keys(token, clock)
    house = House(store, clock, watch, autonomy, facts, lambda: f"{facts.url}/login?code={keys.link()}")
    errors = Errors(clock, redactor)
    api = build(house, keys, errors, stopping, loaded.server.host, lambda: witness[1])
    activity = _Activity(api.app, clock)
    server = _Server(
        uvicorn.Config(
            activity,
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            date_header=False,
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=int(_STOP),
        ),
        stopping,
    )
    await autonomy.restore()
    await watch.restore()
    started = {"version": facts.version, "pid": facts.pid, "services": sorted(watch.services), "config": facts.config}
    await store.commit(Append(Draft("system", "argus_started", "", started)))
    if store.set_aside:
        kept = {"kept": str(store.set_aside), "code": Code.STORE_CORRUPT.value}
        await store.commit(Append(Draft("system", "store_set_aside", "", kept)))
    _catch_signals(stopping)
    note = options.home / "daemon.json"
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(sockets=[listener]))
            parts = [
                group.create_task(watch.run()),
                group.create_task(Deliveries(loaded.notify.channels, store, sender).run()),
                group.create_task(keep_running("timekeeper", timekeeper.run, store)),
                group.create_task(keep_running("mcp", api.mcp.run, store)),
            ]
            if options.idle_exit is not None:
                parts.append(group.create_task(_end_when_idle(options.idle_exit, watch, activity, stopping)))
            own = identity.identify(os.getpid())
            files.write_private(
                note,
                json.dumps({"pid": facts.pid, "started": own.started if own else "", "url": facts.url}),
            )
            announce(_announcement(house))
            await stopping.wait()
            await serving
            for part in parts:
                part.cancel()
        # A store that cannot be written just now does not keep us from ending.
        with contextlib.suppress(TimeoutError, ArgusError):
            async with asyncio.timeout(1.0):
                await store.commit(Append(Draft("system", "argus_stopped", "", {"pid": facts.pid})))
    finally:
        note.unlink(missing_ok=True)
        host.close()
        sender.close()


def _announcement(house: House) -> dict[str, Any]:
    return {
        "ready": True,
        "url": house.facts.url,
        "open": house.login_link(),
        "pid": house.facts.pid,
        "home": house.facts.home,
        "config": house.facts.config,
        "discovered": house.facts.discovered,
        "autonomy": house.autonomy.level.value,
        "notices": list(house.facts.notices),
        "services": [{"name": name, "place": one.place} for name, one in sorted(house.watch.services.items())],
    }


async def _end_when_idle(seconds: float, watch: Watch, activity: _Activity, stopping: asyncio.Event) -> None:
    # Idleness is no event that could be waited for: it is looked at now and then.
    while watch.services or activity.idle() < seconds:  # noqa: ASYNC110
        await asyncio.sleep(min(30.0, max(0.1, seconds / 4)))
    log.info("nothing to watch and nobody asked for %g s: ending", seconds)
    stopping.set()


def _catch_signals(stopping: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)


def _check_channels(loaded: Config, redactor: Redactor) -> None:
    """A channel that can never deliver is found at the start, not in the first outage."""
    for channel in loaded.notify.channels:
        redactor.learn(channel.url.get_secret_value())
    if loaded.notify.channels and not channels.available():
        message = "notify.channels needs Apprise: pip install 'argusd[notify]'"
        raise ArgusError(Code.CONFIG_INVALID, message, errors=[{"path": "notify.channels", "message": message}])
    bad = [
        {"path": f"notify.channels[{place}].url", "message": "Apprise does not understand this URL"}
        for place, channel in enumerate(loaded.notify.channels)
        if not channels.understood(channel.url.get_secret_value())
    ]
    if bad:
        raise ArgusError(Code.CONFIG_INVALID, f"{bad[0]['path']}: {bad[0]['message']}", errors=bad)


def _store_path(loaded: Config, folder: Path) -> Path:
    url = os.environ.get("ARGUS_STORE") or loaded.store.url
    if not url:
        return folder / "argus.db"
    scheme, mark, path = url.partition(":///")
    if scheme != "sqlite" or not mark or not path:
        message = "the store's URL is sqlite:///PATH (postgresql:// is not built yet)"
        raise ArgusError(Code.CONFIG_INVALID, message, errors=[{"path": "store.url", "message": message}])
    return Path(f"/{path}" if not path.startswith("/") and not path.startswith("~") else path).expanduser()


def _token(folder: Path) -> str:
    path = folder / "token"
    if path.exists():
        path.chmod(0o600)
        kept = path.read_text(encoding="utf-8").strip()
        if kept:
            return kept
    made = secrets.token_urlsafe(32)
    files.write_private(path, made + "\n")
    return made


def _loopback(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not listened on


def _reachable(host: str) -> str:
    name = _loopback(host)
    return f"[{name}]" if ":" in name else name


def _exposed(host: str) -> tuple[str, ...]:
    if _loopback(host) in ("127.0.0.1", "::1", "localhost") and host == _loopback(host):
        return ()
    return (f"Argus listens on {host} without TLS: the token travels in the clear",)


def _file_name(name: str) -> str:
    return "".join(character if character.isalnum() or character in "._-" else "_" for character in name)


def run(options: Options, announce: Callable[[dict[str, Any]], None]) -> int:
    """The whole life of a daemon, with its exit code."""
    try:
        loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None
        with contextlib.suppress(ImportError):
            import uvloop

            loop_factory = uvloop.new_event_loop
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(serve(options, announce))
        return 0
    except ArgusError as error:
        announce({"ready": False, "error": error.structured(milliseconds(SystemClock().wall()))})
        return 1
    except Exception as error:  # noqa: BLE001 - whoever started us waits for an answer
        log.exception("Argus failed")
        failed = ArgusError(Code.INTERNAL_ERROR, f"Argus failed: {type(error).__name__}: {error}")
        announce({"ready": False, "error": failed.structured(milliseconds(SystemClock().wall()))})
        return 1


def main() -> None:
    """The detached daemon: `python -m argus.daemon`, started by the CLI, which reads the announcement from a pipe."""
    parser = argparse.ArgumentParser(prog="argus.daemon")
    parser.add_argument("--config")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--ready-fd", type=int, required=True)
    parser.add_argument("--idle-exit", type=float)
    given = parser.parse_args()
    pipe = os.fdopen(given.ready_fd, "w", encoding="utf-8")

    def announce(said: dict[str, Any]) -> None:
        # Whoever started us may be gone already; then nobody needs to know.
        with contextlib.suppress(OSError, ValueError):
            pipe.write(json.dumps(said) + "\n")
            pipe.close()

    options = Options(
        home=home.folder(os.environ),
        config=Path(given.config) if given.config else None,
        host=given.host,
        port=given.port,
        detached=True,
        idle_exit=given.idle_exit,
    )
    code = run(options, announce)
    logging.shutdown()
    sys.stdout.flush()
    # A look-up that hangs in a thread cannot be cancelled, and the interpreter would wait for it for ever.
    os._exit(code)


if __name__ == "__main__":
    main()
