"""Text that is too long, cut so that no half of a secret stays.

Half of one is no pattern any more: whoever redacts what was cut does not find it. So what has the shape of a secret is
masked first; and half a word at the cut goes too, as it may be half of one that only this installation knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from argus.core.redact import by_shape

_AHEAD = 4096
"""Characters beyond the cut that are looked at. No secret but a key in PEM is longer, and that is known by its head."""
_NAME = 64
"""Characters before a value in which its name stands."""
_WORD = 100
"""Characters. What is longer is no word: a text without spaces is cut where it has to be, or rather before the last run
of letters and digits in it."""
_LAST = re.compile(rf"(?<![A-Za-z0-9])[A-Za-z0-9]{{1,{_WORD}}}\Z")
_FIRST = re.compile(rf"\A[A-Za-z0-9]{{1,{_WORD}}}(?![A-Za-z0-9])")


def beginning(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    seen = by_shape(text[: limit + _AHEAD])
    if len(text) <= limit + _AHEAD and len(seen) <= limit:
        return seen
    kept, next_one = seen[:limit], seen[limit : limit + 1]
    if not next_one.isspace():
        several = kept.rsplit(None, 1)
        is_word = len(several) == 2 and len(several[1]) <= _WORD
        kept = several[0] if is_word else _LAST.sub("", kept) if next_one.isalnum() else kept
    return kept.rstrip()


def ending(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    start = _between(text, len(text) - limit - _AHEAD)
    seen = by_shape(text[start:])
    if not start and len(seen) <= limit:
        return seen
    kept, one_before = seen[-limit:], seen[: -limit or None][-1:]
    if not one_before.isspace():
        several = kept.split(None, 1)
        is_word = len(several) == 2 and len(several[0]) <= _WORD
        kept = several[1] if is_word else _FIRST.sub("", kept) if one_before.isalnum() else kept
    return kept.lstrip()


def cleaned(lines: Iterable[str], clean: Callable[[str], str]) -> list[str]:
    """Together: a key has many lines, and without its first one none of them is known for a part of it."""
    text = "\n".join(lines)
    return clean(text).split("\n") if text else []


def _between(text: str, start: int) -> int:
    """Where to begin instead, so that no value is looked at without its beginning and its name."""
    for _ in range(2):
        while start > 0 and not text[start - 1].isspace():
            start -= 1
        start -= _NAME
    return max(0, start)
