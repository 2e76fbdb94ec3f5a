"""Results, and what build servers read of them."""

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.environments.e2e.suites import Retry
from argus.environments.testing import junit, results, retrying, sse
from argus.environments.testing.model import Events
from argus.environments.testing.results import CaseResult, Failure, SuiteResult, Verdict
from argus.environments.testing.seeing import Event

SUITES = [
    SuiteResult(
        "users",
        "Users & <friends>",
        Verdict.FAILED,
        1.25,
        (
            CaseResult("good", Verdict.PASSED, 0.5, line=3),
            CaseResult(
                "bad", Verdict.FAILED, 0.25, 3, (Failure("expected 200, got 404", "status", 200, 404),), output="\0x"
            ),
            CaseResult("not run", Verdict.SKIPPED, 0.0, 0, reason='"bad" failed'),
            CaseResult("forgiven", Verdict.PASSED, 0.5, failures=(Failure("x"),), reason="an error was ignored: x"),
        ),
        warnings=("line 2: foo: unknown key",),
    ),
    SuiteResult("broken", "Broken", Verdict.FAILED, 0.0, error=Failure("no such file", code="CONFIG_NOT_FOUND")),
]


def test_the_public_form_counts_in_milliseconds_and_is_json():
    public = json.loads(json.dumps([one.public() for one in SUITES]))
    assert public[0]["duration"] == 1250
    assert public[0]["cases"][1] == {
        "name": "bad",
        "status": "failed",
        "duration": 250,
        "attempts": 3,
        "failures": [
            {"message": "expected 200, got 404", "path": "status", "expected": 200, "actual": 404, "code": None}
        ],
        "reason": "",
        "output": "\0x",
        "line": None,
        "saved": [],
    }
    assert public[1]["error"]["code"] == "CONFIG_NOT_FOUND"
    assert results.count(SUITES) == {"passed": 2, "failed": 2, "skipped": 1, "total": 5}


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ("", "passed"),
        ("passed", "passed"),
        ("passed skipped", "passed"),
        ("skipped", "skipped"),
        ("passed failed", "failed"),
    ],
)
def test_a_suite_is_as_its_cases_are(found: str, verdict: str):
    assert results.overall(CaseResult("x", Verdict(one), 0) for one in found.split()) == verdict


def test_junit_says_what_passed_failed_and_was_skipped():
    root = ElementTree.fromstring(junit.render(SUITES))
    assert root.attrib | {"name": ""} == {
        "name": "", "tests": "5", "failures": "1", "errors": "1", "skipped": "1", "time": "1.250",
    }  # fmt: skip
    users, broken = root
    assert (users.get("name"), users.get("tests"), broken.get("errors")) == ("Users & <friends>", "4", "1")
    good, bad, skipped, forgiven = users.findall("testcase")
    assert (good.get("time"), good.get("classname"), list(good)) == ("0.500", "users", [])
    failure = bad.find("failure")
    assert failure is not None
    assert failure.get("message") == "status: expected 200, got 404"
    assert "actual:   404" in (failure.text or "")
    assert bad.findtext("system-out") == "\ufffdx"
    assert [one.get("message") for one in skipped] == ['"bad" failed']
    assert forgiven.find("failure") is None
    assert "ignored" in (forgiven.findtext("system-out") or "")
    assert [one.tag for one in broken.iter()] == ["testsuite", "testcase", "error"]


@given(st.text(st.characters()), st.text(st.characters(categories=["Cc", "Cs", "Co", "Cn"])))
def test_junit_is_xml_whatever_the_texts_hold(name: str, text: str):
    failure = Failure(text, text, {text: name}, text, text)
    case = CaseResult(name, Verdict.FAILED, 1, 1, (failure,), text, text)
    suite = SuiteResult(text, name, Verdict.FAILED, 1, (case,), failure, warnings=(text,))
    ElementTree.fromstring(junit.render([suite], text).encode("utf-8"))


@pytest.mark.parametrize(("backoff", "pauses"), [(None, [2, 2, 2]), ("linear", [2, 4, 6]), ("exponential", [2, 6, 18])])
def test_the_pause_before_the_next_attempt_grows_as_the_file_says(backoff: str | None, pauses: list[float]):
    retry = Retry.model_validate({"maxAttempts": 4, "delay": "2s", "backoff": backoff, "backoffMultiplier": 3})
    assert [retrying.pause(retry, failed) for failed in (1, 2, 3)] == pauses
    assert retrying.pause(retry, 10_000 if backoff == "linear" else 10) <= 300


# --- streams of events

STREAM = (
    b"\xef\xbb\xbf: comment\r\n\r\nevent: begin\r\ndata: 1\r\n\r\n"
    b"data:two\rdata: lines\rid: 5\r\rretry: 10\n\ndata: {\"n\": 3}\n\nevent: last\ndata: open"
)  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_read_in_whatever_pieces_they_come(size: int):
    reader = sse.Reader()
    for at in range(0, len(STREAM), size):
        reader.take(STREAM[at : at + size])
    assert reader.events == [Event("begin", "1"), Event("message", "two\nlines", "5"), Event("message", '{"n": 3}')]
    reader.end()
    assert reader.events[3:] == [Event("last", "open")]


def test_a_stream_without_end_is_bounded():
    for piece in (b"x" * 100_000, b"data: " + b"y" * 1000 + b"\n", b"data: z\n\n" * 1000):
        reader = sse.Reader()
        for _ in range(5000):
            reader.take(piece)
            if reader.is_full:
                break
        assert reader.is_full
        assert len(reader.events) <= 10_000


@pytest.mark.parametrize(
    ("wanted", "enough"),
    [
        (None, True),
        ({"minCount": 2}, True),
        ({"minCount": 3}, False),
        ({"types": ["a"]}, True),
        ({"types": ["c"]}, False),
        ({"dataContains": "x"}, True),
        ({"dataContains": ["x", "z"]}, False),
        ({"maxCount": 1}, True),
        ({"maxCount": 2, "minCount": 1}, False),
        ({"minCount": 1, "dataNotContains": "z"}, False),
        ({"minCount": 1, "last": {"a": 1}}, False),
    ],
)
def test_reading_ends_when_nothing_more_can_matter(wanted: dict[str, object] | None, enough: bool):
    events = [Event("a", "x"), Event("b", "y")]
    assert sse.is_enough(events, Events.model_validate(wanted) if wanted is not None else None) is enough


def test_a_suite_that_could_not_be_run_counts_as_one_that_failed():
    broken = SuiteResult("x", "X", Verdict.FAILED, 0.0, error=Failure("there is no file"))
    assert results.count([broken]) == {"passed": 0, "failed": 1, "skipped": 0, "total": 1}


def test_a_run_that_failed_by_its_containers_is_not_green_for_a_build_server():
    passed = SuiteResult("a", "a", Verdict.PASSED, 1.0, (CaseResult("fine", Verdict.PASSED, 1.0),))
    root = ElementTree.fromstring(junit.render([passed], problems=[Failure("shop-db ended", code="CONTAINER_CRASH")]))
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    (failure,) = root.findall("testsuite[@name='environment']/testcase/failure")
    assert (failure.get("type"), failure.get("message")) == ("CONTAINER_CRASH", "shop-db ended")
