"""`make faults` itself: what it counts, what it refuses, and what it does not let pass."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = """
faults:
  - {id: XX1, fault: one thing breaks, expected: it is mended, bound: 5}
  - {id: XX2, fault: another breaks, expected: it is mended too, bound: 0}
controls:
  - {id: NO1, control: nothing breaks}
"""
RECOVERED = """
@pytest.mark.fault("XX1")
def test_one_thing_is_mended(injected):
    with injected:
        pass
"""
CASES = """
@pytest.mark.fault("XX1")
@pytest.mark.parametrize("case", ["first", "second", "third"])
def test_each_case_is_mended(injected, case):
    with injected:
        assert case != "third"
"""
LOST = """
@pytest.mark.fault("XX1")
def test_one_thing_stays_broken(injected):
    with injected:
        assert not "mended"
"""
LATE = """
@pytest.mark.fault("XX2")
def test_the_other_is_mended_late(injected):
    with injected:
        pass
"""
QUIET = """
@pytest.mark.control("NO1")
def test_nothing_is_done():
    pass
"""
ACTED = """
@pytest.mark.control("NO1")
def test_something_is_done():
    assert not "done"
"""
SKIPPED = """
@pytest.mark.fault("XX1")
def test_it_cannot_be_done_here(injected):
    pytest.skip("no such machine")
"""
NEVER = """
@pytest.mark.fault("XX1")
def test_it_forgets_to_inject(injected):
    pass
"""
UNTIMED = """
@pytest.mark.fault("XX1")
def test_it_has_no_clock():
    pass
"""
UNKNOWN = """
@pytest.mark.fault("XX9")
def test_it_shows_a_row_that_there_is_none_of(injected):
    with injected:
        pass
"""
OTHER = """
def test_that_is_no_fault_is_not_run():
    assert False
"""


class Ran(NamedTuple):
    code: int
    said: str

    def row(self, id: str) -> str:
        (found,) = (line for line in self.said.splitlines() if line.startswith(f"{id} "))
        return found

    @property
    def last(self) -> str:
        return self.said.splitlines()[-1]


class Place:
    """A table and tests of its own."""

    def __init__(self, folder: Path) -> None:
        self._table = folder / "table.yaml"
        self._table.write_text(TABLE)
        self._tests = folder / "test_cases.py"

    def _env(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARGUS_", "PYTEST_"))}
        # The cases lie outside the project, and only what they need is loaded: a run takes a second and not three.
        settings = (
            f"-c {ROOT}/pyproject.toml --rootdir {ROOT} -p no:schemathesis -p no:hypothesispytest -p no:cacheprovider"
        )
        return {**kept, "ARGUS_FAULT_TABLE": str(self._table), "PYTEST_ADDOPTS": settings}

    def faults(self, *cases: str, rows: tuple[str, ...] = ()) -> Ran:
        self._tests.write_text("import pytest\n" + "".join(cases))
        command = [sys.executable, "scripts/faults.py", "--table", self._table, "--tests", self._tests, *rows]
        return self._run([str(word) for word in command])

    def plain(self, *cases: str) -> Ran:
        """As in `make test`."""
        self._tests.write_text("import pytest\n" + "".join(cases))
        return self._run([sys.executable, "-m", "pytest", "-q", str(self._tests)])

    def _run(self, command: list[str]) -> Ran:
        done = subprocess.run(command, cwd=ROOT, env=self._env(), capture_output=True, text=True, timeout=60)
        return Ran(done.returncode, done.stdout + done.stderr)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_recovers_is_a_row_with_its_time_and_what_has_no_test_is_said(place: Place) -> None:
    ran = place.faults(RECOVERED, QUIET, OTHER)
    assert (ran.code, ran.last) == (0, "1 injected, 1 recovered, 0 lost")
    assert re.search(r"one thing breaks +it is mended +5 s +0\.0 s +recovered +one thing is mended$", ran.row("XX1"))
    assert re.search(r"another breaks +it is mended too +0 s +not built yet$", ran.row("XX2"))
    assert re.search(r"none: nothing breaks +no action +\S+ s +quiet +nothing is done$", ran.row("NO1"))
    assert "2 rows of faults, 1 of them not built yet" in ran.said
    assert "1 controls, 0 acted, 0 not built yet" in ran.said


@pytest.mark.parametrize(
    ("cases", "id", "outcome", "last"),
    [
        pytest.param((LOST, QUIET), "XX1", "lost", "1 injected, 0 recovered, 1 lost", id="one-that-stays-broken"),
        pytest.param((LATE, QUIET), "XX2", "lost", "1 injected, 0 recovered, 1 lost", id="one-over-its-bound"),
        pytest.param((NEVER, QUIET), "XX1", "lost", "1 injected, 0 recovered, 1 lost", id="one-never-injected"),
        pytest.param((RECOVERED, ACTED), "NO1", "acted", "1 injected, 1 recovered, 0 lost", id="a-control-that-acts"),
    ],
)
def test_it_fails_for(place: Place, cases: tuple[str, ...], id: str, outcome: str, last: str) -> None:
    ran = place.faults(*cases)
    assert (ran.code, ran.last) == (1, last)
    assert f" {outcome} " in ran.row(id)


def test_the_cases_of_a_test_are_counted_each_and_shown_as_one_but_for_the_lost(place: Place) -> None:
    ran = place.faults(CASES, QUIET)
    assert (ran.code, ran.last) == (1, "3 injected, 2 recovered, 1 lost")
    good, lost = (line for line in ran.said.splitlines() if line.startswith("XX1 "))
    assert good.endswith("recovered      each case is mended (2 cases)")
    assert "  lost  " in lost
    assert "each case is mended (third): " in lost


def test_a_bound_counts_in_the_campaign_alone(place: Place) -> None:
    assert place.plain(LATE, RECOVERED, QUIET).code == 0
    assert place.plain(NEVER).code == 1


def test_what_cannot_be_done_here_is_skipped_and_not_counted(place: Place) -> None:
    ran = place.faults(SKIPPED, QUIET)
    assert (ran.code, ran.last) == (0, "0 injected, 0 recovered, 0 lost")
    assert ran.row("XX1").endswith("no such machine")
    assert "1 skipped on this machine" in ran.said


@pytest.mark.parametrize("case", [UNKNOWN, UNTIMED], ids=["a-row-that-is-not-in-the-table", "a-fault-without-a-clock"])
def test_refused_in_every_run(place: Place, case: str) -> None:
    ran = place.faults(case, RECOVERED)
    assert (ran.code, "1 failed besides" in ran.said) == (1, True)
    ran = place.plain(case)
    assert ran.code == 2
    assert "XX9" in ran.said or "a fault is timed" in ran.said


def test_one_can_ask_for_some_rows_and_for_no_other(place: Place) -> None:
    ran = place.faults(RECOVERED, LATE, QUIET, rows=("XX1",))
    assert (ran.code, ran.last) == (0, "1 injected, 1 recovered, 0 lost")
    assert "XX2" not in ran.said
    assert place.faults(RECOVERED, rows=("XX9",)).code == 2
