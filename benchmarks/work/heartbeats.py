"""Heartbeats of 1,000 agents, each with a connection and a token of its own, each beat telling something new.

First as fast as they go, by the CPU of the server. Then 5,000 a second for a minute: how long an agent waits for its
answer, how many were lost, and whether afterwards every agent's last word is known. Beside a bare Starlette route that
reads the same JSON and keeps nothing, and beside one that keeps a row for every ping, as healthchecks does. Argus
checks the token, the model and who speaks, keeps what was said, and has it on disk within a second.

Last, what a beat costs among 1,000 agents beside one among 100, in daemons of their own, as many beats a second; and
what it costs the bare route, by as many connections: ten times as many, of which each is read for itself.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from tests.acceptance.harness import Argus

from benchmarks import beating
from benchmarks.beating import Beaten, Wire
from benchmarks.floors.programs import running
from benchmarks.measure import cpu_of, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

_AGENTS = 1000
_RATE = 5000
_DESCRIPTORS = 4 * _AGENTS
_BARE, _ROWS = "bare Starlette", "a row per ping"
_FEWER = 10
"""How many times fewer agents the smaller crowd has."""
_MORE = 1.2
"""How much dearer a beat may be in the larger one: noise, and more agents that are looked at now and then."""


@dataclass(frozen=True, slots=True)
class _Server:
    pid: int
    port: int
    wires: list[Wire]

    def beaten(self, work: Callable[[int, list[Wire]], Beaten]) -> tuple[Beaten, float]:
        """What came of it, and the seconds of CPU it took."""
        before = cpu_of(self.pid)
        done = work(self.port, self.wires)
        return done, cpu_of(self.pid) - before


def measure(plan: Plan) -> Iterable[Row]:
    agents = [f"team-load{number:04d}" for number in range(plan.size(_AGENTS, 20))]
    argus, small = Argus(plan.folder / "argus"), Argus(plan.folder / "small")
    with contextlib.ExitStack() as stack:
        stack.enter_context(_descriptors())
        bare = stack.enter_context(running("pings", "-"))
        rows = stack.enter_context(running("pings", str(plan.folder / "pings.db")))
        for one in (argus, small):
            one.configure()
            stack.callback(one.end)
            one.up()
        plain = {name: (program.pid, program.said) for name, program in ((_BARE, bare), (_ROWS, rows))}
        servers = {name: _Server(pid, at, _wires(at, agents)) for name, (pid, at) in plain.items()}
        servers["argus"] = _server(argus, agents)
        yield from _saturated(plan, servers)
        yield from _paced(plan, servers, argus, agents)
        yield _growth(plan, _server(small, agents[::_FEWER]), servers["argus"], servers[_BARE])
        argus.down()
        small.down()


def _server(argus: Argus, agents: list[str]) -> _Server:
    port = urlsplit(argus.url).port or 0
    return _Server(argus.pid, port, _wires(port, agents, argus))


@contextlib.contextmanager
def _descriptors() -> Iterator[None]:
    """For a connection of every agent, here and in the servers, which inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, _DESCRIPTORS)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _wires(port: int, agents: list[str], argus: Argus | None = None) -> list[Wire]:
    return [Wire.of(port, agent, _token(argus, agent) if argus else "", os.getpid()) for agent in agents]


def _token(argus: Argus, agent: str) -> str:
    reply = argus.rest("POST", "/api/tokens", {"role": "agent", "agent": agent})
    if reply.status != 201:
        raise RuntimeError(f"no token was made: {reply.body!r}")
    return str(reply.json["token"])


