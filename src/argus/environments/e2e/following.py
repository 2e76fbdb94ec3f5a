"""A port that had to be another one is followed wherever it was meant. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Moved = Mapping[str, Mapping[int, int]]
"""Of each service or mock: the host port that was wanted, and the one that was taken."""

_HERE = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]")  # noqa: S104


@dataclass(frozen=True, slots=True)
class Owner:
    """Who publishes which ports."""

    name: str
    host_ports: frozenset[int]
    container_ports: frozenset[int] = frozenset()


def follow(values: Mapping[str, str], of: str, owners: Iterable[Owner], moved: Moved) -> dict[str, str]:
    """The `vars` of one service. A port that two wanted is, in its own `vars`, its own."""
    owners = tuple(owners)
    here = _on_this_machine(of, owners, moved)
    named = {owner.name: _by_name(owner, moved) for owner in owners}
    pattern = _pattern(named)
    if not here and not any(named.values()):
        return dict(values)

    def other(found: re.Match[str]) -> str:
        port = int(found["port"])
        ports = here if found["host"] in _HERE else named[found["host"]]
        return f"{found['host']}:{ports.get(port, port)}"

    return {key: pattern.sub(other, value) for key, value in values.items()}


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    hosts = "|".join(re.escape(host) for host in sorted((*_HERE, *names), key=len, reverse=True))
    # `user:1234@host` is no address, nor are version numbers such as `localhost:1.2`.
    return re.compile(rf"(?<![\w.-])(?P<host>{hosts}):(?P<port>[0-9]{{1,5}})(?![0-9@]|\.[0-9])")


def _on_this_machine(of: str, owners: tuple[Owner, ...], moved: Moved) -> dict[int, int]:
    """From what others had to change, over what others have as they wanted it, to its own: the last holds."""
    ports: dict[int, int] = {}
    for owner in reversed(owners):
        ports |= moved.get(owner.name, {})
    for owner in owners:
        ports |= {port: port for port in owner.host_ports - moved.get(owner.name, {}).keys()}
    for owner in owners:
        if owner.name == of:
            ports |= {port: port for port in owner.host_ports} | dict(moved.get(of, {}))
    return ports


def _by_name(owner: Owner, moved: Moved) -> dict[int, int]:
    """By its name a service is reached inside the network, on the container's port; only another port is meant to be
    the host's."""
    changed = moved.get(owner.name, {})
    return {port: taken for port, taken in changed.items() if port not in owner.container_ports}
