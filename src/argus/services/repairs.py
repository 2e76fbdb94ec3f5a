"""Carrying a restart out, and looking whether it helped. Says what came of it; judging that is the reconciler's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from argus.core.clock import age, stamp
from argus.core.cutting import ending
from argus.core.failpoints import Place, reach
from argus.host.seam import Ran
from argus.loops import log
from argus.services.checks.base import Service
from argus.services.messages import Repaired
from argus.services.model import Observation, Seen, Status
from argus.services.restarters import DockerRestarter
from argus.services.tools import Tools
from argus.store.records import Act

LATEST = 5.0
"""Seconds after its intent in which a restart must begin. Held up for longer, Argus would act on an old judgement."""
_AGAIN = 1.0
_STARTING = 300.0
"""Seconds for which a service that is on its way up after a restart is waited for. Docker asks a health check for the
first time after 30 s; called down before, people would be told of a failure that is none."""
_LONGEST = 60.0
"""Seconds for the command of an act that does not say how long it may take."""
_OUTPUT = 2000
"""Characters of what its command printed that are kept."""


class Repairs:
    def __init__(
        self,
        verify_after: float,
        tools: Tools,
        look: Callable[[Service], Awaitable[Observation]],
        is_trusted: Callable[[Observation], bool],
        report: Callable[[Repaired], None],
    ) -> None:
        self.verify_after = verify_after
        self._tools = tools
        self._probe = look
        self._is_trusted = is_trusted
        self._report = report
        self._group: asyncio.TaskGroup | None = None
        self._before: list[Coroutine[Any, Any, None]] = []

    def adopt(self, group: asyncio.TaskGroup) -> None:
        """The owner of the tasks that repairs run in; those an earlier Argus left are taken up."""
        self._group = group
        for work in self._before:
            self._spawn(work)
        self._before.clear()

    def start(self, service: Service, act: Act) -> None:
        self._spawn(self._carry_out(service, act))

    def finish_later(self, service: Service, act: Act) -> None:
        """An act that an earlier Argus left open: taken up when the tasks have their owner."""
        self._before.append(self._finish(service, act))

    def outlast_later(self, act: Act) -> None:
        """The same for a service that is not watched any more: only the end of its command is waited for."""
        self._before.append(self._outlast(act))

    def report_again(self, message: Repaired) -> None:
        async def again() -> None:
            await asyncio.sleep(_AGAIN)
            self._report(message)

        self._spawn(again())

    async def _carry_out(self, service: Service, act: Act) -> None:
        ran = await self._restart(service, act)
        reach(Place.VERIFYING)
        await asyncio.sleep(self.verify_after)
        observation = await self._look(service)
        reach(Place.VERIFIED)
        self._report(Repaired(act, ran, observation))

    async def _restart(self, service: Service, act: Act) -> Ran:
        assert service.restart is not None
        held_up = age(act.begun, stamp(self._tools.clock))
        if held_up > LATEST:
            why = f"Argus was held up for {held_up:.0f} s after it decided; nothing was done"
            return Ran(None, "", 0.0, why, begun=False)
        try:
            return await service.restart.restart(self._tools.host, log=self._tools.log_path(service.name))
        except Exception as error:  # noqa: BLE001 - however it fails, the act gets its outcome
            log.exception("the restart of %s crashed", service.name)
            return Ran(None, "", 0.0, f"{type(error).__name__}: {error}")

    async def _finish(self, service: Service, act: Act) -> None:
        """An earlier Argus was killed between intent and outcome. Whether its restart ran is not known; it counts, it
        is not repeated, and the service is looked at when it has had its time."""
        passed = age(act.begun, stamp(self._tools.clock))
        await asyncio.sleep(max(0.0, self.verify_after - passed))
        observation = await self._look(service)
        if not observation.seen.status.alive:
            # It may still be under way, with the rest of its time. Judged before its end, the service would be called
            # down too early, and at full autonomy a second restart would come in the way of the first.
            left = (service.restart.timeout if service.restart else 0.0) - age(act.begun, stamp(self._tools.clock))
            if await self._outlasted(service, max(0.0, left)):
                await asyncio.sleep(self.verify_after)
                observation = await self._look(service)
        self._report(Repaired(act, None, observation))

    async def _outlasted(self, service: Service, left: float) -> bool:
        """Waits for what an earlier Argus left under way. False when that had ended before."""
        if not isinstance(service.restart, DockerRestarter):
            return await self._tools.host.outlast(self._tools.log_path(service.name), timeout=left)
        # The engine goes on with an order whose sender is gone, and nobody can ask it how far it is: a container that
        # is being stopped runs, by its words. So it has all its time, unless the service answers before.
        clock = self._tools.clock
        until = clock.monotonic() + left
        while (rest := until - clock.monotonic()) > 0:
            if (await self._probe(service)).seen.status.alive:
                break
            await asyncio.sleep(min(_AGAIN, rest))
        return left > 0

    async def _outlast(self, act: Act) -> None:
        left = float(act.intent.get("timeout", _LONGEST)) - age(act.begun, stamp(self._tools.clock))
        await self._tools.host.outlast(self._tools.log_path(act.subject), timeout=max(0.0, left))
        clock = self._tools.clock
        unseen = Seen(Status.UNKNOWN, None, "not watched", "it is not in the configuration any more")
        self._report(Repaired(act, None, Observation(unseen, clock.monotonic(), clock.wall())))

    async def _look(self, service: Service) -> Observation:
        began = self._tools.clock.monotonic()
        while True:
            observation = await self._probe(service)
            status = observation.seen.status
            is_starting = status is Status.PENDING and observation.at - began < _STARTING
            if not is_starting and (status is not Status.DOWN or self._is_trusted(observation)):
                return observation
            await asyncio.sleep(_AGAIN)

    def look_around(self, services: list[Service], report: Callable[[str, Observation], None]) -> None:
        """Checks these now, and reports each."""

        async def look(service: Service) -> None:
            report(service.name, await self._probe(service))

        for service in services:
            self._spawn(look(service))

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        async def wait() -> None:
            await asyncio.sleep(seconds)
            call()

        self._spawn(wait())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        assert self._group is not None, "adopt comes before the first repair"
        self._group.create_task(work)


def outcome(ran: Ran | None, last: Observation) -> str:
    """recovered, still_down, failed (the restart could not be carried out), not_needed (it was well again before
    anything was done) or unverified."""
    if ran is not None and not ran.begun and ran.problem:
        return "failed"  # if it is up now, somebody else did it
    if last.seen.status.alive:
        return "recovered" if ran is None or ran.begun else "not_needed"
    if ran is not None and (ran.problem or ran.exit_code != 0):
        return "failed"
    return "still_down" if last.seen.status is Status.DOWN else "unverified"


def evidence(ran: Ran | None, observation: Observation) -> dict[str, Any]:
    seen = {"state": observation.seen.status.value, "detail": observation.seen.detail}
    if ran is None:
        return {"interrupted": True, **seen}
    return {
        "exitCode": ran.exit_code,
        "problem": ran.problem,
        "output": ending(ran.output, _OUTPUT),
        "seconds": round(ran.seconds, 3),
        **seen,
    }
