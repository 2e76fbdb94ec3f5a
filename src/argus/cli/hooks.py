"""`argus hooks`: makes agents' programs tell Argus what they do, and takes that back."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from argus import home
from argus.cli import client
from argus.cli.hooking import claude, codex, doctor
from argus.cli.hooking.files import Kept, Target, digest
from argus.cli.hooking.reporter import Reporter
from argus.host.files import write_private

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_agent = click.option(
    "--agent", type=click.Choice([claude.AGENT, codex.AGENT]), default=claude.AGENT, show_default=True,
    help="Whose settings.",
)  # fmt: skip
_settings = click.option(
    "--settings",
    metavar="FILE",
    help="The settings file; else the user's own (CLAUDE_CONFIG_DIR or ~/.claude, CODEX_HOME or ~/.codex).",
)


@click.group()
def hooks() -> None:
    """Make agents tell Argus what they do, by their own hooks; take that back; see whether it works."""


def target(agent: str, settings: str | None) -> Target:
    return Target(Path(settings).absolute() if settings else _own(agent), agent, home.folder(os.environ))


def _own(agent: str) -> Path:
    """The user's settings, never the project's: what is in a project, others get too."""
    variable, folder, name = (
        ("CODEX_HOME", ".codex", "config.toml")
        if agent == codex.AGENT
        else ("CLAUDE_CONFIG_DIR", ".claude", "settings.json")
    )
    given = os.environ.get(variable)
    return (Path(given).absolute() if given else home.of_the_user(os.environ) / folder) / name


@hooks.command()
@_agent
@_settings
@_json
def install(agent: str, settings: str | None, as_json: bool) -> None:
    """Write our hooks into an agent's settings, beside all that is there.

    Only into the user's own settings. `argus hooks uninstall` gives back what was there. They carry a token that can
    only report, and can neither hold up nor block the agent.
    """
    file = target(agent, settings)
    name = str(file.path)
    _edited(agent, file.read() or b"", None, name)  # refuses what it cannot edit before it starts anything
    reporter = _reporter(_named_config())

    def edit(raw: bytes | None) -> bytes:
        made = _edited(agent, raw or b"", reporter, name)
        file.keep(_original(agent, raw, file.kept(), name), made)  # before it is written: so that it is never lost
        return made

    before, after = file.change(edit)
    assert after is not None
    changed = before != after
    said = {"agent": agent, "file": name, "changed": changed, "url": reporter.url, **_what(agent, after, name)}
    if as_json:
        click.echo(json.dumps(said))
        return
    click.echo(f"{file.path}: {'written' if changed else 'nothing to change'}; {_sentence(said)}")
    click.echo("It counts for conversations that begin from now on. argus hooks doctor shows whether it works.")


@hooks.command()
@_agent
@_settings
@_json
def uninstall(agent: str, settings: str | None, as_json: bool) -> None:
    """Take our hooks out of an agent's settings. What was there before comes back, byte for byte if it can."""
    file = target(agent, settings)
    first, name = file.kept(), str(file.path)
    before, after = file.change(lambda raw: _given_back(agent, raw, first, name))
    file.forget()
    restored = before is not None and first is not None and digest(before) == first.after
    said = {"agent": agent, "file": name, "changed": before != after, "restored": restored}
    if as_json:
        click.echo(json.dumps(said))
    elif before == after:
        click.echo(f"{name}: there is nothing of ours in it")
    else:
        click.echo(f"{name}: {'as it was before' if restored else 'ours are gone; what else changed since stays'}")


@hooks.command(name="doctor")
@_agent
@_settings
@_json
def doctor_command(agent: str, settings: str | None, as_json: bool) -> None:
    """Say what is installed, whether Argus can be reached with it, and whether anything arrived lately.

    Starts nothing. Exit code 1 when something is wrong.
    """
    found = doctor.examine(agent, target(agent, settings))
    well = all(one.well is not False for one in found)
    if as_json:
        click.echo(json.dumps({"agent": agent, "well": well, "checks": [one.public() for one in found]}))
    else:
        from argus.cli.render import clean

        for one in found:
            click.echo(f"{ {True: 'ok', False: 'WRONG', None: '-'}[one.well]:<6}{one.name}: {clean(one.detail)}")
    sys.exit(0 if well else 1)


def _named_config() -> str | None:
    found = click.get_current_context().find_root().params.get("config")
    return str(found) if found else None


def _reporter(config: str | None) -> Reporter:
    """Where the daemon listens, and a token for it. The one that is there is kept while it is good."""
    folder = home.folder(os.environ)
    daemon = client.find_or_start(config)
    kept = folder / "hooks" / "token"
    token = _read(kept)
    if not token or doctor.refused(daemon, token, claude.AGENT):
        token = str(client.ask(config, "POST", "/api/tokens", {"role": "report"})["token"])
        kept.parent.mkdir(mode=0o700, exist_ok=True)
        write_private(kept, token)
    return Reporter(daemon.url, token, str(folder))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _edited(agent: str, raw: bytes, reporter: Reporter | None, file: str) -> bytes:
    if agent == codex.AGENT:
        codex.parse(raw, file)
        return codex.with_ours(raw, reporter, file) if reporter else codex.without_ours(raw, file)
    settings = claude.parse(raw, file)
    made = claude.with_ours(settings, reporter) if reporter else claude.without_ours(settings)
    return raw if made == settings and raw else claude.written(made, raw, file)


def _original(agent: str, before: bytes | None, first: Kept | None, file: str) -> bytes | None:
    """What the file was without us. Where it was changed since we came, its bytes are lost, but not what it says."""
    if before is None or not _has_ours(agent, before, file):
        return before
    if first is not None and digest(before) == first.after:
        return first.before if first.existed else None
    return _stripped(agent, before, first, file)


def _given_back(agent: str, raw: bytes | None, first: Kept | None, file: str) -> bytes | None:
    if raw is None or not _has_ours(agent, raw, file):
        return raw
    if first is not None and digest(raw) == first.after:
        return first.before if first.existed else None
    return _stripped(agent, raw, first, file)


def _stripped(agent: str, raw: bytes, first: Kept | None, file: str) -> bytes:
    if agent == codex.AGENT:
        return codex.without_ours(raw, file)
    earlier = claude.parse(first.before, file) if first else None
    return claude.written(claude.without_ours(claude.parse(raw, file), earlier), raw, file)


def _has_ours(agent: str, raw: bytes, file: str) -> bool:
    if agent == codex.AGENT:
        return codex.installed(raw)
    settings = claude.parse(raw, file)
    return bool(claude.installed(settings)) or claude.status_line(settings) in ("ours", "wrapped")


def _what(agent: str, raw: bytes, file: str) -> dict[str, Any]:
    if agent == codex.AGENT:
        return {"events": ["agent-turn-complete"], "statusLine": "none"}
    settings = claude.parse(raw, file)
    return {"events": sorted(claude.installed(settings)), "statusLine": claude.status_line(settings)}


def _sentence(said: dict[str, Any]) -> str:
    line = {
        "ours": "a status line that shows nothing",
        "wrapped": "the status line that was there, which reports now too",
        "theirs": "the status line is of a kind that was left alone",
        "none": "no status line",
    }
    return f"{len(said['events'])} events go to {said['url']}; {line[said['statusLine']]}"
