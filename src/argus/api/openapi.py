"""The OpenAPI document, from the operations."""

from __future__ import annotations

from typing import Any

from argus import __version__
from argus.core.errors import REGISTRY, Category, Code, Severity
from argus.core.events import CHANNELS, POSITION_PATTERN
from argus.ops import OPERATIONS, Operation

_ABOUT = (
    "The supervisor's API. Every error has one form, and every operation lists its codes. Besides, an unknown path is "
    "answered with 404 NOT_FOUND, and a method that a path does not have with 405 METHOD_NOT_ALLOWED."
)
_ABOUT_EVENTS = (
    "An event has `id` (epoch-n), `event` (channel:type) and `data` (JSON with `type` and `timestamp`). A reader that "
    "was cut off sends the last id it has seen as Last-Event-ID and misses nothing. `event: reset` says that the "
    "position is of no use here, and why; what is kept follows from its beginning."
)
_WHOLE = "argus"
"""The tag of what is about Argus as a whole."""
_UNASKED = (Code.INVALID_REQUEST, Code.FORBIDDEN, Code.MISDIRECTED, Code.INTERNAL_ERROR, Code.NO_DAEMON)
"""What is answered before anybody is asked who they are; the last while Argus stops."""
_ALWAYS = (*_UNASKED, Code.UNAUTHORIZED)
_WITH_BODY = (Code.TOO_LARGE, Code.UNSUPPORTED_TYPE)
_READS = (Code.STORE_UNAVAILABLE,)


