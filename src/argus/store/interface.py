"""What every store can do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from argus.core.budget import MOST
from argus.core.events import Event
from argus.store.records import (
    Act,
    Condition,
    Counts,
    Cursor,
    Document,
    HealthCheck,
    Incident,
    Prune,
    Pruned,
    Tally,
    Write,
)


class Store(Protocol):
    @property
    def epoch(self) -> str:
        """Names this store; another store, or a set-aside one's successor, has another."""
        ...

    @property
    def problem(self) -> str | None:
        """Why the last commit failed; None while the store is well."""
        ...

    @property
    def set_aside(self) -> Path | None:
        """Where the damaged predecessor of this store was kept."""
        ...

    async def commit(self, *writes: Write) -> list[Event]:
        """All of it on disk when this returns, or none of it. Returns the events that were appended.

        Raises ArgusError(STORE_UNAVAILABLE) when it cannot be written; then nothing may be acted on.
        """
        ...

    async def was_committed(self, transaction: str) -> bool:
        """What became of a commit that raised Undecided."""
        ...

    async def prune(self, order: Prune) -> Pruned:
        """One piece of it, in one short commit."""
        ...

    async def events(
        self, after: int, *, limit: int = 500, channel: str | None = None, subject: str | None = None
    ) -> list[Event]: ...

    async def last_events(
        self, limit: int, *, channel: str | None = None, type: str | None = None, since: int = 0
    ) -> list[Event]:
        """The newest, oldest first."""
        ...

    async def story(self, incident: str, *, limit: int = 1000) -> list[Event]:
        """What was recorded about one incident, in order."""
        ...

    async def span(self) -> tuple[int, int]:
        """The oldest and the newest number kept; (0, 0) when there is none.

        A position below the oldest was pruned. What is kept of open incidents below it is in their stories only.
        """
        ...

    async def wait(self, after: int) -> None:
        """Returns when there is an event beyond `after`."""
        ...

    async def acts(self, *, kind: str, newest: int = MOST) -> list[Act]:
        """The newest of a kind, oldest first: as many as any budget can count."""
        ...

    async def open_acts(self) -> list[Act]: ...

    async def incidents(
        self, *, open_only: bool = False, limit: int = 100, before: str | None = None
    ) -> list[Incident]: ...

    async def incident(self, id: str) -> Incident | None: ...

    async def conditions(self, domain: str) -> dict[str, Condition]: ...

    async def tallied(self, domain: str, span: int, first: int, last: int) -> dict[str, Counts]:
        """The sums of each subject over the buckets of this span that begin from `first` to `last`."""
        ...

    async def buckets(self, domain: str, span: int, starts: Sequence[int], subjects: Sequence[str]) -> list[Tally]:
        """Single buckets of some subjects, in no order. Meant for what one page shows: tens of each."""
        ...

    async def setting(self, key: str) -> Any: ...

    async def documents(self, domain: str, *, live: bool = True) -> list[Document]: ...

    async def cursor(self, name: str) -> Cursor | None: ...

    async def sessions(self) -> list[dict[str, Any]]:
        """What Argus wrote of each session to go on with."""
        ...

    async def spawns(self, *, open_only: bool = False, limit: int = 100) -> list[dict[str, Any]]:
        """The same of spawns, the newest first; those that are still judged, or all."""
        ...

    async def health_checks(
        self,
        *,
        project: str | None = None,
        type: str | None = None,
        status: str | None = None,
        since: float = 0.0,
        limit: int = 100,
        before: int | None = None,
    ) -> list[HealthCheck]:
        """Of the audit trail, the newest first; `before` is the id where an earlier page ended."""
        ...

    async def close(self) -> None: ...
