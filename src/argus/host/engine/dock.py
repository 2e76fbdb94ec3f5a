"""The engine's API: what environments ask about containers. No deadlines here: the guard holds them.

`building.DockerDock` is the whole: this, `inside.py` (commands, processes, files), `things.py` (networks, volumes,
images, events) and builds.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any
from urllib.parse import urlencode

from argus.core.errors import ArgusError, Code
from argus.host.engine import reading, writing
from argus.host.engine.names import checked, checked_image, filters, is_meant, is_name
from argus.host.engine.printed import Printed, Printout
from argus.host.engine.refusals import decoded, missing, refusal
from argus.host.engine.resources import Labels, Made, Making, Usage, Wanted
from argus.host.engine.seam import EngineRefused, EngineUnavailable
from argus.host.engine.together import together
from argus.host.engine.wire import Answer, Line

_HOLDER = re.compile(r'by container "?([0-9a-f]{12,64})')
_AGAIN = 0.1
_SHARED = "container:"
_KNOWN = 1000
_LONGEST = 128 * 1024 * 1024
"""Bytes of logs that are read, of which the end is kept: a few lines may be very long ones."""


class ContainerCalls:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._framed: dict[str, bool] = {}
        """Whether a container's output is told in frames, by its id: that never changes, and is asked for each log."""

    async def _order(self, method: str, target: str, body: Any = None) -> Answer:
        return await self._line.ask(method, target, None if body is None else json.dumps(body).encode())

    async def make(self, making: Making) -> str:
        checked(making.name, "container")
        checked_image(making.image)
        if making.network:
            checked(making.network.removeprefix(_SHARED), "network")
        answer = await self._order(
            "POST", f"/containers/create?{urlencode({'name': making.name})}", writing.body(making)
        )
        if answer.status == 409:
            raise await self._held(making.name, answer)
        if answer.status != 201:
            raise refusal(answer, image=making.image)
        return made_id(answer)

    async def _held(self, name: str, answer: Answer) -> Exception:
        """Who has the name, as far as that can be asked. It may be gone by now."""
        refused = refusal(answer)
        holder = _HOLDER.search(str(refused))
        if not isinstance(refused, EngineRefused) or not holder:
            return refused
        labels: Labels = {}
        try:
            found = await self.container(holder[1])
            labels = found.labels if found else {}
        except EngineUnavailable:
            pass  # the conflict is what is reported; who it is was only to help
        message = f"the name {name} is taken by container {holder[1][:12]}"
        return ArgusError(Code.NAME_CONFLICT, message, kind="container", name=name, id=holder[1], labels=dict(labels))

    async def start(self, id: str) -> None:
        await self._act(id, "POST", "/start")

    async def restart(self, id: str) -> None:
        await self._act(id, "POST", "/restart")

    async def stop(self, id: str, grace: float) -> None:
        # Whole seconds, and never less than was asked for: 0 would be no grace at all.
        await self._act(id, "POST", f"/stop?t={-int(-grace // 1)}")

    async def kill(self, id: str, signal: str) -> None:
        await self._act(id, "POST", f"/kill?{urlencode({'signal': signal})}")

    async def _act(self, id: str, method: str, what: str) -> None:
        if not is_name(id):
            raise missing(id)
        answer = await self._order(method, f"/containers/{id}{what}")
        # 304: it is so already.
        if answer.status not in (200, 204, 304):
            raise refusal(answer, container=id)

    async def remove(self, id: str) -> bool:
        if not is_name(id):
            return False
        answer = await self._order("DELETE", f"/containers/{id}?force=1&v=1")
        while answer.status == 409 and b"already in progress" in answer.body:
            # Whoever waits for us waits for it to be gone. Asked again and not waited for: a removal that ends before
            # the engine begins to wait for it is waited for in vain, and one that fails is then ours.
            await asyncio.sleep(_AGAIN)
            answer = await self._order("DELETE", f"/containers/{id}?force=1&v=1")
        if answer.status == 404:
            return False
        if answer.status != 204:
            raise refusal(answer, container=id)
        return True

    async def container(self, name_or_id: str) -> Made | None:
        said = await self._inspect(name_or_id)
        return None if said is None else reading.made(said)

    async def _inspect(self, name_or_id: str) -> Any:
        if not is_name(name_or_id):
            return None
        answer = await self._line.ask("GET", f"/containers/{name_or_id}/json")
        if answer.status == 404:
            return None
        said = decoded(answer)
        seen = reading.container(said)
        if len(self._framed) >= _KNOWN:
            self._framed.clear()
        # Old engines do not say in the answer to it whether a log is framed.
        self._framed[seen.id] = not (said.get("Config") or {}).get("Tty")
        return said if is_meant(name_or_id, seen.id, seen.name) else None

    async def containers(self, labels: Wanted) -> list[Made]:
        listed = decoded(await self._line.ask("GET", f"/containers/json?all=1&filters={filters(labels)}"))
        ids = [str(one["Id"]) for one in listed] if isinstance(listed, list) else []
        # One that went away between the two questions is not there any more.
        found = [one for one in (await together(ids, self.container)).values() if one is not None]
        return sorted(found, key=lambda one: one.name)

    async def logs(self, id: str, tail: int, since: float | None) -> Printout:
        if id not in self._framed:
            said = await self._inspect(id)
            if said is None:
                raise missing(id)
            id = said["Id"]
        printed = Printed(is_framed=self._framed[id])
        query = {"stdout": 1, "stderr": 1, "tail": max(0, tail), **({} if since is None else {"since": f"{since:.9f}"})}
        async with self._line.listen("GET", f"/containers/{id}/logs?{urlencode(query)}") as coming:
            if coming.status != 200:
                raise refusal(await coming.whole(), container=id)
            size = 0
            while piece := await coming.piece():
                printed.take(piece)
                size += len(piece)
                if size > _LONGEST:
                    printed.give_up()  # lines without end; what was kept of them will do
                    break
        return printed.lines(tail)

    async def stats(self, id: str) -> Usage:
        if not is_name(id):
            raise missing(id)
        # Without one-shot the engine takes a second look a second later, which is about processors.
        answer = await self._line.ask("GET", f"/containers/{id}/stats?stream=false&one-shot=true")
        if answer.status == 404:
            raise missing(id)
        return reading.usage(decoded(answer))


def made_id(answer: Answer) -> str:
    try:
        return str(json.loads(answer.body)["Id"])
    except (ValueError, KeyError, TypeError):
        raise EngineUnavailable("the Docker engine does not say what it made") from None
