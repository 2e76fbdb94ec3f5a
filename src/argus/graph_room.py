"""Putting the graph together: how the parts stand, who works with what, and how each of them is told."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cache

from argus.agents.crew import Crew
from argus.agents.model import Agent, State
from argus.core.autonomy import Level
from argus.core.clock import Clock
from argus.core.depending import Kind, Thing
from argus.core.units import spoken
from argus.environments.guarding.guardian import Seen as Guarded
from argus.environments.guarding.model import State as Guard
from argus.environments.keeper import Environments
from argus.environments.runs import Run
from argus.environments.runs import State as RunState
from argus.environments.settings import EnvironmentFile
from argus.graph import policy
from argus.graph.keeper import Graph
from argus.graph.model import Dependant, Gone, Role, Standing
from argus.graph.tools import Tools
from argus.host.machine import MachineHost
from argus.services.model import Gate, Health, Outage, Status, Use
from argus.services.watch import Watch
from argus.sessions.hands import TypistHands
from argus.sessions.keeper import Sessions
from argus.sessions.overhearing import Speaker
from argus.sessions.session import Place
from argus.sessions.turns import Turn
from argus.store.interface import Store
from argus.store.notes import Notes
from argus.store.records import Write
from argus.typist import Typist

_WORKS = frozenset({State.ALIVE, State.STALE, State.UNKNOWN})
_ILL = {
    Guard.WAITING: "starts it anew in a moment",
    Guard.STARTING: "is starting it anew",
    Guard.FAILED: "does not restart it; a person was told",
    Guard.EXHAUSTED: "has given it up; a person was told",
    Guard.LEFT: "leaves it alone",
}
_GONE = {
    None: "cleaned",
    RunState.CLEANING: "cleaned",
    RunState.SETTING_UP: "set_up_anew",
    RunState.FAILED: "set_up_anew",
}
"""What became of an environment that was up, by its newest run."""
_DOING = "looks again soon"
_STEADY = 60.0
"""Seconds after which one that goes up and down is taken for back by those who wait. Flapping is over only when a whole
window of it has passed: ten minutes in which they would stand still beside something that works."""


@dataclass(slots=True)
class Parts:
    """Handed in one after the other: each of them is made with the graph in its hands."""

    clock: Clock
    autonomy: Callable[[], Level]
    files: Callable[[], list[EnvironmentFile]]
    clean: Callable[[str], str]
    """Takes secrets out of what programs said."""
    watch: Watch | None = None
    crew: Crew | None = None
    sessions: Sessions | None = None
    environments: Environments | None = None
    _ill_since: dict[str, float] = field(default_factory=dict)
    _known: tuple[object, dict[str, tuple[Thing, ...]]] = (None, {})
    """The files of a configuration, and what each of them needs."""

    # How things stand.

    def look(self, thing: Thing) -> Standing | None:
        return self._service(thing.name) if thing.kind is Kind.SERVICE else self._environment(thing.name)

    def _service(self, name: str) -> Standing | None:
        watch = self.watch
        if watch is None or name not in watch.services:
            return None
        health, service = watch.healths[name], watch.services[name]
        below = tuple(Thing(Kind.SERVICE, other) for other in service.depends_on)
        outage = health.outage
        unsettled = health.flapping is not None and self._flipped_lately(health)
        changed, looked = self._changed(health), self._looked(health)
        if outage is None:
            return Standing(is_down=False, depends_on=below, is_unsettled=unsettled, changed=changed, looked=looked)
        # Until its next reading the gate stands as it was; what explained it may be back, or gone from the file.
        is_held = outage.gate is not Gate.DEPENDENCY or any(self._fails(other) for other in service.depends_on)
        held = f"does not restart it: {outage.gate}" if outage.gate and is_held else _DOING
        if outage.gate is Gate.IN_USE:
            held = self._waits(name)
        doing = "is restarting it" if health.repair else held
        since, is_open, cause = outage.opened, watch.is_open(name), self.clean(why(health, outage))
        return Standing(
            *(True, since, cause, doing, outage.incident, below, unsettled),
            is_open=is_open,
            changed=changed,
            looked=looked,
        )

    def _changed(self, health: Health) -> float:
        """Since when it answers or does not, as far as it is known."""
        if health.outage is not None:
            return -math.inf if health.failing_since is None else health.failing_since
        if health.failures:
            return math.inf
        since = self.clock.monotonic() - (self.clock.wall() - health.since)
        # It was so when it was looked at last: nobody waits for a wall clock that was set back.
        return min(since, health.last.at) if health.last is not None else since

    def _looked(self, health: Health) -> float:
        """When it was last seen to be as it stands: an outage outlasts the first good reading, and a restart."""
        last, is_down = health.last, health.outage is not None
        if last is None or (is_down and (health.repair is not None or last.seen.status.alive)):
            return -math.inf
        return last.at

    def _flipped_lately(self, health: Health) -> bool:
        return bool(health.flips) and self.clock.monotonic() - health.flips[-1] < _STEADY

    def _waits(self, name: str) -> str:
        waiting = self.watch.waiting(name) if self.watch else None
        if waiting is None:
            return _DOING
        left = spoken(math.ceil(max(0.0, waiting.until - self.clock.monotonic())))
        return f"restarts it as soon as {waiting.use.who} is done with it, in at most {left}"

    def _fails(self, name: str) -> bool:
        health = self.watch.healths.get(name) if self.watch else None
        return health is not None and (health.outage is not None or health.failures > 0)

    def _environment(self, name: str) -> Standing | None:
        """Only one that is up can be down: whoever needs it may be the one to set it up."""
        run = self._run(name)
        if run is None or self.environments is None:
            self._ill_since.pop(name, None)
            return None
        below = self.needed(run)
        # What is not judged yet has no incident either, in whose story those who need it would stand.
        guards = self.environments.guards(run)
        ill = {
            part: seen
            for part, seen in guards.items()
            if seen.state in _ILL and seen.is_judged and not seen.is_finished
        }
        if not ill:
            self._ill_since.pop(name, None)
            # One that falls again and again is back for a moment after each of its restarts.
            unsettled = any(seen.is_settling for seen in guards.values())
            return Standing(is_down=False, depends_on=below, is_unsettled=unsettled, is_borne=True)
        since = self._ill_since.setdefault(name, self.clock.wall())
        part, seen = min(ill.items(), key=_since)
        incident = seen.trouble.incident if seen.trouble else ""
        why, doing = self.clean(_why(part, seen)), _ILL[seen.state]
        is_open = self.watch is not None and self.watch.is_failing(one.name for one in below)
        return Standing(True, since, why, doing, incident, below, is_borne=True, is_open=is_open)

    def _run(self, name: str) -> Run | None:
        return next((one for one in self._runs() if one.project == name), None)

    def needed(self, run: Run) -> tuple[Thing, ...]:
        """By its file, and not by its name: two worktrees of one project are called alike."""
        return self._declared(os.path.normpath(os.path.join(run.folder, run.file or "e2e.yaml")))

    def _declared(self, file: str) -> tuple[Thing, ...]:
        """What argus.yaml says that this file needs. Links are followed once for each configuration: this is asked
        twice a second, and a disk that hangs must not hold everybody up."""
        files = self.files()
        if self._known[0] is not files:
            needs = {path: one.needs for one in files for path in (one.file, os.path.realpath(one.file))}
            self._known = files, needs
        return self._known[1].get(file, ())

    def explained(self, run_id: str) -> str:
        """The incident of what an environment needs and does not have just now."""
        run = next((one for one in self._runs() if one.id == run_id), None)
        roots = policy.broken(self.needed(run), self.look) if run else ()
        return roots[0].incident if roots else ""

    def _runs(self) -> Iterator[Run]:
        yield from (run for run in self.environments.runs if run.state is RunState.UP) if self.environments else ()

    # Who works with what.

    def dependants(self, also: Collection[str] = ()) -> Iterator[Dependant]:
        configs = self.crew.settings.configs.values() if self.crew else ()
        # Most have none that depends on anything, and this is asked twice a second.
        for agent in self.crew.agents if self.crew and (also or any(one.depends_on for one in configs)) else ():
            one = self._dependant(agent)
            if (one.depends_on or one.key in also) and agent.state in _WORKS:
                yield one
        if self.sessions is not None:
            for name, project in self.sessions.settings.projects.items():
                session = Dependant(Role.SESSION, name, project.needs)
                if project.depends_on or session.key in also:
                    yield session

        needs: dict[str, list[Thing]] = {}
        for run in self._runs():
            needs.setdefault(run.project, []).extend(self.needed(run))
        for called, things in needs.items():
            # Two that are called alike are one here: what one of them lacks is lacking.
            environment = Dependant(Role.ENVIRONMENT, called, tuple(dict.fromkeys(things)))
            if environment.depends_on or environment.key in also:
                yield environment

    def gone(self, role: Role, name: str) -> Gone:
        """Of one that is not among them any more."""
        if role is Role.AGENT:
            over = self.crew.end(name) if self.crew else None
            return Gone(over.end.value, over.by) if over else Gone("removed")
        if role is Role.SESSION:
            return Gone("unwatched")
        runs = self.environments.runs if self.environments else ()
        state = next((one.state for one in runs if one.project == name), None)
        return Gone(_GONE.get(state, "not_up"))

    def _dependant(self, agent: Agent) -> Dependant:
        config = self.crew.settings.configs.get(agent.config) if self.crew else None
        return Dependant(Role.AGENT, agent.id, config.needs if config is not None else ())

    # Who is in the middle of something.

    def in_use(self, service: str, agent: str) -> Iterator[Use]:
        """Who works with it at this moment, as far as we know; but for that agent, which asks."""
        wanted, look = Thing(Kind.SERVICE, service), cache(self.look)  # hundreds may need the same few things
        for who in self.dependants():
            if policy.reaches(who.depends_on, wanted, look) and not (agent and self._is(who, agent)):
                turn = self._turn(who)
                if turn is not None and self._uses(who.depends_on, wanted, turn.age):
                    yield Use(f"{who.role.value} {who.name}", "is in a turn")
        for run in self._runs():
            cases = self.environments.turnstile(run.id).inside if self.environments else ()
            for case in cases:
                if not (agent and case.agent == agent) and self._uses(self.needed(run), wanted, case.age):
                    yield Use(f"test case {case.name!r} of environment {run.project}", "is running")

    def _uses(self, needs: tuple[Thing, ...], wanted: Thing, age: float | None) -> bool:
        """Whether work that has lasted for so long can be using it: what had failed when it began, it does not use, nor
        what it would reach through that. Else our own word that something is down would hold its repair up."""
        return policy.reaches(needs, wanted, self.look, lambda one: age is not None and self._failed_before(one, age))

    def _failed_before(self, one: Thing, age: float) -> bool:
        if one.kind is Kind.ENVIRONMENT:
            since = self._ill_since.get(one.name)
            return since is not None and self.clock.wall() - since >= age
        health = self.watch.healths.get(one.name) if self.watch else None
        if health is None:
            return False
        failing = self.clock.monotonic() - health.failing_since if health.failing_since is not None else -1.0
        return max(failing, self.clock.wall() - health.outage.opened if health.outage else -1.0) >= age

    def _is(self, who: Dependant, agent: str) -> bool:
        if who.role is Role.ENVIRONMENT:
            return False  # nobody asks as one
        if who.role is Role.AGENT or self.sessions is None or self.crew is None:
            return who.name == agent
        session = self.sessions.find(who.name)
        conversations = {one.session for one in self.crew.agents if one.id == agent and one.session}
        return session.session.place.session == agent or session.standing.session in conversations

    def _turn(self, who: Dependant) -> Turn | None:
        if self.sessions is None or self.crew is None or who.role is Role.ENVIRONMENT:
            return None
        if who.role is Role.SESSION:
            return self.sessions.turn(who.name)
        agent = self.crew.find(who.name)
        return self._turn_of(agent) if agent.session else None

    def _turn_of(self, agent: Agent) -> Turn | None:
        if self.sessions is None or self.crew is None:
            return None
        kind = self.crew.settings.configs[agent.config].kind
        return self.sessions.turn_of(kind, agent.session, was_in_turn=agent.in_turn)

    def turned(self, kind: str, conversation: str) -> None:
        """Keeps an agent's turn on record, so that an Argus which is killed goes on waiting for it. Sessions are kept
        with what they do."""
        agent = self.crew.speaking(kind, conversation) if self.crew else None
        if agent is not None and self.crew is not None:
            self.crew.turned(agent, in_turn=self._turn_of(agent) is not None)

    def speakers(self) -> Iterator[Speaker]:
        """Agents whose turns are waited for, and whose programs keep transcripts."""
        for who in self.dependants() if self.crew else ():
            agent = self.crew.peek(who.name) if self.crew and who.role is Role.AGENT else None
            config = self.crew.settings.configs.get(agent.config) if self.crew and agent else None
            if agent is not None and config is not None and agent.session and config.kind != "plain":
                yield Speaker(config.kind, agent.session, agent.works_in, config.env)


def why(health: Health, outage: Outage) -> str:
    """What was wrong when it was last looked at. An outage outlives the first good readings, which are no cause."""
    seen = health.last.seen if health.last else None
    return seen.detail if seen and seen.status in (Status.DOWN, Status.UNKNOWN) else outage.cause


def _since(ill: tuple[str, Guarded]) -> float:
    """What failed first may have made the others fail."""
    trouble = ill[1].trouble
    return trouble.opened if trouble else float("inf")


def _why(part: str, seen: Guarded) -> str:
    return f"{part}: {seen.why}" if seen.why else part


def graph(parts: Parts, host: MachineHost, store: Store, notes: Notes) -> Graph:
    hands = TypistHands(Typist(host.panes()), lambda: parts.crew.tmux_socket if parts.crew else "default")

    async def say(who: Dependant, text: str, story: str, before: Callable[[], tuple[Write, ...]]) -> None:
        if who.role is Role.SESSION and parts.sessions is not None:
            await parts.sessions.inform(who.name, text, before, story)
        place = terminal(who.name) if who.role is Role.AGENT and may() else None
        if place is not None and parts.sessions is not None:
            await parts.sessions.prompting(hands).type(place, "dependency", text, before, story)

    def may() -> bool:
        return parts.autonomy().allows(Level.MODERATE)

    def terminal(agent_id: str) -> Place | None:
        """An agent's own, if it has one."""
        agent = next((one for one in (parts.crew.agents if parts.crew else ()) if one.id == agent_id), None)
        config = parts.crew.settings.configs.get(agent.config) if parts.crew and agent else None
        if agent is None or agent.state not in _WORKS or config is None or not config.tmux:
            return None
        return Place(agent.id, session=agent.id, folder=agent.works_in, agent=config.kind)

    async def finish() -> None:
        if parts.sessions is not None:
            await parts.sessions.leftovers.finish(terminal, parts.sessions.prompting(hands), may)

    def wake() -> None:
        if parts.crew is not None:
            parts.crew.look()

    return Graph(Tools(store, notes, parts.clock, parts.look, parts.dependants, parts.gone, say, wake, finish))
