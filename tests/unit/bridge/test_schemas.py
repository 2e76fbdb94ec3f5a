from typing import Any

import pytest

from argus.bridge.schemas import checker
from argus.core.errors import ArgusError


def test_why_a_value_does_not_fit_is_said_with_its_place() -> None:
    misfit = checker({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}})
    assert misfit({"a": [1, 2]}) == ""
    assert misfit({"a": [1, "x"]}) == "a/1: 'x' is not of type 'integer'"


@pytest.mark.parametrize("schema", [{"type": "strange"}, {"properties": []}, {"required": "x"}])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(ArgusError, match="schema: not a JSON schema"):
        checker(schema)


def test_what_is_too_deep_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"not": deep}
    with pytest.raises(ArgusError, match="nested"):
        checker(deep)


def test_nothing_is_fetched_and_nothing_is_tried_for_ever() -> None:
    assert "cannot be followed" in checker({"$ref": "http://127.0.0.1:9/x"})({})
    assert checker({"type": "string", "pattern": "^(a+)+$"})("a" * 40 + "!") == ""
    assert "cannot be followed" in checker({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}})({})
