"""What the end of a query means: its answer or its error, and what is charged to whose breaker. Pure.

A server is charged for what it did, where that is known. The model's service, its limits, the turns and the form of the
answer are nobody's fault among the servers. What ends without a word is charged to all of them: nobody can know better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from argus.bridge.reading import Heard, Refusal
from argus.core.circuit import Verdict
from argus.core.cutting import beginning, ending
from argus.core.errors import ArgusError, Code

_SAID = 2000


class Cause(StrEnum):
    """Why there is no answer: `details.cause` of MCP_FAILED."""

    SERVER = "server"
    MODEL = "model"
    LIMIT = "limit"
    TURNS = "turns"
    OUTPUT = "output"
    TIMEOUT = "timeout"
    PROGRAM = "program"
    BUSY = "busy"


SUGGESTED: dict[Cause, tuple[str, ...]] = {
    Cause.MODEL: ("check_model", "retry_later"),
    Cause.LIMIT: ("wait_for_limit",),
    Cause.TURNS: ("raise_max_turns", "ask_for_less"),
    Cause.OUTPUT: ("fix_schema", "ask_for_less"),
    Cause.TIMEOUT: ("raise_timeout", "check_mcp_server"),
    Cause.PROGRAM: ("install_claude", "read_details"),
    Cause.BUSY: ("retry_later", "raise_max_concurrent"),
}


class State(StrEnum):
    ANSWERED = "answered"
    CONNECTED = "connected"
    FAILED = "failed"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Standing:
    """How one server did."""

    name: str
    state: State
    reason: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """How the program ended. `exit_code` None: it was ended at its deadline."""

    exit_code: int | None
    timeout: float
    said: str = ""
    is_patient: bool = True
    """Whether it had the time in which a server has to answer: else only what it said of one counts."""


@dataclass(frozen=True, slots=True)
class Judged:
    standings: tuple[Standing, ...]
    charged: Mapping[str, str]
    """The servers whose failure it is, and why."""
    error: ArgusError | None = None

    def verdict(self, server: str) -> Verdict:
        if server in self.charged:
            return Verdict.FAILED
        is_well = any(one.name == server and one.state in _WELL for one in self.standings)
        return Verdict.ANSWERED if is_well else Verdict.NOTHING


_WELL = (State.ANSWERED, State.CONNECTED)


def failure(cause: Cause, message: str, **details: Any) -> ArgusError:
    error = ArgusError(Code.MCP_FAILED, message, cause=cause.value, **details)
    error.actions = SUGGESTED.get(cause)
    return error


def judge(heard: Heard, end: End, named: Sequence[str], misfit: Callable[[Any], str] | None = None) -> Judged:
    """`misfit`: why a structured answer is not what was asked for, if one was; empty if it is."""
    standings = tuple(_standing(heard, end, name) for name in named)
    failed = {one.name: one.reason for one in standings if one.state is State.FAILED}
    known = failed if end.is_patient else {name: why for name, why in failed.items() if name in heard.failed}
    absent = [one.name for one in standings if one.state is State.ABSENT]
    usable = [one for one in standings if one.state in _WELL]
    result = heard.result

    def judged(error: ArgusError | None, charged: Mapping[str, str] = known) -> Judged:
        return Judged(standings, charged, error and error.adding(servers=[_public(one) for one in standings]))

    if heard.refusal is not None and (result is None or not result.ok):
        return judged(_refused(heard.refusal))
    if failed and (result is None or not usable):
        return judged(_server_failed(failed, result.text if result else ""))
    if result is None:
        why, cause = _silence(heard, end)
        error = failure(cause, why, said=ending(end.said, _SAID), strangeLines=heard.strange)
        is_known = end.exit_code is not None or end.is_patient
        return judged(error, dict.fromkeys(named, why) if is_known else known)
    if result.kind == "error_max_turns":
        message = f"no answer after {result.turns} turns: {'; '.join(result.errors) or 'there were no more'}"
        return judged(failure(Cause.TURNS, message, turns=result.turns))
    if not result.ok:
        why = "; ".join(result.errors) or beginning(result.text, _SAID) or f"it ended with {result.kind}"
        return judged(failure(Cause.PROGRAM, why, kind=result.kind), dict.fromkeys(named, why))
    if absent and not usable:
        message = f"no MCP server {absent[0]!r} is known to the program that was asked"
        missing = ArgusError(Code.NOT_FOUND, message, server=absent[0], known=sorted(heard.servers or ()))
        missing.actions = ("list_mcp_servers", "check_name")
        return judged(missing)
    if misfit is not None and (why := misfit(result.structured)):
        return judged(
            failure(Cause.OUTPUT, f"the answer does not fit the schema: {why}", answer=beginning(result.text, _SAID))
        )
    return judged(None)


def _standing(heard: Heard, end: End, name: str) -> Standing:
    if name in heard.failed:
        return Standing(name, State.FAILED, heard.failed[name])
    if end.exit_code is None and name in heard.waiting.values():
        state = State.FAILED if end.is_patient else State.UNKNOWN
        return Standing(name, state, f"it did not answer a call within {end.timeout:g} s")
    if name in heard.answered:
        return Standing(name, State.ANSWERED)
    if heard.servers is None:
        return Standing(name, State.UNKNOWN)
    status = heard.servers.get(name)
    if status is None:
        return Standing(name, State.ABSENT)
    if status == "connected":
        return Standing(name, State.CONNECTED)
    return Standing(name, State.FAILED, _NOT_CONNECTED.get(status, f"it is not connected: {status}"))


_NOT_CONNECTED = {
    "failed": "it could not be connected to",
    "pending": "it had not answered when the query began",
    "needs-auth": "it wants a login: claude mcp, then log in",
    "disabled": "it is disabled",
}


def _refused(refusal: Refusal) -> ArgusError:
    is_limit = refusal.status == 429 or "limit" in refusal.kind
    cause = Cause.LIMIT if is_limit else Cause.MODEL
    said = refusal.message or refusal.kind
    words = "the model's service is at its limit" if is_limit else "the model's service refused"
    return failure(cause, beginning(f"{words}: {said}", _SAID), status=refusal.status, kind=refusal.kind)


def _server_failed(known: Mapping[str, str], answer: str) -> ArgusError:
    name, reason = next(iter(known.items()))
    others = f", and {len(known) - 1} more" if len(known) > 1 else ""
    message = f"the MCP server {name} failed{others}: {reason}"
    return failure(Cause.SERVER, message, server=name, reason=reason, answer=beginning(answer, _SAID))


def _silence(heard: Heard, end: End) -> tuple[str, Cause]:
    if end.exit_code is None:
        where = "before it had begun" if heard.servers is None else "waiting for the model"
        return f"no answer within {end.timeout:g} s, {where}", Cause.TIMEOUT
    how = f"signal {-end.exit_code}" if end.exit_code < 0 else f"status {end.exit_code}"
    last = beginning(end.said.strip().rpartition("\n")[2], 300)
    return f"the program ended with {how} and without an answer{f': {last}' if last else ''}", Cause.PROGRAM


def _public(one: Standing) -> dict[str, str]:
    return {"name": one.name, "state": one.state.value, "reason": one.reason}
