"""The composition root: builds the parts, runs them in one TaskGroup, and takes them down in order."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import secrets
import signal
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from argus import bridge_room, composing, graph_room, home, session_room
from argus.agents.crew import Crew
from argus.agents.tools import Tools as AgentTools
from argus.api.answers import Errors
from argus.api.app import build
from argus.api.guard import Keys
from argus.api.server import Activity, Farewell, Server
from argus.autonomy import Autonomy
from argus.breakers import Breakers
from argus.core.clock import SystemClock, milliseconds
from argus.core.depending import Broke, Thing
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.host import channels, files, identity, state_folder
from argus.host.conversations import MachineConversations
from argus.host.launcher import MachineLauncher
from argus.host.launching import NONCE
from argus.host.machine import MachineHost
from argus.host.worktrees import GitWorktrees
from argus.live import Live
from argus.loops import keep_running, log
from argus.notify.about_record import record_is_away
from argus.notify.deliver import Deliveries
from argus.ops.caller import Role
from argus.ops.house import House
from argus.record_watch import RecordWatch
from argus.reloading import Reloader
from argus.retention import Retention
from argus.services.tools import Tools
from argus.services.watch import Watch
from argus.startup import Ground, Options, prepare, usable
from argus.store.notes import Notes
from argus.store.records import Append
from argus.timekeeper import Timekeeper

_YOUNG = 5_000
"""New objects after which the youngest are looked through for circles that nobody needs."""
_OLD = 1_000
"""Rounds of the middle-aged after which the old are looked through too: seldom, because everybody waits meanwhile."""
_GRACE = 1.0
"""Seconds that open requests get to end; the whole stop stays well under five."""


async def serve(options: Options, announce: Callable[[dict[str, Any]], None]) -> None:
    """Runs until SIGTERM or SIGINT."""
    async with prepare(options) as ground:
        host, launcher, sender = MachineHost(), MachineLauncher(), channels.AppriseSender()
        try:
            await _live(ground, host, launcher, sender, announce)
        finally:
            # Who reads one that could not be removed finds no such process; what ended us matters more.
            with contextlib.suppress(OSError):
                (options.home / "daemon.json").unlink()
            host.close()
            launcher.close()
            sender.close()


async def _live(
    ground: Ground,
    host: MachineHost,
    launcher: MachineLauncher,
    sender: channels.AppriseSender,
    announce: Callable[[dict[str, Any]], None],
) -> None:
    stopping = asyncio.Event()
    store, clock, facts = ground.store, ground.clock, ground.facts
    autonomy = Autonomy(store, ground.config.autonomy)
    notes = Notes(store, clock)
    timekeeper = Timekeeper(clock, notes)
    live = Live(clock, ground.redactor)
    tools = Tools(
        host=host,
        store=store,
        notes=notes,
        clock=clock,
        autonomy=lambda: autonomy.level,
        time_is_sound=timekeeper.sound,
        new_id=lambda: secrets.token_hex(6),
        log_path=ground.log_path,
        witness=lambda: ground.own_address,
        show=partial(live.show, "services"),
        in_use=lambda name, agent: parts_of_graph.in_use(name, agent),
    )
    parts_of_graph = graph_room.Parts(
        clock, lambda: autonomy.level, lambda: reloader.in_force.environments, ground.redactor.text
    )
    graph = graph_room.graph(parts_of_graph, host, store, notes)
    breakers = Breakers(store, notes, clock, host.engine.circuit)
    environments = composing.environments(
        ground, host, breakers, notes, live, timekeeper.sound, parts_of_graph.explained
    )
    sessions = session_room.sessions(
        ground,
        host,
        notes,
        live,
        lambda: autonomy.level,
        timekeeper.sound,
        graph.broken,
        parts_of_graph.speakers,
        parts_of_graph.turned,
    )
    timekeeper.on_jump(sessions.time_jumped)
    bridge = bridge_room.bridge(ground, host, breakers, notes)
    watch = Watch(ground.config.health, ground.services, tools)
    timekeeper.on_jump(watch.time_jumped)
    keys = Keys(ground.token, clock)
    crew = Crew(ground.config.agents, _for_agents(ground, tools, launcher, keys, graph.broken))
    timekeeper.on_jump(crew.time_jumped)
    deliveries = Deliveries(ground.config.notify.resolved(), store, sender, clock)
    retention = Retention(store, clock, ground.config.store.retention)

    async def press(problem: str, seconds: float) -> None:
        await deliveries.past_the_record(record_is_away(ground.redactor.text(problem), seconds))

    record_watch = RecordWatch(store, notes, clock, press)
    reloader = Reloader(ground, watch, crew, sessions, bridge, autonomy, deliveries)
    parts_of_graph.watch, parts_of_graph.crew = watch, crew
    parts_of_graph.sessions, parts_of_graph.environments = sessions, environments
    house = House(
        store=store,
        clock=clock,
        watch=watch,
        crew=crew,
        graph=graph,
        needed=parts_of_graph.needed,
        autonomy=autonomy,
        facts=facts,
        setup=ground.setup,
        login_link=lambda: f"{facts.url}/login?code={keys.link()}",
        reload=reloader.reload,
        make_token=keys.tokens.make,
        breakers=breakers,
        environments=environments,
        bridge=bridge,
        sessions=sessions,
        shell=composing.own_shell(),
        live=live,
        notes=notes,
        clean=ground.redactor.text,
        clean_value=ground.redactor.value,
    )
    errors = Errors(clock, ground.redactor)
    api = build(house, keys, errors, stopping, ground.host)
    activity = Activity(Farewell(api.app, errors), clock)
    server = Server(activity, stopping, grace=_GRACE)
    await autonomy.restore()
    await breakers.restore()
    await environments.restore()
    await watch.restore()
    await crew.restore()
    await sessions.restore()
    await graph.restore()
    await _record_start(ground, notes)
    hang_ups = _catch_signals(stopping)
    _say_where(ground)
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(keep_running("notes", notes.run, store))
        serving = group.create_task(server.serve(sockets=[ground.listener]))
        parts = [
            group.create_task(watch.run()),
            group.create_task(crew.run()),
            group.create_task(keep_running("sessions", sessions.run, store)),
            group.create_task(deliveries.run()),
            group.create_task(keep_running("breakers", breakers.run, store)),
            group.create_task(keep_running("environments", environments.run, store)),
            group.create_task(keep_running("graph", graph.run, store)),
            group.create_task(keep_running("bridge", bridge.run, store)),
            group.create_task(keep_running("timekeeper", timekeeper.run, store)),
            group.create_task(keep_running("retention", retention.run, store)),
            group.create_task(keep_running("record_watch", record_watch.run, store)),
            group.create_task(keep_running("mcp", api.mcp.run, store)),
            group.create_task(keep_running("reload", lambda: _reload_on(hang_ups, reloader), store)),
        ]
        if ground.options.idle_exit is not None:
            parts.append(group.create_task(_end_when_idle(ground.options.idle_exit, house, activity, stopping)))
        announce(_announcement(house))
        _settle_memory()
        await stopping.wait()
        environments.stop()
        await serving
        await environments.stopped()
        await bridge.close()
        with contextlib.suppress(TimeoutError, ArgusError):
            async with asyncio.timeout(0.5):
                await crew.written()
        for part in parts:
            part.cancel()
        # A store that cannot be written just now does not keep us from ending.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await notes.written()
        writing.cancel()
    with contextlib.suppress(TimeoutError, ArgusError):
        async with asyncio.timeout(0.5):
            await store.commit(Append(Draft("system", "argus_stopped", "", {"pid": facts.pid})))
            await watch.history.flush()
    if notes.waiting:
        log.error("%d records were kept for a store that did not come back, and are lost", notes.waiting)
        # For the command that ended us: where the disk is full, the log has no room for it.
        with contextlib.suppress(OSError):
            ground.lock.say({"pid": facts.pid, "lost": notes.waiting})


def _settle_memory() -> None:
    """What is there now stays for good: the collector need not look at all of it again and again. Without this it held
    every answer up for a third of a second now and then, with a thousand agents connected.

    Not even once: to find the little that nobody needs (some 1,400 of 80,000 objects) takes a tenth of the start."""
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, _OLD)
    gc.enable()


async def _record_start(ground: Ground, notes: Notes) -> None:
    """Kept for later when the disk is full just now: whoever was killed by that has to be able to come back."""
    facts, store = ground.facts, ground.store
    names = sorted(service.name for service in ground.services)
    started = {"version": facts.version, "pid": facts.pid, "services": names, "config": ground.setup.config}
    await notes.note(Append(Draft("system", "argus_started", "", started)))
    if store.set_aside:
        kept = {"kept": str(store.set_aside), "code": Code.STORE_CORRUPT.value}
        await notes.note(Append(Draft("system", "store_set_aside", "", kept)))
        said = f"the store was damaged and is kept as {store.set_aside}; for an hour every restart counts as spent"
        ground.setup.notices = (*ground.setup.notices, said)
        ground.setup.lasting = (*ground.setup.lasting, said)


def _say_where(ground: Ground) -> None:
    """For the CLI: who we are, so that it never signals another, where we listen, and in which folder: a copy of it is
    another Argus."""
    own = identity.identify(os.getpid())
    note = {"pid": ground.facts.pid, "started": own.started if own else "", "url": ground.facts.url}
    with usable(ground.options.home, home.ANOTHER):
        note["folder"] = state_folder.mark(ground.options.home)
        files.write_private(ground.options.home / "daemon.json", json.dumps(note))
        # The same in the lock, which nobody deletes by mistake.
        ground.lock.say(note)


def _announcement(house: House) -> dict[str, Any]:
    return {
        "ready": True,
        "url": house.facts.url,
        "open": house.login_link(),
        "pid": house.facts.pid,
        "home": house.facts.home,
        "config": house.setup.config,
        "discovered": house.setup.discovered,
        "autonomy": house.autonomy.level.value,
        "notices": list(house.setup.notices),
        "services": [{"name": name, "place": one.place} for name, one in sorted(house.watch.services.items())],
    }


def _for_agents(
    ground: Ground,
    tools: Tools,
    launcher: MachineLauncher,
    keys: Keys,
    broken: Callable[[tuple[Thing, ...]], Broke],
) -> AgentTools:
    home = ground.options.home

    def environment(agent: str, project: str) -> dict[str, str]:
        """How an agent speaks to Argus: by the CLI, by MCP or by itself, with a token that is good for it alone."""
        token = keys.tokens.make(Role.AGENT, agent, project)
        return {"ARGUS_HOME": str(home), "ARGUS_URL": ground.facts.url, "ARGUS_TOKEN": token}

    return AgentTools(
        launcher=launcher,
        conversations=MachineConversations(),
        worktrees=GitWorktrees(home / "worktrees", tools.host.run, tools.host.outlast),
        store=tools.store,
        notes=tools.notes,
        clock=tools.clock,
        autonomy=tools.autonomy,
        time_is_sound=tools.time_is_sound,
        new_id=tools.new_id,
        new_session=lambda: str(uuid.uuid4()),
        chance=lambda: secrets.randbelow(1_000_000) / 1_000_000,
        host=os.uname().nodename,
        space=_pid_space(),
        runs=lambda: _folders(home / "agents"),
        run_folder=lambda agent: str(home / "agents" / agent),
        environment=environment,
        is_folder=lambda path: path.startswith("/") and os.path.isdir(path),
        broken=broken,
        clean=ground.redactor.text,
    )


def _pid_space() -> str:
    with contextlib.suppress(OSError):
        return os.readlink("/proc/self/ns/pid")
    return ""


def _folders(path: Path) -> list[str]:
    try:
        return sorted(one.name for one in path.iterdir())
    except OSError:
        return []


async def _end_when_idle(seconds: float, house: House, activity: Activity, stopping: asyncio.Event) -> None:
    # Idleness is no event that could be waited for: it is looked at now and then.
    while not _is_idle(house) or activity.idle() < seconds:  # noqa: ASYNC110
        await asyncio.sleep(min(30.0, max(0.1, seconds / 4)))
    log.info("nothing to watch and nobody asked for %g s: ending", seconds)
    stopping.set()


def _is_idle(house: House) -> bool:
    parts = (house.crew, house.environments, house.sessions, house.bridge)
    return not house.watch.services and all(part.is_idle for part in parts)


def _catch_signals(stopping: asyncio.Event) -> asyncio.Event:
    """Returns what is set when SIGHUP asks for the configuration to be read again."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    asked = asyncio.Event()
    in_terminal = os.isatty(0)

    def hung_up() -> None:
        # The same signal says that our terminal was closed; then whoever started us there wants us gone.
        if in_terminal and not os.isatty(0):
            stopping.set()
        else:
            asked.set()

    loop.add_signal_handler(signal.SIGHUP, hung_up)
    return asked


async def _reload_on(asked: asyncio.Event, reloader: Reloader) -> None:
    while True:
        await asked.wait()
        asked.clear()
        # What is wrong is in the log and on record already.
        with contextlib.suppress(ArgusError):
            await reloader.reload("signal")


def run(options: Options, announce: Callable[[dict[str, Any]], None]) -> int:
    """The whole life of a daemon, with its exit code."""
    # Started by an agent, we are not part of it; nor are the services that we restart, which would end with it.
    os.environ.pop(NONCE, None)
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
