"""`{{…}}` in the body of a mock's answer: of each request its own. Pure: time and chance are handed in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from argus.environments.mocking.reading import Request

_REFERENCE = re.compile(r"\{\{([^{}\n]{1,200})\}\}")
LARGEST = 16 * 1024 * 1024
"""Characters of an answer: what was sent may be asked for many times over."""


class TooLarge(Exception):
    pass


@dataclass(slots=True)
class Filling:
    request: Request
    params: Mapping[str, str]
    timestamp: str
    """ISO 8601, as this format has it in mocks."""
    new_uuid: Callable[[], str]
    left: int = field(default=LARGEST)

    def fill(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {key: self.fill(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.fill(one) for one in value]
        return value

    def _text(self, text: str) -> Any:
        alone = _REFERENCE.fullmatch(text)
        if alone is not None:
            # By itself it is what it stands for: a number stays one.
            is_there, value = self._look_up(alone[1].strip())
            if is_there:
                self._spend(value)
            return value if is_there else text

        def filled(found: re.Match[str]) -> str:
            is_there, value = self._look_up(found[1].strip())
            if not is_there:
                return found[0]
            self._spend(value)
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

        return _REFERENCE.sub(filled, text) if "{{" in text else text

    def _spend(self, value: Any) -> None:
        self.left -= len(value) if isinstance(value, str) else len(json.dumps(value))
        if self.left < 0:
            raise TooLarge

    def _look_up(self, name: str) -> tuple[bool, Any]:
        request = self.request
        match name.split("."):
            case ["timestamp"]:
                return True, self.timestamp
            case ["uuid"]:
                return True, self.new_uuid()
            case ["request", "method"]:
                return True, request.method
            case ["request", "path"]:
                return True, request.path
            case ["request", "body", *path]:
                return _at(request.body, path)
            case ["request", "params", *rest] if rest:
                return _at(dict(self.params), [".".join(rest)])
            case ["request", "headers", *rest] if rest:
                return _at(dict(request.headers), [".".join(rest).lower()])
            case ["request", "query", *rest] if rest:
                several = request.query.get(".".join(rest))
                return several is not None, several[0] if several else None
        return False, None


def _at(value: Any, path: list[str]) -> tuple[bool, Any]:
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step[:9]) < len(value):
            value = value[int(step[:9])]
        else:
            return False, None
    return True, value
