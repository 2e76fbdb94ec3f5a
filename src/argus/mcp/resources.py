"""What an agent can read of Argus by its address. Every one is an operation's answer, so a token sees in it what the
operation shows it, and no more."""

from __future__ import annotations

import json
import re
from typing import Any

import mcp_types as types

from argus import config
from argus.core.errors import ArgusError, Code
from argus.environments.e2e import model as e2e
from argus.ops import OPERATIONS
from argus.ops.caller import Scope
from argus.ops.house import House

_JSON, _TEXT, _SCHEMA = "application/json", "text/plain", "application/schema+json"
_BY_NAME = {one.name: one for one in OPERATIONS}
CONTEXT, INCIDENTS = "argus://context", "argus://incidents"
_SCHEMAS = {"argus://schema/argus.yaml": config.json_schema, "argus://schema/e2e.yaml": e2e.json_schema}
_STORY = re.compile(r"argus://incidents/([^/]+)")

LISTED = [
    types.Resource(
        uri=CONTEXT,
        name="context",
        title="Health of this machine",
        description="What argus_context says: services, agents and sessions that need somebody, breakers, the restart "
        "budget, autonomy. First as text, then as JSON.",
        mime_type=_TEXT,
    ),
    types.Resource(
        uri=INCIDENTS,
        name="incidents",
        title="Incidents",
        description="The newest 50 incidents as JSON, each with its id, subject, cause and times; closed is null while "
        "it is open.",
        mime_type=_JSON,
    ),
    types.Resource(
        uri="argus://schema/argus.yaml",
        name="argus.yaml schema",
        title="JSON Schema of argus.yaml",
        description="What the configuration of Argus may say. Read it before you write one.",
        mime_type=_SCHEMA,
    ),
    types.Resource(
        uri="argus://schema/e2e.yaml",
        name="e2e.yaml schema",
        title="JSON Schema of e2e.yaml",
        description="What the file of a test environment may say. Read it before you write one.",
        mime_type=_SCHEMA,
    ),
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template="argus://incidents/{id}",
        name="incident",
        title="Story of an incident",
        description="One incident as JSON: what was seen, decided, done and told, in order. argus://incidents lists "
        "the ids; a service that is down names its own.",
        mime_type=_JSON,
    )
]


async def read(house: House, uri: str) -> list[types.TextResourceContents | types.BlobResourceContents]:
    """Raises NOT_FOUND, FORBIDDEN, and what the operation behind it raises."""
    if uri == CONTEXT:
        said = await _answer(house, "context")
        return [_text(uri, _TEXT, str(said["text"])), _text(uri, _JSON, _dumped(said))]
    if uri == INCIDENTS:
        return [_text(uri, _JSON, _dumped(await _answer(house, "incidents.list")))]
    if uri in _SCHEMAS:
        house.caller.require(Scope.READ)
        return [_text(uri, _SCHEMA, json.dumps(_SCHEMAS[uri](), indent=2))]
    story = _STORY.fullmatch(uri)
    if story is not None:
        return [_text(uri, _JSON, _dumped(await _answer(house, "incidents.explain", id=story[1])))]
    known = [*(one.uri for one in LISTED), *(one.uri_template for one in TEMPLATES)]
    raise ArgusError(Code.NOT_FOUND, f"there is no resource {uri[:200]!r}", known=known)


async def ids(house: House, begun: str) -> list[str]:
    """Of incidents, the newest first, that begin so."""
    said = await _answer(house, "incidents.list", limit=500)
    return [one["id"] for one in said["incidents"] if one["id"].startswith(begun)]


async def _answer(house: House, name: str, **values: Any) -> dict[str, Any]:
    answer = await _BY_NAME[name].call(house, values)
    return answer.model_dump(mode="json", by_alias=True)


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _text(uri: str, kind: str, text: str) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, mime_type=kind, text=text)
