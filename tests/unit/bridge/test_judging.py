"""What the end of a query means, over what Claude Code 2.1.325 really said."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.bridge import schemas
from argus.bridge.judging import End, Judged, State, judge
from argus.bridge.reading import Heard
from argus.core.circuit import Verdict

_RECORDED = Path(__file__).parents[2] / "recorded_queries"
_SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}


def heard(name: str, lines: int | None = None) -> Heard:
    made = Heard()
    for line in (_RECORDED / f"{name}.jsonl").read_bytes().splitlines()[:lines]:
        made.take(line)
    return made


def judged(name: str, *named: str, code: int | None = 0, lines: int | None = None, **how: Any) -> Judged:
    return judge(heard(name, lines), End(code, 60.0), named or ("things",), **how)


def cause(one: Judged) -> Any:
    return one.error and (one.error.details.get("cause") or one.error.code.value)


def test_an_answer_is_its_text_and_who_gave_it() -> None:
    one = judged("ok")
    assert one.error is None
    assert [(each.name, each.state) for each in one.standings] == [("things", State.ANSWERED)]
    assert one.verdict("things") is Verdict.ANSWERED
    result = heard("ok").result
    assert result is not None
    assert (result.text, result.turns) == ('done: "{\\"result\\":5}"', 2)


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        pytest.param("limit", 1, "limit", id="a usage limit"),
        pytest.param("nomodel", 1, "model", id="a model that is not there"),
        pytest.param("api500", 1, "model", id="a service that fails"),
        pytest.param("noauth", None, "model", id="a service that refuses until the deadline"),
        pytest.param("turns", 1, "turns", id="too few turns"),
    ],
)
def test_what_is_no_servers_fault_is_charged_to_none(name: str, code: int | None, expected: str) -> None:
    one = judged(name, code=code)
    assert cause(one) == expected
    assert one.verdict("things") is Verdict.ANSWERED, "it was connected"
    assert one.charged == {}


def test_a_server_that_dies_in_a_call_is_charged() -> None:
    one = judged("die")
    assert cause(one) == "server"
    assert one.error is not None
    assert one.error.details["answer"] == 'done: "Connection closed"'
    assert one.charged == {"things": "Connection closed"}


def test_a_tool_that_fails_is_an_answer_of_its_server() -> None:
    one = judged("boom")
    assert one.error is None
    assert one.standings[0].state is State.ANSWERED


def test_only_the_server_that_failed_is_charged() -> None:
    one = judged("ok", "things", "dead", "web")
    assert one.error is None, "one of them answered"
    assert {each.name: each.state.value for each in one.standings} == {
        "things": "answered", "dead": "failed", "web": "failed",
    }  # fmt: skip
    assert set(one.charged) == {"dead", "web"}
    assert one.verdict("things") is Verdict.ANSWERED


@pytest.mark.parametrize(("name", "server"), [("dead", "dead"), ("pending", "slow")])
def test_a_server_that_is_not_connected_fails_the_query_that_wants_it(name: str, server: str) -> None:
    one = judged(name, server)
    assert cause(one) == "server"
    assert set(one.charged) == {server}


def test_a_call_that_is_not_answered_by_the_deadline_is_its_servers() -> None:
    one = judged("hang", "things", "dead", code=None)
    assert cause(one) == "server"
    assert set(one.charged) == {"things", "dead"}
    assert judged("hang", code=None).charged == {"things": "it did not answer a call within 60 s"}


def test_a_caller_who_gives_nobody_time_charges_nobody() -> None:
    for name, lines in (("hang", None), ("ok", 0)):
        one = judge(heard(name, lines), End(None, 0.1, is_patient=False), ("things",))
        assert (cause(one), one.charged) == ("timeout", {})
    one = judge(heard("dead"), End(0, 0.1, is_patient=False), ("dead",))
    assert (cause(one), one.charged) == ("server", {}), "it may only have been slow to begin"
    assert judge(heard("die"), End(0, 0.1, is_patient=False), ("things",)).charged == {"things": "Connection closed"}


def test_a_server_that_nobody_has_heard_of_is_not_charged() -> None:
    one = judged("ok", "github")
    assert cause(one) == "NOT_FOUND"
    assert one.verdict("github") is Verdict.NOTHING


@pytest.mark.parametrize(
    ("lines", "code", "expected"),
    [
        pytest.param(0, 1, "program", id="ended before it began"),
        pytest.param(0, None, "timeout", id="did not begin"),
        pytest.param(1, None, "timeout", id="the model did not answer"),
        pytest.param(1, -9, "program", id="killed"),
    ],
)
def test_what_ends_without_a_word_is_charged_to_all(lines: int, code: int | None, expected: str) -> None:
    one = judged("ok", "things", "other", code=code, lines=lines)
    assert cause(one) == expected
    assert set(one.charged) == {"things", "other"}


def test_a_tool_that_was_not_allowed_is_not_its_servers_fault() -> None:
    one = judged("denied")
    assert one.error is None
    assert one.standings[0].state is State.CONNECTED
    assert heard("denied").denied == {"mcp__things__add"}


def test_an_answer_in_the_form_that_was_asked_for_is_checked() -> None:
    assert judged("schema_ok", misfit=asyncio.run(schemas.checker(_SUM))).error is None
    result = heard("schema_ok").result
    assert result is not None
    assert result.structured == {"sum": 5}
    assert (
        cause(judged("schema_ok", misfit=asyncio.run(schemas.checker({"required": ["other"], "type": "object"}))))
        == "output"
    )
    one = judged("schema_bad", misfit=asyncio.run(schemas.checker(_SUM)))
    assert (cause(one), one.charged) == ("output", {})


@given(st.lists(st.binary(max_size=60) | st.sampled_from([b"null", b"[]", b'"x"', b'{"type":[]}']), max_size=8))
def test_no_line_whatever_is_more_than_strange(lines: list[bytes]) -> None:
    made = Heard()
    for line in lines:
        made.take(line)
    assert judge(made, End(0, 1.0), ("things",)).error is not None


_ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "subtype", "message", "content", "mcp_servers", "name", "id", "result", "is_error"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(["system", "assistant", "user", "result"]), st.dictionaries(st.text(max_size=6), _ODD), _ODD)
def test_forms_that_nobody_has_seen_yet_do_no_harm(kind: str, more: dict[str, Any], message: Any) -> None:
    import json

    made = Heard()
    made.take(json.dumps({**more, "type": kind, "subtype": "init", "message": message, "errors": message}).encode())
    judge(made, End(0, 1.0), ("things",))
