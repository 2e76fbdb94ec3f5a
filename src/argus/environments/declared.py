"""What surprises in the files of environments that argus.yaml names, and in who depends on environments."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from argus import yaml_lines
from argus.core.depending import Kind, Thing
from argus.core.errors import ArgusError
from argus.environments.settings import EnvironmentFile

Read = Callable[[Path], bytes]


def notices(
    files: Sequence[EnvironmentFile], needed: Mapping[str, Iterable[Thing]], folder: str, read: Read
) -> list[str]:
    """`needed`: what is depended on, by the place that says so. `folder`: where relative paths begin."""
    paths = [os.path.join(folder, one.written_file) for one in files]
    return [*_twice_or_missing(paths), *_unknown(paths, needed, read)]


def _twice_or_missing(paths: list[str]) -> Iterator[str]:
    first: dict[str, int] = {}
    for place, path in enumerate(paths):
        if not os.path.isfile(path):
            yield f"environments[{place}]: there is no file {path}"
            continue
        before = first.setdefault(os.path.realpath(path), place)
        if before != place:
            yield f"environments[{place}]: {path} is the file of environments[{before}] again; only the last one counts"


def _unknown(paths: list[str], needed: Mapping[str, Iterable[Thing]], read: Read) -> Iterator[str]:
    """One that stands in no such file may be set up all the same, from anywhere: then it is known by its name. So it is
    no mistake, and looks like one."""
    wanted = [(place, one.name) for place, things in needed.items() for one in things if one.kind is Kind.ENVIRONMENT]
    if not wanted:
        return
    known = [_name(Path(path), read) for path in paths if os.path.isfile(path)]
    if None in known:
        return  # it may be that one
    names = [one for one in known if one]
    for place, name in wanted:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            meant = f'; did you mean "environment:{close[0]}"?' if close else ""
            yield (
                f'{place}: no file under `environments` is called "{name}" (its project.name): until an environment of '
                f"that name is up, nobody waits for it{meant}"
            )


def _name(file: Path, read: Read) -> str | None:
    """What it calls itself; None: that cannot be told without all of what its variables mean."""
    found = None
    with contextlib.suppress(OSError, UnicodeDecodeError, yaml_lines.Broken, ArgusError):
        found = yaml_lines.parse(read(file).decode("utf-8")).value
    project = found.get("project") if isinstance(found, dict) else None
    name = project.get("name") if isinstance(project, dict) else None
    return name if isinstance(name, str) and "{{" not in name else None
