"""The end of what a command prints, which says why it failed; and its lines, for who watches. Pure."""

from __future__ import annotations

from collections.abc import Callable

from argus.core.cutting import beginning

_KEPT = 16 * 1024
_LINE = 300
_AT_ONCE = 20
"""Lines of one piece that are shown: nobody reads what flies past."""


class Tail:
    def __init__(self, said: Callable[[str], None]) -> None:
        self._said = said
        self._kept = b""
        self._line = b""

    def take(self, piece: bytes) -> None:
        self._kept = (self._kept + piece[-_KEPT:])[-_KEPT:]
        *lines, self._line = (self._line + piece).split(b"\n")
        self._line = self._line[-_KEPT:]
        for line in lines[-_AT_ONCE:]:
            self._show(line)

    def end(self) -> None:
        if self._line:
            self._show(self._line)

    def _show(self, line: bytes) -> None:
        text = beginning(line[: 8 * _LINE].decode("utf-8", "replace").rstrip(), _LINE)
        if text:
            self._said(text)

    @property
    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")
