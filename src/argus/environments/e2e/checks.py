"""What no single value can show: names that stand twice, dependencies that lead nowhere or in a circle. Pure.

They look at the tree and not at the model, so that they are found also where a value is wrong.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Any

from argus.core.names import LETTER
from argus.environments.e2e import names, places, suites
from argus.environments.e2e.places import Path, Placed

_HINTS = 20
"""Looking for a name that is close takes time; a file with more mistakes than this has another one."""
_CIRCLES = 20
_SHOWN = 50

Said = tuple[Path, str]
LineOf = Callable[[Path], int | None]


def find(tree: Any, line: LineOf) -> Iterator[Said]:
    services, mocks = places.services(tree), places.mocks(tree)
    yield from _twice([(one.named_at, one.name) for one in services], line, "another service has this name")
    containers = [((*one.path, "container", "name"), one.section("container").get("name")) for one in services]
    yield from _twice(containers, line, "another container has this name")
    yield from _twice(list(places.suites(tree)), line, "another suite has this id")
    yield from _illegal(services, mocks)
    yield from _dependencies(services)
    yield from _mocks(services, mocks, containers)
    yield from _port_range(tree)


def runners(tree: Any) -> list[Said]:
    """Others of this format know more of them; nothing but the suite needs it."""
    known = ", ".join(suites.RUNNERS)
    return [
        (path, f"not a runner that Argus knows ({known}): this suite cannot be run")
        for path, runner in places.suites(tree, "runner")
        if runner not in suites.RUNNERS and "{{" not in runner
    ]


def _twice(named: list[tuple[Path, Any]], line: LineOf, message: str) -> Iterator[Said]:
    first: dict[str, Path] = {}
    for path, name in named:
        if not isinstance(name, str):
            continue
        if name in first:
            yield path, f"{message}, first in line {line(first[name])}"
        first.setdefault(name, path)


def _illegal(services: list[Placed], mocks: list[Placed]) -> Iterator[Said]:
    """Names that are keys. Those that are values, the model looks at."""
    for one in services:
        if one.named_at == one.path and one.name is not None:
            try:
                names.called(one.name)
            except ValueError as wrong:
                yield one.path, str(wrong)
    for one in mocks:
        if one.name is not None and not names.is_container(one.name):
            yield one.path, f"a name starts with a {LETTER} or a digit and goes on with letters, digits and _ . -"


def _dependencies(services: list[Placed]) -> Iterator[Said]:
    depends: dict[str, tuple[str, ...]] = {}
    where: dict[str, Path] = {}
    known = dict.fromkeys(one.name for one in services if one.name is not None)
    hints = _HINTS
    for one in services:
        several = one.value.get("dependsOn")
        others = [other for other in several if isinstance(other, str)] if isinstance(several, list) else []
        for place, other in enumerate(several if isinstance(several, list) else ()):
            if isinstance(other, str) and other not in known:
                close = difflib.get_close_matches(other[:100], list(known)[:1000], n=1) if hints > 0 else []
                hints -= 1
                hint = f'; did you mean "{close[0]}"?' if close else ""
                yield (*one.path, "dependsOn", place), f"there is no service of this name{hint}"
        if one.name is not None and one.name not in depends:
            depends[one.name] = tuple(other for other in others if other in known)
            where[one.name] = (*one.path, "dependsOn")
    for ring in circles(depends):
        way = [*ring, ring[0]] if len(ring) <= _SHOWN else [*ring[:_SHOWN], f"… ({len(ring)} services)", ring[0]]
        yield where[ring[0]], f"the services wait for each other in a circle: {' -> '.join(way)}"


def circles(depends: dict[str, tuple[str, ...]]) -> list[list[str]]:
    """Each circle once, the first twenty. Without recursion: a chain may be long."""
    found: list[list[str]] = []
    done: set[str] = set()
    for start in depends:
        trail: dict[str, Iterator[str]] = {} if start in done else {start: iter(depends[start])}
        while trail:
            name, rest = next(reversed(trail.items()))
            other = next(rest, None)
            if other is None:
                done.add(name)
                del trail[name]
            elif other in trail:
                way = list(trail)
                found.append(way[way.index(other) :])
                if len(found) == _CIRCLES:
                    return found
            elif other not in done:
                trail[other] = iter(depends.get(other, ()))
    return found


def _mocks(services: list[Placed], mocks: list[Placed], containers: list[tuple[Path, Any]]) -> Iterator[Said]:
    taken = {one.name for one in services} | {name for _, name in containers if isinstance(name, str)}
    for mock in mocks:
        if mock.name in taken:
            yield mock.path, "a service, or its container, has this name; on the network they could not be told apart"
        if mock.value.get("mode") == "record" and mock.value.get("target") is None:
            yield (*mock.path, "target"), "is required where mode is record"


def _port_range(tree: Any) -> Iterator[Said]:
    isolation = tree.get("isolation") if isinstance(tree, dict) else None
    ports = isolation.get("portRange") if isinstance(isolation, dict) else None
    if isinstance(ports, list) and len(ports) == 2:
        low, high = (_whole(one) for one in ports)
        if low is not None and high is not None and high < low:
            yield ("isolation", "portRange"), "the first port is greater than the last"


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) else None