def document() -> dict[str, Any]:
    schemas: dict[str, Any] = {**_error_schemas(), "Health": _health_schema()}
    paths: dict[str, dict[str, Any]] = {
        "/healthz": {"get": _health()},
        "/metrics": {"get": _metrics()},
        "/api/events": {"get": _events()},
    }
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method.lower()] = _describe(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Argus", "version": __version__, "description": _ABOUT},
        "paths": paths,
        "tags": [
            {"name": name} for name in sorted({one["tags"][0] for path in paths.values() for one in path.values()})
        ],
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _describe(one: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    ask = _schema(one.ask, schemas, "validation")
    fields = ask.get("properties", {})
    required = set(ask.get("required", ()))
    parameters = [{"name": name, "in": "path", "required": True, "schema": fields[name]} for name in one.path_fields]
    described: dict[str, Any] = {
        "operationId": one.name,
        "tags": [one.name.partition(".")[0] if "." in one.name else _WHOLE],
        "summary": one.documentation.partition("\n")[0],
        "description": one.documentation,
        "x-argus-scope": one.scope.value,
        "responses": {str(one.status): _ok(one, schemas), **_errors(_codes(one))},
    }
    rest = {name: schema for name, schema in fields.items() if name not in one.path_fields}
    if one.method == "GET":
        parameters += [
            {"name": name, "in": "query", "required": name in required, "schema": _without_null(schema)}
            for name, schema in rest.items()
        ]
    else:
        open_ended = one.ask.model_config.get("extra") == "allow"
        body = {"type": "object", "properties": rest, "additionalProperties": open_ended}
        needed = sorted(required & set(rest))
        if needed:
            body["required"] = needed
        described["requestBody"] = {"required": bool(needed), "content": {"application/json": {"schema": body}}}
    if parameters:
        described["parameters"] = parameters
    return described


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A query cannot carry null: what is not given is left out."""
    choices = schema.get("anyOf", [])
    rest: list[dict[str, Any]] = [one for one in choices if one != {"type": "null"}]
    if len(rest) != 1 or len(choices) != 2:
        return schema
    return {key: value for key, value in schema.items() if key not in ("anyOf", "default")} | rest[0]


def _ok(one: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    name = one.answer.__name__
    made = _schema(one.answer, schemas, "serialization")
    # Two answers of one name would be one in the document, and one of them wrong.
    assert schemas.setdefault(name, made) == made, f"{name} names two answers"
    return {
        "description": "Done.",
        "content": {"application/json": {"schema": _reference(name)}},
    }


def _schema(model: Any, schemas: dict[str, Any], mode: Any) -> dict[str, Any]:
    made: dict[str, Any] = model.model_json_schema(
        by_alias=True, mode=mode, ref_template="#/components/schemas/{model}"
    )
    schemas.update(made.pop("$defs", {}))
    return made


def _codes(one: Operation) -> tuple[Code, ...]:
    return (*_ALWAYS, *_READS, *one.errors, *(_WITH_BODY if one.method != "GET" else ()))


def _errors(codes: tuple[Code, ...]) -> dict[str, Any]:
    by_status: dict[int, list[str]] = {}
    for code in dict.fromkeys(codes):
        by_status.setdefault(REGISTRY[code].status, []).append(code.value)
    reference = {"application/json": {"schema": _reference("Error")}}
    return {
        str(status): {"description": ", ".join(found), "content": reference}
        for status, found in sorted(by_status.items())
    }


def _error_schemas() -> dict[str, Any]:
    """Each part under a name of its own, so that a generated client has words for them."""
    enums: dict[str, Any] = {"ErrorCode": Code, "ErrorCategory": Category, "ErrorSeverity": Severity}
    properties = {
        "code": _reference("ErrorCode"),
        "category": _reference("ErrorCategory"),
        "severity": _reference("ErrorSeverity"),
        "message": {"type": "string"},
        "details": {"type": "object"},
        "suggestedActions": {"type": "array", "items": {"type": "string"}},
        "timestamp": {"type": "integer", "description": "Epoch milliseconds"},
    }
    return {
        **{name: {"type": "string", "enum": [one.value for one in values]} for name, values in enums.items()},
        "Error": {"type": "object", "properties": {"error": _reference("StructuredError")}, "required": ["error"]},
        "StructuredError": {"type": "object", "properties": properties, "required": list(properties)},
    }


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _health_schema() -> dict[str, Any]:
    properties = {"status": {"type": "string", "const": "ok"}, "version": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _health() -> dict[str, Any]:
    content = {"application/json": {"schema": _reference("Health")}}
    return {
        "operationId": "health",
        "tags": [_WHOLE],
        "summary": "Whether Argus runs.",
        "security": [],
        "responses": {"200": {"description": "It runs.", "content": content}, **_errors(_UNASKED)},
    }


def _metrics() -> dict[str, Any]:
    content = {"text/plain": {"schema": {"type": "string"}}}
    return {
        "operationId": "metrics",
        "tags": [_WHOLE],
        "summary": "Metrics in Prometheus' text format.",
        "responses": {"200": {"description": "As they are now.", "content": content}, **_errors(_ALWAYS)},
    }


def _events() -> dict[str, Any]:
    # Nothing is as good as none: a client that has not seen an event yet may say so.
    place = {"type": "string", "pattern": f"^$|{POSITION_PATTERN}"}
    given = [
        ("query", "channel", {"type": "string", "enum": [*CHANNELS]}, "Only this channel"),
        ("query", "after", place, "Begin after this event's id"),
        ("query", "last", {"type": "integer", "minimum": 0, "maximum": 10000}, "Begin so many events back"),
        ("query", "follow", {"type": "boolean"}, "false ends after what is there"),
        ("query", "live", {"type": "boolean"}, "true adds what is not recorded, without an id: readings and reports"),
        ("header", "Last-Event-ID", place, "Begin after this event's id; goes before `after` and `last`"),
    ]
    refused = _errors((*_ALWAYS, *_READS, Code.CONFLICT))
    return {
        "operationId": "events",
        "tags": [_WHOLE],
        "summary": "The journal as server-sent events.",
        "description": _ABOUT_EVENTS,
        "parameters": [
            {"name": name, "in": where, "schema": schema, "description": text} for where, name, schema, text in given
        ],
        "responses": {
            **refused,
            "200": {"description": "The stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
        },
    }
