"""Values cut to a size that can be shown, kept and sent. Pure."""

from __future__ import annotations

import json
from typing import Any

from argus.core.cutting import beginning

MOST = 2000
"""Characters of a value in a failure."""


_TOO_DEEP = "(nested too deep to be shown)"


class _Missing:
    """What is not there, which is something else than null."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Any = _Missing()


def shown(value: Any, most: int = MOST) -> Any:
    """The value itself where it is small, and else the beginning of its text."""
    if value is MISSING:
        return None
    text = _json(value)
    if len(text) > most:
        return cut(value if isinstance(value, str) else text, most)
    if text is _TOO_DEEP:
        return text
    # A server may answer half a character, which no answer of ours can hold.
    return value if _is_clean(text) else clean(text)


def brief(value: Any, most: int = 80) -> str:
    """For a sentence."""
    return repr(value) if value is MISSING else clean(cut(_json(value), most))


def cut(text: str, most: int) -> str:
    return f"{clean(beginning(text, most))}… ({len(text)} characters)" if len(text) > most else clean(text)


def clean(text: str) -> str:
    """Without halves of characters."""
    return text if _is_clean(text) else text.encode("utf-8", "replace").decode("utf-8")


def _is_clean(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (RecursionError, ValueError):
        return _TOO_DEEP
