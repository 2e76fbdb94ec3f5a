"""Who holds a breaker: calls go through it, and it hears how each of them ended.

One for every other side that can fail as a whole: the Docker engine, an MCP server. While nothing has failed a call
costs one comparison before and one after, because asking the breaker would give the same answer every time. While it
is open a refusal is as cheap: its words are found when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any, Protocol, TypeVar

from argus.core.breaker import (
    Breaker,
    Failure,
    Limits,
    Pass,
    Refused,
    State,
    abandoned,
    admit,
    failed,
    reset,
    succeeded,
)
from argus.core.errors import REGISTRY, ArgusError, Code

T = TypeVar("T")


class Verdict(Enum):
    """What an error says about the other side."""

    FAILED = "it failed"
    ANSWERED = "it is well, and said no: there is no such container"
    NOTHING = "nothing: the fault was the caller's, or nobody knows whose"


class CircuitOpen(ArgusError):
    """The breaker refuses. Raised for every call while it is open, so it is put into words only when it is shown."""

    code = Code.CIRCUIT_OPEN
    severity = REGISTRY[Code.CIRCUIT_OPEN].severity

    def __init__(self, name: str, breaker: Breaker, retry_in: float | None) -> None:
        self._name = name
        self._breaker = breaker
        self._retry_in = retry_in

    def __str__(self) -> str:
        return self.message

    @property
    def message(self) -> str:  # type: ignore[override]
        if self._retry_in is not None:
            until = f"for {max(1, round(self._retry_in))} s more"
        else:
            until = (
                "until it is reset" if self._breaker.state is State.OPEN else "until the call that tries it has ended"
            )
        return f"{self._name} failed {self._breaker.consecutive} times in a row and is not asked {until}"

    @property
    def actions(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """Nothing is to be waited for where only a person resets it."""
        by_hand = self._breaker.state is State.OPEN and self._retry_in is None
        return ("reset_circuit", "fix_cause") if by_hand else None

    @property
    def details(self) -> dict[str, Any]:  # type: ignore[override]
        history = self._breaker.history
        return {
            "breaker": self._name,
            "failures": self._breaker.consecutive,
            "lastFailure": history[-1].message if history else "",
            "retryInSeconds": None if self._retry_in is None else round(self._retry_in, 1),
        }


class Way(Protocol):
    """Through a breaker."""

    async def call(self, work: Callable[[], Awaitable[T]]) -> T: ...


class Sparing:
    """A breaker's way for who only watches."""

    def __init__(self, circuit: Circuit) -> None:
        self.call = circuit.look


class Circuit:
    def __init__(
        self,
        name: str,
        now: Callable[[], float],
        judge: Callable[[Exception], Verdict],
        limits: Limits | None = None,
    ) -> None:
        self.name = name
        self.limits = limits or Limits()
        self.began = now()
        self._now = now
        self._judge = judge
        self.changed: Callable[[], None] = lambda: None
        """Told of every change, to keep it or to say so."""
        self._quiet: Pass | None = None
        """Leave for every call while nothing has failed; None when the breaker has to be asked."""
        self._shut_from = self._shut_until = 0.0
        """While `admit` would refuse whoever asks."""
        self.restore(Breaker())

    def restore(self, breaker: Breaker) -> None:
        """Goes on where an earlier holder left off."""
        self.breaker = breaker
        self._look()

    def configure(self, limits: Limits) -> None:
        """Other limits, for the same breaker."""
        if limits != self.limits:
            self.limits = limits
            self._look()

    async def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Raises CIRCUIT_OPEN at once where the breaker refuses, and otherwise what the work raises."""
        leave = self._quiet
        if leave is None:
            leave = self._ask()
        try:
            result = await work()
        except BaseException as error:
            self._hear(leave, error)
            raise
        if self._quiet is not leave:
            self._take(succeeded(self.breaker, leave, self._now()))
        return result

    def enter(self) -> Pass:
        """Leave for a call whose end is said by `leave`; for who calls several sides as one. Raises CIRCUIT_OPEN."""
        return self._quiet or self._ask()

    def leave(self, entered: Pass, error: Exception | None, verdict: Verdict) -> None:
        """How such a call ended: `error` is what is remembered if it failed."""
        if verdict is Verdict.FAILED:
            self._fail(entered, error or Exception(verdict.value))
        elif verdict is Verdict.ANSWERED:
            self._take(succeeded(self.breaker, entered, self._now()))
        else:
            self._take(abandoned(self.breaker, entered))

    async def look(self, work: Callable[[], Awaitable[T]]) -> T:
        """The same for who only watches: however often it looks, one outage is one failure, and a probe of its that
        fails gives its place to the next. So looking opens nothing, and keeps nothing open."""
        entered = self.enter()
        try:
            result = await work()
        except BaseException as error:
            is_known = self.breaker.consecutive > 0
            if is_known and isinstance(error, Exception) and self._judge(error) is Verdict.FAILED:
                self.leave(entered, error, Verdict.NOTHING)
            else:
                self._hear(entered, error)
            raise
        self.leave(entered, None, Verdict.ANSWERED)
        return result

    def vouch(self) -> None:
        """Somebody else has just heard the other side: an open one may try now, where it would by itself later."""
        if self.limits.reset_after > 0:
            self.reset()

    def check(self) -> None:
        """Raises CIRCUIT_OPEN where a call would be refused just now; for who has something to do before its first."""
        if self._quiet is None:
            answer = admit(self.breaker, self.limits, self._now())[1]
            if isinstance(answer, Refused):
                raise CircuitOpen(self.name, self.breaker, answer.retry_in)

    def reset(self) -> bool:
        """By hand. Whether that changed anything: only an open breaker can be reset."""
        before = self.breaker
        self._take(reset(before, self._now()))
        return self.breaker is not before

    def _ask(self) -> Pass:
        now = self._now()
        if self._shut_from <= now < self._shut_until:
            raise CircuitOpen(self.name, self.breaker, self._shut_until - now)
        breaker, answer = admit(self.breaker, self.limits, now)
        if isinstance(answer, Refused):
            raise CircuitOpen(self.name, self.breaker, answer.retry_in)
        self._take(breaker)
        return answer

    def _hear(self, leave: Pass, error: BaseException) -> None:
        # Cancelled, or the end of the program: whoever called does not wait for the answer any more.
        if isinstance(error, Exception):
            self.leave(leave, error, self._judge(error))
        else:
            self._take(abandoned(self.breaker, leave))

    def _fail(self, leave: Pass, error: Exception) -> None:
        code = error.code.value if isinstance(error, ArgusError) else type(error).__name__
        self._take(failed(self.breaker, self.limits, leave, Failure(self._now(), code, str(error))))

    def _take(self, breaker: Breaker) -> None:
        if breaker is not self.breaker:
            self.breaker = breaker
            self._look()
            self.changed()

    def _look(self) -> None:
        one = self.breaker
        is_quiet = one.state is State.CLOSED and not one.consecutive
        answer = admit(one, self.limits, 0.0)[1] if is_quiet else None
        self._quiet = answer if isinstance(answer, Pass) else None
        is_shut = one.state is State.OPEN and self.limits.reset_after > 0
        self._shut_from, self._shut_until = (one.since, one.since + self.limits.reset_after) if is_shut else (0.0, 0.0)
