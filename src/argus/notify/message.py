"""A message to a person, and how much it matters."""

from __future__ import annotations

from dataclasses import dataclass

URGENT, IMPORTANT, INFORMATIVE = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Message:
    tier: int
    title: str
    body: str
