"""Names that come from outside. Validated where they enter, so that none can be read as an option, a path or a URL."""

from __future__ import annotations

import hashlib
import re

PATTERN = r"^(?!.*\.\.)[A-Za-z0-9_]([A-Za-z0-9_.:@ +-]{0,98}[A-Za-z0-9_.:@+-])?$"
"""All of the rule, so that a schema says as much as the check: two dots lead out of a folder, a blank at the end is
lost where somebody copies the name."""
_NAME = re.compile(PATTERN)
LETTER, LETTERS = "letter (a to z, A to Z)", "letters (a to z, A to Z)"
"""As they are called where one of another alphabet is refused."""


def made_of(first: str, *more: str, otherwise: str = "unnamed") -> str:
    """A name out of words that come from anywhere; `otherwise` stands for a first one of which nothing is left."""
    words = [_word(first) or otherwise, *filter(None, map(_word, more))]
    return "-".join(words)[:100].rstrip("-.")


def apart(text: str, longest: int = 100, *, otherwise: str = "unnamed", strictly: bool = False) -> str:
    """The same out of one text, with a piece of its hash where letters were lost: two that differ stay two.

    A blank is no letter, nor is any other mark of ASCII, unless strictly.
    """
    made = made_of(text, otherwise=otherwise)
    if len(text) <= longest and (made == text or (text.isascii() and not strictly)):
        return made
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{made[: longest - 9].rstrip('-.')}-{mark}"


def _word(text: str) -> str:
    return re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9_.-]+", "-", text)).strip("-.")


def check(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"a name starts with a {LETTER}, a digit or _, goes on with letters, digits and _ . : @ + - or blanks, "
            "and has at most 100 characters"
        )
    return name
