"""`argus service`: lets systemd or launchd keep Argus running, and takes that back."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from shlex import quote
from typing import Any

import click

from argus import home
from argus.cli import client, here
from argus.cli.installing import files, plan
from argus.cli.installing.files import Whose
from argus.cli.installing.launchd import Launchd
from argus.cli.installing.manager import Manager, Standing
from argus.cli.installing.systemd import Systemd
from argus.core.errors import ArgusError, Code

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_system = click.option("--system", is_flag=True, help="A unit of the system, which runs as root; else the user's own.")


@click.group()
def service() -> None:
    """Let systemd or launchd keep Argus running: from login or boot on, and after a crash."""


def manager(*, system: bool) -> Manager:
    if sys.platform == "darwin":
        if system:
            raise ArgusError(Code.INVALID_REQUEST, "--system is for systemd; launchd keeps Argus in your own domain")
        return Launchd(os.environ)
    if system and os.geteuid() != 0:
        raise ArgusError(Code.INVALID_REQUEST, "--system writes into /etc/systemd/system, which takes root")
    return Systemd(os.environ, system=system)


@service.command()
@_system
@click.option("--dry-run", is_flag=True, help="Print what would be written, and touch nothing.")
@_json
def install(system: bool, dry_run: bool, as_json: bool) -> None:
    """Write the unit or job, and start it where its manager can be reached.

    It starts this installation, on this state folder and with the configuration that is found from here. A file that
    argus did not write is never replaced. `argus down` ends it until the next login or boot; what Argus started
    goes on.
    """
    from argus import config as configuration

    _refuse_agents()
    keeper = manager(system=system)
    path = here.configuration(_named_config())
    if path is not None:
        configuration.load(path)  # a service that cannot start is found out now
    planned = plan.make(path, os.environ)
    text = keeper.render(planned)
    notices = plan.notices(os.environ)
    if dry_run:
        tried = {"file": str(keeper.file), "text": text, "notices": notices}
        click.echo(json.dumps(tried) if as_json else text, nl=as_json)
        for notice in [] if as_json else notices:
            click.echo(f"Notice: {notice}", err=True)
        return
    found = files.whose(keeper.file)
    files.refuse(keeper.file, found)
    keeper.prepare(planned)
    files.write(keeper.file, text)
    said: dict[str, Any] = {
        "manager": keeper.name, "file": str(keeper.file), "config": str(path) if path else None,
        "notices": notices,
    }  # fmt: skip
    _answer({**said, **_started(keeper)}, as_json)


def _another(standing: Standing) -> client.Daemon | None:
    """An Argus on this state folder that its manager knows nothing of: a second one would be refused."""
    found = client.running(home.folder(os.environ))
    return None if found is None or found.identity.pid == standing.pid else found


def _started(keeper: Manager) -> dict[str, Any]:
    before = keeper.look()
    other = _another(before)
    if before.reached:
        follows = [*(["argus down"] if other else []), *keeper.by_hand(), *keeper.advice()]
        return {**_shown(before), "why": before.reached, "next": follows}
    if other is not None:
        ran = keeper.load()
        why = ran.said if not ran.well else f"an Argus that was started otherwise (pid {other.identity.pid}) runs on it"
        start = keeper.by_hand()[-1].replace("enable --now", "start")
        return {**_shown(keeper.look()), "why": why, "next": ["argus down", start, *keeper.advice()]}
    ran = keeper.enable()
    after = keeper.look()
    if not ran.well:
        raise ArgusError(
            Code.INVALID_STATE,
            f"{keeper.file} is written, and {keeper.name} could not start it: {ran.said or after.state}",
            file=str(keeper.file),
            hint="argus doctor says what is wrong; argus service uninstall takes it back",
        )
    return {**_shown(after), "why": "", "next": ["argus status", *keeper.advice()]}


@service.command()
@_system
@_json
def uninstall(system: bool, as_json: bool) -> None:
    """End it, and remove what `argus service install` wrote. State, configuration and what Argus started stay."""
    _refuse_agents()
    keeper = manager(system=system)
    found = files.whose(keeper.file)
    if found is Whose.NOBODYS:
        _answer({"manager": keeper.name, "file": str(keeper.file), "removed": False, "why": "", "next": []}, as_json)
        return
    files.refuse(keeper.file, found)
    standing = keeper.look()
    why = standing.reached
    if not why and (standing.enabled or standing.active):
        ran = keeper.disable()
        if not ran.well:
            raise ArgusError(Code.INVALID_STATE, f"{keeper.name} could not end it: {ran.said}", file=str(keeper.file))
    try:
        keeper.file.unlink()
    except OSError as error:
        raise ArgusError(Code.INVALID_REQUEST, f"{keeper.file} cannot be removed: {error.strerror}") from None
    follows = []
    if why:
        keeper.unlink()
        follows = keeper.undone_by_hand()
    else:
        keeper.forget()
    _answer({"manager": keeper.name, "file": str(keeper.file), "removed": True, "why": why, "next": follows}, as_json)


@service.command()
@_system
@_json
def status(system: bool, as_json: bool) -> None:
    """Say whether it is installed, and whether it runs. Exit code 1 when it does not."""
    keeper = manager(system=system)
    found, standing = files.whose(keeper.file), keeper.look()
    said = {"manager": keeper.name, "file": str(keeper.file), "installed": found.value, **_shown(standing)}
    said["why"] = standing.reached
    beside = False
    with contextlib.suppress(ArgusError):  # somebody else's state folder: a start says so
        beside = _another(standing) is not None
    said["next"] = [] if standing.active else to_run(keeper, found, standing, beside=beside)
    _answer(said, as_json)
    sys.exit(0 if standing.active else 1)


def to_run(keeper: Manager, found: Whose, standing: Standing, *, beside: bool = False) -> list[str]:
    """`beside`: another Argus runs on the state folder."""
    if found is Whose.NOBODYS:
        return ["argus service install"]
    if found is Whose.THEIRS:
        return [f"mv {quote(str(keeper.file))} {quote(f'{keeper.file}.away')}", "argus service install"]
    first = ["argus down"] if beside else []
    if standing.reached or not standing.enabled:
        return [*first, *keeper.by_hand()]
    return [*first, keeper.by_hand()[-1], "argus doctor"]


def _shown(standing: Standing) -> dict[str, Any]:
    return {"enabled": standing.enabled, "active": standing.active, "state": standing.state, "pid": standing.pid}


def _answer(said: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(said, indent=2))
        return
    from argus.cli.render import clean

    click.echo(f"{said['file']}: {_sentence(said)}")
    if said["why"]:
        click.echo(f"  {clean(said['why'])}")
    for notice in said.get("notices", ()):
        click.echo(f"  Notice: {clean(notice)}")
    if said["next"]:
        click.echo("Next:")
        for command in said["next"]:
            click.echo(f"  {command}")


def _sentence(said: dict[str, Any]) -> str:
    if "removed" in said:
        return "removed" if said["removed"] else "there was nothing to remove"
    installed = {"none": "not installed", "other": "not written by argus", "changed": "installed, and changed by hand"}
    first = installed.get(said.get("installed", ""), "installed" if "installed" in said else "written")
    if said["active"]:
        return f"{first}; {said['manager']} runs it (pid {said['pid']})"
    return f"{first}; {said['manager']} says: {said['state']}" if said["state"] else first


def _refuse_agents() -> None:
    if os.environ.get("ARGUS_TOKEN", "").startswith("argus."):
        raise ArgusError(Code.FORBIDDEN, "the token in ARGUS_TOKEN is an agent's; it does not install or remove Argus")


def _named_config() -> str | None:
    found = click.get_current_context().find_root().params.get("config")
    return str(found) if found else None
