"""Maintenance by the calendar: windows that a cron expression opens, in the machine's local time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from cronsim import CronSim, CronSimError
from pydantic import Field, field_validator

from argus.schema import PositiveDuration, Section

_MINUTE = timedelta(minutes=1)


class Window(Section):
    cron: str = Field(description='When it opens, in local time, such as "0 3 * * SUN": minute hour day month weekday.')
    duration: PositiveDuration = Field(description="How long it lasts.")

    @field_validator("cron")
    @classmethod
    def _can_be_read(cls, cron: str) -> str:
        try:
            next(CronSim(cron, datetime(2000, 1, 1)))  # noqa: DTZ001 - cron means local time, whatever its zone
        except (CronSimError, StopIteration) as error:
            raise ValueError(f"not a cron expression: {str(error) or 'it never comes'}") from None
        return cron


def until(windows: Iterable[Window], wall: float) -> float | None:
    """When the last window that is open now ends, as wall time; None: none is open."""
    ends = [end for window in windows if (end := _opened(window, wall) + window.duration) > wall]
    return max(ends, default=None)


def _opened(window: Window, wall: float) -> float:
    """The last time it opened."""
    now = datetime.fromtimestamp(wall).replace(second=0, microsecond=0)  # noqa: DTZ006 - local time is meant
    try:
        return next(CronSim(window.cron, now + _MINUTE, reverse=True)).timestamp()
    except StopIteration:
        return float("-inf")
