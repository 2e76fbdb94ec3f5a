"""Where things stand in the tree of an `e2e.yaml`, whatever form it was written in. Pure, and good-natured: a tree of
which half is wrong is walked like any other, so that everything that is wrong is found at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    path: Path
    name: str | None
    """What others call it. Of the only service it is its container's."""
    named_at: Path
    value: dict[str, Any]

    def section(self, name: str) -> dict[str, Any]:
        found = self.value.get(name)
        return found if isinstance(found, dict) else {}


def services(tree: Any) -> list[Placed]:
    """`services`, as a list or under their names, when it is not empty; and else `service`."""
    several = tree.get("services") if isinstance(tree, dict) else None
    if isinstance(several, list) and several:
        return [
            Placed(("services", place), _text(one.get("name")), ("services", place, "name"), one)
            for place, one in enumerate(several)
            if isinstance(one, dict)
        ]
    if isinstance(several, dict) and several:
        return [_mapped(key, one) for key, one in several.items() if isinstance(one, dict)]
    one = tree.get("service") if isinstance(tree, dict) else None
    if not isinstance(one, dict):
        return []
    container = one.get("container")
    name = _text(container.get("name")) if isinstance(container, dict) else None
    return [Placed(("service",), name, ("service", "container", "name"), one)]


def _mapped(key: str, one: dict[str, Any]) -> Placed:
    path: Path = ("services", key)
    return (
        Placed(path, key, path, one)
        if one.get("name") is None
        else Placed(path, _text(one.get("name")), (*path, "name"), one)
    )


def mocks(tree: Any) -> list[Placed]:
    found = tree.get("mocks") if isinstance(tree, dict) else None
    several = found.items() if isinstance(found, dict) else ()
    return [Placed(("mocks", key), key, ("mocks", key), one) for key, one in several if isinstance(one, dict)]


def suites(tree: Any, key: str = "id") -> Iterator[tuple[Path, str]]:
    """What each of them says under that key."""
    tests = tree.get("tests") if isinstance(tree, dict) else None
    several = tests.get("suites") if isinstance(tests, dict) else None
    for place, one in enumerate(several if isinstance(several, list) else ()):
        if isinstance(one, dict) and isinstance(one.get(key), str):
            yield ("tests", "suites", place, key), one[key]


def at(tree: Any, path: Path) -> Any:
    """What stands there, or None."""
    for part in path:
        if isinstance(tree, dict):
            tree = tree.get(part)
        elif isinstance(tree, list) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
        else:
            return None
    return tree


def written_vars(tree: Any) -> dict[str, tuple[Path, str]]:
    """Of all services together, with their places; the last one that sets a name has it. `service` counts too, where
    `services` goes before it."""
    alone = services({"service": tree.get("service")}) if isinstance(tree, dict) else []
    found: dict[str, tuple[Path, str]] = {}
    for service in (*alone, *services(tree)):
        for key, value in service.section("vars").items():
            if isinstance(value, str):
                found[key] = ((*service.path, "vars", key), value)
    return found


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
