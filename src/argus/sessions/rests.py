"""For how long handoff documents have lain there unchanged, from one look to the next."""

from __future__ import annotations

from dataclasses import dataclass

from argus.core.clock import Stamp, age
from argus.sessions.handoff import Handoff, Paper
from argus.sessions.tools import Leaf


@dataclass(slots=True)
class _Rest:
    seen: Stamp
    """When it was looked at last."""
    mark: tuple[int, int, float] | None = None
    since: Stamp | None = None
    """The first look at which it was as it is."""
    written: Stamp | None = None


class Rests:
    def __init__(self) -> None:
        self._all: dict[str, _Rest] = {}

    def seen(self, one: Handoff, leaf: Leaf | None, now: Stamp) -> Paper | None:
        rest = self._all.setdefault(one.id, _Rest(one.began))
        before, rest.seen = rest.seen, now
        if leaf is None:
            rest.mark = None
            return None
        mark = (leaf.inode, leaf.size, leaf.modified)
        if rest.mark != mark or rest.since is None or rest.written is None:
            rest.mark, rest.since, rest.written = mark, now, _written(leaf, before, now)
        return Paper(leaf.size, age(rest.since, now), leaf.problem, age(rest.written, now))

    def forget(self, one: Handoff) -> None:
        self._all.pop(one.id, None)


def _written(leaf: Leaf, before: Stamp, now: Stamp) -> Stamp:
    """As the file tells, but not before the look that found it otherwise: a wall clock may have been set since."""
    ago = min(max(0.0, now.wall - leaf.modified), age(before, now))
    return Stamp(now.boot_id, now.boot - ago, now.wall - ago)
