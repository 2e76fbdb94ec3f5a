"""Names that come from outside. Validated where they enter, so that none can be read as an option, a path or a URL."""

from __future__ import annotations

import re

PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_.:@ +-]{0,99}$"
_NAME = re.compile(PATTERN)


def check(name: str) -> str:
    if not _NAME.fullmatch(name) or ".." in name or name != name.strip():
        raise ValueError(
            "a name starts with a letter, a digit or _, goes on with letters, digits and _ . : @ + - or blanks, "
            "and has at most 100 characters"
        )
    return name
