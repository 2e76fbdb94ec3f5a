"""Names that variables made illegal for Docker are made legal: a branch called `feature/login` is no reason to fail.

What is illegal as it is written stays so, and is an error. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from argus.environments.e2e import names, places
from argus.environments.e2e.places import Path
from argus.environments.e2e.variables import Variables, references, resolve

Renamed = tuple[Path, str]


def make(written: Any, tree: Any, variables: Variables) -> list[Renamed]:
    """Changes the tree. Returns what was renamed, and how it is called now."""
    renamed: list[Renamed] = []
    for path, is_legal, lower in _names(tree):
        name, text = places.at(tree, path), places.at(written, path)
        if not isinstance(name, str) or not isinstance(text, str) or is_legal(name) or not references(text):
            continue

        def look_up(one: str, place: str, lower: bool = lower) -> str | None:
            value = variables.look_up(one, place)
            return None if value is None else names.part(value, lower=lower)

        # Nothing may be left of a variable: `-shop` would not begin as a name does.
        made = (resolve(text, look_up, place=repr(path)) or "").strip("-.")
        for better in (made, made[:200].rstrip("-.")):
            if is_legal(better):
                places.at(tree, path[:-1])[path[-1]] = better
                renamed.append((path, better))
                break
    return renamed


def _names(tree: Any) -> Iterator[tuple[Path, Callable[[str], bool], bool]]:
    for service in places.services(tree):
        if service.path != ("service",):
            yield (*service.path, "name"), names.is_container, False
        yield (*service.path, "container", "name"), names.is_container, False
        yield (*service.path, "build", "image"), names.is_image, False
        yield (*service.path, "build", "image"), names.is_image, True
    for mock in places.mocks(tree):
        yield (*mock.path, "image"), names.is_image, False
        yield (*mock.path, "image"), names.is_image, True
    yield ("network", "name"), names.is_container, False
