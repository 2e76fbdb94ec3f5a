"""What a new configuration means for the services that are watched. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argus.services.checks.base import Service

_NAMED = 100
"""Names that one record of a change may hold."""


@dataclass(frozen=True, slots=True)
class Change:
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: int

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def data(self) -> dict[str, Any]:
        """For the record, bounded: ten thousand names are a count."""
        return {
            "added": list(self.added[:_NAMED]),
            "removed": list(self.removed[:_NAMED]),
            "changed": list(self.changed[:_NAMED]),
            "counts": [len(self.added), len(self.removed), len(self.changed)],
            "unchanged": self.unchanged,
        }


def change(before: Mapping[str, Service], after: Mapping[str, Service]) -> Change:
    both = [name for name in after if name in before]
    changed = tuple(sorted(name for name in both if before[name] != after[name]))
    return Change(
        added=tuple(sorted(set(after) - set(before))),
        removed=tuple(sorted(set(before) - set(after))),
        changed=changed,
        unchanged=len(both) - len(changed),
    )
