"""A row of the table: what was measured, what it is compared with, and whether the goal was met. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

Series = Sequence[float]
"""One figure a round."""


@dataclass(frozen=True, slots=True)
class Goal:
    limit: float
    of: str | None = None
    """The floor or peer whose figure the limit multiplies; None when the limit is a figure by itself."""
    at_least: bool = False

    def is_met(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{sign} {figure(self.limit)} x {self.of}" if self.of else f"{sign} {figure(self.limit)}"


@dataclass(frozen=True, slots=True)
class Row:
    work: str
    unit: str
    argus: Series
    floor: tuple[str, Series] | None = None
    peers: Mapping[str, Series] = field(default_factory=dict)
    goal: Goal | None = None
    note: str = ""
    """What the figure leaves out, or why a peer is missing."""

    def ratios(self) -> list[float]:
        """Round by round, so that what slows the machine down for a while slows both sides of a ratio."""
        name = self.goal.of if self.goal and self.goal.of else self.floor[0] if self.floor else None
        other = self._others().get(name) if name else None
        return [mine / theirs for mine, theirs in zip(self.argus, other, strict=False) if theirs] if other else []

    def verdict(self) -> str:
        if self.goal is None:
            return "-"
        if not self.goal.of:
            return "met" if self.goal.is_met(median(self.argus)) else "MISSED"
        ratios = self.ratios()
        if not ratios:
            return "not compared"
        return "met" if self.goal.is_met(median(ratios)) else "MISSED"

    def cells(self) -> tuple[str, ...]:
        ratios = self.ratios()
        ratio = f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})" if ratios else ""
        peers = ", ".join(f"{name} {figure(median(series))}" for name, series in self.peers.items())
        floor = f"{self.floor[0]} {figure(median(self.floor[1]))}" if self.floor else ""
        goal = str(self.goal) if self.goal else ""
        return (f"{self.work}, {self.unit}", floor, peers, figure(median(self.argus)), ratio, goal, self.verdict())

    def public(self) -> dict[str, Any]:
        others = {name: list(series) for name, series in self._others().items()}
        goal = str(self.goal) if self.goal else None
        return {
            "work": self.work,
            "unit": self.unit,
            "argus": list(self.argus),
            "others": others,
            "ratios": self.ratios(),
            "goal": goal,
            "verdict": self.verdict(),
            "note": self.note,
        }

    def _others(self) -> dict[str, Series]:
        return {**dict([self.floor] if self.floor else []), **self.peers}


HEADER = ("work", "floor", "peers", "Argus", "ratio", "goal", "verdict")


def figure(value: float) -> str:
    """Three digits that mean something; more would be noise."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(rows: Sequence[Row]) -> str:
    """As Markdown, so that it can be pasted where it is talked about."""
    return grid(HEADER, [row.cells() for row in rows])


def grid(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    lines = [header, *body]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    rule = [["-" * width for width in widths]]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in [header, *rule, *body]
    )