def _saturated(plan: Plan, servers: dict[str, _Server]) -> Iterable[Row]:
    # The one that syncs every ping is slow: fewer of them take as long.
    each = {name: plan.size(2 if name == _ROWS else 20, 2) for name in servers}

    def turn(name: str) -> Callable[[], tuple[float, float]]:
        def work() -> tuple[float, float]:
            def go(port: int, wires: list[Wire]) -> Beaten:
                return beating.as_fast_as_they_go(port, wires, each=each[name] + 1)

            done, used = servers[name].beaten(go)
            if done.lost:
                raise RuntimeError(f"{name} lost {done.lost} beats: {done.refusal!r}")
            return done.sent / used, len(done.times) / done.seconds

        return work

    found = interleave({name: turn(name) for name in servers}, plan.rounds)
    goal = Goal(0.5, of=_BARE, at_least=True)
    for place, unit in ((0, "per CPU s"), (1, "per s, wall")):
        series = {name: [one[place] for one in found[name]] for name in servers}
        yield Row(
            "heartbeats, as fast as they go",
            unit,
            series["argus"],
            floor=(_BARE, series[_BARE]),
            peers={_ROWS: series[_ROWS]},
            goal=None if place else goal,
        )


def _paced(plan: Plan, servers: dict[str, _Server], argus: Argus, agents: list[str]) -> Iterable[Row]:
    rate, whole = plan.size(_RATE, 200), float(plan.size(60, 1))
    # One that cannot keep up needs no minute to show it.
    seconds = {_BARE: whole, _ROWS: min(whole, 5.0), "argus": whole}
    found = {}
    for name, server in servers.items():

        def go(port: int, wires: list[Wire], name: str = name) -> Beaten:
            return beating.at_a_rate(port, wires, rate=rate, seconds=seconds[name])

        found[name] = server.beaten(go)
    ours = found["argus"][0]
    forgotten = ours.lost + _unknown(argus, agents, ours)
    what = f"heartbeats, {rate:,}/s for {whole:g} s"
    for unit, goal, figure in (
        ("99 % answered within, ms", Goal(50.0), _slowest),
        ("half answered within, ms", None, _middle),
        ("CPU ms each", None, _cost),
    ):
        series = {name: [figure(done, used)] for name, (done, used) in found.items()}
        yield Row(what, unit, series["argus"], floor=(_BARE, series[_BARE]), peers={_ROWS: series[_ROWS]}, goal=goal)
    yield Row(
        what,
        "lost or forgotten",
        [float(forgotten)],
        goal=Goal(0.0),
        note=f"{ours.sent:,} beats of {len(agents):,} agents in {ours.seconds:.1f} s, the slowest answered after "
        f"{max(ours.times) * 1000:.0f} ms{f'; {ours.refusal!r}' if ours.refusal else ''}",
    )


def _growth(plan: Plan, few: _Server, many: _Server, bare: _Server) -> Row:
    rate, seconds = plan.size(2000, 100), float(plan.size(10, 1))

    def turn(server: _Server) -> Callable[[], float]:
        def go(port: int, wires: list[Wire]) -> Beaten:
            return beating.at_a_rate(port, wires, rate=rate, seconds=seconds)

        return lambda: _cost(*server.beaten(go))

    fewer = replace(bare, wires=bare.wires[::_FEWER])
    servers = {"few": few, "many": many, f"{_BARE}, {len(few.wires):,}": fewer, f"{_BARE}, {len(many.wires):,}": bare}
    found = interleave({name: turn(server) for name, server in servers.items()}, plan.rounds)
    floor = f"{len(few.wires):,} agents"
    return Row(
        f"a heartbeat of {rate:,}/s, among {len(many.wires):,} agents",
        "CPU ms",
        found["many"],
        floor=(floor, found["few"]),
        peers={name: series for name, series in found.items() if name.startswith(_BARE)},
        goal=Goal(_MORE, of=floor),
    )


def _slowest(done: Beaten, _: float) -> float:
    return done.percentile(0.99)


def _middle(done: Beaten, _: float) -> float:
    return done.percentile(0.5)


def _cost(done: Beaten, used: float) -> float:
    return used / done.sent * 1000


def _unknown(argus: Argus, agents: list[str], done: Beaten) -> int:
    """Agents of whom Argus does not know the last word."""
    listed = {one["agent_id"]: one for one in argus.get("/api/heartbeats")["heartbeats"]}
    wanted = dict(zip(agents, done.last, strict=True))
    return sum(
        agent not in listed or listed[agent]["status"] != beating.said(last) or listed[agent]["state"] != "alive"
        for agent, last in wanted.items()
    )
