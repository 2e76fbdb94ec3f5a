"""The engine's API: what services ask. Without versions in the paths: any engine answers them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from argus.host.dns import Resolver
from argus.host.engine import reading
from argus.host.engine.names import filters, is_meant, is_name
from argus.host.engine.refusals import decoded, missing, said
from argus.host.engine.seam import Container, EngineRefused
from argus.host.engine.together import together
from argus.host.engine.wire import Line


class DockerContainers:
    """No deadlines here: the guard holds them."""

    def __init__(self, resolver: Resolver, environ: Mapping[str, str] = os.environ) -> None:
        self._line = Line(resolver, environ)

    async def named(self, names: Sequence[str]) -> dict[str, Container | None]:
        return await together(names, self._inspect)

    async def labelled(self, label: str) -> list[Container]:
        key, sign, value = label.partition("=")
        wanted = filters({key: value if sign else None})
        listed = decoded(await self._line.ask("GET", f"/containers/json?all=1&filters={wanted}"))
        ids = [str(one["Id"]) for one in listed] if isinstance(listed, list) else []
        # One that went away between the two questions is not there any more.
        found = [one for one in (await self.named(ids)).values() if one is not None]
        return sorted(found, key=lambda one: one.name)

    async def restart(self, id: str) -> None:
        """Without a time to stop in: the container's own holds, which its owner chose."""
        if not is_name(id):
            raise missing(id)
        answer = await self._line.ask("POST", f"/containers/{id}/restart")
        if answer.status == 404:
            raise missing(id)
        if answer.status >= 300:
            # Mostly the container's fault, also where the engine calls it its own: a port is taken, a program missing.
            raise EngineRefused(said(answer), answer.status)

    async def _inspect(self, name: str) -> Container | None:
        if not is_name(name):
            return None
        answer = await self._line.ask("GET", f"/containers/{name}/json")
        if answer.status == 404:
            return None
        container = reading.container(decoded(answer))
        return container if is_meant(name, container.id, container.name) else None
