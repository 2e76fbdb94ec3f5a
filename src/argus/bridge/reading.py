"""What `claude -p --output-format stream-json` says, line by line. Pure.

The forms were recorded from Claude Code 2.1.325. Lines and fields that are not known are passed over: others will come.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from argus.bridge.naming import server_in
from argus.core.cutting import beginning

_SAID = 500
# What the client says of a server itself. With any other number it passes on what the server answered.
_OF_THE_CLIENT = frozenset({-32000, -32001})
_PROTOCOL_ERROR = re.compile(r"MCP error (-?\d+)")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model's service said no."""

    status: int | None
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    ok: bool
    kind: str
    """`success`, `error_max_turns`, ..."""
    text: str
    structured: Any
    turns: int | None
    cost: float | None
    errors: tuple[str, ...]


@dataclass(slots=True)
class Heard:
    """All that was said so far."""

    servers: dict[str, str] | None = None
    """How each stands when the work begins; None: it has not begun."""
    answered: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    """Servers that did not answer a call, and what was said of it."""
    waiting: dict[str, str] = field(default_factory=dict)
    """Calls that are under way, and whose they are."""
    denied: set[str] = field(default_factory=set)
    """Tools that were wanted and are not allowed."""
    refusal: Refusal | None = None
    """The last word of the model's service, if that was no."""
    result: Result | None = None
    strange: int = 0
    """Lines that nobody could read."""

    def take(self, line: bytes) -> None:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            self.strange += bool(line.strip())
            return
        if not isinstance(said, dict):
            self.strange += 1
            return
        kind, subkind = said.get("type"), said.get("subtype")
        if kind == "system" and subkind == "init":
            self.servers = {_text(one.get("name")): _text(one.get("status")) for one in _dicts(said.get("mcp_servers"))}
        elif kind == "system" and subkind == "api_retry":
            self.refusal = Refusal(_number(said.get("error_status")), _text(said.get("error")), "it is asked again")
        elif kind == "assistant":
            self._take_words(said)
        elif kind == "user":
            self._take_results(said)
        elif kind == "result":
            self._take_end(said)

    def _take_words(self, said: Mapping[str, Any]) -> None:
        blocks = _content(said)
        if said.get("error"):
            text = next((_text(one.get("text")) for one in blocks if one.get("type") == "text"), "")
            self.refusal = Refusal(
                _number(said.get("api_error_status")), _text(said.get("error")), beginning(text, _SAID)
            )
            return
        self.refusal = None
        for one in blocks:
            server = server_in(_text(one.get("name")), self.servers or ()) if one.get("type") == "tool_use" else None
            if server is not None:
                self.waiting[_text(one.get("id"))] = server

    def _take_results(self, said: Mapping[str, Any]) -> None:
        results = [one for one in _content(said) if one.get("type") == "tool_result"]
        metas = {_text(one.get("id")): one for one in _dicts(said.get("tool_result_meta"))}
        for one in results:
            number = _text(one.get("tool_use_id"))
            server = self.waiting.pop(number, None)
            if server is None:
                continue
            text = _words(one.get("content"))
            whole = said.get("tool_use_result") if len(results) == 1 else None
            # What a server answered is passed on as it is; what the client says in its place is a line of text.
            if not one.get("is_error") or isinstance(whole, dict) or _is_an_answer(text):
                self.answered.add(server)
            elif "non_execution_kind" not in metas.get(number, {}) and not text.startswith("<tool_use_error>"):
                self.failed[server] = beginning(text, _SAID)

    def _take_end(self, said: Mapping[str, Any]) -> None:
        status = _number(said.get("api_error_status"))
        text, errors = said.get("result"), said.get("errors")
        if said.get("is_error") and (status is not None or said.get("terminal_reason") == "api_error"):
            kind = _text(said.get("api_error_type")) or (self.refusal.kind if self.refusal else "")
            self.refusal = Refusal(status, kind, beginning(_text(text), _SAID))
        self.denied |= {_text(one.get("tool_name")) for one in _dicts(said.get("permission_denials"))}
        self.result = Result(
            ok=said.get("subtype") == "success" and not said.get("is_error"),
            kind=_text(said.get("subtype")),
            text=_text(text),
            structured=said.get("structured_output"),
            turns=_number(said.get("num_turns")),
            cost=said["total_cost_usd"] if isinstance(said.get("total_cost_usd"), int | float) else None,
            errors=tuple(beginning(one, _SAID) for one in errors if isinstance(one, str))
            if isinstance(errors, list)
            else (),
        )


def _is_an_answer(text: str) -> bool:
    found = _PROTOCOL_ERROR.search(text)
    return found is not None and int(found[1]) not in _OF_THE_CLIENT


def _content(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    message = said.get("message")
    return list(_dicts(message.get("content"))) if isinstance(message, dict) else []


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(_text(one.get("text")) for one in _dicts(content))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
