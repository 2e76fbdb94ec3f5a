"""Secrets leave Argus through no sink: they are replaced where texts and records go out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "[redacted]"
_NAMED_LIKE_ONE = re.compile(
    r"(?i)(password|passwd|secret|token|api[_-]?key|apikey|authorization|credential|private[_-]?key)"
)
_USERINFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/\s@?#]+@")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")


class Redactor:
    """Knows the secrets of this installation, and what secrets look like."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def learn(self, secret: str) -> None:
        # Very short values would mask ordinary words.
        if len(secret) >= 6:
            self._known.add(secret)

    def text(self, text: str) -> str:
        for secret in sorted(self._known, key=len, reverse=True):
            text = text.replace(secret, MASK)
        return _BEARER.sub(rf"\1 {MASK}", _USERINFO.sub(rf"\1{MASK}@", text))

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {
                str(key): MASK if isinstance(item, str) and _NAMED_LIKE_ONE.search(str(key)) else self.value(item)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value
