"""The last readings of each service, in memory: what a chart of the last hour is drawn from. Not on record."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from argus.services.model import Observation, Status

_EACH = 60
_LEAST = 12
_ALL = 60_000
"""Readings that are kept of all services together: with many services each keeps fewer."""
_STATES = tuple(Status)
_PLACES = {status: place for place, status in enumerate(_STATES)}


@dataclass(frozen=True, slots=True)
class Reading:
    wall: float
    status: Status
    latency: float | None


@dataclass(slots=True)
class _Row:
    """Numbers side by side instead of objects: ten thousand services have one of these each."""

    walls: array[float] = field(default_factory=lambda: array("d"))
    latencies: array[float] = field(default_factory=lambda: array("f"))
    states: bytearray = field(default_factory=bytearray)


class Recent:
    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}

    def take(self, name: str, observation: Observation) -> None:
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = _Row()
        seen = observation.seen
        row.walls.append(observation.wall)
        row.latencies.append(-1.0 if seen.latency is None else seen.latency)
        row.states.append(_PLACES[seen.status])
        most = max(_LEAST, min(_EACH, _ALL // len(self._rows)))
        # Cut in pieces: taking one from the front at every reading would move all the others.
        if len(row.states) >= most + _LEAST:
            del row.walls[:-most], row.latencies[:-most], row.states[:-most]

    def of(self, name: str) -> list[Reading]:
        """The oldest first."""
        row = self._rows.get(name)
        if row is None:
            return []
        found = zip(row.walls[-_EACH:], row.latencies[-_EACH:], row.states[-_EACH:], strict=True)
        return [Reading(wall, _STATES[state], None if took < 0 else took) for wall, took, state in found]

    def forget(self, names: set[str]) -> None:
        for name in names & self._rows.keys():
            del self._rows[name]
