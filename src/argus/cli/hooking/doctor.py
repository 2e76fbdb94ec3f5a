"""Whether an agent's hooks work: what is in its settings, and what becomes of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from argus import home
from argus.cli import client
from argus.cli.client import Daemon
from argus.cli.hooking import claude, codex
from argus.cli.hooking.files import Target
from argus.cli.hooking.reporter import MARK
from argus.cli.http import request
from argus.core.errors import ArgusError

_PATIENCE = 5.0
_CHECK = {"hook_event_name": "ArgusCheck"}
_LATELY = 3600.0


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    well: bool | None
    """None: it says nothing either way."""
    detail: str

    def public(self) -> dict[str, Any]:
        return {"name": self.name, "well": self.well, "detail": self.detail}


def examine(agent: str, file: Target) -> list[Finding]:
    try:
        raw = file.read()
        found, url, token = _codex(raw, file) if agent == codex.AGENT else _claude(raw, file)
    except ArgusError as error:
        return [Finding("settings", False, error.message)]
    try:
        daemon = client.running(home.folder(os.environ))
    except ArgusError as error:
        return [*found, Finding("daemon", False, error.message)]
    if daemon is None:
        return [*found, Finding("daemon", False, "no Argus runs on this state folder; argus up --detach starts it")]
    return [*found, *_asked(agent, daemon, url, token)]


def _claude(raw: bytes | None, file: Target) -> tuple[list[Finding], str, str]:
    settings = claude.parse(raw or b"", str(file.path))
    ours = claude.installed(settings)
    missing = [event for event in (claude.STARTS, *claude.EVENTS) if event not in ours]
    url = next((one for one in ours.values() if one), "")
    line = claude.status_line(settings)
    if not ours:
        return [Finding("settings", False, f"nothing of ours is in {file.path}; argus hooks install")], "", ""
    said = f"{file.path} lacks {', '.join(missing)}" if missing else f"{len(ours)} events in {file.path}"
    findings = [Finding("settings", not missing, said)]
    status = {"ours": "reports", "wrapped": "reports, and shows what yours shows"}.get(line)
    findings.append(Finding("status line", status is not None, status or "does not report; argus hooks install"))
    hindered = claude.hindrances(settings, url)
    findings += [Finding("hindrance", False, f"{one} keeps our hooks from being run") for one in hindered]
    return [*findings, _program()], url, claude.token(settings)


def _codex(raw: bytes | None, file: Target) -> tuple[list[Finding], str, str]:
    codex.parse(raw or b"", str(file.path))
    if not codex.installed(raw or b""):
        return (
            [Finding("settings", False, f"nothing of ours is in {file.path}; argus hooks install --agent codex")],
            "",
            "",
        )
    return [Finding("settings", True, f"notify in {file.path}"), _program()], "", _kept()


def _program() -> Finding:
    """What runs for a start and for the status line needs a token of its own place."""
    has = bool(_kept())
    return Finding("program", has, "has its token" if has else "its token is gone; argus hooks install")


def _kept() -> str:
    try:
        return (home.folder(os.environ) / "hooks" / "token").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _asked(agent: str, daemon: Daemon, url: str, token: str) -> list[Finding]:
    findings = [Finding("daemon", True, f"listens at {daemon.url}")]
    if url and not url.startswith(f"{daemon.url}/"):
        findings.append(
            Finding("address", False, f"the hooks go to {url}, where it does not listen; argus hooks install")
        )
    if token:
        why = refused(daemon, token, agent)
        findings.append(Finding("token", not why, why or "is accepted, and can only report"))
    return [*findings, _arrived(agent)]


def refused(daemon: Daemon, token: str, agent: str) -> str:
    """Why the daemon does not take a report with this token; empty if it does."""
    try:
        status, _ = request(daemon.host, daemon.port, token, "POST", f"/api/hooks/{agent}", _CHECK, timeout=_PATIENCE)
    except OSError as error:
        return f"the daemon does not answer: {error}"
    if status == 401:
        return f"is not accepted; argus hooks install makes another ({MARK})"
    return "" if status == 200 else f"is answered with {status}"


def _arrived(agent: str) -> Finding:
    try:
        said = client.ask(None, "GET", "/api/hooks", timeout=_PATIENCE, start=False)
    except (ArgusError, client.Refused):
        return Finding("events", None, "what arrived cannot be asked for with this token")
    mine = next((one for one in said["agents"] if one["agent"] == agent and one["signs"]), None)
    if mine is None:
        return Finding("events", None, "nothing arrived since Argus started")
    ago = f"the last, {mine['last_event']}, {mine['age_seconds']:.0f} s ago"
    lately = mine["age_seconds"] <= _LATELY
    return Finding("events", True if lately else None, f"{mine['signs']} arrived, {ago}")
