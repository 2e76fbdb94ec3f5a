"""One process of Argus in the environments' world: its view of the store and of the engine, ended when it is killed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argus.core.circuit import Circuit
from argus.core.errors import ArgusError, Code
from argus.environments.guarding import policy
from argus.environments.guarding.post import DOMAIN, RESTART
from argus.environments.keeper import Environments
from argus.environments.labels import is_orphan, of_project
from argus.host.engine.resources import Happening
from argus.host.engine.seam import EngineRefused, EngineUnavailable
from argus.store.records import CloseAct, Document, OpenAct, Undecided

if TYPE_CHECKING:
    from tests.simulation.environments_world import World


@dataclass(frozen=True)
class Plant:
    """A known bug, put back in on purpose."""

    judge: Callable[..., policy.Finding] = policy.judge
    decide: Callable[..., policy.Restart | policy.GiveUp | policy.Report] = policy.decide
    is_orphan: Callable[..., bool] = is_orphan
    of_project: Callable[[str], dict[str, str]] = of_project
    circuit: type[Circuit] = Circuit
    records_no_intent: bool = False
    forgets_its_count: bool = False
    forgets_what_was_left: bool = False
    settles_nothing: bool = False


class Dead(Exception):
    """Raised in what is left of an Argus that was killed."""


class Life:
    """The store as this Argus reaches it, and who calls it."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._writing = asyncio.Lock()
        """A store has one writer, and keeps the order in which it was asked."""
        self.dead = False
        self.environments: Environments | None = None
        """None until what is on record was read."""
        self.callers: set[asyncio.Task[Any]] = set()

    async def breathe(self) -> None:
        await asyncio.sleep(self._world.chance.random() * 0.02)
        if self.dead:
            raise Dead

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.store, name)

    async def commit(self, *writes: Any) -> Any:
        async with self._writing:
            await self.breathe()
            world = self._world
            if world.store_is_broken:
                await asyncio.sleep(world.store_hangs)
                await self.breathe()
                raise _away()
            lost = world.answers_are_lost and world.chance.random() < 0.5
            if lost and world.chance.random() < 0.5:
                raise self._undecided(happened=False)
            if world.plant.records_no_intent:
                writes = tuple(self._without_acts(writes))
            try:
                events = await world.store.commit(*writes)
            except ArgusError as error:
                world.rules.broken(f"a record was refused: {error}")
                raise
            world.rules.recorded(writes, events)
            # Killed here, the record has it and nothing else does: the gap between intent and act.
            await self.breathe()
            if lost:
                raise self._undecided(happened=True)
            return events

    def _without_acts(self, writes: tuple[Any, ...]) -> list[Any]:
        kept = []
        for write in writes:
            if isinstance(write, OpenAct) and write.act.kind == RESTART:
                self._world.unrecorded.add(write.act.id)
            elif not (isinstance(write, CloseAct) and write.id in self._world.unrecorded):
                kept.append(write)
        return kept

    def _undecided(self, *, happened: bool) -> Undecided:
        transaction = f"t{len(self._world.transactions)}"
        self._world.transactions[transaction] = happened
        return Undecided("simulated: the connection was lost", transaction)

    async def _reach(self) -> None:
        await self.breathe()
        if self._world.store_is_broken:
            raise _away()

    async def was_committed(self, transaction: str) -> bool:
        await self._reach()
        return self._world.transactions[transaction]

    async def open_acts(self) -> Any:
        await self._reach()
        return await self._world.store.open_acts()

    async def documents(self, domain: str, *, live: bool = True) -> list[Document]:
        await self._reach()
        found = await self._world.store.documents(domain, live=live)
        if domain == DOMAIN and self._world.plant.forgets_its_count:
            return [_changed(one, {"spent": 0, "attempts": ()}, "") for one in found]
        if domain == DOMAIN and self._world.plant.forgets_what_was_left:
            return [_changed(one, {"state": "well", "key": "", "why": ""}, "left alone") for one in found]
        return list(found)


def _changed(one: Document, what: dict[str, Any], state: str) -> Document:
    """All its charges, or those of such a state."""
    charges = one.data.get("charges", [])
    several = [{**charge, **what} if state in ("", charge["state"]) else charge for charge in charges]
    return Document(one.domain, one.id, {**one.data, "charges": several} if one.data else {}, live=one.live)


def _away() -> ArgusError:
    return ArgusError(Code.STORE_UNAVAILABLE, "simulated: the disk is full")


_CHANGES = ("make", "start", "restart", "remove", "make_network", "remove_network", "make_volume", "remove_volume")


class LifeEngine:
    """The engine as this Argus reaches it, through one breaker; what it does there is held against the rules."""

    def __init__(self, life: Life, world: "World", circuit: Circuit) -> None:
        self._life = life
        self._world = world
        self._circuit = circuit

    def __getattr__(self, name: str) -> Any:
        ask = getattr(self._world.engine, name)

        async def asked(*what: Any, **more: Any) -> Any:
            self._world.rules.passed(self._circuit)
            await self._enter()
            if name not in _CHANGES:
                answer = await ask(*what, **more)
            else:
                await self._world.rules.doing(name, what[0])
                # On its way: it is carried out also if this Argus is killed now, or does not wait for it any more.
                answer = await asyncio.shield(self._world.spawn(self._ordered(name, ask, what, more)))
            await self._life.breathe()
            if self._world.replies_are_lost and self._world.chance.random() < 0.5:
                raise EngineUnavailable("simulated: the connection was lost")
            return answer

        return asked

    async def _ordered(self, name: str, order: Any, what: tuple[Any, ...], more: dict[str, Any]) -> Any:
        try:
            return await order(*what, **more)
        except (ArgusError, EngineRefused) as error:
            if not isinstance(error, ArgusError) or error.code is Code.PORT_CONFLICT:
                self._world.rules.refused(name, what[0])
            raise

    async def _enter(self) -> None:
        await self._life.breathe()
        if self._world.is_unreachable:
            raise EngineUnavailable("simulated: no route to host")

    @contextlib.asynccontextmanager
    async def happenings(self, labels: Any, since: float | None) -> AsyncIterator[AsyncIterator[Happening]]:
        self._world.rules.passed(self._circuit)
        await self._enter()
        async with self._world.engine.happenings(labels, since) as told:
            yield told
