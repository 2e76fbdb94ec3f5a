"""Reading a screen: which character stands where, and which of them are only greyed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_SGR = re.compile("\x1b\\[([0-9;:]*)m")
_ANY = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~]?)|[\x0e\x0f]")


@dataclass(frozen=True, slots=True)
class Row:
    text: str
    dim: tuple[bool, ...]
    """Of each character of the text."""
    columns: tuple[int, ...]
    """Where each character of the text begins."""

    def typed(self, cursor: int | None) -> str:
        """Without what is only offered: greyed text from the cursor on. The cursor itself is never grey."""
        if cursor is None:
            return "" if self._is_dim(0) else self.text
        at = sum(column < cursor for column in self.columns)
        return self.text[:at] if self._is_dim(at + 1) or self._is_dim(at) else self.text

    def within(self, start: int, end: int) -> Row:
        return Row(self.text[start:end], self.dim[start:end], self.columns[start:end])

    def _is_dim(self, start: int) -> bool:
        rest = [dim for one, dim in zip(self.text[start:], self.dim[start:], strict=True) if not one.isspace()]
        return bool(rest) and all(rest)


class Screen:
    """Read where it is asked: taking every character of every row apart would cost more than asking tmux for them."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def text(self, y: int) -> str:
        """A row without colours; empty where there is none."""
        return _ANY.sub("", self._lines[y]).rstrip() if 0 <= y < len(self._lines) else ""

    def texts(self, start: int = 0, end: int | None = None) -> Iterator[str]:
        return (self.text(y) for y in range(max(0, start), len(self) if end is None else end))

    def row(self, y: int) -> Row:
        line, dim = self._lines[y], self._dim_before(y)
        text: list[str] = []
        dims: list[bool] = []
        columns: list[int] = []
        column = place = 0
        while place < len(line):
            found = _SGR.match(line, place) or _ANY.match(line, place)
            if found and found.end() > place:
                change = _dims(found[1]) if found.re is _SGR else None
                dim = dim if change is None else change
                place = found.end()
                continue
            text.append(line[place])
            dims.append(dim)
            columns.append(column)
            column += width(line[place])
            place += 1
        return Row("".join(text), tuple(dims), tuple(columns))

    def _dim_before(self, y: int) -> bool:
        """tmux carries colours over from one line to the next."""
        for line in reversed(self._lines[:y]):
            for parameters in reversed(_SGR.findall(line)):
                if (dim := _dims(parameters)) is not None:
                    return dim
        return False


def _dims(parameters: str) -> bool | None:
    """Whether what follows is dim; None if this does not say."""
    numbers = re.split("[;:]", parameters)
    dim: bool | None = None
    place = 0
    while place < len(numbers):
        number = numbers[place] or "0"
        if number in ("38", "48", "58"):
            # A colour brings numbers of its own: 38;5;2 is green, not dim.
            place += 3 if numbers[place + 1 : place + 2] == ["5"] else 5
            continue
        if number in ("0", "2", "22"):
            dim = number == "2"
        place += 1
    return dim


def width(one: str) -> int:
    if unicodedata.category(one) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(one) in "WF" else 1
