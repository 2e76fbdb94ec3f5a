"""The commands as a shell completes them: what stands below each, its options, and what follows which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import click

from argus.cli import explained
from argus.cli.manifest import VERBS
from argus.core.codes import Code

FILE, FOLDER = "@file", "@folder"
_ANYTHING = "@anything"
_NAMED = re.compile(r"/api/([a-z]+)/\{(\w+)\}")
_SAME = {"heartbeats": "agents"}
"""Pages that name the same things."""
_IN_A_BODY = {("agents spawn", "given_config_name"): "@configs"}
"""Names that no page is named after."""
_BESIDES = {"argus explain": (*explained.WORDS, *Code)}
"""What may be said instead of such a name."""


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    path: str
    """With the program's own name first: `argus services restart`."""
    below: tuple[Word, ...] = ()
    options: tuple[Word, ...] = ()
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What may follow: by an option that takes a value, or by the number of the place. `@file`, `@folder`,
    `@anything`, or `@services`: names that only a running daemon knows."""


def walk(command: click.Command, path: str = "argus", parent: click.Context | None = None) -> Iterator[Node]:
    context = click.Context(command, parent=parent, info_name=path.rpartition(" ")[2])
    below: list[Word] = []
    nested: list[tuple[str, click.Command]] = []
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            one = command.get_command(context, name)
            if one is not None and not one.hidden:
                below.append(Word(name, _first_line(one.help or "")))
                nested.append((name, one))
    yield Node(path, tuple(below), *_parameters(command, context, path))
    for name, one in nested:
        yield from walk(one, f"{path} {name}", context)


def _parameters(
    command: click.Command, context: click.Context, path: str
) -> tuple[tuple[Word, ...], dict[str, tuple[str, ...]]]:
    options: list[Word] = []
    values: dict[str, tuple[str, ...]] = {}
    places = 0
    for param in command.get_params(context):
        if isinstance(param, click.Argument):
            places += 1
            values[str(places)] = _names(path, param) or _values(param)
        elif isinstance(param, click.Option) and not param.hidden:
            words = [*param.opts, *param.secondary_opts]
            options += [Word(word, _first_line(param.help or "")) for word in words if word.startswith("--")]
            if not param.is_flag and not param.count:
                values |= dict.fromkeys(words, _values(param))
    return tuple(options), values


def _values(param: click.Parameter) -> tuple[str, ...]:
    if isinstance(param.type, click.Choice):
        return tuple(str(one) for one in param.type.choices)
    shown = (getattr(param, "metavar", None) or param.type.name or "").upper()
    known = {"FILE": FILE, "DIR": FOLDER, "FOLDER": FOLDER, "PATH": FOLDER}
    return (known.get(shown, FILE if param.name == "file" else _ANYTHING),)


def _names(path: str, param: click.Parameter) -> tuple[str, ...]:
    """Where the daemon's page has the name of a thing, the things of that page."""
    if known := _IN_A_BODY.get((path.removeprefix("argus "), param.name or "")):
        return (known,)
    for operation in VERBS.get(path.removeprefix("argus "), ()):
        for page, name in _NAMED.findall(operation["path"]):
            if param.name == f"given_{name}".lower():
                return (*_BESIDES.get(path, ()), f"@{_SAME.get(page, page)}")
    return ()


def _first_line(text: str) -> str:
    """Without what a shell or the script's own form, would read into it. An apostrophe becomes the typographic one."""
    line = text.strip().partition("\n")[0].replace("'", "’")
    return re.sub(r"[\t\\`$\"]", "", line)[:100]
