"""What the CLI shows of test suites, while they run and afterwards, and the file that it writes."""

import io
import os
import stat
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from argus.cli import junit_file, progress
from argus.cli.render import show
from argus.core.errors import ArgusError, Code
from argus.environments.testing import results
from argus.environments.testing.results import CaseResult, Failure, SuiteResult, Verdict

BAD = CaseResult(
    "reads\x1b[2J",
    Verdict.FAILED,
    0.5,
    3,
    (Failure("expected 200, got 404", "status", 200, 404),),
    output="x\ny",
    line=7,
)
SUITES = (
    SuiteResult("api", "API", Verdict.FAILED, 1.25, (CaseResult("asks", Verdict.PASSED, 0.1), BAD), attempts=2),
    SuiteResult("gone", "Gone", Verdict.FAILED, 0.0, error=Failure("no such file\nlast words"), warnings=("w",)),
    SuiteResult("later", "L", Verdict.SKIPPED, 0.0, (CaseResult("z", Verdict.SKIPPED, 0.0, 0, reason="not yet"),)),
)
RESTART = {"service": "db", "attempt": 1, "reason": "exit status 7", "outcome": "crashed", "crashLoop": True}


def answer(**more: Any) -> dict[str, Any]:
    suites = [one.public() for one in SUITES]
    return {
        "status": "failed", "totals": results.count(SUITES), "duration": 1250.0, "suites": suites,
        "restarts": [RESTART], "warnings": [],
        "problems": [{"code": "CONTAINER_RESTART_EXHAUSTED", "message": "db was given up"}], **more,
    }  # fmt: skip


def test_what_failed_is_shown_with_its_place_and_what_was_restarted_is_named():
    shown = show("env run", answer())
    assert shown.exit_code == 1
    lines = shown.text.splitlines()
    assert lines[:7] == [
        "api: FAILED, 1 passed, 1 failed in 1.25 s, 2 attempts",
        "  FAILED reads·[2J (line 7), 3 attempts",
        "    status: expected 200, got 404",
        "      expected 200, got 404",
        "    | x",
        "    | y",
        "gone: FAILED, 0 passed in 0 s",
    ]
    assert lines[-4:] == [
        "restarted db, attempt 1: exit status 7; crashed",
        "CRASH LOOP: db ends again and again, soon after each start",
        "GIVEN UP: db was given up",
        "FAILED: 1 passed, 2 failed, 1 skipped in 1.25 s",
    ]


def test_all_that_passed_is_a_line_and_leaves_with_zero():
    good = answer(status="passed", suites=[], restarts=[], problems=[])
    shown = show("env run-suite", good)
    assert (shown.exit_code, shown.text) == (0, "passed: 1 passed, 2 failed, 1 skipped in 1.25 s")


def test_results_come_back_as_they_went():
    assert tuple(results.read(one.public()) for one in SUITES) == SUITES


def test_a_junit_file_is_written_whole_and_may_be_read_by_others(tmp_path: Path):
    path = tmp_path / "results.xml"
    path.write_text("old")
    junit_file.check(str(path))
    junit_file.write(str(path), answer())
    assert ElementTree.parse(path).getroot().attrib["tests"] == "5"
    assert [one.name for one in tmp_path.iterdir()] == ["results.xml"]
    assert path.stat().st_mode & 0o444 == 0o444


@pytest.mark.parametrize("where", ["nowhere/results.xml", "."])
def test_a_place_where_no_file_can_be_is_refused_at_once(tmp_path: Path, where: str):
    with pytest.raises(ArgusError) as refused:
        junit_file.check(str(tmp_path / where))
    assert refused.value.code is Code.INVALID_REQUEST


def test_a_file_that_cannot_be_written_after_all_is_told_and_leaves_nothing(tmp_path: Path):
    path = tmp_path / "results.xml"
    path.mkdir()
    with pytest.raises(ArgusError):
        junit_file.write(str(path), answer())
    assert list(tmp_path.iterdir()) == [path]


# While they run.


def case(kind: str, number: int, status: str = "", message: str | None = None) -> dict[str, Any]:
    data = {"suite": "api", "case": f"c{number}", "number": number, "total": 3, "status": status, "message": message}
    return {"event": f"test:case_{kind}", "data": data}


EVENTS = [
    {"event": "test:suite_started", "data": {"suite": "api", "runner": "yaml"}},
    case("started", 1), case("ended", 1, "passed"),
    case("started", 2), case("ended", 2, "failed", "no"),
    {"event": "test:suite_output", "data": {"suite": "api", "line": "so far"}},
    {"event": "test:suite_ended", "data": {"suite": "api", "status": "failed", "duration": 1500.0}},
    {"event": "resilience:preflight_check", "data": {}},
]  # fmt: skip


def painted(monkeypatch: pytest.MonkeyPatch, screen: progress._Lines) -> str:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    for event in EVENTS:
        screen.show(event)
    screen.close()
    screen.show(EVENTS[0])  # came too late
    return written.getvalue()


def test_without_a_terminal_every_step_is_a_line(monkeypatch: pytest.MonkeyPatch):
    lines = [line.split(" s  ", 1)[1] for line in painted(monkeypatch, progress._Lines()).splitlines()]
    assert lines == [
        "api: yaml", "api 1/3 passed  c1", "api 2/3 FAILED  c2: no", "api  | so far", "api: FAILED in 1.5 s",
    ]  # fmt: skip


def test_on_a_terminal_what_passed_is_counted_and_what_failed_stays(monkeypatch: pytest.MonkeyPatch):
    text = painted(monkeypatch, progress._Terminal())
    stays = [line.rpartition("\x1b[K")[2].split(" s  ", 1)[1] for line in text.split("\n")[:-1]]
    assert stays == ["api: yaml", "api 2/3 FAILED  c2: no", "api: FAILED in 1.5 s"]
    assert "1 passed  api 2/3 c2" in text
    assert text.endswith("\r\x1b[K"), "nothing is left of the line that changes"


def test_a_device_is_written_to_and_a_link_stays_one(tmp_path: Path):
    junit_file.check(os.devnull)
    junit_file.write(os.devnull, answer())
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    link, target = tmp_path / "link.xml", tmp_path / "target.xml"
    link.symlink_to(target)
    junit_file.check(str(link))
    junit_file.write(str(link), answer())
    assert link.is_symlink()
    assert target.read_text().startswith("<?xml")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ArgusError, match="not a regular file"):
        junit_file.check(str(tmp_path / "fifo"))


def test_a_container_that_is_not_back_at_the_end_is_not_called_given_up():
    problem = {"code": "CONTAINER_CRASH", "message": "db: it ended with exit status 7"}
    assert "NOT WELL: db: it ended with exit status 7" in show("env run", answer(problems=[problem])).text.splitlines()
