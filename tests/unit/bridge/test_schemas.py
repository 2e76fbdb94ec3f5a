import asyncio
from typing import Any

import pytest

from argus.bridge import schemas
from argus.core.errors import ArgusError


def misfit(schema: Any, value: Any) -> str:
    return asyncio.run(schemas.checker(schema))(value)


def test_why_a_value_does_not_fit_is_said_with_its_place() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    assert misfit(schema, {"a": [1, 2]}) == ""
    assert misfit(schema, {"a": [1, "x"]}) == "a.1: 'x' is not of type 'integer'"
    assert misfit(schema, None) == "None is not of type 'object'"


@pytest.mark.parametrize("schema", [{"type": "strange"}, {"properties": []}, {"required": "x"}])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(ArgusError, match="schema: not a JSON schema"):
        misfit(schema, {})


def test_what_is_too_deep_or_too_large_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"not": deep}
    for schema in (deep, {"enum": list(range(100_000))}):
        with pytest.raises(ArgusError, match="nested more than"):
            misfit(schema, {})


def test_nothing_is_fetched_and_nothing_is_tried_for_ever() -> None:
    assert "cannot be followed" in misfit({"$ref": "http://127.0.0.1:9/x"}, {})
    assert misfit({"type": "string", "pattern": "^(a+)+$"}, "a" * 40 + "!") == ""
    assert misfit({"uniqueItems": True}, [{"a": n} for n in range(100_000)]) == ""
    assert "cannot be used" in misfit({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, {})


def test_a_few_lines_that_ask_for_more_than_a_computer_can_do_are_given_up() -> None:
    twice = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    schema = {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**twice, "d30": {"type": "integer"}}}
    assert misfit(schema, {"a": 1}) == ""
    assert misfit({"items": {"type": "integer"}}, list(range(100_000))) == ""
