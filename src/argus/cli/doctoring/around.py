"""What Argus works with: the clock, Docker, tmux, the agents' programs with their hooks, systemd or launchd."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys

from argus.cli.doctoring.finding import Case, Finding, bad, ok, warn
from argus.cli.hooking import claude, codex
from argus.cli.installing import files
from argus.cli.installing.files import Whose
from argus.cli.installing.manager import ask
from argus.core.clock import SystemClock
from argus.core.errors import ArgusError

_PATIENCE = 3.0
_OLDEST_TMUX = (3, 0)
_RELEASED = 1_767_225_600.0
"""The beginning of 2026: no clock that is right was before it."""


def clock(case: Case) -> Finding:
    if SystemClock().wall() < _RELEASED:
        return bad("CLOCK", "it is set to a time before this Argus was made", "set it: timedatectl set-ntp true")
    if sys.platform != "linux" or shutil.which("timedatectl") is None:
        return ok("CLOCK", "plausible; whether it is kept right cannot be asked here")
    ran = ask(["timedatectl", "show", "--property=NTPSynchronized", "--value"], patience=_PATIENCE)
    if ran.well and ran.said == "no":
        return warn("CLOCK", "nothing keeps it right", "timedatectl set-ntp true; a step of it delays what Argus does")
    return ok("CLOCK", "kept right" if ran.well and ran.said == "yes" else "plausible")


def docker(case: Case) -> Finding:
    from argus.host.engine.seam import EngineUnavailable

    needed = any(one.type == "docker" for one in case.config.health.services)
    try:
        place, version = asyncio.run(_version())
    except (EngineUnavailable, TimeoutError, OSError, ValueError) as error:
        why = str(error) or "it does not answer"
        what = "start it, or set DOCKER_HOST; its socket must be yours to use (group docker)"
        return bad("DOCKER", why, what) if needed else warn("DOCKER", f"{why}; environments need it", what)
    return ok("DOCKER", f"{version} at {place}")


async def _version() -> tuple[str, str]:
    from argus.host.dns import Resolver
    from argus.host.engine import where
    from argus.host.engine.wire import Line

    place = str(where.find(os.environ))
    resolver = Resolver()
    try:
        async with asyncio.timeout(_PATIENCE):
            answer = await Line(resolver, os.environ).ask("GET", "/version")
    finally:
        resolver.close()
    return place, str(json.loads(answer.body).get("Version", "of an unknown version"))


def tmux(case: Case) -> Finding:
    needed = bool(case.config.sessions.projects) or any(one.tmux for one in case.config.agents.configs.values())
    if shutil.which("tmux") is None:
        said = "not installed; sessions and agents in tmux need it"
        return bad("TMUX", said, "install tmux") if needed else ok("TMUX", said, "install tmux")
    ran = ask(["tmux", "-V"], patience=_PATIENCE)
    found = re.search(r"(\d+)\.(\d+)", ran.said)
    if not ran.well or found is None:
        return warn("TMUX", f"does not say its version: {ran.said[:100]}", "install tmux 3.0 or newer")
    if (int(found[1]), int(found[2])) < _OLDEST_TMUX:
        return warn("TMUX", f"{ran.said} is old", "install tmux 3.0 or newer")
    return ok("TMUX", ran.said)


def agent(case: Case, name: str) -> Finding:
    """A program, and whether its hooks tell us. Only the settings are read."""
    from argus.cli.hooks import target

    code, program = name.upper(), shutil.which(name)
    for started, config in case.config.agents.configs.items():
        if config.kind != name:
            continue
        first = config.command[0]
        found = shutil.which(first, path=config.env.get("PATH", os.environ.get("PATH", os.defpath)))
        if found is None:
            said = f"agents.configs.{started} starts {first}, which is not installed, or not on its PATH"
            return bad(code, said, f"install it, or correct the command of agents.configs.{started}")
        if os.path.basename(first) == name:
            program = program or found
        elif program is None:
            said = f"not on the PATH; agents.configs.{started} is said to start it, by {found}"
            return warn(code, said, f"install {name}, if {found} needs it here")
    if program is None:
        return ok(code, "not installed, or not on the PATH")
    install = "argus hooks install" + (f" --agent {name}" if name == codex.AGENT else "")
    file = target(name, None)
    try:
        raw = file.read() or b""
        ours = claude.installed(claude.parse(raw, str(file.path))) if name == claude.AGENT else {}
        installed = bool(ours) or (name == codex.AGENT and codex.installed(raw))
    except ArgusError as error:
        return warn(code, f"{program}; its settings cannot be read: {error.message}", f"correct {file.path}; {install}")
    if not installed:
        return warn(code, f"{program}; its hooks are not installed, so Argus sees less of it", install)
    url = next((one for one in ours.values() if one), "")
    if url and case.daemon is not None and not url.startswith(f"{case.daemon.url}/"):
        return warn(code, f"{program}; its hooks go to {url}, where Argus does not listen", install)
    return ok(code, f"{program}; its hooks tell Argus")


def service(case: Case) -> list[Finding]:
    from argus.cli.service import manager, to_run

    keepers = [manager(system=False)]
    if sys.platform == "linux" and os.geteuid() == 0:
        keepers.append(manager(system=True))
    found = [(keeper, whose) for keeper in keepers if (whose := files.whose(keeper.file)) is not Whose.NOBODYS]
    if not found:
        return [
            ok("SERVICE", "not installed: Argus runs until the machine stops, or you end it", "argus service install")
        ]
    findings = []
    for keeper, whose in found:
        standing = keeper.look()
        program = (
            _program(keeper.file.read_text(encoding="utf-8", errors="replace")) if whose is not Whose.THEIRS else ""
        )
        if whose is Whose.THEIRS:
            made = ok("SERVICE", f"{keeper.file} was not written by argus; it is left alone")
        elif program and not os.access(program, os.X_OK):
            made = bad("SERVICE", f"{keeper.file} starts {program}, which is gone", "argus service install")
        elif standing.reached:
            follows = to_run(keeper, whose, standing, beside=case.daemon is not None)
            said = f"{keeper.file}; {keeper.name} cannot be asked: {standing.reached}"
            made = warn("SERVICE", said, "; ".join(follows))
        elif not standing.active and case.daemon is not None:
            said = f"{keeper.file} is {standing.state}, and Argus (pid {case.daemon.identity.pid}) runs without it"
            made = warn("SERVICE", said, f"argus down; {keeper.by_hand()[-1]}")
        elif not standing.active:
            made = warn("SERVICE", f"{keeper.file} is {standing.state}", keeper.by_hand()[-1])
        else:
            made = ok("SERVICE", f"{keeper.file}, pid {standing.pid}")
        findings.append(made)
    return findings


def _program(text: str) -> str:
    """The first word of what a unit or a job starts."""
    found = re.search(r'^ExecStart="([^"]+)"', text, re.M) or re.search(
        r"<key>ProgramArguments</key>\s*<array>\s*<string>([^<]+)<", text
    )
    return found[1].replace("%%", "%").replace("$$", "$") if found else ""
