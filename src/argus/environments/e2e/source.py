"""What an environment was read from: the file, and the surroundings of whoever asked. Kept in memory only."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from argus import yaml_lines
from argus.core.errors import ArgusError, Code
from argus.environments.e2e import dotenv
from argus.environments.e2e.paths import Roots
from argus.yaml_lines import Document, Problem

NAMES = ("e2e.yaml", "e2e.yml")
_LARGEST = 1024 * 1024
"""Bytes of an e2e.yaml, and of its .env. A thousand services are a quarter of it."""


@dataclass(frozen=True, slots=True)
class Source:
    file: Path
    roots: Roots
    document: Document = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    """The caller's environment, and under it what `.env` says."""
    from_dotenv: frozenset[str]
    warnings: tuple[Problem, ...]
    now: float
    seed: str


def open_(
    project: Path,
    name: str | None,
    environ: Mapping[str, str],
    working: Path,
    *,
    now: float,
    seed: str,
) -> Source:
    project = Path(os.path.normpath(working / project))
    file = _find(project, name)
    added, warnings = _dotenv(file.parent / ".env")
    try:
        document = yaml_lines.parse(text(file))
    except yaml_lines.Broken as broken:
        raise yaml_lines.error(broken.problems, str(file)) from None
    return Source(
        file=file,
        roots=Roots(file=file.parent, project=project, working=working),
        document=document,
        env={**added, **environ},
        from_dotenv=frozenset(added.keys() - environ.keys()),
        warnings=tuple(warnings),
        now=now,
        seed=seed,
    )


def _find(project: Path, name: str | None) -> Path:
    looked = [Path(os.path.normpath(project / one.replace("\0", ""))) for one in ((name,) if name else NAMES)]
    for file in looked:
        if os.path.isfile(file):
            return file
    places = ", ".join(str(file) for file in looked)
    raise ArgusError(
        Code.CONFIG_NOT_FOUND,
        f"there is no e2e.yaml: looked for {places}. Go to the project's folder, name the file, or write one "
        "(argus schema e2e says what it may hold)",
        lookedFor=[str(file) for file in looked],
    )


def text(file: Path) -> str:
    try:
        found = _bytes(file)
    except OSError as error:
        message = f"{file} cannot be read: {error.strerror or error}"
        raise ArgusError(Code.CONFIG_NOT_FOUND, message, lookedFor=[str(file)]) from None
    if len(found) > _LARGEST:
        raise yaml_lines.error([Problem((), None, f"the file is larger than {_LARGEST} bytes")], str(file))
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = found.count(b"\n", 0, error.start) + 1
        raise yaml_lines.error([Problem((), line, f"not UTF-8: {error.reason}")], str(file)) from None


def _dotenv(file: Path) -> tuple[dict[str, str], list[Problem]]:
    """Beside the file, and optional: what cannot be read is said and not needed. Some call a folder so."""
    if not os.path.isfile(file):
        return {}, []
    try:
        found = _bytes(file)
        text = found.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return {}, [Problem((), None, f"{file} cannot be read and is left out: {error}")]
    if len(found) > _LARGEST:
        return {}, [Problem((), None, f"{file} is larger than {_LARGEST} bytes and is left out")]
    values, unread = dotenv.parse(text)
    return values, [Problem((), None, f"{file}, line {line}: not NAME=value, left out") for line in unread[:20]]


def _bytes(file: Path) -> bytes:
    """At most a byte more than is taken. A named pipe would be waited for, and a device read, for ever."""
    with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise OSError(f"{file} is no file")
        return opened.read(_LARGEST + 1)
