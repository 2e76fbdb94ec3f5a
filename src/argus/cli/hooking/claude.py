"""Claude Code's settings.json: our hooks and our status line in it, beside all that was there.

http hooks, as they cost no process each. SessionStart does not come that way, so that one is a command. A failure of a
hook lets Claude Code go on; one that hangs holds it up for the timeout, so that is as short as it can be.
"""

from __future__ import annotations

import copy
import json
import math
import re
from typing import Any, TypeGuard

from argus.cli.hooking.refusing import refused
from argus.cli.hooking.reporter import MARK, Reporter
from argus.core.errors import ArgusError

AGENT = "claude"
EVENTS = (
    "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Notification", "PermissionRequest", "Stop",
    "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd",
)  # fmt: skip
STARTS = "SessionStart"
TIMEOUT = 1
"""Seconds."""
_PATH = f"/api/hooks/{AGENT}"
_TAIL = f" exit 0 # {MARK}"
_WRAPS = " printf '%s\\n' \"$i\" | { : " + MARK + "\n"
_WRAPPED = "\n}"

_BOM = "\ufeff"
_HALF = re.compile("[\ud800-\udfff]")

Settings = dict[str, Any]


def parse(raw: bytes, file: str) -> Settings:
    """Refuses what could not be written back as it was."""
    try:
        text = raw.decode("utf-8").removeprefix(_BOM)
        found = json.loads(
            text if text.strip() else "{}", object_pairs_hook=_once, parse_float=_finite, parse_constant=_no_number
        )
    except (ValueError, RecursionError) as error:
        hint = "Comments are not JSON." if b"//" in raw or b"/*" in raw else ""
        raise refused(f"{file} is not JSON that can be kept as it is: {error}", file, hint=hint) from None
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise refused(f"{file} has hooks of a shape that is not known", file)
    return dict(found)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number in JSON")


def written(settings: Settings, like: bytes, file: str) -> bytes:
    """The whole file. Read again before anybody writes it: what says something else than it should is refused."""
    try:
        made = render(settings, like)
        if parse(made, file) == settings:
            return made
    except (ArgusError, RecursionError, ValueError):
        pass  # for whatever reason: it could not be read again
    raise refused(f"{file} cannot be edited without changing something else in it", file)


def render(settings: Settings, like: bytes) -> bytes:
    """As the file was written before: its mark, its indentation, its last line."""
    text = like.decode("utf-8", "replace")
    mark = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    found = re.search(r"^([ \t]+)\"", text, re.M)
    indent: str | int | None = found[1] if found else None if text.strip() and "\n" not in text.strip() else 2
    if indent is None and not json.loads(text or "{}"):
        indent = 2
    end = "\n" if text.endswith("\n") or not text.strip() else ""
    made = json.dumps(settings, indent=indent, ensure_ascii=False, allow_nan=False)
    # Half of a pair, as programs write who cut a text in two: no encoding has it, an escape does.
    made = _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", made)
    return f"{mark}{made}{end}".encode()


def with_ours(settings: Settings, reporter: Reporter) -> Settings:
    made = without_ours(settings)
    hooks = made.setdefault("hooks", {})
    hooks.setdefault(STARTS, []).append({"hooks": [_started(reporter)]})
    for event in EVENTS:
        hooks.setdefault(event, []).append({"hooks": [_posted(reporter)]})
    line = made.get("statusLine")
    if line is None:
        made["statusLine"] = {"type": "command", "command": _reading(reporter) + _TAIL}
    elif _is_command(line):
        line["command"] = f"{_reading(reporter)}{_WRAPS}{line['command']}{_WRAPPED}"
    return made


def without_ours(settings: Settings, before: Settings | None = None) -> Settings:
    """`before`: what was there first, where that is known: an empty place that was there stays."""
    made = copy.deepcopy(settings)
    hooks = made.get("hooks", {})
    earlier = (before or {}).get("hooks")
    for event in list(hooks):
        hooks[event] = [group for group in map(_cleared, hooks[event]) if group is not None]
        if not hooks[event] and settings["hooks"][event] and not (isinstance(earlier, dict) and event in earlier):
            del hooks[event]
    if "hooks" in made and not hooks and settings["hooks"] and not isinstance(earlier, dict):
        del made["hooks"]
    line = made.get("statusLine")
    if _is_command(line):
        command = line["command"]
        if command.endswith(_TAIL):
            del made["statusLine"]
        elif _WRAPS in command and command.endswith(_WRAPPED):
            line["command"] = command.partition(_WRAPS)[2].removesuffix(_WRAPPED)
    return made


def installed(settings: Settings) -> dict[str, str]:
    """Which events are ours, and where each goes; empty for the one that is a command."""
    found = {}
    for event, groups in settings.get("hooks", {}).items():
        for hook in _hooks(groups):
            if _is_ours(hook):
                found[event] = str(hook.get("url", ""))
    return found


def status_line(settings: Settings) -> str:
    """Whether the status line is `ours`, `wrapped` around the person's own, `theirs`, or `none`."""
    line = settings.get("statusLine")
    command = line["command"] if _is_command(line) else ""
    if command.endswith(_TAIL):
        return "ours"
    return "wrapped" if _WRAPS in command else "theirs" if line is not None else "none"


def token(settings: Settings) -> str:
    """The one that our hooks carry."""
    for groups in settings.get("hooks", {}).values():
        for hook in _hooks(groups):
            if _is_ours(hook) and isinstance(hook.get("headers"), dict):
                return str(hook["headers"].get("Authorization", "")).removeprefix("Bearer ")
    return ""


def hindrances(settings: Settings, url: str) -> list[str]:
    """What in the settings keeps our hooks from being run."""
    found = [name for name in ("disableAllHooks", "allowManagedHooksOnly") if settings.get(name) is True]
    allowed = settings.get("allowedHttpHookUrls")
    if isinstance(allowed, list) and not any(_matches(one, url) for one in allowed if isinstance(one, str)):
        found.append("allowedHttpHookUrls")
    return found


def _matches(pattern: str, url: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), url) is not None


def _posted(reporter: Reporter) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {reporter.token}"}
    return {"type": "http", "url": f"{reporter.url}{_PATH}", "headers": headers, "timeout": TIMEOUT}


def _started(reporter: Reporter) -> dict[str, Any]:
    return {"type": "command", "command": _reading(reporter) + _TAIL, "timeout": 5 * TIMEOUT}


def _reading(reporter: Reporter) -> str:
    return f"i=$(cat); {reporter.in_the_background(AGENT)}"


def _cleared(group: Any) -> Any:
    """A group without our hooks; None if there was nothing else in it."""
    if not isinstance(group, dict) or not any(map(_is_ours, _hooks([group]))):
        return group
    others = [hook for hook in group["hooks"] if not _is_ours(hook)]
    return {**group, "hooks": others} if others else None


def _hooks(groups: Any) -> list[Any]:
    named = [group.get("hooks") for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    return [hook for hooks in named if isinstance(hooks, list) for hook in hooks]


def _is_ours(hook: Any) -> bool:
    if not isinstance(hook, dict):
        return False
    if hook.get("type") == "http":
        bearer = hook.get("headers", {}).get("Authorization") if isinstance(hook.get("headers"), dict) else None
        return str(hook.get("url", "")).endswith(_PATH) and str(bearer).startswith("Bearer argus.")
    return str(hook.get("command", "")).endswith(_TAIL)


def _is_command(line: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(line, dict) and line.get("type") == "command" and isinstance(line.get("command"), str)
