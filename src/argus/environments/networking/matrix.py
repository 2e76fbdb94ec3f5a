"""Who reaches whom, and what is to be said of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from argus.core.errors import ArgusError, Code
from argus.environments.networking.probing import Heard
from argus.environments.networking.targets import Target

_REFUSED = "refused"
Topology = Mapping[str, Sequence[str]]
"""Which containers are on which networks, by their names."""


@dataclass(frozen=True, slots=True)
class Pair:
    source: str
    """The service that looked."""
    container: str
    """Its container's name."""
    target: Target
    heard: Heard | None
    """None: it was not found out."""

    @property
    def is_resolved(self) -> bool:
        return self.heard is not None and self.heard.is_resolved

    @property
    def is_listening(self) -> bool | None:
        return None if self.target.port is None or self.heard is None else self.heard.is_connected

    @property
    def is_reachable(self) -> bool:
        """A refusal is an answer: the network carries both ways, and nobody listens there, or not yet. Of a mock that
        is not enough."""
        if self.heard is None or not self.is_resolved:
            return False
        if self.target.port is None or self.heard.is_connected:
            return True
        return self.heard.error == _REFUSED and not self.target.is_mock

    def public(self) -> dict[str, Any]:
        said = self.heard or Heard("no answer", error="not found out in time")
        return {
            "from": self.source,
            "service": self.target.service,
            "hostname": self.target.hostname,
            "port": self.target.port,
            "reachable": self.is_reachable,
            "listening": self.is_listening,
            "dnsResolved": self.is_resolved,
            "dns": said.dns,
            "addresses": list(said.addresses),
            "latencyMs": said.milliseconds,
            "error": said.error,
        }


@dataclass(frozen=True, slots=True)
class Report:
    network: str
    pairs: tuple[Pair, ...]
    topology: Topology
    timestamp: int
    """Milliseconds since 1970."""
    seconds: float = 0.0
    places: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """On which networks a container is, by its name; where that was asked for."""

    @property
    def is_all_reachable(self) -> bool:
        return all(one.is_reachable for one in self.pairs)

    def public(self) -> dict[str, Any]:
        return {
            "results": [one.public() for one in self.pairs],
            "allReachable": self.is_all_reachable,
            "networkTopology": {
                "networkName": self.network,
                "containers": list(self.topology.get(self.network, ())),
                "networks": {name: list(containers) for name, containers in self.topology.items()},
            },
            "timestamp": self.timestamp,
            "duration": round(self.seconds * 1000, 1),
        }

    # What is wrong.

    def failure(self) -> ArgusError | None:
        """A name that is not resolved outranks a port that is not reached. One whose container is not on the network at
        all has no name there: that is the network's failure, and not that of DNS."""
        failed = [one for one in self.pairs if not one.is_reachable]
        nameless = [one for one in failed if not one.is_resolved and not self._misplaced(one)]
        if nameless:
            return self._error(Code.DNS_RESOLUTION_FAILED, nameless[0], failed)
        return self._error(Code.NETWORK_UNREACHABLE, failed[0], failed) if failed else None

    def _misplaced(self, pair: Pair) -> str:
        """Which of the two containers is not on the network."""
        there = self.topology.get(self.network, ())
        return next((one for one in (pair.target.container, pair.container) if one not in there), "")

    def _error(self, code: Code, first: Pair, failed: list[Pair]) -> ArgusError:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return ArgusError(
            code,
            f"{first.source} cannot reach {_where(first.target)}: {self._why(first)}{more}",
            hostname=first.target.hostname,
            service=first.target.service,
            source=first.source,
            dns=first.public()["dns"],
            expectedNetwork=self.network,
            containersOnNetwork=list(self.topology.get(self.network, ())),
            unreachable=[one.public() for one in failed],
            **self.public(),
        )

    def _why(self, pair: Pair) -> str:
        away = self._misplaced(pair)
        if away:
            others = ", ".join(self.places.get(away, ())) or "none"
            return f"the container {away} is not on the network {self.network}, but on {others}"
        said = pair.public()
        if not pair.is_resolved:
            return f"its name is not resolved on the network {self.network} ({said['dns']})"
        return str(said["error"] or "no answer")


def _where(target: Target) -> str:
    return f"{target.hostname}:{target.port}" if target.port else target.hostname
