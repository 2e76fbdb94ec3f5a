"""Steps in a place: the containers, or where there are none the caller's machine."""

from __future__ import annotations

import stat

from argus.environments.testing import assertions
from argus.environments.testing.model import Exec, Expect, File, PortStep, Process
from argus.environments.testing.operators import Search
from argus.environments.testing.results import Failure
from argus.environments.testing.seeing import Seen, parsed
from argus.environments.testing.showing import clean, shown
from argus.environments.testing.world import FileSeen, World
from argus.host.commands import MOST
from argus.host.seam import ProbeFailed

CONTENT = 1024 * 1024
"""Bytes of a file that are looked at."""


async def command(step: Exec, expect: Expect | None, world: World) -> tuple[Seen, list[Failure]]:
    ran = await world.place(step.container).run(step.command, timeout=step.timeout)
    output, complaints = ran.stdout.strip(), ran.stderr.strip()
    said = output or complaints
    cut = f"the output is cut after {MOST} bytes" if ran.is_cut else ""
    seen = Seen(body=parsed(said), output=said, stderr=complaints, exit_code=ran.exit_code, cut=cut)
    if ran.problem:
        return seen, [Failure(clean(ran.problem), "exec", actual=shown(said))]
    if ran.exit_code != 0 and expect is None:
        return seen, [Failure(f"expected 0, got {ran.exit_code}", "exitCode", 0, ran.exit_code)]
    return seen, []


def file_seen(seen: FileSeen | None) -> Seen:
    if seen is None:
        return Seen(more={"file": {"exists": False}})
    found = seen.found
    text = found.content.decode("utf-8", "replace")
    told = {"exists": True, "size": found.size, "owner": seen.owners[0], "permissions": stat.filemode(found.mode)}
    is_cut = stat.S_ISREG(found.mode) and found.size > len(found.content)
    cut = f"the file is looked at up to {CONTENT} bytes of {found.size}" if is_cut else ""
    return Seen(body=parsed(text), output=text, more={"file": told}, cut=cut)


def file(step: File, seen: FileSeen | None, search: Search) -> list[Failure]:
    """Pure."""
    at = f"file {step.path}"
    if seen is None:
        return [] if step.exists is False else [Failure("does not exist", at, {"exists": True})]
    if step.exists is False:
        return [Failure("exists", at, {"exists": False})]
    found, wrong = seen.found, []
    if step.permissions is not None and not _permitted(step.permissions, found.mode):
        said = f"expected {step.permissions}, got {stat.filemode(found.mode)} ({found.mode & 0o7777:04o})"
        wrong.append(Failure(said, f"{at} permissions", step.permissions, stat.filemode(found.mode)))
    if step.owner is not None and step.owner not in seen.owners:
        said = f"expected {step.owner}, got {seen.owners[0]}"
        wrong.append(Failure(said, f"{at} owner", step.owner, seen.owners[0]))
    if step.size is not None and not step.size.holds(found.size):
        wrong.append(Failure(f"expected {step.size}, got {found.size}", f"{at} size", str(step.size), found.size))
    text = found.content.decode("utf-8", "replace")
    wrong += assertions.text(text, step.contains, step.not_contains, step.matches, at, search)
    if step.json_ is not None:
        wrong += assertions.json_text(text, step.json_, at, search)
    return wrong


def _permitted(wanted: str, mode: int) -> bool:
    if wanted[0].isdigit():
        return int(wanted, 8) == mode & 0o7777
    # With or without the letter of its kind.
    return stat.filemode(mode).endswith(wanted) if len(wanted) == 9 else stat.filemode(mode) == wanted


async def process(step: Process, world: World) -> tuple[Seen, list[Failure]]:
    every = await world.place(step.container).processes()
    found = [one for one in every if step.name in one.command]
    at, wrong = f"process {step.name}", []
    wanted = True if step.running is None and step.count is None else step.running
    if wanted is not None and bool(found) != wanted:
        there = shown([one.command for one in every[:20]])
        said = "does not run" if wanted else "runs"
        wrong.append(Failure(said, at, {"running": wanted}, there if wanted else shown([one.command for one in found])))
    if step.count is not None and not step.count.holds(len(found)):
        said = f"expected {step.count}, got {len(found)}"
        wrong.append(Failure(said, f"{at} count", str(step.count), len(found)))
    if step.user is not None and found and not any(step.user in one.users for one in found):
        users = list(dict.fromkeys(one.users[0] for one in found))
        wrong.append(Failure(f"does not run as {step.user}", f"{at} user", step.user, shown(users)))
    told = [{"command": shown(one.command, 200), "user": one.users[0]} for one in found[:100]]
    return Seen(more={"processes": told}), wrong


async def port(step: PortStep, world: World) -> tuple[Seen, list[Failure]]:
    at = f"port {step.port}"
    container = None if step.container is None and step.host is not None else world.named(step.container)
    if container is not None:
        ports = await container.listening()
        if isinstance(ports, str):
            return Seen(), [Failure(ports, at, {"listening": step.listening})]
        listens, why = step.port in ports, f"it listens on {sorted(ports) or 'none'}"
    else:
        listens, why = await _connects(step.host or "localhost", step.port, step.timeout, world)
    if listens == step.listening:
        return Seen(), []
    said = f"is not listened on: {why}" if step.listening else "is listened on"
    return Seen(), [Failure(said, at, {"listening": step.listening}, {"listening": listens})]


async def _connects(host: str, port: int, timeout: float, world: World) -> tuple[bool, str]:
    try:
        await world.connect(host, port, timeout=timeout)
    except ProbeFailed as failed:
        return False, failed.detail
    return True, ""
