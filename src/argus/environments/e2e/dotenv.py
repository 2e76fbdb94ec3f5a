"""`.env` files: `NAME=value`, as the programs that share the file read them. Pure."""

from __future__ import annotations

import re

_ASSIGNED = re.compile(r"[^\S\n]*(?:export[^\S\n]+)?([A-Za-z_][\w.-]{0,199})[^\S\n]*(?:=|:(?=\s))[^\S\n]*", re.ASCII)
_QUOTES = "'\"`"
_ESCAPES = {r"\n": "\n", r"\r": "\r", r"\"": '"'}


def parse(text: str) -> tuple[dict[str, str], list[int]]:
    """The values, the last of a name wins; and the lines that say nothing. Those are not shown: they may be secrets."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    values: dict[str, str] = {}
    unread: list[int] = []
    place, line = 0, 1
    while place < len(text):
        after = text.find("\n", place)
        after = len(text) if after < 0 else after
        content = text[place:after].strip()
        assigned = _ASSIGNED.match(text, place, after) if content and not content.startswith("#") else None
        if assigned:
            values[assigned[1]], ended = _value(text, assigned.end(), after)
            line += text.count("\n", after, ended)
            after = ended
        elif content and not content.startswith("#"):
            unread.append(line)
        place, line = after + 1, line + 1
    return values, unread


def _value(text: str, start: int, after: int) -> tuple[str, int]:
    """The value, and the end of the line it ends in: a quoted one may have several."""
    quote = text[start : start + 1]
    if quote and quote in _QUOTES:
        end = _closing(text, quote, start + 1)
        line_end = text.find("\n", end) if end >= 0 else -1
        line_end = len(text) if line_end < 0 else line_end
        # Something behind the quote that is no comment: then the quote is a character like any other.
        if end >= 0 and (text[end + 1 : line_end].strip() or "#").startswith("#"):
            return _unescaped(text[start + 1 : end], quote), line_end
    return text[start:after].partition("#")[0].strip(), after


def _closing(text: str, quote: str, start: int) -> int:
    end = text.find(quote, start)
    while end > 0 and text[end - 1] == "\\":
        end = text.find(quote, end + 1)
    return end


def _unescaped(text: str, quote: str) -> str:
    return re.sub(r"\\[nr\"]", lambda found: _ESCAPES[found[0]], text) if quote == '"' else text
