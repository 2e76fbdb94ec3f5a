"""One guarded run: what its wards share, and its place on record."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from argus.core.circuit import Circuit
from argus.core.clock import stamp
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.core.trouble import Trouble
from argus.environments.announcing import Tell
from argus.environments.blueprint import HealthWish, Part, PortWish
from argus.environments.endings import to_its_end
from argus.environments.guarding import asking, incidents
from argus.environments.guarding.diagnosing import Diagnoser
from argus.environments.guarding.model import Charge, Settings, read
from argus.environments.guarding.turnstile import Turnstile
from argus.environments.ports import Occupant, Wanted
from argus.environments.tools import Tools
from argus.environments.waiting import Waiter
from argus.host.engine.birth import Birth
from argus.host.engine.resources import Dock, Made
from argus.store.intents import Intents
from argus.store.records import Act, Append, CloseAct, Document, PutDocument, PutIncident, Write

if TYPE_CHECKING:
    from argus.environments.guarding.ward import Ward

DOMAIN = "guarding"
RESTART = "container_restart"
_AGAIN = 1.0


@dataclass(frozen=True, slots=True)
class Order:
    """Which run is guarded, and how: all that a later daemon needs to go on, and nothing secret."""

    run: str
    key: str
    project: str
    engine: Mapping[str, str]
    """The variables that lead to its engine."""
    settings: Settings
    parts: tuple[Part, ...]
    since: float
    boot: str
    born: str = ""
    """Who its engine was when it was last listened to; empty where that cannot be known."""

    def written(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "key": self.key,
            "project": self.project,
            "engine": dict(self.engine),
            "settings": asdict(self.settings),
            "parts": [_part(one) for one in self.parts],
            "since": self.since,
            "boot": self.boot,
            "born": self.born,
        }


def _part(one: Part) -> dict[str, Any]:
    """Without its environment, which may hold secrets."""
    return {
        "name": one.name,
        "container": one.container,
        "image": one.image,
        "ports": [asdict(port) for port in one.ports],
        "depends_on": list(one.depends_on),
        "starts_after": list(one.starts_after),
        "health": asdict(one.health) if one.health else None,
        "is_mock": one.is_mock,
    }


def read_order(data: Mapping[str, Any]) -> tuple[Order, list[Charge]]:
    parts = tuple(
        Part(
            **{
                **one,
                "ports": tuple(PortWish(**port) for port in one["ports"]),
                "depends_on": tuple(one["depends_on"]),
                "starts_after": tuple(one.get("starts_after", ())),
                "health": HealthWish(**one["health"]) if one["health"] else None,
            }
        )
        for one in data["parts"]
    )
    said = {key: data[key] for key in ("run", "key", "project", "engine", "since", "boot")}
    order = Order(**said, born=data.get("born", ""), settings=Settings(**data["settings"]), parts=parts)
    return order, [read(one) for one in data["charges"]]


@dataclass(slots=True)
class Post:
    order: Order
    tools: Tools
    dock: Dock
    circuit: Circuit
    waiter: Waiter
    diagnoser: Diagnoser
    intents: Intents
    is_up: Callable[[], bool]
    """Whether the run stands: not being cleaned or replaced."""
    look: Callable[[str, bool], Awaitable[tuple[Made | None, list[str] | None]]]
    """At a container, and at what it said last where that will be needed."""
    fell: Callable[[Ward, Made], bool]
    """Whether a container ended because its engine did."""
    tell: Tell
    turnstile: Turnstile = field(default_factory=Turnstile)
    wards: dict[str, Ward] = field(default_factory=dict)
    """By the part's name."""
    renewed: float | None = None
    """When its engine began, if that is another than the one that was last listened to."""
    met: float = 0.0
    """When that was noticed, by the monotonic clock."""
    is_same: bool = False
    """Whether its engine is for certain the one that was last listened to: nothing fell with that."""
    closed: dict[str, str] = field(default_factory=dict)
    """The last act of each ward that was given its outcome: that may still wait for the store."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def meet(self, engine: Birth | None) -> None:
        """It is listened to. On record with what is recorded next: where nothing fell there is nothing to know."""
        self.is_same = engine is not None and engine.is_engine and engine.who == self.order.born
        if engine is None or engine.who == self.order.born:
            return
        if self.order.born:
            self.renewed, self.met = engine.at, self.tools.clock.monotonic()
        self.order = replace(self.order, born=engine.who)

    # On record.

    def document(self, changed: Charge | None = None) -> PutDocument:
        charges = {name: ward.charge for name, ward in self.wards.items()}
        if changed is not None:
            charges[changed.service] = changed
        data = {**self.order.written(), "charges": [one.written() for one in charges.values()]}
        return PutDocument(Document(DOMAIN, self.order.key, data))

    def troubled(self, charge: Charge, cause: str) -> Trouble:
        """The incident that its failure belongs to: the open one, or one that begins now."""
        if charge.trouble is not None:
            return charge.trouble
        tools, subject = self.tools, f"{self.order.project}/{charge.service}"
        # Such an id is meant to be unique among a few runs: of two, it is among all incidents.
        id = tools.new_id() + tools.new_id()
        return Trouble(id, tools.clock.wall(), subject, cause, tools.explained(self.order.run))

    def incident(self, charge: Charge) -> list[PutIncident]:
        """What of its incident is to be written with it."""
        before = self.wards[charge.service].charge
        return incidents.writes(before, charge, self.tools.clock.wall(), runId=self.order.run)

    def closing(self) -> list[PutIncident]:
        """Nobody guards it any more."""
        wall, run = self.tools.clock.wall(), self.order.run
        charges = [ward.charge for ward in self.wards.values()]
        return [put for one in charges for put in incidents.closing(one, wall, incidents.GONE, runId=run)]

    def event(self, type: str, charge: Charge, data: Mapping[str, Any]) -> Append:
        trouble = charge.trouble or self.wards[charge.service].charge.trouble
        said = {
            **({"incident": trouble.incident} if trouble else {}),
            "container": charge.container,
            "service": charge.service,
            "runId": self.order.run,
            "projectPath": self.order.key.removeprefix(
                f"{self.order.project}@"
            ),  # whoever looks at one run sees its own
            **data,
        }
        return Append(Draft("resilience", type, self.order.project, said))

    def act(self, charge: Charge, intent: Mapping[str, Any]) -> Act:
        subject = f"{self.order.key}/{charge.service}"
        incident = charge.trouble.incident if charge.trouble else None
        return Act(charge.act, RESTART, subject, stamp(self.tools.clock), incident, {"run": self.order.run, **intent})

    async def intend(self, charge: Charge, *writes: Write) -> None:
        """Returns when it is on record and so, however long the store is away: nothing is done before."""
        done = False

        async def then() -> None:
            nonlocal done
            done = True
            self.wards[charge.service].charge = charge

        was_open = False
        while not done:
            try:
                # All wards share one document: whoever composes it while another's is on its way would write that
                # one's charge as it was before.
                async with self._turn:
                    await self.intents.settle()
                    if not done:
                        several = (*writes, *self.incident(charge), self.document(charge))
                        # Whoever ends this post looks at the record: it must not change any more after that.
                        await to_its_end(self.intents.commit(*several, then=then))
            except ArgusError as error:
                if error.code is not Code.STORE_UNAVAILABLE:
                    raise
                was_open = was_open or self.intents.are_open
                await asyncio.sleep(_AGAIN)
        if was_open:
            await self.note(charge)  # whoever wrote meanwhile did not know of it

    async def note(self, charge: Charge, *writes: Write) -> None:
        """What was seen; kept for a store that is away."""
        async with self._turn:
            with contextlib.suppress(ArgusError):  # then whoever intended it writes it again
                await self.intents.settle()
            for write in writes:
                if isinstance(write, CloseAct):
                    self.closed[charge.service] = write.id
            await to_its_end(self.tools.notes.note(*writes, *self.incident(charge), self.document(charge)))
            self.wards[charge.service].charge = charge

    # What wards ask.

    async def answers(self, part: Part, made: Made) -> bool:
        return await asking.answers(self.waiter, part, made)

    def tell_conflict(self, part: Part, error: ArgusError) -> None:
        """A port that another has taken while the container was down: it cannot move, others know it by that one."""
        port = error.details.get("port")
        if error.code is not Code.PORT_CONFLICT or not isinstance(port, int):
            return
        holder = self.tools.ports.taken([Wanted(part.name, port)]).get(port, Occupant())
        trouble = self.wards[part.name].charge.trouble
        story = {"incident": trouble.incident} if trouble else {}
        self.tell("resilience", "port_conflict", {"service": part.name, "port": port, **holder.public(), **story})

    async def until_well(self, names: tuple[str, ...], limit: float) -> None:
        """Those that another depends on, or so many seconds."""
        try:
            async with asyncio.timeout(limit):
                for name in names:
                    if name in self.wards:
                        await self.wards[name].is_well.wait()
        except TimeoutError:
            return
