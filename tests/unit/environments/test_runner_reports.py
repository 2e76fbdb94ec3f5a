"""JUnit reports of others: what they say, and what they cannot do to whoever reads them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.environments.testing import junit
from argus.environments.testing.results import CaseResult, Failure, SuiteResult, Verdict
from argus.environments.testing.runners.judging import Ended, reported
from argus.environments.testing.runners.reports import NotUnderstood, read

RECORDED = Path(__file__).with_name("reports")
"""As pytest 9, vitest 4.1 and Playwright 1.65 wrote them."""
P, F, S = Verdict.PASSED, Verdict.FAILED, Verdict.SKIPPED


@pytest.mark.parametrize(
    ("program", "cases"),
    [
        pytest.param(
            "pytest",
            [
                ("test_api > test_well", P, ""),
                ("test_api > test_wrong[1]", F, "AssertionError: two & two"),
                ("test_api > test_later", S, "not yet"),
                ("test_api.TestMore > test_setup", F, 'failed on setup with "RuntimeError: no database"'),
            ],
            id="pytest",
        ),
        pytest.param(
            "vitest",
            [
                ("api.test.ts > sums > adds", P, ""),
                ("api.test.ts > sums > subtracts", F, "expected 1 to be 2 // Object.is equality"),
                ("api.test.ts > sums > later", S, ""),
            ],
            id="vitest",
        ),
        pytest.param(
            "playwright",
            [
                ("login.spec.ts > shows a form", P, ""),
                ("login.spec.ts > refuses", F, "expect(received).toBe(expected) // Object.is equality"),
                ("login.spec.ts > later", S, ""),
            ],
            id="playwright",
        ),
    ],
)
def test_what_test_programs_write_is_read(program: str, cases: list[tuple[str, Verdict, str]]):
    found = read((RECORDED / f"{program}.xml").read_bytes())
    assert [(one.name, one.status) for one in found] == [one[:2] for one in cases]
    said = [one.failures[0].message if one.failures else one.reason for one in found]
    assert said == [one[2] for one in cases]
    assert all(one.output for one in found if one.status is F)
    assert all(one.seconds >= 0 for one in found)


BOMB = b"""<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuite><testcase name="&b;"/></testsuite>"""
FILE = b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&f;"/></testsuite>'


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"not xml", id="no-xml"),
        pytest.param(b"<testsuite><testcase name='a'/>", id="cut-off"),
        pytest.param(b"<html></html>", id="something-else"),
        pytest.param(BOMB, id="entities-that-grow"),
        pytest.param(FILE, id="entities-that-name-files"),
        pytest.param(b"<testsuite>" * 100 + b"</testsuite>" * 100, id="too-deep"),
        pytest.param(b"<testsuite>" + b"<testcase/>" * 20_001 + b"</testsuite>", id="too-many"),
        pytest.param(b'<?xml version="1.0" encoding="nonsense"?><testsuite/>', id="no-such-encoding"),
    ],
)
def test_what_is_no_report_is_not_understood(report: bytes):
    with pytest.raises(NotUnderstood):
        read(report)


@given(st.binary(max_size=200))
def test_whatever_is_written_is_read_or_not_understood(noise: bytes):
    for report in (noise, b"<testsuite><testcase name='" + noise + b"'/></testsuite>"):
        try:
            read(report)
        except NotUnderstood:
            continue


@pytest.mark.parametrize("time", ["nan", "inf", "-1", "soon", ""])
def test_a_time_that_is_none_is_zero(time: str):
    assert read(f'<testsuite><testcase name="a" time="{time}"/></testsuite>'.encode())[0].seconds == 0.0


def test_what_is_kept_of_a_failure_has_a_bound():
    text = "x" * 300_000
    one = f'<testcase name="{text}"><failure message="{text}">{text}</failure></testcase>'
    found = read(f"<testsuite>{one * 3}</testsuite>".encode())
    assert max(len(part) for case in found for part in (case.name, case.output, case.failures[0].message)) < 5000


def test_own_reports_are_read_too():
    cases = (
        CaseResult("a", P, 1.5, line=3),
        CaseResult("b", F, 0.0, failures=(Failure("wrong", "body"),)),
        CaseResult("c", S, 0.0, reason="later"),
    )
    found = read(junit.render([SuiteResult("s", "S", F, 1.5, cases)]).encode())
    assert [(one.name, one.status, one.line) for one in found] == [
        ("s > a", P, 3),
        ("s > b", F, None),
        ("s > c", S, None),
    ]


def test_a_test_that_begins_like_its_module_is_named_with_it_and_an_xfail_says_what_it_is():
    cases = read(
        b'<testsuite><testcase classname="test_x" name="test_xf"><skipped type="pytest.xfail" message=""/></testcase>'
        b'<testcase classname="test_x" name="test_xg"><skipped type="pytest.xfail" message="not yet"/></testcase>'
        b'<testcase classname="a.spec.ts" name="a.spec.ts > works"/></testsuite>'
    )
    assert [one.name for one in cases] == ["test_x > test_xf", "test_x > test_xg", "a.spec.ts > works"]
    assert [one.reason for one in cases] == ["it was expected to fail, and did", "not yet", ""]


def test_a_playwright_without_a_test_runner_is_told_what_to_install():
    _, failure = reported("playwright", Ended(1, 0.1, "error: unknown command 'test'"), None)
    assert "npm install --save-dev @playwright/test" in str(failure)
