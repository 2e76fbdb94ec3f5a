"""JUnit XML that test programs write, read into results. Pure.

It is somebody else's: no entity is resolved, no document type is taken, and everything that is kept of it has a bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from argus.core.cutting import ending
from argus.environments.testing.results import CaseResult, Failure, Verdict
from argus.environments.testing.showing import clean, cut

_CASES = 20_000
_DEPTH = 64
_MESSAGE = 1000
_OUTPUT = 4096
"""Characters of what is said about a failure: the end, where test programs say what it was."""
_WITH_OUTPUT = 200
"""Failed cases that keep what is said about them; of the others the message alone."""
_TEXT = 256 * 1024
_WRONG = ("failure", "error")


class NotUnderstood(Exception):
    """It is no report, or not whole."""


def read(report: bytes) -> list[CaseResult]:
    """In the order of the report. Raises NotUnderstood."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.begin
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.say
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(report, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise NotUnderstood(f"the report is no whole XML: {error}") from None
    return reader.cases


def _refuse(*_: object) -> None:
    # What declares entities can be made to grow without end, or to name files.
    raise NotUnderstood("the report has a document type, which no test program writes")


@dataclass(slots=True)
class _Case:
    name: str
    seconds: float
    line: int | None
    failures: list[Failure] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    skipped: str | None = None


class _Reader:
    def __init__(self) -> None:
        self.cases: list[CaseResult] = []
        self._depth = 0
        self._case: _Case | None = None
        self._about = ""
        """`failure`, `error` or `skipped`, while one is open."""
        self._attributes: Mapping[str, str] = {}
        self._text: list[str] = []
        self._length = 0
        self._with_output = 0

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name not in ("testsuites", "testsuite"):
            raise NotUnderstood(f"the report begins with <{name[:50]}>, which no JUnit report does")
        if self._depth > _DEPTH:
            raise NotUnderstood("the report is nested too deep")
        if name == "testcase":
            if len(self.cases) >= _CASES:
                raise NotUnderstood(f"the report has more than {_CASES} cases")
            self._case = _Case(_name(attributes), _seconds(attributes.get("time")), _line(attributes.get("line")))
        elif self._case is not None and not self._about and name in (*_WRONG, "skipped"):
            self._about, self._attributes, self._text, self._length = name, dict(attributes), [], 0

    def say(self, text: str) -> None:
        if self._about and self._length < _TEXT:
            self._text.append(text)
            self._length += len(text)

    def end(self, name: str) -> None:
        self._depth -= 1
        case = self._case
        if case is None:
            return
        if name == self._about:
            self._tell(case, "".join(self._text).strip("\n"))
            self._about = ""
        elif name == "testcase":
            self.cases.append(self._result(case))
            self._case = None

    def _tell(self, case: _Case, text: str) -> None:
        message = self._attributes.get("message", "").strip() or next(
            (one.strip() for one in text.splitlines() if one.strip()), ""
        )
        if self._about == "skipped":
            # pytest says nothing more about an xfail without a reason.
            is_expected = not message and self._attributes.get("type") == "pytest.xfail"
            case.skipped = "it was expected to fail, and did" if is_expected else cut(message, _MESSAGE)
            return
        case.failures.append(Failure(cut(message or self._about, _MESSAGE)))
        if text:
            case.said.append(text)

    def _result(self, case: _Case) -> CaseResult:
        if case.failures:
            status, reason = Verdict.FAILED, ""
        elif case.skipped is not None:
            status, reason = Verdict.SKIPPED, case.skipped
        else:
            status, reason = Verdict.PASSED, ""
        self._with_output += status is Verdict.FAILED
        output = clean(ending("\n".join(case.said), _OUTPUT)) if self._with_output <= _WITH_OUTPUT else ""
        return CaseResult(
            case.name, status, case.seconds, failures=tuple(case.failures), reason=reason, output=output, line=case.line
        )


def _name(attributes: Mapping[str, str]) -> str:
    """With what it is in: a module, a class or a file."""
    name, within = attributes.get("name", "").strip(), attributes.get("classname", "").strip()
    # Not one that only begins alike: test_xfail in test_x.
    is_said = name.startswith(within) and not name[len(within) : len(within) + 1].strip("_").isalnum()
    whole = f"{within} > {name}" if within and name and not is_said else name or within
    return cut(whole or "(without a name)", _MESSAGE)


def _seconds(text: str | None) -> float:
    try:
        found = float(text or 0)
    except ValueError:
        return 0.0
    return found if math.isfinite(found) and found > 0 else 0.0


def _line(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None
