"""An engine that does not come back by itself: told to a person once, and once more when it is back.

It is on record who was told: a new Argus does not tell again that it is away, and tells that it is back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from argus.core.clock import Clock, milliseconds
from argus.core.errors import ArgusError
from argus.core.events import Draft
from argus.store.notes import Notes
from argus.store.records import Append, Document, PutDocument, Write

DOMAIN = "missed engines"
PATIENCE = 60.0
"""Seconds that an engine is waited for before a person is told. One that is restarted, as by an update, stops its
containers and is there again in less than thirty; who is woken for that will not look the next time."""
EVERY = 5.0
"""Seconds between two looks at it: a fraction of the patience."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An engine is away, or does not answer."""

    at: float
    """By the wall clock."""
    since: float
    """The same by the monotonic one, which nobody sets."""
    why: str


def read(data: Mapping[str, object]) -> float | None:
    """Since when one is missed, as it was written."""
    at = data.get("at")
    return float(at) if isinstance(at, int | float) else None


class Missing:
    def __init__(self, engine: str, notes: Notes, clock: Clock, told: float | None) -> None:
        """`told`: since when it is away, if a person was told so."""
        self._engine = engine
        self._notes = notes
        self._clock = clock
        self._told = told

    async def look(self, loss: Loss | None, environments: Collection[str], *, is_there: bool) -> None:
        """`is_there`: it answers. At the start of Argus nobody knows either."""
        # A record that can take nothing more is no reason to forget it: the next look comes again.
        with contextlib.suppress(ArgusError):
            if self._told is None and loss is not None and self._clock.monotonic() - loss.since >= PATIENCE:
                said = {**self._said(loss.at, environments), "reason": loss.why}
                await self._notes.note(_event("engine_missed", said), self._document(loss.at))
                self._told = loss.at
            elif self._told is not None and loss is None and is_there:
                said = self._said(self._told, environments)
                await self._notes.note(_event("engine_found", said), *self.closing())
                self._told = None

    def closing(self) -> list[Write]:
        """Nobody needs it any more."""
        return [PutDocument(Document(DOMAIN, self._engine, {}, live=False))] if self._told is not None else []

    def _said(self, at: float, environments: Collection[str]) -> dict[str, object]:
        away = max(0.0, self._clock.wall() - at)
        return {
            "engine": self._engine,
            "lostAt": milliseconds(at),
            "awaySeconds": round(away, 1),
            "environments": sorted(set(environments)),
        }

    def _document(self, at: float) -> PutDocument:
        return PutDocument(Document(DOMAIN, self._engine, {"at": at}))


def _event(type: str, said: Mapping[str, object]) -> Append:
    return Append(Draft("resilience", type, "", said))
