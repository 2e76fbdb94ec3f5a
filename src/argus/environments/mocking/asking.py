"""Which of the requests that were seen somebody wants to see. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from argus.core.errors import ArgusError, Code
from argus.environments.mocking.log import RequestLog, Seen


@dataclass(frozen=True, slots=True)
class Filter:
    mock: str | None = None
    method: str | None = None
    path: str | None = None
    """It begins so."""
    since: float | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Told:
    requests: tuple[Seen, ...]
    """The newest that fit, the oldest of them first."""
    total: int
    """Of these mocks, since they were last cleared; where only some are wanted, of those that are kept and fit."""
    served: tuple[str, ...]
    """The mocks that were looked at."""


def tell(logs: Mapping[str, RequestLog], known: Iterable[str], wanted: Filter) -> Told:
    """Raises MOCK_NOT_FOUND."""
    known = sorted({*known, *logs})
    if wanted.mock is not None and wanted.mock not in known:
        message = f"there is no mock {wanted.mock!r} in this environment"
        raise ArgusError(Code.MOCK_NOT_FOUND, message, mock=wanted.mock, known=known)
    looked_at = {name: log for name, log in logs.items() if wanted.mock in (None, name)}
    found = sorted((one for log in looked_at.values() for one in log.all() if _fits(one, wanted)), key=_moment)
    is_all = wanted.method is None and wanted.path is None and wanted.since is None
    total = sum(log.total for log in looked_at.values()) if is_all else len(found)
    return Told(tuple(found[-wanted.limit :]), total, tuple(sorted(looked_at)))


def _fits(one: Seen, wanted: Filter) -> bool:
    return (
        (wanted.method is None or one.method == wanted.method.upper())
        and (wanted.path is None or one.path.startswith(wanted.path))
        and (wanted.since is None or one.at >= wanted.since)
    )


def _moment(one: Seen) -> float:
    return one.at
