"""`argus agent`: running an agent here, and beating for one that was started elsewhere."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from argus.cli import client, here
from argus.core.errors import ArgusError, Code

_STARTED = 30.0
_CHECKED_OUT = 660.0
"""Seconds until the worktree of a large project is there."""


def _named_config() -> str | None:
    found = click.get_current_context().find_root().params.get("config")
    return str(found) if found else None


@click.group()
def agent() -> None:
    """Run an agent in this terminal, or beat for one that was started elsewhere."""


@agent.command()
@click.argument("config")
@click.option("--task", required=True, help="What it is to do, passed on unchanged.")
@click.option("--project", metavar="DIR", help="Where it works; else the config's cwd, else here.")
def run(config: str, task: str, project: str | None) -> None:
    """Run an agent of agents.configs in this terminal.

    It is on record before it starts, and goes on here under its next id when it dies unfinished. Ctrl-C and Ctrl-Z
    are the agent's. Ends with its exit status.
    """
    body = {"config_name": config, "task": task, "pid": os.getpid(), "here": str(here.folder())}
    if project:
        body["project_path"] = str(Path(project).absolute())
    launch = client.ask(_named_config(), "POST", "/api/agents/launch", body, timeout=_CHECKED_OUT)
    from argus.cli import runner

    if launch["start"] is None:
        _attach(str(launch["agent"]["agent_id"]), launch["tmux"])
        return
    sys.exit(runner.run(launch))


def _attach(id: str, tmux: dict[str, Any]) -> None:
    """Argus started it in tmux; whoever has a terminal looks on there."""
    from argus.cli.runner import say

    _wait_until_started(id)
    words = ["tmux", "-L", tmux["socket"], "attach-session", "-t", f"={tmux['session']}"]
    if os.isatty(0) and os.isatty(1) and "TMUX" not in os.environ:
        os.execvp(words[0], words)  # noqa: S606 - a list of arguments
    say(f"{id} runs in tmux: {' '.join(words)}")


def _wait_until_started(id: str) -> None:
    until = time.monotonic() + _STARTED
    while time.monotonic() < until:
        found = client.ask(_named_config(), "GET", "/api/agents")["agents"]
        (one,) = [one for one in found if one["agent_id"] == id] or [None]
        if one is None or one["state"] == "dead":
            raise ArgusError(Code.INVALID_STATE, f"{id} did not start: {one['reason'] if one else 'it has ended'}")
        if one["state"] != "spawning":
            return
        time.sleep(0.1)


@agent.command()
@click.option("--agent-id", required=True, help="Who it is.")
@click.option("--pid", required=True, type=click.IntRange(1, 2**31 - 1), help="Its process.")
@click.option("--task", default="", help="What it works on.")
@click.option("--config", default="", help="Its config in agents.configs: how it would be started again.")
@click.option("--project", metavar="DIR", default="", help="Where it works.")
@click.option("--status", default="", help="What it is doing.")
@click.option("--json", "as_json", is_flag=True, help="Print an error as JSON.")
def heartbeat(agent_id: str, pid: int, task: str, config: str, project: str, status: str, as_json: bool) -> None:
    """Beat for a process that was started elsewhere, as long as it lives.

    Says at once when it has ended, and ends with it.
    """
    from argus.cli.companion import accompany
    from argus.cli.runner import say
    from argus.host.identity import identify

    try:
        who = identify(pid)
    except OSError as error:
        raise ArgusError(Code.INVALID_STATE, f"process {pid} cannot be looked at: {error.strerror}", pid=pid) from error
    if who is None:
        raise ArgusError(Code.INVALID_REQUEST, f"pid: there is no process {pid} here", pid=pid)
    body: dict[str, Any] = {
        "agent_id": agent_id,
        "pid": pid,
        "current_task": task,
        "config_name": config,
        "project_path": str(Path(project).absolute()) if project else "",
        "status": status,
    }
    first = client.ask(_named_config(), "POST", "/api/heartbeat", body)
    if first.get("stop"):
        raise ArgusError(Code.INVALID_STATE, f"{agent_id} is to end: {first.get('reason')}", agent=agent_id)
    interval = float(client.ask(_named_config(), "GET", "/api/heartbeats")["interval"])
    accompany(body, who, interval, lambda why: say(f"{agent_id} is to end: {why}"))
