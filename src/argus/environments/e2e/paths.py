"""Which Dockerfile is meant: beside the file, in the context, in the caller's folder; the first that exists."""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from argus.environments.e2e import places
from argus.environments.e2e.places import Path


@dataclass(frozen=True, slots=True)
class Roots:
    file: File
    """The folder of the e2e.yaml."""
    project: File
    working: File
    """Where the caller stood."""


@dataclass(frozen=True, slots=True)
class Found:
    context: File
    dockerfile: File | None
    looked_at: tuple[File, ...]


def find(tree: Any, roots: Roots) -> dict[Path, Found]:
    return {
        one.path: _one(dockerfile, context, roots)
        for one in places.services(tree)
        if isinstance(dockerfile := one.section("build").get("dockerfile"), str)
        and isinstance(context := one.section("build").get("context") or ".", str)
    }


def _one(dockerfile: str, context: str, roots: Roots) -> Found:
    folder = absolute(roots.file, context)
    # The same place twice is named once.
    candidates = tuple(dict.fromkeys(absolute(base, dockerfile) for base in (roots.file, folder, roots.working)))
    return Found(folder, next((one for one in candidates if os.path.isfile(one)), None), candidates)


def absolute(base: File, text: str) -> File:
    """Without asking the disk: `..` is taken away as written. No path holds a null character."""
    return File(os.path.normpath(base / text.replace("\0", "")))


def outside(found: dict[Path, Found], roots: Roots) -> Iterator[tuple[Path, str]]:
    """A Dockerfile is read from the project, from where the command was given, or from the context that the file
    declares. Anywhere else it is a slip or a trap, also behind a link."""
    for path, one in found.items():
        if one.dockerfile is None:
            continue
        real = os.path.realpath(one.dockerfile)
        allowed = (roots.file, roots.project, roots.working, one.context)
        if not any(_within(real, os.path.realpath(folder)) for folder in allowed):
            yield (*path, "build", "dockerfile"), f"{one.dockerfile} is outside the project and outside its context"


def _within(path: str, folder: str) -> bool:
    return os.path.commonpath((path, folder)) == folder


def missing(found: dict[Path, Found]) -> Iterator[tuple[Path, str]]:
    """No error yet: an environment whose images are there can be looked at, tested and cleaned without it."""
    for path, one in found.items():
        if not os.path.isdir(one.context):
            yield (*path, "build", "context"), f"there is no folder {one.context}"
        elif one.dockerfile is None:
            looked = ", ".join(str(file) for file in one.looked_at)
            yield (*path, "build", "dockerfile"), f"there is none; looked for {looked}"
