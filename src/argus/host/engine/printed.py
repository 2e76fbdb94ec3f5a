"""What a container printed, out of the engine's framing: 8 bytes before each piece, which of the outputs and how long.

One with a terminal has one output and no framing.
"""

from __future__ import annotations

_HEAD = 8
MOST = 256 * 1024
"""Bytes that are kept, the last ones."""


class Printed:
    def __init__(self, *, is_framed: bool) -> None:
        self._is_framed = is_framed
        self._left = 0
        """Bytes of the present piece that have not come yet."""
        self._head = bytearray()
        self._text = bytearray()

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
            del self._text[:-MOST]

    def lines(self, most: int) -> list[str]:
        text = bytes(self._text[-MOST:]).decode("utf-8", "replace").replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n") if text else []
        return lines[-most:] if most > 0 else []
