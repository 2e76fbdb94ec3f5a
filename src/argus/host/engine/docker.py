"""The engine's API: the few questions that Argus has. Without versions in the paths: any engine answers them."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from argus.core.errors import ArgusError, Code
from argus.host.dns import Resolver
from argus.host.engine import where
from argus.host.engine.seam import Container, EngineRefused, EngineUnavailable
from argus.host.engine.wire import Answer, ask

_AT_ONCE = 8
"""Questions of one look under way together."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""What the engine lets a container be called. Quoting is not enough: it puts `..%2Fimages` together again."""
_ENOUGH = 12
"""Letters of an id that mean one container and no other: what `docker ps` prints."""


class DockerContainers:
    """No deadlines here: the guard holds them."""

    def __init__(self, resolver: Resolver, environ: Mapping[str, str] = os.environ) -> None:
        self._resolver = resolver
        self._environ = environ

    async def named(self, names: Sequence[str]) -> dict[str, Container | None]:
        found: dict[str, Container | None] = dict.fromkeys(names)
        turns = asyncio.Semaphore(_AT_ONCE)

        async def look(name: str) -> None:
            async with turns:
                found[name] = await self._inspect(name)

        try:
            async with asyncio.TaskGroup() as group:
                for name in found:
                    group.create_task(look(name))
        except BaseExceptionGroup as several:
            # They were asked together and failed together; the first says it for all.
            raise several.exceptions[0] from None
        return found

    async def labelled(self, label: str) -> list[Container]:
        filters = quote(json.dumps({"label": [label]}), safe="")
        listed = _json(await self._ask("GET", f"/containers/json?all=1&filters={filters}"))
        ids = [str(one["Id"]) for one in listed] if isinstance(listed, list) else []
        # One that went away between the two questions is not there any more.
        found = [one for one in (await self.named(ids)).values() if one is not None]
        return sorted(found, key=lambda one: one.name)

    async def restart(self, id: str) -> None:
        """Without a time to stop in: the container's own holds, which its owner chose."""
        if not _NAME.fullmatch(id):
            raise _missing(id)
        answer = await self._ask("POST", f"/containers/{quote(id, safe='')}/restart")
        if answer.status == 404:
            raise _missing(id)
        if answer.status >= 300:
            # Mostly the container's fault, also where the engine calls it its own: a port is taken, a program missing.
            raise EngineRefused(_said(answer))

    async def _inspect(self, name: str) -> Container | None:
        if not _NAME.fullmatch(name):
            return None
        answer = await self._ask("GET", f"/containers/{quote(name, safe='')}/json")
        if answer.status == 404:
            return None
        container = _container(_json(answer))
        # The engine also takes the beginning of an id for a name: `cafe` would be whatever container's id begins so.
        is_meant = container.name == name or (len(name) >= _ENOUGH and container.id.startswith(name))
        return container if is_meant else None

    async def _ask(self, method: str, target: str) -> Answer:
        return await ask(where.find(self._environ), self._resolver, method, target)


def _missing(id: str) -> ArgusError:
    return ArgusError(Code.CONTAINER_NOT_FOUND, f"there is no container {id[:100]!r}", container=id[:100])


def _json(answer: Answer) -> Any:
    if answer.status != 200:
        raise EngineUnavailable(f"the Docker engine answers {answer.status}: {_said(answer)}", status=answer.status)
    try:
        return json.loads(answer.body)
    except ValueError:
        raise EngineUnavailable("the Docker engine's answer is not JSON") from None


def _said(answer: Answer) -> str:
    try:
        said = json.loads(answer.body)["message"]
    except (ValueError, KeyError, TypeError):
        said = answer.body.decode("utf-8", "replace")
    return " ".join(str(said).split())[:500] or f"status {answer.status}"


def _container(said: Any) -> Container:
    try:
        state = said["State"]
        health = (state.get("Health") or {}).get("Status")
        return Container(
            id=str(said["Id"]),
            name=str(said["Name"]).removeprefix("/"),
            state=str(state["Status"]),
            # Some engines say "none" or nothing where there is no check.
            health=health if health in ("starting", "healthy", "unhealthy") else None,
            exit_code=int(state.get("ExitCode") or 0),
            oom_killed=bool(state.get("OOMKilled")),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise EngineUnavailable("the Docker engine describes a container in a way that is not understood") from None
