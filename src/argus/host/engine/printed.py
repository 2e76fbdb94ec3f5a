"""What a container printed, out of the engine's framing: 8 bytes before each piece, which of the outputs and how long.

One with a terminal has one output and no framing.
"""

from __future__ import annotations

_HEAD = 8
MOST = 256 * 1024
"""Bytes that are kept, the last ones."""


class Printout(list[str]):
    """The last lines of what was printed."""

    is_cut = False
    """Whether more was asked for than is kept."""


class Printed:
    def __init__(self, *, is_framed: bool) -> None:
        self._is_framed = is_framed
        self._left = 0
        """Bytes of the present piece that have not come yet."""
        self._head = bytearray()
        self._text = bytearray()
        self._is_cut = False

    def take(self, data: bytes) -> None:
        if not self._is_framed:
            self._keep(data)
            return
        at = 0
        while at < len(data):
            if self._left:
                piece = data[at : at + self._left]
                self._left -= len(piece)
                at += len(piece)
                self._keep(piece)
                continue
            more = data[at : at + _HEAD - len(self._head)]
            self._head += more
            at += len(more)
            if len(self._head) == _HEAD:
                self._left = int.from_bytes(self._head[4:], "big")
                self._head.clear()

    def _keep(self, piece: bytes) -> None:
        self._text += piece
        if len(self._text) > 2 * MOST:
            self._cut()

    def _cut(self) -> None:
        self._is_cut = self._is_cut or len(self._text) > MOST
        del self._text[:-MOST]

    def give_up(self) -> None:
        """What follows is not read any more."""
        self._is_cut = True

    def lines(self, most: int) -> Printout:
        self._cut()
        text = bytes(self._text).decode("utf-8", "replace").replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n") if text else []
        is_only_an_end = len(lines) == 1
        if self._is_cut and not is_only_an_end:
            del lines[:1]
        found = Printout(lines[-most:] if most > 0 else [])
        found.is_cut = self._is_cut and (is_only_an_end or len(lines) < most)
        return found
