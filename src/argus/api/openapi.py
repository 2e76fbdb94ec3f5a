"""The OpenAPI document, from the operations."""

from __future__ import annotations

from typing import Any

from argus import __version__
from argus.core.errors import REGISTRY, Category, Code, Severity
from argus.ops import OPERATIONS, Operation

_ALWAYS = (Code.INVALID_REQUEST, Code.UNAUTHORIZED, Code.FORBIDDEN, Code.MISDIRECTED, Code.INTERNAL_ERROR)
_WITH_BODY = (Code.TOO_LARGE, Code.UNSUPPORTED_TYPE)
_READS = (Code.STORE_UNAVAILABLE,)


def document() -> dict[str, Any]:
    schemas: dict[str, Any] = {"Error": _error_schema()}
    paths: dict[str, dict[str, Any]] = {"/healthz": {"get": _health()}, "/api/events": {"get": _events()}}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method.lower()] = _describe(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Argus", "version": __version__, "description": "The supervisor's API."},
        "paths": paths,
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
        "summary": one.documentation.partition("\n")[0],
        "description": one.documentation,
        "x-argus-scope": one.scope.value,
        "responses": {str(one.status): _ok(one, schemas), **_errors(_codes(one))},
    }
    rest = {name: schema for name, schema in fields.items() if name not in one.path_fields}
    if one.method == "GET":
        parameters += [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in rest.items()
        ]
    else:
        body = {"type": "object", "properties": rest, "additionalProperties": False}
        needed = sorted(required & set(rest))
        if needed:
            body["required"] = needed
        described["requestBody"] = {"required": bool(needed), "content": {"application/json": {"schema": body}}}
    if parameters:
        described["parameters"] = parameters
    return described


def _ok(one: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    name = one.answer.__name__
    schemas[name] = _schema(one.answer, schemas, "serialization")
    return {
        "description": "Done.",
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}},
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
    reference = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        str(status): {"description": ", ".join(found), "content": reference}
        for status, found in sorted(by_status.items())
    }


def _error_schema() -> dict[str, Any]:
    properties = {
        "code": {"type": "string", "enum": [code.value for code in Code]},
        "category": {"type": "string", "enum": [one.value for one in Category]},
        "severity": {"type": "string", "enum": [one.value for one in Severity]},
        "message": {"type": "string"},
        "details": {"type": "object"},
        "suggestedActions": {"type": "array", "items": {"type": "string"}},
        "timestamp": {"type": "integer", "description": "Epoch milliseconds"},
    }
    error = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "object", "properties": {"error": error}, "required": ["error"]}


def _health() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"status": {"type": "string"}, "version": {"type": "string"}}}
    content = {"application/json": {"schema": schema}}
    return {
        "operationId": "health",
        "summary": "Whether Argus runs.",
        "security": [],
        "responses": {"200": {"description": "It runs.", "content": content}},
    }


def _events() -> dict[str, Any]:
    query = [
        ("channel", {"type": "string"}, "Only this channel"),
        ("after", {"type": "string"}, "Begin after this event's id; the header Last-Event-ID does the same"),
        ("last", {"type": "integer", "minimum": 0, "maximum": 10000}, "Begin so many events back"),
        ("follow", {"type": "boolean"}, "false ends after what is there"),
        ("live", {"type": "boolean"}, "true adds what is not recorded, without an id: readings and reports"),
    ]
    refused = _errors((*_ALWAYS, *_READS, Code.CONFLICT))
    return {
        "operationId": "events",
        "summary": "The journal as server-sent events.",
        "parameters": [
            {"name": name, "in": "query", "schema": schema, "description": text} for name, schema, text in query
        ],
        "responses": {
            **refused,
            "200": {"description": "The stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
        },
    }
