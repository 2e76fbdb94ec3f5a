"""Writes docs/commands.md from the commands themselves, so that no command and no option stands in no document.

python scripts/commands.py            writes it
python scripts/commands.py --check    says whether it is current
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from argus.cli.main import argus
from argus.cli.manifest import VERBS

TARGET = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
HEAD = """# Commands: every one, with every option

Generated from the commands themselves by `scripts/commands.py`; do not edit. `argus COMMAND --help` says the same.

Before the command: `--config FILE` names the configuration (else `./argus.yaml`, else the user's own). A command that
needs a daemon and finds none starts one. Exit codes: 0 done, 1 the thing asked about is not well, 2 wrong use, 3 no
daemon, 4 refused by a gate. `--json` prints one JSON document: what REST answers with, or the error.
"""


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Every command that can be called, in the order of `--help`; of a group also what it does by itself."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        here = click.Context(command, info_name=name, parent=context, terminal_width=1000, max_content_width=1000)
        if not isinstance(command, click.Group) or f"{here.command_path.removeprefix('argus ')} list" in VERBS:
            yield command, here
        if isinstance(command, click.Group):
            yield from commands(command, here)


def section(command: click.Command, context: click.Context) -> str:
    words = " ".join(command.collect_usage_pieces(context)).removeprefix("[OPTIONS]").strip()
    if isinstance(command, click.Group):
        words = "[COMMAND]"  # its own commands follow
    lines = [f"## {context.command_path}", f"`{f'{context.command_path} {words}'.strip()}`", "", text(command.help)]
    rows = [param.get_help_record(context) for param in command.params if isinstance(param, click.Option)]
    found = [(names, said) for names, said in filter(None, rows) if names != "--json"]
    if found:
        lines += ["", "| option | what it says |", "| --- | --- |"]
        lines += [f"| `{cell(names)}` | {cell(text(said))} |" for names, said in found]
    return "\n".join(lines) + "\n"


def text(said: str | None) -> str:
    """Paragraphs as they are; the lines of one run on."""
    parts = re.split(r"\n\s*\n", (said or "").strip())
    return "\n\n".join(" ".join(part.split()) for part in parts)


def cell(said: str) -> str:
    return " ".join(said.split()).replace("|", "\\|")


def page() -> str:
    root = click.Context(argus, info_name="argus", terminal_width=1000, max_content_width=1000)
    return "\n".join([HEAD, *(section(command, context) for command, context in commands(argus, root))])


if __name__ == "__main__":
    made = page()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != made:
            sys.exit("docs/commands.md is not current: python scripts/commands.py")
    else:
        TARGET.write_text(made, encoding="utf-8")
