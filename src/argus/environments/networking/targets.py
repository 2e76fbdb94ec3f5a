"""What each service of an environment should reach. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from argus.environments.blueprint import Part

_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_-]{1,63})*")
"""What can be asked for in DNS. Docker takes longer names, which nobody can look up."""


@dataclass(frozen=True, slots=True)
class Target:
    service: str
    container: str
    """Its name."""
    hostname: str
    port: int | None = None
    """None: only its name is looked up. There is nothing to connect to, or nothing that would answer."""
    is_mock: bool = False
    """Then something must listen: it is there to be called. What a service listens on is its own business."""

    @property
    def word(self) -> str:
        """As the helper wants to be told."""
        if self.port is None:
            return self.hostname
        return f"{self.hostname}:{self.port}{'!' if self.is_mock else ''}"


@dataclass(frozen=True, slots=True)
class Stands:
    """A part whose container is there."""

    part: Part
    container: str
    id: str


def of(source: str, parts: Iterable[Stands]) -> list[Target]:
    """All others, as one of them sees them."""
    return [target for one in parts if one.part.name != source for target in _targets(one)]


def _targets(one: Stands) -> Iterator[Target]:
    part = one.part
    hostname = next((name for name in (part.alias, part.container) if _NAME.fullmatch(name)), None)
    if hostname is None:
        return
    ports = dict.fromkeys(port.container_port for port in part.ports if port.protocol == "tcp")
    for port in ports or (None,):
        yield Target(part.name, one.container, hostname, port, part.is_mock)
