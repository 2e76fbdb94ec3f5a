"""What a person at a terminal is told of an error: what can be done there, and what is gone otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from argus.cli.failures import advice, last_lines
from argus.core.codes import REGISTRY
from argus.core.errors import ACTIONS


@pytest.mark.parametrize("code", REGISTRY, ids=str)
def test_nobody_at_a_terminal_is_sent_to_the_rest_api(code: Any):
    said = " ".join(advice(REGISTRY[code].actions, with_logs=False))
    assert "GET /" not in said
    assert "send the request" not in said


@pytest.mark.parametrize("action", ACTIONS)
def test_who_is_to_read_details_is_told_how_to_see_them(action: str):
    for words in advice([action], with_logs=False):
        assert ("details" in words) == ("--json" in words)


def test_the_logs_are_not_suggested_where_their_last_lines_are_shown():
    assert list(advice(["read_logs", "check_name"], with_logs=True)) == ["Check the spelling of the name."]
    assert list(advice(["read_logs"], with_logs=False)) == ["Read its logs."]


@pytest.mark.parametrize(
    ("details", "shown"),
    [
        ({}, []),
        ({"logs": []}, []),
        ({"logs": ["boom"]}, ["its last lines:", "  | boom"]),
        ({"logs": ["\x1b[31mred"]}, ["its last lines:", "  | ·[31mred"]),
        ({"logs": [str(n) for n in range(30)]}, ["its last lines:", *(f"  | {n}" for n in range(20, 30))]),
        ({"logs": {"api": ["a"], "db": []}}, ["its last lines (api):", "  | a"]),
    ],
)
def test_the_last_lines_of_a_container_are_shown(details: dict[str, Any], shown: list[str]):
    assert list(last_lines(details)) == shown
