"""Other MCP servers as people read them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from argus.cli.render import Shown, clean, table

_CUT = 100


def _call(answer: dict[str, Any]) -> Shown:
    """What the tool said, and nothing else: it is piped into other programs."""
    shown = [_part(one) for one in answer["content"]]
    if not shown and answer["structuredContent"] is not None:
        shown = [json.dumps(answer["structuredContent"], indent=2)]
    return Shown("\n".join(shown), 1 if answer["isError"] else 0)


def _ask(answer: dict[str, Any]) -> Shown:
    """What was answered, and nothing else, but for servers that failed on the way."""
    structured = answer["structured"]
    text = answer["text"] if structured is None else json.dumps(structured, indent=2, ensure_ascii=False)
    lines = [clean(line) for line in text.split("\n")]
    lines += [f"({clean(one['name'])} {one['state']}: {clean(one['reason'])})" for one in _failed(answer)]
    return Shown("\n".join(lines))


def _failed(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in answer["servers"] if one["state"] in ("failed", "absent")]


def _part(one: dict[str, Any]) -> str:
    if one.get("type") == "text":
        return "\n".join(clean(line) for line in str(one.get("text", "")).split("\n"))
    about = one.get("mimeType") or one.get("uri") or ""
    return f"({clean(one.get('type', 'something'))} {clean(about)}: see --json)"


def _servers(answer: dict[str, Any]) -> Shown:
    rows = [["SERVER", "STATE", "KIND", "FROM", "WHY"]]
    rows += [
        [clean(one["name"]), _state(one), one["kind"], clean(one["source"]), clean(_why(one))]
        for one in answer["servers"]
    ]
    notices = [f"notice: {clean(one)}" for one in answer["notices"]]
    if len(rows) == 1:
        return Shown("\n".join(["no MCP servers are known here", *notices]))
    return Shown("\n".join([table(rows, coloured=1), *notices]))


def _server(one: dict[str, Any]) -> Shown:
    why = _why(one)
    text = f"{clean(one['name'])}: {_state(one)}" + (f" ({clean(why)})" if why else "")
    return Shown(text, 0 if one["available"] else 1)


def _state(one: dict[str, Any]) -> str:
    return "up" if one["available"] else "down"


def _why(one: dict[str, Any]) -> str:
    if one["problem"]:
        return str(one["problem"])
    wait = one["retryInSeconds"]
    if one["breaker"] == "open":
        return f"{one['failures']} failures in a row" + ("" if wait is None else f", asked again in {wait:g} s")
    return f"{one['failures']} failures in a row" if one["failures"] else ""


def _tools(answer: dict[str, Any]) -> Shown:
    lines = []
    for one in answer["tools"]:
        given = one["inputSchema"].get("properties")
        required = one["inputSchema"].get("required") or []
        names = [name if name in required else f"[{name}]" for name in given] if isinstance(given, dict) else []
        said = clean(" ".join(one["description"].split()))[:_CUT]
        lines.append(f"{clean(one['name'])}({clean(', '.join(names))})" + (f"  {said}" if said else ""))
    return Shown("\n".join(lines) or f"{clean(answer['server'])} has no tools")


TEXTS: dict[str, Callable[[Any], Shown]] = {
    "ask": _ask,
    "call": _call,
    "bridge servers": _servers,
    "bridge server": _server,
    "bridge tools": _tools,
}
