"""The OpenAPI document: complete, resolvable, and honest about errors."""

from typing import Any

import jsonschema
import openapi_spec_validator
import pytest

from argus.api.openapi import document
from argus.core.errors import REGISTRY, Code
from argus.ops import OPERATIONS, Operation

DOCUMENT = document()
EVERY = (Code.INVALID_REQUEST, Code.UNAUTHORIZED, Code.FORBIDDEN, Code.MISDIRECTED)
"""What any call may be answered with, before its operation is even reached."""


def described(one: Operation) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][one.path][one.method.lower()]
    return found


def by_name(one: Operation) -> str:
    return one.name


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for inner in value.values() for found in references(inner)]
    return [found for inner in value for found in references(inner)] if isinstance(value, list) else []


def test_every_operation_is_in_the_document_once():
    names = [one["operationId"] for methods in DOCUMENT["paths"].values() for one in methods.values()]
    assert sorted(names) == sorted({one.name for one in OPERATIONS} | {"health", "metrics", "events"})


@pytest.mark.parametrize("one", OPERATIONS, ids=by_name)
def test_an_operation_is_described_in_its_own_words(one: Operation):
    assert described(one)["description"].startswith(one.documentation)
    assert described(one)["summary"]


@pytest.mark.parametrize("one", OPERATIONS, ids=by_name)
def test_every_error_an_operation_answers_with_is_documented_under_its_status(one: Operation):
    responses = described(one)["responses"]
    body = (Code.TOO_LARGE, Code.UNSUPPORTED_TYPE) if one.method != "GET" else ()
    for code in (*EVERY, *one.errors, *body, Code.STORE_UNAVAILABLE, Code.INTERNAL_ERROR, Code.NO_DAEMON):
        answer = responses[str(REGISTRY[code].status)]
        assert code.value in answer["description"]
        assert references(answer) == ["#/components/schemas/Error"]


@pytest.mark.parametrize("one", OPERATIONS, ids=by_name)
def test_the_answer_of_an_operation_is_documented_under_its_status(one: Operation):
    assert references(described(one)["responses"][str(one.status)]) == [f"#/components/schemas/{one.answer.__name__}"]


@pytest.mark.parametrize("one", OPERATIONS, ids=by_name)
def test_everything_an_operation_takes_is_documented_where_it_is_given(one: Operation):
    given = described(one)
    places = {(field["name"], field["in"]) for field in given.get("parameters", ())}
    if "requestBody" in given:
        body = given["requestBody"]["content"]["application/json"]["schema"]
        assert body["additionalProperties"] is (one.ask.model_config.get("extra") == "allow")
        places |= {(name, "body") for name in body["properties"]}
    schema = one.ask.model_json_schema(by_alias=True)
    elsewhere = "query" if one.method == "GET" else "body"
    names = schema.get("properties", {})
    assert places == {(name, "path" if name in one.path_fields else elsewhere) for name in names}


def test_every_reference_leads_to_a_schema():
    found = references(DOCUMENT)
    assert len(found) > 50
    known = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert set(found) <= known


def test_every_schema_is_one():
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_a_structured_error_is_valid_by_its_schema():
    from argus.core.errors import ArgusError

    error = ArgusError(Code.GATE_REFUSED, "not now", gate="budget").structured(1_800_000_000_000)
    jsonschema.validate({"error": error}, {"$ref": "#/components/schemas/Error", "components": DOCUMENT["components"]})


def test_only_the_health_of_argus_may_be_asked_without_a_token():
    assert DOCUMENT["security"] == [{"token": []}]
    free = [
        path for path, methods in DOCUMENT["paths"].items() for one in methods.values() if one.get("security") == []
    ]
    assert free == ["/healthz"]


def test_the_document_is_an_openapi_document():
    openapi_spec_validator.validate(DOCUMENT)


@pytest.mark.parametrize("code", [*EVERY, Code.STORE_UNAVAILABLE, Code.CONFLICT], ids=lambda code: code.value)
def test_the_errors_of_the_stream_of_events_are_documented(code: Code):
    assert str(REGISTRY[code].status) in DOCUMENT["paths"]["/api/events"]["get"]["responses"]
