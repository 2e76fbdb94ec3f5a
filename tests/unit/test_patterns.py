"""What a text has to look like is said in words: nobody has to read a regular expression."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from argus import config
from argus.core import patterns
from argus.core.errors import ArgusError
from argus.ops import OPERATIONS
from argus.ops.operation import invalid_request
from argus.ops.spawns import AuditAsk


def test_what_was_expected_of_an_argument_is_said_in_words():
    with pytest.raises(ValidationError) as caught:
        AuditAsk.model_validate({"since": "banana"})
    assert invalid_request(caught.value).message == (
        'since: must be 1 to 999 with a unit, such as "30s", "15m", "2h" or "7d"'
    )


def test_what_was_expected_of_a_setting_is_said_in_words():
    with pytest.raises(ArgusError) as caught:
        config.read('notify:\n  quietHours: {from: banana, to: "07:00"}\n', "argus.yaml")
    (problem,) = caught.value.details["errors"]
    assert problem["message"] == 'must be a time of day, such as "22:00"'


def checked(schema: Any) -> Iterator[str]:
    """The patterns that pydantic itself compares with; those of a schema alone have a check with words of its own."""
    if isinstance(schema, dict):
        if schema.get("type") == "str" and "pattern" in schema:
            yield schema["pattern"]
        for one in schema.values():
            yield from checked(one)
    elif isinstance(schema, list | tuple):
        for one in schema:
            yield from checked(one)


def test_there_are_words_for_every_pattern_and_no_others():
    found: set[str] = set()
    for model in (*(one.ask for one in OPERATIONS), config.Config):
        model.model_rebuild(force=True)
        found.update(checked(model.__pydantic_core_schema__))
    assert found == set(patterns.EXPECTED)
