"""Text that is too long, cut so that no half of a secret stays.

Half of one is no pattern any more: whoever redacts what was cut does not find it. So what has the shape of a secret is
masked first; and half a word at the cut goes too, as it may be half of one that only this installation knows.
"""

from __future__ import annotations

from argus.core.redact import by_shape

_AHEAD = 4096
"""Characters beyond the cut that are looked at. No secret but a key in PEM is longer, and that is known by its head."""
_WORD = 100
"""Characters. What is longer is no word: a text without spaces is cut where it has to be."""


def beginning(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    seen = by_shape(text[: limit + _AHEAD])
    if len(text) <= limit + _AHEAD and len(seen) <= limit:
        return seen
    kept, is_between = seen[:limit], seen[limit : limit + 1].isspace()
    if not is_between and len(several := kept.rsplit(None, 1)) == 2 and len(several[1]) <= _WORD:
        kept = several[0]
    return kept.rstrip()


def ending(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    seen = by_shape(text[-limit - _AHEAD :])
    if len(text) <= limit + _AHEAD and len(seen) <= limit:
        return seen
    kept, is_between = seen[-limit:], seen[: -limit or None][-1:].isspace()
    if not is_between and len(several := kept.split(None, 1)) == 2 and len(several[0]) <= _WORD:
        kept = several[1]
    return kept.lstrip()
