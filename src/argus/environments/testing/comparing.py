"""When two values are the same, as JSON has it, and comparisons written as text: `>=1`. Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from argus.core import units

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
}
_WRITTEN = re.compile(r"\s*([><=!]{0,2})\s*([0-9][0-9.]{0,30}\s*[A-Za-z]{0,3})\s*")
_NUMBER = re.compile(r"[-+]?[0-9]{1,30}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A number that another one is held against: `>=1`, `==4`, `4`, and for sizes `<2KB`."""

    written: str
    sign: str
    number: int

    def holds(self, actual: int) -> bool:
        return _SIGNS[self.sign](actual, self.number)

    def __str__(self) -> str:
        return self.written


def comparison(value: Any) -> Comparison:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        value = str(value)
    found = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
    if found is None or (found[1] or "==") not in _SIGNS:
        raise ValueError('a comparison is expected, such as ">0", ">=1", "==4" or "<100"')
    return Comparison(value.strip(), found[1] or "==", units.size(found[2]))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(value: Any) -> float | None:
    """Also of text that is one: a header, and what a variable left, can be nothing but text."""
    if is_number(value):
        return float(value) if abs(value) < 1e300 else None
    return float(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else None


def same(one: Any, other: Any) -> bool:
    """true is not 1, but 1 is 1.0. As deep as the one that is written in the file."""
    if isinstance(other, dict):
        return isinstance(one, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in other)
    if isinstance(other, list):
        return isinstance(one, list) and len(one) == len(other) and all(map(same, one, other))
    if is_number(one) and is_number(other):
        return bool(one == other)
    return type(one) is type(other) and bool(one == other)
