"""Results as JUnit XML, which every build server reads. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from argus.environments.testing.results import CaseResult, Failure, SuiteResult, Verdict, alone, count

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML may hold, not even escaped: one such character, and nobody reads the file."""


def render(suites: Sequence[SuiteResult], name: str = "argus", problems: Sequence[Failure] = ()) -> str:
    """`problems`: what is not well with the environment itself; a suite of its own, as the format knows no other way
    to say that a run failed whose cases passed."""
    if problems:
        cases = tuple(CaseResult(one.message, Verdict.FAILED, 0.0, failures=(one,)) for one in problems)
        suites = (*suites, SuiteResult("environment", "environment", Verdict.FAILED, 0.0, cases))
    root = Element("testsuites", {"name": _text(name), **_counts(suites), "time": _time(_sum(suites))})
    for suite in suites:
        _suite(root, suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, suite: SuiteResult) -> None:
    attributes = {"name": _text(suite.name), "id": _text(suite.id), **_counts([suite]), "time": _time(suite.seconds)}
    made = SubElement(root, "testsuite", attributes)
    if suite.error is not None:
        # The format has no place for what is wrong with a suite: its readers count test cases.
        case = SubElement(made, "testcase", {"name": "(suite)", "classname": _text(suite.id), "time": _time(0)})
        _wrong(case, "error", [suite.error])
    elif alone(suite) is Verdict.SKIPPED:
        case = SubElement(made, "testcase", {"name": "(suite)", "classname": _text(suite.id), "time": _time(0)})
        SubElement(case, "skipped", {"message": _text("; ".join(suite.warnings))})
    for one in suite.cases:
        _case(made, suite, one)
    if suite.warnings:
        SubElement(made, "system-err").text = _text("\n".join(suite.warnings))


def _case(made: Element, suite: SuiteResult, one: CaseResult) -> None:
    attributes = {"name": _text(one.name), "classname": _text(suite.id), "time": _time(one.seconds)}
    if one.line is not None:
        attributes["line"] = str(one.line)
    case = SubElement(made, "testcase", attributes)
    if one.status is Verdict.SKIPPED:
        SubElement(case, "skipped", {"message": _text(one.reason)})
    elif one.status is Verdict.FAILED:
        _wrong(case, "failure", one.failures or (Failure("failed"),))
    said = [one.output] if one.output else []
    if one.status is Verdict.PASSED and one.reason:
        said.insert(0, one.reason)
    if said:
        SubElement(case, "system-out").text = _text("\n".join(said))


def _wrong(case: Element, kind: str, failures: Iterable[Failure]) -> None:
    several = list(failures)
    first = several[0]
    attributes = {"message": _text(str(first)), "type": _text(first.code or "AssertionError")}
    SubElement(case, kind, attributes).text = _text("\n".join(_lines(several)))


def _lines(failures: list[Failure]) -> Iterable[str]:
    for one in failures:
        yield str(one)
        if one.expected is not None or one.actual is not None:
            yield f"  expected: {_shown(one.expected)}"
            yield f"  actual:   {_shown(one.actual)}"


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


def _counts(suites: Sequence[SuiteResult]) -> dict[str, str]:
    """The same as our own totals, but that what failed is told apart: a case, or a suite as a whole."""
    found = count(suites)
    errors = sum(1 for suite in suites if suite.error is not None)
    return {
        "tests": str(found["total"]),
        "failures": str(found["failed"] - errors),
        "errors": str(errors),
        "skipped": str(found["skipped"]),
    }


def _sum(suites: Sequence[SuiteResult]) -> float:
    return sum(suite.seconds for suite in suites)


def _time(seconds: float) -> str:
    return f"{max(0.0, seconds):.3f}"


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
