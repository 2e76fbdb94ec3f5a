"""Regular expressions of test files, as far as they can be judged before they are used. Pure.

They are written for JavaScript, where a group is named `(?<name>…)`. They are never applied here: one such as `(a+)+$`
takes longer than the world lasts, and Python's `re` cannot be stopped. `host/matching.py` applies them in a process
that can be ended.
"""

from __future__ import annotations

import re
from typing import Any

LONGEST = 4096
_NAMED = re.compile(r"(?<!\\)((?:\\\\)*)\(\?<(?![=!])")
"""Not where the bracket is written with a backslash, and stands for itself."""


def problem(pattern: Any) -> str:
    """Why it is no regular expression; empty where it is one."""
    if not isinstance(pattern, str):
        return "a regular expression is expected, as text"
    if len(pattern) > LONGEST:
        return f"a regular expression has at most {LONGEST} characters"
    try:
        re.compile(python(pattern))
    except re.error as error:
        return f"not a regular expression: {error.msg}"
    except (RecursionError, OverflowError, MemoryError):
        return "not a regular expression that can be used: nested too deep, or a count too large"
    return ""


def python(pattern: str) -> str:
    return _NAMED.sub(r"\1(?P<", pattern)
