"""Text from outside, made harmless: for a terminal, and for whoever reads it there."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 256 * 1024
"""Characters that are typed at most."""
_QUOTED = 2000
_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences, such as the one that ends a paste
    "|(?:\x1b[PX^_\\]]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"  # titles, links, device strings
    "|\x1b[ -/]*[0-~]?"
)
_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_INVISIBLE = frozenset({"Cc", "Cs"})
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
"""Characters that show a text in another order than it is read."""
_MENTION = re.compile(r"\$(?=[A-Za-z])")
_KEYWORD = re.compile(r"\b(ultra)(?=[a-z])", re.I)


def clean(text: str, *, lines: bool) -> str:
    """Without escape sequences and control characters. Line breaks stay where `lines` are wanted, else are spaces.

    Until nothing is left to take away: what one pass leaves could form a sequence anew.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _BREAK.sub("\n", text)
    while (less := _SEQUENCE.sub("", text)) != text:
        text = less
    kept = [one for one in text if one in "\n\t" or not (unicodedata.category(one) in _INVISIBLE or one in _TURNING)]
    text = "".join(kept)
    return text if lines else re.sub(r"[ \t]*\n\s*", " ", text).replace("\t", " ")


def inert(text: str) -> str:
    """Without what an agent's program acts on wherever it stands in a prompt, before any model has read it.

    Claude Code reads the file of an `@path` into the conversation, or asks the agent of an `@name`; Codex does so with
    the skill of a `$name`; `ultrathink` and its like change how it works. Quotes around it keep them from nothing.
    """
    return _KEYWORD.sub(r"\1-", _MENTION.sub("$ ", text.replace("@", "(at)")))


def quoted(text: str, limit: int = _QUOTED) -> str:
    """Text from a log or a heartbeat as data in one line: in quotes of its own, inert, bounded, and visibly cut.

    Its own quotes cannot end it, and none of its line breaks begins a line that looks like somebody's words.
    """
    line = inert(clean(text, lines=False)).strip().replace("“", '"').replace("”", '"')
    if len(line) > limit:
        line = f"{line[:limit].rstrip()} … ({len(line) - limit} more characters)"
    return f"“{line}”"
