"""Server-sent events out of the bytes of a stream. Pure."""

from __future__ import annotations

from argus.environments.testing.model import Events
from argus.environments.testing.seeing import Event

_LONGEST = 256 * 1024
"""Characters of one event."""
MOST = 4 * 1024 * 1024
"""Characters of all of them together."""
_COUNT = 10_000
"""Of events."""


class Reader:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.is_full = False
        self._rest = b""
        self._lines: list[str] = []
        self._size = self._all = 0
        self._is_first = True

    def take(self, piece: bytes) -> None:
        """What came. Lines end as anybody likes to end them."""
        data = self._rest + piece
        # A CR at the very end may be the first half of a CRLF.
        held = b"\r" if data.endswith(b"\r") else b""
        *lines, rest = data[: len(data) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = rest + held
        if len(self._rest) > _LONGEST:
            self.is_full = True
        for line in lines:
            if not self.is_full:
                self._line(line.decode("utf-8", "replace"))

    def end(self) -> None:
        """The stream is over; what was not ended by an empty line counts, as those who forget it expect."""
        if self._rest.strip():
            self._line(self._rest.decode("utf-8", "replace"))
        self._dispatch()

    def _line(self, line: str) -> None:
        if self._is_first:
            line, self._is_first = line.removeprefix("\ufeff"), False
        if not line:
            self._dispatch()
            return
        self._size += len(line)
        self._all += len(line)
        if self._size > _LONGEST or self._all > MOST:
            self.is_full = True
        elif not line.startswith(":"):
            self._lines.append(line)

    def _dispatch(self) -> None:
        data, kind, id = [], "message", None
        for line in self._lines:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            match name:
                case "data":
                    data.append(value)
                case "event":
                    kind = value or "message"
                case "id":
                    id = value
        self._lines, self._size = [], 0
        if data:
            self.is_full = self.is_full or len(self.events) >= _COUNT - 1
            self.events.append(Event(kind, "\n".join(data), id))


def is_enough(events: list[Event], wanted: Events | None) -> bool:
    """Whether nothing that may still come can change anything."""
    if wanted is None:
        return bool(events)
    if wanted.max_count is not None:
        return len(events) > wanted.max_count
    if wanted.data_not_contains or wanted.last is not None:
        return False
    return (
        len(events) >= max(1, wanted.min_count or 0)
        and {one.type for one in events}.issuperset(wanted.types)
        and all(any(text in one.data for one in events) for text in wanted.data_contains)
    )
