"""Which host port each service gets. The engine has the last word: what was free may be taken when it is bound.

Ports that are promised and not bound yet are kept aside, so that environments set up at once never pick the same.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from argus.core.errors import ArgusError, Code

ATTEMPTS = 100
_FIRST, _LAST = 1024, 65535
_IsFree = Callable[[int, str], bool]
"""Of a port, in a protocol."""
_Occupants = Callable[[Iterable[int], str], Mapping[int, "Occupant"]]


@dataclass(frozen=True, slots=True)
class Wanted:
    service: str
    port: int
    protocols: tuple[str, ...] = ("tcp",)
    nth: int = 0
    """Of several claims of one service to one number."""


@dataclass(frozen=True, slots=True)
class PortMapping:
    service: str
    original: int
    actual: int

    @property
    def reassigned(self) -> bool:
        return self.original != self.actual


@dataclass(frozen=True, slots=True)
class Occupant:
    """Who listens on a port, as far as this user may see."""

    pid: int | None = None
    command: str = ""

    def public(self) -> dict[str, Any]:
        return {"pid": self.pid, "command": self.command}


class Ports:
    """The host ports that this daemon has promised."""

    def __init__(self, is_free: _IsFree, occupants: _Occupants) -> None:
        self._is_free = is_free
        self._occupants = occupants
        self._promised: set[int] = set()

    def taken(self, wanted: Iterable[Wanted]) -> dict[int, Occupant]:
        """Of these ports, those that somebody has, and who."""
        found: dict[int, Occupant] = {}
        asked = {(one.port, protocol) for one in wanted for protocol in one.protocols}
        for protocol in sorted({protocol for _, protocol in asked}):
            ports = sorted(port for port, which in asked if which == protocol)
            held = [port for port in ports if not self._is_free(port, protocol)]
            known = self._occupants(held, protocol) if held else {}
            found |= {port: known.get(port, Occupant()) for port in held if port not in found}
        return found

    def take(
        self, wanted: Iterable[Wanted], *, reassign: bool, within: tuple[int, int] | None = None
    ) -> list[PortMapping]:
        """A port for each, promised until it is given back. All of them or none.

        None gets what another of them wants: one that is in somebody's way would move them all.
        """
        wanted = list(wanted)
        theirs = frozenset(one.port for one in wanted)
        found: list[PortMapping] = []
        # Ports that lie together are looked for in the same places: each place is tried once.
        is_free = functools.cache(self._is_free)
        try:
            for one in wanted:
                found.append(PortMapping(one.service, one.port, self._one(one, reassign, within, is_free, theirs)))
                self._promised.add(found[-1].actual)
        except ArgusError:
            self.give_back(found)
            raise
        return found

    def give_back(self, mappings: Iterable[PortMapping]) -> None:
        """Bound by now, or not needed any more."""
        self._promised.difference_update(one.actual for one in mappings)

    def another(
        self, mapping: PortMapping, wanted: Wanted, *, within: tuple[int, int] | None = None, but: Iterable[int] = ()
    ) -> PortMapping:
        """The port was lost between the promise and the binding."""
        self.give_back([mapping])
        actual = self._search(wanted, within, self._is_free, frozenset(but) | {mapping.actual})
        self._promised.add(actual)
        return PortMapping(mapping.service, mapping.original, actual)

    def _one(
        self,
        wanted: Wanted,
        reassign: bool,
        within: tuple[int, int] | None,
        is_free: _IsFree,
        theirs: frozenset[int],
    ) -> int:
        if self._available(wanted, wanted.port, is_free):
            return wanted.port
        if not reassign:
            raise conflict(wanted, self.taken([wanted]).get(wanted.port))
        return self._search(wanted, within, is_free, theirs)

    def _search(self, wanted: Wanted, within: tuple[int, int] | None, is_free: _IsFree, but: frozenset[int]) -> int:
        tried = 0
        for port in itertools.islice((one for one in _candidates(wanted.port, within) if one not in but), ATTEMPTS):
            tried += 1
            if self._available(wanted, port, is_free):
                return port
        raise ArgusError(
            Code.PORT_EXHAUSTION,
            f"no free port for {wanted.service}: {tried} were tried",
            service=wanted.service,
            port=wanted.port,
            attempts=tried,
            range=list(within) if within else None,
        )

    def _available(self, wanted: Wanted, port: int, is_free: _IsFree) -> bool:
        return port not in self._promised and all(is_free(port, one) for one in wanted.protocols)


def conflict(wanted: Wanted, holder: Occupant | None) -> ArgusError:
    by = f" by {holder.command} (pid {holder.pid})" if holder and holder.pid else ""
    return ArgusError(
        Code.PORT_CONFLICT,
        f"port {wanted.port} of {wanted.service} is taken{by}",
        service=wanted.service,
        port=wanted.port,
        **(holder or Occupant()).public(),
    )


def _candidates(original: int, within: tuple[int, int] | None) -> Iterator[int]:
    """The ports above the wanted one, as people would count, and round again; never a privileged one."""
    first, last = within or (_FIRST, _LAST)
    begin = original + 1 if first <= original < last else first if within else 8000 + original % 1000
    for step in range(last - first + 1):
        yield first + (begin - first + step) % (last - first + 1)
