"""Expressions of test files: a small language that reaches nothing but what it is given."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.environments.testing import expressions

VALUES: dict[str, Any] = {
    "status": 200,
    "headers": {"content-type": "application/json", "x": "1"},
    "body": {"count": 3, "name": 'a "b"', "items": [{"id": 7}, {"id": 8}], "ok": True, "none": None, "length": "own"},
    "vars": {"id": 7},
}


@pytest.mark.parametrize(
    "text",
    [
        "status == 200",
        "status != 201 && status < 300",
        "body.count > 2 and body.count <= 3",
        "body.count == 9 || body.ok",
        "not body.none",
        "!(body.count > 5)",
        'headers.content-type == "application/json"',
        "headers.Content-Type == 'application/json'",
        'headers["x"] == "1"',
        "body.items.length == 2",
        "body.items[0].id == vars.id",
        "body.items.1.id === 8",
        "len(body.items) >= 2",
        "len(body.name) == 5",
        "body.length == 'own'",
        "status in [200, 201]",
        "status not in [404]",
        "'a' in body.name",
        "'count' in body",
        r'body.name == "a \"b\""',
        "body.missing.deeper == null",
        "body.none == null",
        "body.count == 3.0",
        "-1 < body.count",
        "body.ok == true && !(body.ok == 1)",
        "body.count > 1 && (body.count > 5 || body.name != '')",
    ],
)
def test_what_holds(text: str):
    assert expressions.parse(text).holds(VALUES)


@pytest.mark.parametrize(
    "text",
    [
        *("status == '200'", "body.name > 3", "body.missing > 0", "body.missing", "body.items.length > 2"),
        *("body.ok and body.none", "status in 'x200'", "!status", "body.name.foo.bar == 1", "len(status) > 0"),
    ],
)
def test_what_does_not_hold(text: str):
    assert not expressions.parse(text).holds(VALUES)


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "status ==", "== 200", "status = 200", "(status == 200", "status == 200)", "status 200", "a b"),
        *("__import__('os').system('x')", "status + 1", "[1", "body.x(1)", "'open", "status & 1", "not", "1 not 2"),
        *("(" * 100 + "1" + ")" * 100, "[" * 100 + "]" * 100, "1 == " + "1" * 3000, "lambda: 1", "body;drop"),
    ],
)
def test_what_is_no_expression_is_refused(text: str):
    with pytest.raises(ValueError):
        expressions.parse(text, frozenset(VALUES))


def test_a_path_begins_with_what_there_is():
    with pytest.raises(ValueError, match="status"):
        expressions.parse("boddy.x == 1", frozenset(VALUES))


def test_what_it_looked_at_can_be_told():
    assert expressions.parse("body.count > 5 && status == 200").seen(VALUES) == {"body.count": 3, "status": 200}


@given(st.text(alphabet="()[]!&|=<> .,'\"09abody-_in\\nt{}$", max_size=40))
def test_any_text_is_an_expression_or_a_value_error(text: str):
    with contextlib.suppress(ValueError):
        expressions.parse(text).holds(VALUES)
