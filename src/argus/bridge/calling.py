"""One call of a tool of an MCP server, through its breaker.

What counts against the server: that it cannot be started or reached, dies, hangs or is slow. What does not: a tool that
says no, an answer that is too large, arguments that are wrong, a caller who goes away.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from argus.bridge.pool import Full, Held, Pool
from argus.core.circuit import Circuit, Verdict
from argus.core.cutting import beginning, ending
from argus.core.errors import IN_ANSWERS, ArgusError, Code
from argus.host.mcp_seam import Closed, Forgotten, Reach, Refused, Reply, Tool, TooLarge, Unreachable

_CUT = 2000
_LINE = 200
_SHOWN = 12
_NAMED = 100


@dataclass(frozen=True, slots=True)
class Called:
    reply: Reply
    seconds: float


class Failed(ArgusError):
    """MCP_FAILED, with what it says about the server."""

    def __init__(self, server: str, reason: str, why: str, verdict: Verdict, **details: Any) -> None:
        shown = {key: value for key, value in details.items() if value not in ("", None)}
        super().__init__(Code.MCP_FAILED, f"the MCP server {server}: {why}", server=server, reason=reason, **shown)
        self.verdict = verdict
        self.actions = IN_ANSWERS.get(reason)


class Calling:
    def __init__(self, pool: Pool, now: Callable[[], float], clean: Callable[[str], str]) -> None:
        self._pool = pool
        self._now = now
        self._clean = clean
        """Takes secrets out of what programs said."""

    async def call(
        self,
        server: str,
        reach: Reach,
        circuit: Circuit,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        timeout: float,
        slow_after: float,
        patience: float = 0.0,
    ) -> Called:
        """`patience`: a limit below that is the caller's own affair: the call is taken back, and nothing is counted."""
        began = self._now()
        entered = circuit.enter()
        verdict, heard = Verdict.NOTHING, None
        try:
            reply = await self._answered(server, reach, tool, arguments, timeout, timeout >= patience)
            verdict, seconds = Verdict.ANSWERED, self._now() - began
            if seconds > slow_after:
                why = f"answered after {seconds:.1f} s, which is slow"
                verdict, heard = Verdict.FAILED, Failed(server, "slow", why, Verdict.FAILED)
            return Called(reply, seconds)
        except Failed as failed:
            verdict, heard = failed.verdict, failed
            raise
        finally:
            circuit.leave(entered, heard, verdict)

    async def tools(
        self, server: str, reach: Reach, circuit: Circuit, *, timeout: float, patience: float = 0.0
    ) -> list[Tool]:
        is_patient = timeout >= patience
        entered = circuit.enter()
        verdict, heard = Verdict.NOTHING, None
        try:
            borrowed = self._pool.borrowed(reach, _until(timeout), is_patient=is_patient)
            async with self._told(server, None, timeout, is_patient), borrowed as held:
                found = list((await held.known_tools(anew=True)).values())
            verdict = Verdict.ANSWERED
            return found
        except Failed as failed:
            verdict, heard = failed.verdict, failed
            raise
        finally:
            circuit.leave(entered, heard, verdict)

    async def _answered(
        self, server: str, reach: Reach, tool: str, arguments: Mapping[str, Any], timeout: float, is_patient: bool
    ) -> Reply:
        until = _until(timeout)
        async with self._told(server, tool, timeout, is_patient) as sent:
            try:
                return await self._once(server, reach, tool, arguments, sent, until)
            except Forgotten:
                # A server that was started again knows no sessions, and has not done it. One that forgets a session
                # which it has just begun may have.
                if sent.is_new:
                    raise
                return await self._once(server, reach, tool, arguments, sent, until)

    async def _once(
        self, server: str, reach: Reach, tool: str, arguments: Mapping[str, Any], sent: _Sent, until: float
    ) -> Reply:
        sent.held, sent.is_sent = None, False
        async with self._pool.borrowed(reach, until, is_patient=sent.is_patient) as held:
            sent.held, sent.is_new = held, not held.served
            known = await held.known_tools()
            if tool not in known:
                known = await held.known_tools(anew=True)
            if tool not in known:
                raise _no_such_tool(server, tool, known)
            wrong = await held.checks.wrong(known[tool], arguments)
            if wrong:
                message = f"{wrong[0]['field']}: {wrong[0]['message']}"
                raise ArgusError(Code.INVALID_REQUEST, message, server=server, tool=tool, errors=wrong)
            sent.is_sent = True
            reply = await held.session.call(tool, arguments)
            held.served = True
            return reply

    @contextlib.asynccontextmanager
    async def _told(self, server: str, tool: str | None, timeout: float, is_patient: bool) -> AsyncIterator[_Sent]:
        """What goes wrong in there as an error for the caller, with what it says about the server."""
        sent = _Sent(is_patient)

        def failed(reason: str, why: str, verdict: Verdict, said: str = "", **more: Any) -> Failed:
            about = {
                "tool": tool,
                "mayHaveRun": sent.is_sent if tool else None,
                "said": ending(self._clean(said), _CUT),
            }
            return Failed(server, reason, self._clean(why), verdict, **about, **more)

        try:
            yield sent
        except TimeoutError:
            why = f"no answer within {timeout:g} s"
            said = sent.held.session.said if sent.held else ""
            verdict = Verdict.FAILED if is_patient else Verdict.NOTHING
            raise failed("timeout", why, verdict, said, timeoutSeconds=timeout) from None
        except Unreachable as error:
            verdict = Verdict.NOTHING if isinstance(error, Closed) else Verdict.FAILED
            raise failed(error.reason, f"{error}{_last_line(error.said)}", verdict, error.said) from None
        except TooLarge as error:
            raise failed("answer_too_large", str(error), Verdict.ANSWERED) from None
        except Refused as error:
            why = f"refused: {error}"
            raise failed("refused", beginning(why, _CUT), Verdict.ANSWERED, rpcCode=error.code) from None
        except Full:
            raise failed("busy", "too many sessions to MCP servers are in use", Verdict.NOTHING) from None


@dataclass(slots=True)
class _Sent:
    is_patient: bool
    held: Held | None = None
    is_sent: bool = False
    """Whether the tool may have done something."""
    is_new: bool = True
    """Nothing was ever answered over this session."""


def _no_such_tool(server: str, tool: str, known: Mapping[str, Tool]) -> ArgusError:
    message = f"the MCP server {server} has no tool {tool[:100]!r}; it has: {listed(known)}"
    return ArgusError(Code.NOT_FOUND, message, server=server, known=sorted(known)[:_NAMED])


def listed(names: Iterable[str]) -> str:
    """The first of them, for a sentence."""
    several = [one[:60] for one in sorted(names)]
    more = f" and {len(several) - _SHOWN} more" if len(several) > _SHOWN else ""
    return (", ".join(several[:_SHOWN]) or "none") + more


def _last_line(said: str) -> str:
    lines = [one.strip() for one in said.splitlines() if one.strip()]
    return f"; it said: {ending(lines[-1], _LINE)}" if lines else ""


def _until(timeout: float) -> float:
    return asyncio.get_running_loop().time() + timeout
