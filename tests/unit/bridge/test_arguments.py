"""Arguments against the schema of a tool: what fits, what does not, and schemas that cannot be trusted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from argus.bridge.arguments import Checks
from argus.host.mcp_seam import Tool

_NESTED = {"properties": {"who": {"type": "object", "required": ["name"]}, "tags": {"items": {"type": "string"}}}}


def wrong(schema: Any, arguments: dict[str, Any]) -> list[str]:
    return [one["field"] for one in asyncio.run(Checks().wrong(Tool("one", "", schema), arguments))]


@pytest.mark.parametrize(
    ("schema", "arguments", "fields"),
    [
        (_NESTED, {"who": {}, "tags": ["a", 1]}, {"arguments.who.name", "arguments.tags.1"}),
        (_NESTED, {"who": {"name": "a"}}, set()),
        ({"additionalProperties": False}, {"odd": 1}, {"arguments"}),
        ({"required": ["a", "b"]}, {}, {"arguments.a", "arguments.b"}),
    ],
    ids=["deep", "fits", "unknown", "several"],
)
def test_what_is_wrong_is_named_by_its_field(schema: Any, arguments: dict[str, Any], fields: set[str]) -> None:
    assert set(wrong(schema, arguments)) == fields


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "no such type"},
        {"$ref": "http://127.0.0.1:1/schema"},
        {"$ref": "#"},
        {"properties": {"a": {"pattern": "^(x+)+$", "type": "string"}}},
        {
            "properties": {"a": {"$ref": "#/$defs/d0"}},
            "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)} | {"d30": {}},
        },
    ],
    ids=["none", "elsewhere", "without an end", "a pattern that takes for ever", "more than can be done"],
)
def test_a_schema_that_cannot_be_trusted_is_left_to_its_server(schema: Any) -> None:
    assert wrong(schema, {"a": "x" * 60 + "!"}) == []
