"""Which command runs a suite, and what its end means."""

from typing import Any

import pytest

from argus.environments.e2e.suites import Suite
from argus.environments.testing.results import Verdict
from argus.environments.testing.runners import judging
from argus.environments.testing.runners.choosing import Command, Unfit, choose
from argus.environments.testing.runners.judging import Ended
from argus.environments.testing.runners.tail import Tail


class Programs:
    def __init__(self, **found: str) -> None:
        self._found = found

    def on_path(self, name: str) -> str | None:
        return self._found.get(name)

    of_project = on_path


ALL = Programs(pytest="/bin/pytest", vitest="/p/node_modules/.bin/vitest", playwright="/p/node_modules/.bin/playwright")


def chosen(programs: Programs = ALL, /, file: str | None = "/p/t", **said: Any) -> Command:
    return choose(Suite.model_validate({"id": "s", "name": "S", **said}), file, "/x/report.xml", programs)


VITEST = ("--reporter=default", "--reporter=junit", "--outputFile.junit=/x/report.xml")


@pytest.mark.parametrize(
    ("said", "argv"),
    [
        pytest.param({"runner": "pytest"}, ("/bin/pytest", "--junitxml=/x/report.xml", "/p/t"), id="pytest"),
        pytest.param(
            {"runner": "pytest", "command": "poetry run pytest -k 'a b'", "config": "/p/ini"},
            ("poetry", "run", "pytest", "-k", "a b", "-c", "/p/ini", "--junitxml=/x/report.xml", "/p/t"),
            id="pytest-by-a-command-and-with-a-configuration",
        ),
        pytest.param(
            {"runner": "vitest", "config": "/p/c.ts"},
            ("/p/node_modules/.bin/vitest", "run", "--config", "/p/c.ts", *VITEST, "/p/t"),
            id="vitest",
        ),
        pytest.param(
            {"runner": "playwright"},
            ("/p/node_modules/.bin/playwright", "test", "--reporter=list,junit", "/p/t"),
            id="playwright",
        ),
        pytest.param({"runner": "shell"}, ("sh", "/p/t"), id="a-script"),
        pytest.param(
            {"runner": "shell", "command": "a | b", "file": None}, ("sh", "-c", "a | b"), id="a-shell-command"
        ),
        pytest.param(
            {"runner": "shell", "command": "bash -eu"},
            ("sh", "-c", 'bash -eu "$@"', "sh", "/p/t"),
            id="a-script-by-a-command",
        ),
        pytest.param(
            {"runner": "exec", "command": "a 'b c' $D", "file": None}, ("a", "b c", "$D"), id="words-no-shell"
        ),
        pytest.param({"runner": "exec"}, ("/p/t",), id="a-file-that-is-a-program"),
        pytest.param({"runner": "exec", "command": "go test"}, ("go", "test", "/p/t"), id="a-command-and-its-file"),
    ],
)
def test_a_runner_is_a_command(said: dict[str, Any], argv: tuple[str, ...]):
    file = None if "file" in said else "/p/t"
    assert chosen(file=file, **{key: value for key, value in said.items() if key != "file"}).argv == argv


def test_without_pytest_on_the_path_a_python_is_asked_for_it():
    assert chosen(Programs(python3="/bin/python3"), runner="pytest").argv[:3] == ("/bin/python3", "-m", "pytest")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"runner": "pytest"}, "pip install pytest"),
        ({"runner": "vitest"}, "npm install --save-dev vitest"),
        ({"runner": "playwright"}, "npm install --save-dev @playwright/test"),
        ({"runner": "shell"}, "`file` or a `command`"),
        ({"runner": "exec"}, "`file` or a `command`"),
        ({"runner": "exec", "command": "a 'b"}, "cannot be read"),
        ({"runner": "mocha"}, "yaml, vitest, pytest, shell, exec, playwright are known"),
    ],
)
def test_what_cannot_be_run_says_what_is_missing(said: dict[str, Any], words: str):
    with pytest.raises(Unfit, match=words):
        chosen(Programs(), file=None, **said)


def test_playwright_is_told_by_its_environment_where_the_report_goes():
    assert chosen(runner="playwright").environ["PLAYWRIGHT_JUNIT_OUTPUT_FILE"] == "/x/report.xml"


# What the end of a command means.

GOOD = b'<testsuite><testcase name="a"/></testsuite>'
BAD = b'<testsuite><testcase name="a"><failure message="no"/></testcase></testsuite>'
NONE = b"<testsuites/>"


@pytest.mark.parametrize(
    ("code", "report", "failed", "words"),
    [
        pytest.param(0, GOOD, 0, None, id="all-well"),
        pytest.param(1, BAD, 1, None, id="a-failed-case-is-no-failure-of-the-suite"),
        pytest.param(0, BAD, 1, None, id="the-report-is-believed-whatever-the-exit-status"),
        pytest.param(1, GOOD, 0, "exit status 1, although no case failed", id="failed-and-nobody-knows-why"),
        pytest.param(2, BAD, 1, "exit status 2", id="interrupted-after-a-failure"),
        pytest.param(-11, GOOD, 0, "SIGSEGV", id="crashed-after-its-report"),
        pytest.param(0, NONE, 0, "found no tests", id="nothing-to-run-is-no-success"),
        pytest.param(5, NONE, 0, "found no tests", id="pytest-found-none"),
        pytest.param(0, None, 0, "wrote no report", id="no-report"),
        pytest.param(-9, None, 0, "ended by SIGKILL", id="killed-before-its-report"),
        pytest.param(1, b"<testsuite><testca", 0, "no whole XML", id="half-a-report"),
    ],
)
def test_a_test_program_is_judged_by_its_report_and_its_end(code: int, report: bytes | None, failed: int, words: str):
    cases, error = judging.reported("pytest", Ended(code, 1.0, "the last words\n"), report)
    assert sum(one.status is Verdict.FAILED for one in cases) == failed
    if words is None:
        assert error is None
    else:
        assert error is not None
        assert words in error.message
        assert error.message.endswith("the last words")


def test_a_pytest_that_is_not_installed_is_named():
    _, error = judging.reported("pytest", Ended(1, 1.0, "/bin/python3: No module named pytest\n"), None)
    assert error is not None
    assert "pip install pytest" in error.message


def test_what_ran_out_of_time_keeps_what_was_reported():
    cases, error = judging.reported("pytest", Ended(None, 9.0, "", "not finished within 9 s"), GOOD)
    assert ([one.name for one in cases], str(error)) == (["a"], "exitCode: not finished within 9 s")


def test_a_command_is_one_case():
    assert judging.alone("it", Ended(0, 0.5, "much")).status is Verdict.PASSED
    bad = judging.alone("it", Ended(3, 0.5, "x" * 9000 + "\nlast line\n"))
    assert (bad.status, bad.failures[0].actual) == (Verdict.FAILED, 3)
    assert bad.output.endswith("last line")
    assert len(bad.output) < 5000


def test_the_end_of_an_output_is_kept_and_its_lines_are_told_as_they_come():
    told: list[str] = []
    tail = Tail(told.append)
    for piece in (b"one\ntw", b"o\nthr", b"ee", b"\n" * 5, b"y\n" * 1000, b"z" * 100_000):
        tail.take(piece)
    tail.end()
    assert told[:3] == ["one", "two", "three"]
    assert (len(told), told[-1]) == (24, "z" * 300)
    assert tail.text == "z" * 16384
