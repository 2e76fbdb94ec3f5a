"""The engine's API: what environments ask about networks, volumes, images and events."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from argus.core.errors import ArgusError, Code
from argus.host.engine import reading
from argus.host.engine.dock import ContainerCalls, made_id
from argus.host.engine.names import checked, checked_image, filters, is_image, is_meant, is_name
from argus.host.engine.refusals import decoded, full, refusal
from argus.host.engine.resources import Happening, Info, Labels, Network, Volume, Wanted
from argus.host.engine.seam import EngineRefused, EngineUnavailable
from argus.host.engine.together import together
from argus.host.engine.wire import Answer, Coming

_KINDS = ["container", "network", "volume"]
_LINE = 1024 * 1024
"""Bytes of one event: a container may have many labels."""


class ThingCalls(ContainerCalls):
    async def ping(self) -> None:
        answer = await self._line.ask("GET", "/_ping")
        if answer.status != 200:
            raise EngineUnavailable(f"the Docker engine answers {answer.status} to a ping", status=answer.status)

    async def info(self) -> Info:
        # Not /version as well: for either of the two the engine starts programs to ask them for their own versions.
        return reading.info(decoded(await self._line.ask("GET", "/info")))

    # --- images

    async def image(self, name: str) -> str | None:
        if not is_image(name):
            return None
        answer = await self._line.ask("GET", f"/images/{name}/json")
        return None if answer.status == 404 else str(decoded(answer).get("Id") or "")

    async def import_image(self, tar: bytes, name: str, changes: Sequence[str]) -> str:
        repository, tag = _parts(checked_image(name))
        query = urlencode({"fromSrc": "-", "repo": repository, "tag": tag, "changes": changes}, doseq=True)
        answer = await self._line.ask("POST", f"/images/create?{query}", tar, "application/x-tar")
        if answer.status != 200:
            raise refusal(answer)
        # It began well, so the status is good; how it went on stands in the last line.
        last = _last(answer)
        if "error" in last:
            words = str(last["error"])
            raise full(words) or EngineRefused(words, 500)
        return str(last.get("status") or "")

    # --- networks

    async def make_network(self, name: str, labels: Labels) -> str:
        body = {"Name": checked(name, "network"), "CheckDuplicate": True, "Labels": dict(labels)}
        answer = await self._order("POST", "/networks/create", body)
        if answer.status == 409:
            raise _taken("network", name, await self.network(name))
        if answer.status != 201:
            raise refusal(answer)
        return made_id(answer)

    async def network(self, name_or_id: str) -> Network | None:
        if not is_name(name_or_id):
            return None
        answer = await self._line.ask("GET", f"/networks/{name_or_id}")
        if answer.status == 404:
            return None
        if answer.status == 400:  # several of that name: nobody can say which is meant
            raise refusal(answer)
        found = reading.network(decoded(answer))
        return found if is_meant(name_or_id, found.id, found.name) else None

    async def networks(self, labels: Wanted) -> list[Network]:
        listed = decoded(await self._line.ask("GET", f"/networks?filters={filters(labels)}"))
        ids = [str(one["Id"]) for one in listed] if isinstance(listed, list) else []
        # The list does not say who is on them.
        found = [one for one in (await together(ids, self.network)).values() if one is not None]
        return sorted(found, key=lambda one: one.name)

    async def remove_network(self, id: str) -> bool:
        return await self._delete("networks", id)

    async def join(self, network: str, container: str, aliases: Sequence[str]) -> None:
        body = {"Container": checked(container, "container"), "EndpointConfig": {"Aliases": list(aliases)}}
        answer = await self._order("POST", f"/networks/{checked(network, 'network')}/connect", body)
        if answer.status != 200:
            raise refusal(answer, container=container)

    async def leave(self, network: str, container: str) -> bool:
        if not is_name(network) or not is_name(container):
            return False
        body = {"Container": container, "Force": True}
        answer = await self._order("POST", f"/networks/{network}/disconnect", body)
        if answer.status == 404 or b"is not connected" in answer.body:
            return False
        if answer.status != 200:
            raise refusal(answer)
        return True

    # --- volumes

    async def make_volume(self, name: str, labels: Labels) -> None:
        body = {"Name": checked(name, "volume"), "Labels": dict(labels)}
        answer = await self._order("POST", "/volumes/create", body)
        if answer.status != 201:
            raise refusal(answer)
        # One that is there already is given as if it had been made.
        found = reading.volume(_json(answer))
        if dict(found.labels) != dict(labels):
            raise _taken("volume", name, found)

    async def volumes(self, labels: Wanted) -> list[Volume]:
        listed = decoded(await self._line.ask("GET", f"/volumes?filters={filters(labels)}"))
        every = (listed.get("Volumes") if isinstance(listed, dict) else None) or []
        return sorted((reading.volume(one) for one in every), key=lambda one: one.name)

    async def remove_volume(self, name: str) -> bool:
        return await self._delete("volumes", name)

    async def _delete(self, what: str, name: str) -> bool:
        if not is_name(name):
            return False
        answer = await self._order("DELETE", f"/{what}/{name}")
        if answer.status == 404:
            return False
        if answer.status != 204:
            raise refusal(answer)
        return True

    # --- events

    @contextlib.asynccontextmanager
    async def happenings(self, labels: Wanted, since: float | None) -> AsyncIterator[AsyncIterator[Happening]]:
        query = f"/events?filters={filters(labels, type=_KINDS)}" + (f"&since={since:.9f}" if since is not None else "")
        async with self._line.listen("GET", query) as coming:
            if coming.status != 200:
                decoded(await coming.whole())
            async with contextlib.aclosing(_told(coming)) as told:
                yield told


async def _told(coming: Coming) -> AsyncGenerator[Happening, None]:
    rest = b""
    while piece := await coming.piece():
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _LINE:
            raise EngineUnavailable(f"the Docker engine tells an event in more than {_LINE} bytes")
        for line in filter(None, lines):
            said = _parsed(line)
            # A health check is an exec: with one a second for each container nothing else would be heard.
            if not str(said.get("Action")).startswith("exec_"):
                yield reading.happening(said)
    raise EngineUnavailable("the Docker engine ended its events")


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise EngineUnavailable("the Docker engine tells of something in a way that is not understood")
    return said


def _parts(image: str) -> tuple[str, str]:
    """A colon may also stand before the port of a registry."""
    repository, _, tag = image.rpartition(":")
    return (repository, tag) if repository and "/" not in tag else (image, "latest")


def _last(answer: Answer) -> dict[str, Any]:
    lines = [line for line in answer.body.splitlines() if line.strip()]
    return _parsed(lines[-1]) if lines else {}


def _json(answer: Answer) -> Any:
    return _parsed(answer.body)


def _taken(kind: str, name: str, holder: Network | Volume | None) -> ArgusError:
    labels: Mapping[str, str] = holder.labels if holder else {}
    id = holder.id if isinstance(holder, Network) else name
    return ArgusError(
        Code.NAME_CONFLICT, f"the {kind} {name} is there already", kind=kind, name=name, id=id, labels=dict(labels)
    )
