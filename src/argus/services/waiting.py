"""Restarts that wait for who works with a service: for whom, since when, and how long still. In memory, but for when
the wait of an outage began, which its incident has, and for who asked, so that the next Argus can take back what ended
with this one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from argus.services.model import Use
from argus.services.tools import Tools
from argus.store.records import PutSetting

ASKED = "services.asked"
"""By the service: who asked for a restart that waits."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks for a restart."""

    by: str
    """For the record."""
    agent: str = ""
    """The agent that it is, which is not waited for."""
    is_person: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    use: Use
    since: float
    """By the monotonic clock."""
    until: float
    asking: Asking | None = None
    """None: Argus decided by itself."""


class Waits:
    def __init__(self, tools: Tools, limit: Callable[[], float]) -> None:
        self._tools = tools
        self._limit = limit
        self._own: dict[str, Waiting] = {}
        self._asked: dict[str, Waiting] = {}

    def of(self, name: str) -> Waiting | None:
        """What a restart of this service waits for, whoever wants it."""
        return self._asked.get(name) or self._own.get(name)

    def asked(self, name: str) -> Waiting | None:
        return self._asked.get(name)

    def look(self, name: str, asking: Asking | None = None) -> tuple[Waiting | None, Use | None]:
        """Whom a restart would wait for; and who still works with it though the time for that is over."""
        use = next(iter(self._tools.in_use(name, asking.agent if asking else "")), None)
        if use is None:
            return None, None
        now, limit = self._tools.clock.monotonic(), self._limit()
        known = self._known(name, asking)
        since = known.since if known else now
        if now - since < limit:
            return Waiting(use, since, since + limit, asking), None
        return None, use if known else None

    def _known(self, name: str, asking: Asking | None) -> Waiting | None:
        """Who asks while Argus waits by itself waits with it."""
        asked = self._asked.get(name)
        return asked if asked is not None and asked.asking is asking and asking is not None else self._own.get(name)

    def hold(self, name: str, waiting: Waiting) -> bool:
        """True: that is news."""
        kept = self._own if waiting.asking is None else self._asked
        is_news = name not in kept
        kept[name] = waiting
        return is_news

    def written(self, without: str = "") -> PutSetting:
        """Those that were asked for and wait; but for that service's, whose wait is over."""
        asked = {name: one.asking.by for name, one in self._asked.items() if one.asking and name != without}
        return PutSetting(ASKED, asked or None)

    def take_up(self, name: str, waited: float) -> None:
        """An earlier Argus has waited so many seconds for whoever works with it."""
        since = self._tools.clock.monotonic() - max(0.0, waited)
        self._own[name] = Waiting(Use("who works with it"), since, since + self._limit())

    def end(self, name: str) -> None:
        """Argus does not wait by itself any more."""
        self._own.pop(name, None)

    def carried_out(self, name: str) -> None:
        """It is being restarted, whoever wanted that: nobody waits for it any more."""
        self._own.pop(name, None)
        self._asked.pop(name, None)

    def withdraw(self, name: str, asking: Asking) -> bool:
        """False: that one did not wait."""
        waiting = self._asked.get(name)
        if waiting is None or waiting.asking is not asking:
            return False
        del self._asked[name]
        return True
