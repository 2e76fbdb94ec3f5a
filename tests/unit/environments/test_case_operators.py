"""Bodies against what is expected of them: every operator, part and whole, and the shape of a failure."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.environments.testing import operators, patterns
from argus.environments.testing.results import Failure
from argus.environments.testing.showing import MISSING, shown


def failures(actual: Any, expected: Any) -> list[Failure]:
    assert not list(operators.mistakes(expected)), "the expectation itself is wrong"
    return list(
        operators.check(actual, expected, "body", lambda pattern, text: bool(re.search(patterns.python(pattern), text)))
    )


USERS = {"users": [{"name": "Ann", "age": 30}, {"name": "Bo", "age": 17}], "total": 2}


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (1, 1),
        (1, 1.0),
        ("a", "a"),
        (None, None),
        ([1, {"a": 2}], [1, {"a": 2}]),
        ({"a": 1, "b": 2}, {"a": 1}),
        ({"a": {"b": {"c": [1]}}, "x": 0}, {"a": {"b": {"c": [1]}}}),
        ("a", {"type": "string"}),
        (1.5, {"type": "number"}),
        (True, {"type": "boolean"}),
        (None, {"type": "null"}),
        ([], {"type": "array"}),
        ({}, {"type": "object"}),
        ({}, {}),
        ({"a": 1}, {}),
        ({"a": {"b": 1}}, {"a": {}}),
        ([1], {"not": {}}),
        ({"type": "user", "id": 1}, {"type": "user", "id": 1}),
        ({"a": 0}, {"a": {"exists": True}}),
        ({"a": None}, {"a": {"exists": False}}),
        ({}, {"a": {"exists": False}}),
        (2, {"in": [1, 2.0]}),
        ({"a": 1}, {"in": [{"a": 1}]}),
        (5, {"gt": 4, "gte": 5, "lt": 6, "lte": 5}),
        ("12", {"gt": 11}),
        ("hello", {"contains": "ell"}),
        ("hello", {"notContains": "x"}),
        ([1, 2], {"contains": 2}),
        ([{"id": 1, "name": "x"}], {"contains": {"id": 1}}),
        ([1, 2], {"notContains": 3}),
        ("v1.2.3", {"matches": r"^v\d+\.\d+"}),
        ("2024-01", {"matches": r"(?<year>\d{4})-(?<month>\d\d)"}),
        ("https://x", {"startsWith": "https://", "endsWith": "x"}),
        ([1, 2], {"length": 2}),
        ("abc", {"length": {"gte": 3, "lt": 4}}),
        ({"a": 1}, {"length": 1}),
        ([1], {"length": ">0"}),
        (USERS, {"users": {"every": {"name": {"type": "string"}}}}),
        ([], {"every": {"x": 1}}),
        ([1, 2], {"every": {"gt": 0}}),
        (USERS, {"users": {"some": {"name": "Bo", "age": {"lt": 18}}}}),
        ("ok", {"not": "error"}),
        (200, {"not": {"in": [500, 502]}}),
        ({}, {"a": {"not": {"exists": True}}}),
        (USERS, {"users": {"0": {"name": "Ann"}, "length": 2}}),
    ],
)
def test_what_is_as_expected_passes(actual: Any, expected: Any):
    assert failures(actual, expected) == []


@pytest.mark.parametrize(
    ("actual", "expected", "path"),
    [
        (True, 1, "body"),
        (1, "1", "body"),
        (0, False, "body"),
        (MISSING, None, "body"),
        ([1, 2], [2, 1], "body"),
        ([1, 2], [1], "body"),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}, "body.a"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "body.a.b"),
        ({}, {"a": 1}, "body.a"),
        ([], {}, "body"),
        (None, {}, "body"),
        ({"a": 5}, {"a": {}}, "body.a"),
        ({}, {"a": None}, "body.a"),
        ("text", {"a": 1}, "body"),
        (1, {"type": "string"}, "body"),
        (None, {"type": "object"}, "body"),
        ({"a": None}, {"a": {"exists": True}}, "body.a"),
        ({"a": 0}, {"a": {"exists": False}}, "body.a"),
        (3, {"in": [1, "3"]}, "body"),
        ({}, {"a": {"in": [None]}}, "body.a"),
        (5, {"gt": 5}, "body"),
        ("x", {"gt": 5}, "body"),
        (True, {"gt": 0}, "body"),
        (None, {"lt": 5}, "body"),
        ("hello", {"contains": "x"}, "body"),
        (["hello"], {"contains": "ell"}, "body"),
        (5, {"contains": 5}, "body"),
        ([{"id": 1, "name": "x"}], {"notContains": {"id": 1}}, "body"),
        ("abc", {"matches": "^b"}, "body"),
        (5, {"matches": "5"}, "body"),
        (5, {"startsWith": "5"}, "body"),
        ([1], {"length": 2}, "body.length"),
        (5, {"length": 1}, "body"),
        ([1], {"length": {"gt": 1}}, "body.length"),
        (USERS, {"users": {"every": {"age": {"gte": 18}}}}, "body.users.1.age"),
        ({}, {"every": {"x": 1}}, "body"),
        ([], {"some": {"x": 1}}, "body"),
        (USERS, {"users": {"some": {"name": "Cy"}}}, "body.users"),
        ("error", {"not": "error"}, "body"),
        (502, {"not": {"in": [500, 502]}}, "body"),
    ],
)
def test_what_is_not_as_expected_says_where(actual: Any, expected: Any, path: str):
    assert [one.path for one in failures(actual, expected)] == [path]


def test_every_difference_is_told_with_both_values():
    found = failures({"a": 1, "b": {"c": "x"}}, {"a": 2, "b": {"c": {"startsWith": "y"}}, "d": True})
    assert [(one.path, one.expected, one.actual) for one in found] == [
        ("body.a", 2, 1),
        ("body.b.c", {"startsWith": "y"}, "x"),
        ("body.d", True, None),
    ]


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        ({"n": {"gt": 1, "lss": 2}}, ("n", "lss")),
        ({"n": {"length": {"gtt": 1}}}, ("n", "length", "gtt")),
        ({"n": {"length": "many"}}, ("n", "length")),
        ({"n": {"matches": "("}}, ("n", "matches")),
        ({"n": {"matches": 5}}, ("n", "matches")),
        ({"n": {"matches": "a" * 5000}}, ("n", "matches")),
        ({"n": {"matches": "(" * 2000 + ")" * 2000}}, ("n", "matches")),
        ({"n": {"in": 5}}, ("n", "in")),
        ({"n": {"gt": "many"}}, ("n", "gt")),
        ({"n": {"exists": "yes"}}, ("n", "exists")),
        ({"n": {"every": {"x": {"startsWith": 1}}}}, ("n", "every", "x", "startsWith")),
        ({"n": {"not": {"matches": "["}}}, ("n", "not", "matches")),
    ],
)
def test_an_expectation_that_makes_no_sense_is_found_before_anything_runs(expected: Any, path: tuple[str, ...]):
    assert [one for one, _ in operators.mistakes(expected)] == [path]


def test_where_there_are_no_fields_an_unknown_key_is_an_unknown_operator():
    assert [said for _, said in operators.mistakes({"contans": "x"}, only_operators=True)] == [
        'is no operator; did you mean "contains"?'
    ]


def test_a_mistyped_operator_of_a_body_is_hinted_at_where_it_fails():
    assert 'did you mean "gte"' in failures({"n": 5}, {"n": {"gtee": 3}})[0].message


def test_what_is_shown_of_a_large_answer_is_bounded():
    (found,) = failures({"a": "x" * 1_000_000}, {"a": 1})
    assert len(json.dumps(found.public())) < 10_000
    assert "1000000" in found.actual


def test_half_a_character_of_an_answer_can_still_be_sent():
    (found,) = failures({"a": json.loads('"\\ud800"')}, {"a": 1})
    json.dumps(found.public(), ensure_ascii=False).encode("utf-8")


def test_an_answer_that_is_nested_very_deep_is_shown_as_such():
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "deep" in str(shown(deep))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def has_operators(value: Any) -> bool:
    if isinstance(value, dict):
        return any(key in operators.OPERATORS or has_operators(one) for key, one in value.items())
    return isinstance(value, list) and any(map(has_operators, value))


@given(json_values)
def test_every_value_is_as_itself(value: Any):
    if not has_operators(value):
        assert failures(value, value) == []


@given(json_values, json_values)
def test_not_is_the_opposite(actual: Any, expected: Any):
    if not has_operators(expected):
        assert bool(failures(actual, expected)) != bool(failures(actual, {"not": expected}))


@given(json_values, st.dictionaries(st.text(max_size=12) | st.sampled_from(sorted(operators.OPERATORS)), json_values))
def test_whatever_is_written_is_either_a_mistake_or_can_be_checked(actual: Any, expected: dict[str, Any]):
    if not list(operators.mistakes(expected)):
        for one in operators.check(actual, expected, "body", lambda pattern, text: False):
            json.dumps(one.public())


@pytest.mark.parametrize(
    ("actual", "expected", "said"),
    [
        ("hello", {"not": {"contain": "hello"}}, "contains"),
        (5, {"not": {"equals": 5}}, "the value itself"),
        ([1], {"every": {"not": {"eq": 1}}}, "the value itself"),
        (5, {"greaterThan": 3}, "gt"),
    ],
)
def test_what_is_meant_as_an_operator_and_is_none_never_passes(actual: Any, expected: Any, said: str):
    (failure,) = failures(actual, expected)
    assert failure.code == "CONFIG_INVALID"
    assert f"did you mean {said}" in failure.message.replace('"', "")


def test_an_object_that_is_not_there_is_not_one_with_such_fields():
    assert failures(None, {"not": {"code": 5}}) == []
