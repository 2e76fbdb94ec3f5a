"""Commands that are not operations of the daemon: its life, its files, its streams."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from argus import home
from argus.cli import client, here
from argus.core.errors import IN_THE_WAY, ArgusError, Code

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_OF_ENVIRONMENTS = ("service", "services", "mocks", "tests")


def _named_config() -> str | None:
    found = click.get_current_context().find_root().params.get("config")
    return str(found) if found else None


@click.command()
@click.option("--detach", is_flag=True, help="Run in the background.")
@click.option("--host", help="Listen here instead of server.host.")
@click.option("--port", type=click.IntRange(0, 65535), help="Listen here instead of server.port; 0 takes any free one.")
@click.option("--config", metavar="FILE", help="The configuration file.")
@_json
def up(detach: bool, host: str | None, port: int | None, config: str | None, as_json: bool) -> None:
    """Start Argus.

    With no configuration file it looks around, watches what it finds listening, and touches nothing.
    """
    from argus.cli import launch

    named = config or _named_config()
    if detach:
        with _naming_what_is_read(named):
            started = launch.start_detached(named, host=host, port=port)
        _announce(started, as_json)
        return
    from argus import assembly
    from argus.startup import Options

    failed: dict[str, Any] = {}

    def announce(said: dict[str, Any]) -> None:
        if said["ready"]:
            _announce(said, as_json)
        else:
            failed.update(said["error"])

    options = Options(
        home=home.folder(os.environ),
        config=here.configuration(named),
        folder=here.or_nowhere(),
        host=host,
        port=port,
    )
    code = assembly.run(options, announce)
    with _naming_what_is_read(named):
        if failed:
            raise client.Refused(failed)
    sys.stdout.flush()
    # As in the detached daemon: a hanging look-up in a thread must not keep the process.
    os._exit(code)


@contextlib.contextmanager
def _naming_what_is_read(named: str | None) -> Iterator[None]:
    """Who starts an Argus beside one that runs may mean another file than that one has read."""
    try:
        yield
    except client.Refused as refused:
        if refused.error.get("code") == Code.ALREADY_RUNNING:
            from argus.cli import reloading

            reloading.mention_another(named)
        raise


def _announce(said: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(said, indent=2))
        return
    from argus.cli.render import clean

    click.echo(f"Argus is up (pid {said['pid']}), state in {said['home']}")
    click.echo(f"The page:  {said['url']}")
    click.echo(f"Log in:    {said['open']}   (once, within five minutes; argus open makes another)")
    for notice in said["notices"]:
        click.echo(f"Notice:    {clean(notice)}")
    services = said["services"]
    if said["discovered"]:
        click.echo("No argus.yaml was found: Argus watches what listens here now, and touches nothing.")
        click.echo("What listens later: argus reload looks around again.")
    many = f"{len(services)} service{'' if len(services) == 1 else 's'}"
    begin = "; argus init writes an argus.yaml to begin with" if said["discovered"] else ""
    click.echo(f"Watching {many}, autonomy {said['autonomy']}{':' if services else begin}")
    for one in services[:40]:
        click.echo(f"  {clean(one['name'])} ({clean(one['place'])})")
    if len(services) > 40:
        click.echo(f"  and {len(services) - 40} more; argus status shows all")


@click.command()
@click.option("--force", is_flag=True, help="Kill it when it does not end within 20 s.")
@_json
def down(force: bool, as_json: bool) -> None:
    """Stop Argus. What it restarted or started goes on."""
    from argus.cli import launch

    lost = launch.stop(force=force)
    if as_json:
        click.echo(json.dumps({"stopped": lost is not None} | ({"lost": lost} if lost else {})))
        return
    click.echo("Argus was not running." if lost is None else "Argus is down.")
    if lost:
        one = lost == 1
        click.echo(f"{lost} record{'' if one else 's'} could not be written, and {'is' if one else 'are'} lost.")


@click.command()
@click.argument("file", default="argus.yaml")
@click.option("--restartable", is_flag=True, help="Let Argus restart what systemd, launchd or docker can restart.")
@click.option("--force", is_flag=True, help="Replace a file that is there; it is kept as FILE.before.")
@click.option("--print", "shown", is_flag=True, help="Print it, and write nothing.")
@_json
def init(file: str, restartable: bool, force: bool, shown: bool, as_json: bool) -> None:
    """Look around (ports, containers, units, agents) and write a first configuration.

    Commented, with autonomy observe; nothing is restartable unless --restartable says so.
    """
    import asyncio

    from argus import config as configuration
    from argus import initial
    from argus.cli import taking_up
    from argus.host.survey import survey

    path = Path(file).absolute()
    if not shown and not force and (path.exists() or path.is_symlink()):
        error = ArgusError(Code.CONFLICT, f"{path} is there already; --force replaces it, --print writes nothing")
        error.actions = IN_THE_WAY
        raise error
    found = asyncio.run(survey())
    own_ports = {configuration.Config().server.port, *taking_up.own_ports()}
    text = initial.render(found, own_ports=own_ports, restartable=restartable)
    services = configuration.read(text, str(path)).health.services
    if shown:
        click.echo(text, nl=False)
        return
    _write_config(path, text)
    counts = {"ports": len(found.ports), "containers": len(found.containers), "units": len(found.units)}
    if as_json:
        click.echo(json.dumps({"file": str(path), "services": [one.name for one in services], "found": counts}))
        return
    running = taking_up.running()
    follows = taking_up.command(path, running)
    other = f" ({running.said})" if running is not None and not running.uses(path) else ""
    many = f"{len(services)} service{'' if len(services) == 1 else 's'}"
    click.echo(f"{path}: {many}, autonomy observe. Read it, then: {follows}{other}")


def _write_config(path: Path, text: str) -> None:
    """Whole or not at all; what was there is kept beside it."""
    try:
        if path.exists():
            path.replace(path.with_name(f"{path.name}.before"))
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise ArgusError(Code.INVALID_REQUEST, f"{path} cannot be written: {error.strerror}") from None


@click.command()
@click.argument("file", required=False)
@click.option("--e2e", is_flag=True, help="Check a test environment; a file that is one is taken for one anyway.")
@_json
def check(file: str | None, e2e: bool, as_json: bool) -> None:
    """Check a configuration file, without a daemon: everything that is wrong with it, at once."""
    if e2e or (file is not None and _is_environment(Path(file))):
        _check_environment(file, as_json)
        return
    from argus import config as configuration
    from argus import startup
    from argus.core.redact import Redactor

    path = here.configuration(file or _named_config())
    loaded = configuration.load(path)
    startup.check(loaded, path, Redactor())
    notices = loaded.notices(path)
    said = {
        "file": str(path) if path else None,
        "services": [service.name for service in loaded.health.services],
        "notices": notices,
    }
    if as_json:
        click.echo(json.dumps({"valid": True, **said}))
        return
    for notice in notices:
        click.echo(f"notice: {notice}")
    where = said["file"] or "no configuration file; the defaults"
    click.echo(f"{where}: good, {len(loaded.health.services)} services, autonomy {loaded.autonomy.value}")


def _is_environment(file: Path) -> bool:
    """By its name, or by what stands in it. What cannot be read is told by whoever reads it."""
    if file.name.endswith(("e2e.yaml", "e2e.yml")):
        return True
    from argus import yaml_lines

    try:
        # A pipe would be empty for who reads it next.
        said = yaml_lines.parse(file.read_text(encoding="utf-8-sig")).value if file.is_file() else None
    except (OSError, ValueError, yaml_lines.Broken):
        return False
    return isinstance(said, dict) and "project" in said and any(name in said for name in _OF_ENVIRONMENTS)


def _check_environment(file: str | None, as_json: bool) -> None:
    import secrets

    from argus.core.clock import SystemClock
    from argus.environments.e2e import loading
    from argus.yaml_lines import dotted

    working = here.folder()
    chance, now = secrets.token_hex(), SystemClock().wall()
    loaded = loading.load(working, file=file, environ=os.environ, working=working, now=now, seed=chance)
    if as_json:
        said = {
            "file": str(loaded.file),
            "services": [service.name for service in loaded.services],
            "mocks": list(loaded.mocks),
            "suites": [suite.id for suite in loaded.suites],
            "warnings": [warning.public() for warning in loaded.warnings],
            "notices": list(loaded.notices),
        }
        click.echo(json.dumps({"valid": True, **said}))
        return
    for warning in loaded.warnings:
        place = f"{loaded.file}:{warning.line}: {dotted(warning.path)}: " if warning.path else ""
        click.echo(f"warning: {place}{warning.message}")
    for notice in loaded.notices:
        click.echo(f"notice: {notice}")
    counts = f"{len(loaded.services)} services, {len(loaded.mocks)} mocks, {len(loaded.suites)} suites"
    click.echo(f"{loaded.file}: good, {counts}")


@click.command()
@click.argument("which", type=click.Choice(["argus", "e2e"]), default="argus")
@_json
def schema(which: str, as_json: bool) -> None:
    """Print the JSON Schema of a configuration file, for editors and agents: of argus.yaml, or of an e2e.yaml."""
    if which == "e2e":
        from argus.environments.e2e import model

        click.echo(json.dumps(model.json_schema(), indent=2))
        return
    from argus import config as configuration

    click.echo(json.dumps(configuration.json_schema(), indent=2))


@click.command()
@click.option("--agent", metavar="ID", help="Make one for this agent: it reads, reports, and asks for restarts.")
@click.option("--project", metavar="FOLDER", type=click.Path(), help="The agent's project.")
@click.option("--report", is_flag=True, help="Make one that can only report, for an agent's hooks.")
@_json
def token(agent: str | None, project: str | None, report: bool, as_json: bool) -> None:
    """Print the token, and nothing else; or make one for others that may do less.

    Commands use the one in ARGUS_TOKEN where it is set, and else the state folder's own.
    """
    if agent is None and not report:
        if project is not None:
            raise click.UsageError("--project is given with --agent")
        made = {"token": client.token(home.folder(os.environ))}
    else:
        said = {"role": "report" if report else "agent", "agent": agent}
        said["project"] = str(Path(project).absolute()) if project else None
        body = {key: value for key, value in said.items() if value}
        made = client.ask(_named_config(), "POST", "/api/tokens", body)
    click.echo(json.dumps(made) if as_json else made["token"])


@click.command()
@click.option("--follow", is_flag=True, help="Go on with what happens from now on.")
@click.option("--last", type=click.IntRange(0, 10000), default=50, show_default=True, help="How far back to begin.")
@click.option("--after", help="Begin after this event's id.")
@click.option("--channel", help="Only this channel, such as services.")
@_json
def events(follow: bool, last: int, after: str | None, channel: str | None, as_json: bool) -> None:
    """Show what happened, from the journal.

    With --json: one document, or with --follow one line of JSON for each event.
    """
    from argus.cli import stream
    from argus.cli.render import event_line

    found = stream.events(_named_config(), follow=follow, last=last, after=after, channel=channel)
    if as_json and not follow:
        click.echo(json.dumps({"events": list(found)}, indent=2))
        return
    for event in found:
        if as_json:
            click.echo(json.dumps(event))
        else:
            click.echo(event_line(event["event"].partition(":")[0], event["data"]))


@click.command()
def mcp() -> None:
    """Serve MCP over stdio, for agents.

    For Claude Code: claude mcp add argus -- argus mcp
    """
    from argus.cli.relay import Relay

    try:
        Relay(_named_config()).run()
    except KeyboardInterrupt:
        raise ArgusError(Code.NO_DAEMON, "interrupted") from None
