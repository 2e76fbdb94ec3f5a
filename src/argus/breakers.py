"""All circuit breakers of the house by their names: kept on record, so that a new Argus goes on where the last one was.

A breaker changes in the middle of a call and cannot wait for the record; what changed is written a moment later, the
newest state of each. An opening and a closing are events; the probes of a side that stays away are not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from argus.core.breaker import Breaker, Failure, State
from argus.core.circuit import Circuit
from argus.core.clock import Clock
from argus.core.errors import ABOUT_BREAKERS, ArgusError, Code
from argus.core.events import Draft
from argus.store.interface import Store
from argus.store.notes import Notes
from argus.store.records import Append, Document, PutDocument, Write

DOMAIN = "breakers"
_NAMED = 10
"""Names in a sentence; all of them are in the details."""


class Breakers:
    def __init__(self, store: Store, notes: Notes, clock: Clock, *circuits: Circuit) -> None:
        self._store = store
        self._notes = notes
        self._clock = clock
        self.circuits: dict[str, Circuit] = {}
        self._recorded: dict[str, Breaker] = {}
        self._kept: dict[str, Breaker] = {}
        """Of earlier daemons, until somebody holds them again."""
        self._makers: dict[str, Callable[[str], Circuit]] = {}
        self._tellers: dict[str, Callable[[str, Breaker, Breaker], list[Draft]]] = {}
        self._news = asyncio.Event()
        for circuit in circuits:
            self.add(circuit)

    async def restore(self) -> None:
        for document in await self._store.documents(DOMAIN):
            self._kept[document.id] = _read(document.data, self._clock)
        for circuit in self.circuits.values():
            self._take_up(circuit)
        for name, kept in list(self._kept.items()):
            if kept.state is not State.CLOSED:
                self._hold_again(name)

    def makes(self, prefix: str, make: Callable[[str], Circuit]) -> None:
        """How those of such names are held that were not closed when the last daemon ended: shown, and reset by hand,
        also before anybody asks for what is behind them."""
        self._makers[prefix] = make

    def tells(self, prefix: str, events: Callable[[str, Breaker, Breaker], list[Draft]]) -> None:
        """What else is told when one of such names changed: of its name, and how it was and is."""
        self._tellers[prefix] = events

    def _hold_again(self, name: str) -> None:
        for prefix, make in self._makers.items():
            if name.startswith(prefix):
                self.add(make(name))

    def add(self, circuit: Circuit) -> Circuit:
        """One more; it goes on where the last one of its name was."""
        self.circuits[circuit.name] = circuit
        self._recorded[circuit.name] = circuit.breaker
        self._take_up(circuit)
        circuit.changed = self._news.set
        return circuit

    def _take_up(self, circuit: Circuit) -> None:
        kept = self._kept.pop(circuit.name, None)
        if kept is not None:
            circuit.restore(kept)
            self._recorded[circuit.name] = kept

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            for name, circuit in list(self.circuits.items()):
                await self._record(name, circuit.breaker)

    async def _record(self, name: str, now: Breaker) -> None:
        before = self._recorded[name]
        if now is before:
            return
        writes: list[Write] = [PutDocument(Document(DOMAIN, name, _written(now, self._clock)))]
        was_open, is_open = (one.state is not State.CLOSED for one in (before, now))
        if is_open and not was_open:
            last = now.history[-1].message if now.history else ""
            data = {"breaker": name, "failures": now.consecutive, "lastFailure": last}
            writes.append(Append(Draft("system", "breaker_opened", name, data)))
        elif was_open and not is_open:
            writes.append(Append(Draft("system", "breaker_closed", name, {"breaker": name})))
        for prefix, events in self._tellers.items():
            if name.startswith(prefix):
                writes += [Append(draft) for draft in events(name, before, now)]
        await self._notes.note(*writes)
        self._recorded[name] = now

    def find(self, name: str) -> Circuit:
        if name not in self.circuits:
            known = sorted(self.circuits)
            more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
            which = f"there are: {', '.join(known[:_NAMED])}{more}" if known else "there are none now"
            missing = ArgusError(Code.NOT_FOUND, f"there is no breaker {name!r}; {which}", known=known)
            missing.actions = ABOUT_BREAKERS
            raise missing
        return self.circuits[name]

    async def reset(self, name: str, by: str) -> tuple[Breaker, Breaker]:
        """By hand: an open one lets one call through, to see. Returns it before and after."""
        circuit = self.find(name)
        before, was_open = circuit.breaker, circuit.reset()
        # As the reset left it: while that is written, the call that is let through may have failed.
        after = circuit.breaker
        if was_open:
            await self._notes.note(Append(Draft("system", "breaker_reset", name, {"breaker": name, "by": by})))
        return before, after


def _written(breaker: Breaker, clock: Clock) -> dict[str, Any]:
    """With times of the wall clock: the monotonic one is another after a boot."""
    offset = clock.wall() - clock.monotonic()
    return {
        "state": breaker.state.value,
        "consecutive": breaker.consecutive,
        "since": breaker.since + offset if breaker.since else None,
        "probes": breaker.probes,
        "history": [{"at": one.at + offset, "code": one.code, "message": one.message} for one in breaker.history],
    }


def _read(data: Mapping[str, Any], clock: Clock) -> Breaker:
    """A probe that was under way ended with the last Argus: its place is free."""
    offset = clock.wall() - clock.monotonic()
    history = tuple(Failure(one["at"] - offset, one["code"], one["message"]) for one in data["history"])
    since = 0.0 if data["since"] is None else data["since"] - offset
    kept = Breaker(State(data["state"]), data["consecutive"], since, probes=data["probes"])
    return replace(kept, history=history)
