"""The breakers of MCP servers: one each, by name, for queries and calls together."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from argus.bridge.settings import Bridge
from argus.core.breaker import Limits
from argus.core.circuit import Circuit, Verdict

PREFIX = "mcp:"
_SPARE = 30.0


class Circuits:
    def __init__(
        self,
        settings: Bridge,
        now: Callable[[], float],
        held: Mapping[str, Circuit],
        hold: Callable[[Circuit], Circuit],
    ) -> None:
        """`held`: all breakers of the house, which keeps them on record; `hold`: takes one more."""
        self._now = now
        self._held = held
        self._hold = hold
        self._limits = _limits(settings)

    def of(self, server: str) -> Circuit:
        """For a server that is known to be there: one is made if there is none yet."""
        name = PREFIX + server
        return self._held.get(name) or self._hold(self.make(name))

    def held(self, server: str) -> Circuit | None:
        return self._held.get(PREFIX + server)

    def make(self, name: str) -> Circuit:
        return Circuit(name, self._now, lambda error: Verdict.FAILED, self._limits)

    def configure(self, settings: Bridge) -> None:
        self._limits = _limits(settings)
        for name, circuit in self._held.items():
            if name.startswith(PREFIX):
                circuit.configure(self._limits)


def _limits(settings: Bridge) -> Limits:
    # A probe has as much time as any other call; the caller may give it less, and then says so sooner.
    probe = max(60.0, settings.timeout + _SPARE)
    return Limits(failures=settings.failures, reset_after=settings.reset_after, probe_timeout=probe)
