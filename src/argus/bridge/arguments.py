"""Arguments against the schema of a tool, before they are sent.

The library that reads JSON Schemas costs a tenth of a second to load: it is loaded with the first check, in a thread.
What a schema says of patterns is left to the server: a regular expression of others could hold us up for ever.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from argus.host.mcp_seam import Tool

_LIBRARY = "jsonschema.validators"
_SEVERAL = 20
_CUT = 300
_LEFT_TO_THEM = ("pattern", "patternProperties", "format", "propertyNames")


class Checks:
    """Of the tools of one server, each made when it is needed."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    async def wrong(self, tool: Tool, arguments: Mapping[str, Any]) -> list[dict[str, str]]:
        """What is wrong with them, each with its field; nothing where the schema cannot be understood."""
        if tool.name not in self._made:
            schemas = sys.modules.get(_LIBRARY) or await asyncio.to_thread(importlib.import_module, _LIBRARY)
            self._made[tool.name] = _validator(schemas, dict(tool.input_schema))
        made = self._made[tool.name]
        if made is None:
            return []
        try:
            return [_told(one) for one, _ in zip(made.iter_errors(dict(arguments)), range(_SEVERAL), strict=False)]
        except Exception:  # noqa: BLE001 - a reference into nowhere, or without an end: the server judges by itself
            return []


def _validator(schemas: Any, schema: dict[str, Any]) -> Any:
    from referencing import Registry

    try:
        kind = schemas.validator_for(schema, default=schemas.Draft202012Validator)
        kind.check_schema(schema)
        lenient = schemas.extend(kind, dict.fromkeys(_LEFT_TO_THEM, _nothing))
        # Nothing is fetched from anywhere.
        return lenient(schema, registry=Registry())
    except Exception:  # noqa: BLE001 - it is theirs; the server judges by itself
        return None


def _nothing(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    return iter(())


def _told(error: Any) -> dict[str, str]:
    path = [str(one) for one in error.absolute_path]
    if error.validator == "required" and isinstance(error.instance, dict):
        missing = [one for one in error.validator_value if one not in error.instance and repr(one) in error.message]
        path += [str(one) for one in missing[:1]]
    return {"field": ".".join(("arguments", *path)), "message": str(error.message)[:_CUT]}
