"""What must always hold in the environments' world, checked from outside: on the engine and on the record."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from argus.core.breaker import State as Breaking
from argus.core.circuit import Circuit
from argus.environments.book import CLEAN, SETUP
from argus.environments.guarding.missing import DOMAIN as MISSED
from argus.environments.guarding.post import DOMAIN, RESTART
from argus.environments.labels import MANAGED, PROJECT, RUN
from argus.environments.runs import DOMAIN as RUNS
from argus.environments.runs import State
from argus.store.records import Append, Document, OpenAct, PutDocument
from argus.testing import FakeContainer

if TYPE_CHECKING:
    from tests.simulation.environments_world import Plan, World

HEALTHY = 600.0
CAP = 60.0
UNKNOWN = 20.0
"""Seconds for which an illness may go on before it was asked for often enough to count."""
MOMENT = 0.3
"""Seconds in which two orders to an engine cross each other."""
BY_ITSELF = (0, 130, 137, 143)
"""Exit statuses of what ended as it should, or was asked to."""
_ONCE = ("restart_exhausted", "container_failed", "container_left_alone")
"""Said once of one failure."""


@dataclass
class Truth:
    """One container, as it truly is."""

    well_since: float | None = None
    """By the monotonic clock."""
    up_since: float | None = None
    """The same as the engine sees it: what it answers over HTTP counts only where it was asked often enough."""
    lasted: float = 0.0
    """The most seconds of that since it was last restarted: who could not look in between learns of both at once."""
    failed: float = 0.0
    meant: str = ""
    """What somebody meant to be so, or what ended by itself as it should: it is not to be started."""
    at: float = 0.0
    """Since when that is so."""
    is_doubtful: bool = False
    """It ended soon after the machine was booted, and no Argus looked: it may have fallen with the engine before."""
    asked: float | None = None
    """When somebody asked it to end, and it did not at once."""
    outages: int = 0
    """How often its engine had been away when it was last started."""
    carried_out: list[int] = field(default_factory=list)
    """The numbers of the restarts that count together."""
    refused_to: object = None
    """Which Argus the engine refused the last of them to: another one does not know that it did."""


@dataclass(frozen=True)
class Planned:
    due: float
    boot: float
    life: object
    steps: int


class Rules:
    def __init__(self, world: "World") -> None:
        self._world = world
        self.truths: defaultdict[str, Truth] = defaultdict(Truth)
        """By the container's id."""
        self.charges: dict[tuple[str, str], dict[str, Any]] = {}
        """As on record, by run and service."""
        self.guarded: dict[str, tuple[str, str, str]] = {}
        """Of a container's id: its run, its service, and what acts call it."""
        self.restarts: list[tuple[float, str, int]] = []
        """All that the guardian started: when, what, and which attempt that was."""
        self.told = Counter[tuple[str, ...]]()
        self.found: str | None = None
        self._planned: dict[tuple[str, str], Planned] = {}
        self._probes: set[tuple[int, str, int]] = set()
        self._words: dict[tuple[int, str], str] = {}
        self._missed: set[str] = set()
        """Engines of which a person was told that they are away, by any Argus."""

    def broken(self, what: str) -> None:
        """Noted and raised by the player: raised here it would be Argus that has to live with it."""
        self.found = self.found or f"{what} (at {self._world.loop.time():.3f})"

    # What truly happens to containers.

    def happened(self, one: FakeContainer, action: str) -> None:
        truth = self.truths[one.id]
        if action == "start":
            self._well(truth)
            truth.up_since = truth.well_since
            truth.meant, truth.outages, truth.asked = "", self._world.outages, None
        elif action == "kill":
            truth.asked = self._world.loop.time()
        elif action in ("die", "destroy", "health_status: unhealthy"):
            truth.is_doubtful = self._world.is_booting or self._world.is_cut_off
            self._failed(truth)
            if truth.up_since is not None:
                lasted, truth.up_since = self._world.clock.monotonic() - truth.up_since, None
                truth.lasted = max(truth.lasted, lasted)
                truth.carried_out = [] if lasted >= HEALTHY else truth.carried_out
        elif action == "health_status: healthy":
            if truth.well_since is None:
                self._well(truth)
            truth.up_since = truth.up_since or truth.well_since

    def sick(self, one: FakeContainer, *, is_so: bool) -> None:
        """As it answers whoever asks over HTTP."""
        truth = self.truths[one.id]
        if is_so:
            self._failed(truth, UNKNOWN)
        elif one.state == "running":
            self._well(truth)

    def _well(self, truth: Truth) -> None:
        truth.well_since = self._world.clock.monotonic()

    def _failed(self, truth: Truth, unknown: float = 0.0) -> None:
        if truth.well_since is not None:
            truth.failed = self._world.clock.monotonic()
            if truth.failed + unknown - truth.well_since >= HEALTHY:
                truth.carried_out.clear()
            truth.well_since = None

    def mean(self, one: FakeContainer, what: str) -> None:
        truth = self.truths[one.id]
        truth.meant, truth.at = what, self._world.loop.time()

    def outage(self, *, is_the_same: bool = False) -> None:
        """The engine went away. What somebody stopped just before, and nobody could look at, cannot be told from what
        fell with it; what is tried after it does not count together with what was tried before."""
        self._world.outages += 1
        for id, truth in self.truths.items():
            truth.carried_out.clear()
            if is_the_same and self._world.loop.time() - truth.at > MOMENT:
                continue
            one = self._world.engine._find(id)
            if truth.meant and not (one is not None and self._is_known(id, one)):
                truth.meant = ""

    def forgotten(self) -> None:
        """By the engine: who stopped what nobody has looked at since. Where the exit status does not say it either, it
        looks like a crash."""
        for id, truth in self.truths.items():
            one = self._world.engine._find(id)
            if one is not None and one.exit_code not in BY_ITSELF and not self._is_known(id, one):
                truth.meant = ""

    def _is_known(self, id: str, one: FakeContainer) -> bool:
        where = self.guarded.get(id)
        charge = self.charges.get(where[:2]) if where else None
        return charge is not None and charge["key"] == f"{id[:12]}:{one.finished}"

    # What Argus does to the engine.

    def passed(self, circuit: Circuit) -> None:
        """Asked in the very moment in which the breaker let somebody pass."""
        breaker = circuit.breaker
        if breaker.state is Breaking.OPEN:
            self.broken(f"a call went through the open {circuit.name}")
        if breaker.state is Breaking.HALF_OPEN:
            probe = (id(circuit), circuit.name, breaker.probes)
            if probe in self._probes:
                self.broken(f"two calls went through the half-open {circuit.name}")
            self._probes.add(probe)

    def refused(self, what: str, subject: Any) -> None:
        """By the engine."""
        if what in ("start", "restart"):
            self.truths[subject].refused_to = self._world.life

    async def doing(self, what: str, subject: Any) -> None:
        if what.startswith("make"):
            return
        if what.startswith("remove"):
            await self._removing(what, subject)
            return
        one = self._world.engine._find(subject)
        if one is None:
            return
        acts = [act for act in await self._world.store.open_acts() if act.intent.get("run") == one.labels.get(RUN)]
        if not one.starts:
            if not any(act.kind == SETUP for act in acts):
                self.broken(f"{one.name} was started without a setup on record")
            return
        where = self.guarded.get(one.id)
        if where is None:
            self.broken(f"{one.name} was started again, and is not guarded")
            return
        mine = [act for act in acts if act.kind == RESTART and act.subject == where[2]]
        if len(mine) != 1:
            self.broken(f"{one.name} was started with {len(mine)} intents on record")
            return
        if what == "start" and one.state == "running":
            return  # somebody was quicker, and nothing is done
        attempt = mine[0].intent["attempt"]
        self.restarts.append((round(self._world.loop.time(), 3), one.name, attempt))
        self._starting(one, where, attempt, is_running=one.state == "running")

    def _starting(self, one: FakeContainer, where: tuple[str, str, str], attempt: int, *, is_running: bool) -> None:
        truth, plan, now = self.truths[one.id], self._world.plan(where[2]), self._world.loop.time()
        if truth.meant and not truth.is_doubtful and now - truth.at > MOMENT + self._world.engine.late:
            self.broken(f"{one.name} was started, and was {truth.meant} {now - truth.at:.1f} s ago")
        if is_running and truth.well_since is not None:
            lasted = self._world.clock.monotonic() - truth.well_since
            if lasted > MOMENT + 2 * plan.interval and lasted < self._world.calm:
                self.broken(f"{one.name} was restarted, and is well for {lasted:.1f} s")
        if not attempt:
            if truth.outages == self._world.outages and not truth.is_doubtful:
                self.broken(f"{one.name} was raised again, and its engine never ended")
            return
        if not plan.blueprint.restart or attempt > plan.blueprint.restarts:
            self.broken(f"{one.name} was restarted a {attempt}. time, and {plan.blueprint.restarts} are the most")
        if truth.refused_to not in (None, self._world.life) and truth.carried_out:
            truth.carried_out.pop()  # nothing came of it, and that is all that can be seen
        if truth.carried_out and attempt <= truth.carried_out[-1]:
            self.broken(f"{one.name} was restarted as attempt {attempt} after {truth.carried_out}")
        truth.carried_out.append(attempt)
        truth.refused_to = None
        truth.lasted = 0.0
        self._waited(one.name, self._planned.get(where[:2]))

    def _waited(self, name: str, planned: Planned | None) -> None:
        clock = self._world.clock
        if planned is None:
            self.broken(f"{name} was restarted, and no attempt is on record")
            return
        if planned.life is self._world.life:
            early, late = planned.due - clock.monotonic(), clock.monotonic() - planned.due
            # Held up only by what holds it up: nothing did.
            if late > 1.5 and self._world.calm > late + 60:
                self.broken(f"{name} was restarted {late:.3f} s too late")
        elif planned.steps == self._world.steps:
            early = planned.boot - clock.boot()
        else:
            return  # a later Argus has nothing but the wall clock, and somebody set that
        if early > 0.001:
            self.broken(f"{name} was restarted {early:.3f} s too early")

    async def _removing(self, what: str, subject: str) -> None:
        labels = self._world.labels(what, subject)
        if labels is None:
            return
        if labels.get(MANAGED) != "true" or labels.get(PROJECT) not in self._world.projects:
            self.broken(f"{what} of {subject}, which is a stranger's: {labels}")
        if subject in self._world.strangers:
            self.broken(f"{what} of {subject}, whose run another has")
        run = labels.get(RUN, "")
        acts = await self._world.store.open_acts()
        for document in await self._world.store.documents(RUNS):
            is_up = document.data["run"] == run and document.data["state"] == State.UP
            if is_up and not any(act.kind == CLEAN and act.intent["run"] == run for act in acts):
                self.broken(f"{what} of {subject}, and its run {run} is up")
        if what == "remove_volume" and run in self._world.were_up and not self._world.is_forced:
            self.broken(f"{what} of {subject}, and nobody said that it may go")

    # What Argus says.

    def recorded(self, writes: tuple[Any, ...], events: list[Any]) -> None:
        for document in _left_by(writes, DOMAIN):
            self._guards(document.data)
        for write in writes:
            if isinstance(write, PutDocument) and write.document.domain == MISSED:
                self._misses(write.document.id, is_away=write.document.live)
            if isinstance(write, PutDocument) and write.document.domain == RUNS:
                self._world.stands(write.document.data)
            if isinstance(write, OpenAct) and write.act.kind == RESTART:
                self._world.moment.set()
        for write in writes:
            if isinstance(write, Append):
                self._said(write.draft.type, write.draft.data)

    def _misses(self, engine: str, *, is_away: bool) -> None:
        if is_away == (engine in self._missed):
            self.broken(f"that {engine} is {'away' if is_away else 'back'} was told twice")
        self._missed ^= {engine}

    def _guards(self, data: Any) -> None:
        if not data:
            return
        run, key = data["run"], data["key"]
        for charge in data["charges"]:
            place = (run, charge["service"])
            self.guarded[charge["id"]] = (*place, f"{key}/{charge['service']}")
            before = self.charges.get(place)
            self.charges[place] = charge
            if before is not None and before is not charge:
                self._changes(before, charge, self._world.plan(f"{key}/{charge['service']}"), place)

    def _changes(self, before: dict[str, Any], after: dict[str, Any], plan: "Plan", place: tuple[str, str]) -> None:
        was, now, name = before["spent"], after["spent"], after["container"]
        last = after["attempts"][-1] if after["attempts"] else None
        known = [(one["number"], one["at"]) for one in before["attempts"]]
        is_new = last is not None and (last["number"], last["at"]) not in known
        if now > plan.blueprint.restarts or now > was + 1:
            self.broken(f"{name} has {now} attempts on record after {was}, and {plan.blueprint.restarts} are the most")
        if last is not None and is_new:
            self._plans(last, plan, place, name)
        if before["before"] is not None and after["before"] is None:
            # It is well: what was tried since its engine's end is forgiven.
            self.truths[after["id"]].carried_out.clear()
        counted = now - 1 if is_new else now
        if counted >= was or before["before"] == counted:
            return
        if last is not None and not is_new and last["outcome"] == "not_needed" and counted == was - 1:
            return
        self._begins_anew(self.truths[after["id"]], name, was, counted)

    def _plans(self, last: dict[str, Any], plan: "Plan", place: tuple[str, str], name: str) -> None:
        clock, number = self._world.clock, last["number"]
        delay = plan.blueprint.restart_delay
        grown = delay * (2 ** (number - 1) if plan.blueprint.restart_growth == "exponential" else number)
        if last["delay"] != min(CAP, grown):
            self.broken(f"attempt {number} at {name} waits {last['delay']:g} s instead of {min(CAP, grown):g}")
        # It counts from the decision, which may have waited for its record.
        ago = clock.wall() - last["at"]
        left = min(CAP, grown) - (ago if 0 <= ago <= HEALTHY else HEALTHY)
        self._planned[place] = Planned(
            clock.monotonic() + left, clock.boot() + left, self._world.life, self._world.steps
        )

    def _begins_anew(self, truth: Truth, name: str, was: int, now: int) -> None:
        if now:
            self.broken(f"{name} has {now} attempts on record after {was}")
        lasted = truth.lasted
        if truth.up_since is not None:
            lasted = max(lasted, self._world.clock.monotonic() - truth.up_since)
        # An illness is known a few questions after it begins; and of one that nobody could look at, later still.
        seen = self._world.clock.monotonic() - truth.failed if self._world.calm < 120.0 else 60.0
        if lasted + seen < HEALTHY:
            self.broken(f"the {was} attempts at {name} are forgotten after {lasted:.0f} s of health")

    def _said(self, type: str, data: Any) -> None:
        if type == "loop_crashed":
            self.broken(f"a loop of Argus crashed: {data}")
        if type in _ONCE:
            charge = self.charges.get((data["runId"], data["service"]))
            known = charge["key"] if charge else ""
            key: tuple[str, ...] = (type, data["runId"], data["service"], known, data.get("incident", ""))
            if type == "container_left_alone":
                # Stopped and then removed while the store was away: both are written at once, with the last key.
                key = (*key, data["reason"])
            self.told[key] += 1
            if self.told[key] > 1:
                self.broken(f"{key} was told twice")
        if type in ("engine_lost", "engine_back"):
            place = (self._world.lives, data["runId"])
            if self._words.get(place, "engine_back") == type:
                self.broken(f"{type} was told twice to {data['runId']}")
            self._words[place] = type


def _left_by(writes: tuple[Any, ...], domain: str) -> list[Document]:
    """What one transaction leaves on record: of several of one document, nobody ever sees but the last."""
    written = [one.document for one in writes if isinstance(one, PutDocument) and one.document.domain == domain]
    return list({document.id: document for document in written}.values())
