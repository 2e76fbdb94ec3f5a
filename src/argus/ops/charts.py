"""Operations for who draws: a service's checks over time, and how a session's context grew."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from argus.core.clock import rfc3339, stamp
from argus.core.errors import ArgusError, Code
from argus.core.patterns import NO_NUL
from argus.ops.house import House
from argus.ops.operation import Answer, Ask, operation
from argus.ops.sessions import ProjectNamed
from argus.ops.snake import SnakeAnswer
from argus.services.history import DAY, HOUR, rounded, share
from argus.services.recent import Reading
from argus.sessions.bands import MANDATORY
from argus.store.records import Counts

_HOURS, _DAYS, _NAMES = 24, 30, 50


class HistoryAsk(Ask):
    services: str = Field(
        min_length=1, max_length=8000, pattern=NO_NUL, description="Names, separated by commas: at most 50"
    )


class BarView(Answer):
    """What the checks of one hour or one day came to. Times without any check are left out."""

    start: str
    uptime: float | None = Field(description="From 0 to 1; null: none could be judged")
    checks: int
    latency_ms: float | None = Field(description="On average")
    slowest_ms: float | None


class CheckedView(Answer):
    at: str
    state: str
    latency_ms: float | None


class ServiceHistory(Answer):
    name: str
    hours: list[BarView] = Field(description="Of the last 24 hours, the oldest first")
    days: list[BarView] = Field(description="Of the last 30 days, in UTC, the oldest first")
    checks: list[CheckedView] = Field(description="The last of them since Argus was started, the oldest first")


class HistoryView(Answer):
    services: list[ServiceHistory]


class SampleView(SnakeAnswer):
    at: str
    used: int


class GrowthView(SnakeAnswer):
    project: str
    samples: list[SampleView] = Field(description="Tokens in its context over the last half hour, the oldest first")
    total: int
    handoff_at: int = Field(description="Tokens at which its work is handed on")
    tokens_per_minute: float | None = Field(description="null: too little was seen of it")
    predicted_handoff: str | None = Field(description="When it will be so full, as it grows now")


def _bars(buckets: dict[int, Counts]) -> list[BarView]:
    return [_bar(start, buckets[start]) for start in sorted(buckets)]


def _bar(start: int, counts: Counts) -> BarView:
    return BarView(
        start=rfc3339(start),
        uptime=rounded(share(counts)),
        checks=counts.up + counts.degraded + counts.down + counts.unknown,
        latency_ms=round(counts.latency / counts.timed * 1000, 2) if counts.timed else None,
        slowest_ms=round(counts.slowest * 1000, 2) if counts.timed else None,
    )


def _checked(one: Reading) -> CheckedView:
    latency = None if one.latency is None else round(one.latency * 1000, 2)
    return CheckedView(at=rfc3339(one.wall), state=one.status.value, latency_ms=latency)


@operation(
    "services.history", "GET /api/history", read_only=True, errors=(Code.SERVICE_NOT_FOUND, Code.STORE_UNAVAILABLE)
)
async def history(house: House, ask: HistoryAsk) -> HistoryView:
    """Tells of some services what their checks came to by the hour and by the day, and the last of them singly."""
    names = list(dict.fromkeys(ask.services.split(",")))
    if len(names) > _NAMES:
        raise ArgusError(Code.INVALID_REQUEST, f"services: at most {_NAMES} names", field="services")
    for name in names:
        house.watch.find(name)
    kept = house.watch.history
    hours, days = await kept.buckets(names, HOUR, _HOURS), await kept.buckets(names, DAY, _DAYS)
    return HistoryView(
        services=[
            ServiceHistory(
                name=name,
                hours=_bars(hours[name]),
                days=_bars(days[name]),
                checks=[_checked(one) for one in kept.recent.of(name)],
            )
            for name in names
        ]
    )


@operation("sessions.growth", "GET /api/sessions/{project}/growth", read_only=True, errors=(Code.NOT_FOUND,))
async def growth(house: House, ask: ProjectNamed) -> GrowthView:
    """Tells how a session's context grew over the last half hour, and when its work will be handed on."""
    one, now = house.sessions.find(ask.project), stamp(house.clock)
    context, until, rate = one.session.context, one.until_full(now), one.growth.rate
    total = context.total if context else one.session.place.window
    samples = [
        SampleView(at=rfc3339(now.wall - (now.boot - sample.boot)), used=sample.used) for sample in one.growth.samples
    ]
    return GrowthView(
        project=ask.project,
        samples=samples,
        total=total,
        handoff_at=round(MANDATORY * total),
        tokens_per_minute=None if rate is None else round(rate * 60, 1),
        predicted_handoff=rfc3339(now.wall + until) if until is not None and one.session.share else None,
    )


OPERATIONS: tuple[Any, ...] = (history, growth)
