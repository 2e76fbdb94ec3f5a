"""Suites in order or side by side, and what is left of them when they are cut short. On virtual time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import pytest

from argus.core.errors import ArgusError, Code
from argus.environments.e2e.suites import Suite
from argus.environments.guarding.turnstile import Turnstile
from argus.environments.testing import junit
from argus.environments.testing.conducting import Conductor
from argus.environments.testing.lookout import Lookout, Watched
from argus.environments.testing.outcome import Outcome
from argus.environments.testing.results import CaseResult, Failure, SuiteResult, Verdict
from argus.environments.testing.running import Progress
from argus.environments.testing.telling import Teller
from argus.testing import FakeClock, SimulatedLoop, run_simulated

GONE = ArgusError(Code.DOCKER_UNAVAILABLE, "refused")


@dataclass
class Guard:
    restarted: list[Any] = field(default_factory=list)
    gone: list[ArgusError] = field(default_factory=list)
    since: float = 0.0

    def restarts(self, run_id: str, since: float = 0.0) -> list[Any]:
        self.since = since
        return self.restarted

    unwell: float = 0.0
    """Until then something is being restarted; it is well after that, or `gone`."""

    def problems(self, run_id: str) -> list[ArgusError]:
        if asyncio.get_running_loop().time() < self.unwell:
            return [ArgusError(Code.CONTAINER_CRASH, "api")]
        return self.gone

    async def settled(self, run_id: str) -> None:
        await asyncio.sleep(max(0.0, self.unwell - asyncio.get_running_loop().time()))


class Stage:
    """Suites of cases that take a second each; those called `bad` fail. What was torn down is known."""

    def __init__(self, *suites: str, cases: str = "a b") -> None:
        self.suites = [Suite(id=one, name=one.upper()) for one in suites]
        self.cases = cases.split()
        self.at_once = self.most = 0
        self.torn_down: list[str] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.shown: list[str] = []
        self.guard = Guard()
        self.engine_gone_after: float | None = None

    async def play(self, suite: Suite, told: Callable[[Progress], None]) -> SuiteResult:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        done: list[CaseResult] = []
        try:
            for number, name in enumerate(self.cases, 1):
                told(Progress("known", suite.id, name, number, len(self.cases), line=number))
            for number, name in enumerate(self.cases, 1):
                told(Progress("started", suite.id, name, number, len(self.cases)))
                await asyncio.sleep(1.0)
                status = Verdict.FAILED if name == "bad" else Verdict.PASSED
                done.append(CaseResult(name, status, 1.0, failures=(Failure("no"),) if name == "bad" else ()))
                told(Progress("ended", suite.id, name, number, len(self.cases), done[-1]))
        finally:
            self.at_once -= 1
            self.torn_down.append(suite.id)
        failed = any(one.status is Verdict.FAILED for one in done)
        return SuiteResult(suite.id, suite.name, Verdict.FAILED if failed else Verdict.PASSED, 1.0, tuple(done))

    async def _ask(self) -> None:
        if self.engine_gone_after is not None and asyncio.get_running_loop().time() >= self.engine_gone_after:
            raise GONE

    def conductor(self, at_once: int = 1, play: Any = None) -> Conductor:
        clock = FakeClock(asyncio.get_running_loop())

        def tell(channel: str, type: str, data: dict[str, Any]) -> None:
            assert channel == "test"
            self.events.append((type, data))

        teller = Teller(tell, lambda channel, type, data: self.shown.append(type), {"project": "shop"})
        lookout = Lookout(self._ask) if self.engine_gone_after is not None else None
        return Conductor(
            self.suites, at_once, play or self.play, teller, clock, self.guard, run_id="r1", lookout=lookout
        )

    def run(self, at_once: int = 1, timeout: float | None = None, play: Any = None) -> Outcome:
        found: list[Outcome] = []

        async def main(loop: SimulatedLoop) -> None:
            found.append(await self.conductor(at_once, play).run(timeout))

        run_simulated(main)
        return found[0]

    @property
    def told(self) -> list[str]:
        return [" ".join(filter(None, (type, data.get("suite"), data.get("case")))) for type, data in self.events]


def test_suites_run_in_their_order_and_every_step_is_told():
    stage = Stage("one", "two", cases="a")
    done = stage.run()
    assert [one.id for one in done.suites] == ["one", "two"]
    assert (done.status, done.totals) == (Verdict.PASSED, {"passed": 2, "failed": 0, "skipped": 0, "total": 2})
    assert stage.told == [
        "run_started",
        "suite_started one", "case_started one a", "case_ended one a", "suite_ended one",
        "suite_started two", "case_started two a", "case_ended two a", "suite_ended two",
        "run_ended",
    ]  # fmt: skip
    assert stage.events[-1][1] | {"restarts": 0} == {
        "project": "shop", "status": "passed", "totals": done.totals, "duration": 2000.0, "restarts": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("at_once", "seconds"), [(1, 12), (2, 6), (4, 4), (9, 2)])
def test_side_by_side_no_more_run_than_are_allowed(at_once: int, seconds: int):
    stage = Stage("a", "b", "c", "d", "e", "f")
    done = stage.run(at_once)
    assert stage.most == min(at_once, 6)
    assert (round(done.seconds), [one.id for one in done.suites]) == (seconds, list("abcdef"))


def test_one_case_that_failed_is_a_run_that_failed_and_the_others_run():
    done = Stage("one", "two", cases="a bad b").run()
    assert (done.status, done.totals["failed"], done.totals["passed"]) == (Verdict.FAILED, 2, 4)


def test_a_run_that_takes_too_long_keeps_what_it_has_and_tears_down():
    stage = Stage("one", "two", "three", cases="a b c")
    done = stage.run(timeout=4.5)
    assert [(one.id, one.status.value, len(one.cases)) for one in done.suites] == [
        ("one", "passed", 3),
        ("two", "failed", 3),
        ("three", "skipped", 0),
    ]
    assert [(one.name, one.status.value, one.attempts) for one in done.suites[1].cases] == [
        ("a", "passed", 1), ("b", "failed", 1), ("c", "skipped", 0),
    ]  # fmt: skip
    # Four passed; b and its suite failed; c and the third suite were not begun.
    assert done.totals == {"passed": 4, "failed": 2, "skipped": 2, "total": 8}
    assert stage.events[-1][1]["totals"] == done.totals
    top = ElementTree.fromstring(junit.render(done.suites))
    counts = {name: int(top.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": 8, "failures": 1, "errors": 1, "skipped": 2}
    assert (len(top.findall(".//testcase")), len(top.findall(".//skipped"))) == (8, 2)
    assert "not finished within 4.5 s" in str(done.suites[1].error)
    assert "not begun" in done.suites[2].warnings[0]
    assert (done.status, stage.torn_down) == (Verdict.FAILED, ["one", "two"])
    assert stage.events[-1][1]["status"] == "failed"


def test_an_engine_that_goes_away_ends_the_run_with_what_was_collected():
    stage = Stage("one", "two", cases=" ".join("abcdefghij" * 4))
    stage.engine_gone_after = 12.0
    with pytest.raises(ArgusError) as raised:
        stage.run()
    assert raised.value.code is Code.DOCKER_UNAVAILABLE
    results = raised.value.details["results"]
    assert results["totals"]["passed"] >= 40
    assert raised.value.details["awaySeconds"] == pytest.approx(30, abs=2)
    assert [one["status"] for one in results["suites"]] == ["passed", "failed"]
    assert stage.torn_down == ["one", "two"]
    assert (stage.events[-1][0], stage.events[-1][1]["status"]) == ("run_ended", "interrupted")


def test_after_a_suite_that_failed_with_its_engine_no_other_begins():
    stage = Stage("one", "two", "three", cases="bad")
    stage.engine_gone_after = 0.9
    with pytest.raises(ArgusError) as raised:
        stage.run()
    results = raised.value.details["results"]["suites"]
    assert [one["status"] for one in results] == ["failed", "skipped", "skipped"]
    assert stage.torn_down == ["one"]


def test_a_failure_at_the_very_end_is_not_told_before_the_engine_was_looked_at():
    stage = Stage("one", cases="bad")
    stage.engine_gone_after = 0.9
    with pytest.raises(ArgusError) as raised:
        stage.run()
    assert raised.value.code is Code.DOCKER_UNAVAILABLE
    assert raised.value.details["results"]["totals"]["failed"] == 1


def test_an_engine_that_stumbles_once_ends_nothing():
    stage = Stage("one", cases="bad a b c d e f g h")
    stage.engine_gone_after = 0.0
    asked = 0

    async def ask() -> None:
        nonlocal asked
        asked += 1
        if asked % 2:
            raise GONE

    async def main(loop: SimulatedLoop) -> None:
        conductor = stage.conductor()
        conductor.lookout = Lookout(ask)
        assert (await conductor.run(None)).totals["total"] == 9

    run_simulated(main)
    assert asked >= 4


def test_an_engine_that_comes_back_in_time_ends_nothing():
    stage = Stage("one", cases=" ".join("abcdefghij" * 5))

    async def ask() -> None:
        if 10 < asyncio.get_running_loop().time() < 38:
            raise GONE

    async def main(loop: SimulatedLoop) -> None:
        conductor = stage.conductor()
        conductor.lookout = Lookout(ask)
        assert (await conductor.run(None)).totals["passed"] == 50

    run_simulated(main)


def test_a_run_whose_time_is_over_while_its_engine_is_away_is_no_result():
    stage = Stage("one", "two", cases="a b c d e f g h i j")
    stage.engine_gone_after = 5.0
    with pytest.raises(ArgusError) as raised:
        stage.run(timeout=12.5)
    assert raised.value.code is Code.DOCKER_UNAVAILABLE
    assert [one["status"] for one in raised.value.details["results"]["suites"]] == ["passed", "failed"]


def test_what_is_told_is_what_happened_and_not_that_a_breaker_refuses():
    async def ask() -> None:
        raise ArgusError(Code.CIRCUIT_OPEN, "failed 5 times in a row", lastFailure="connection refused")

    async def main(loop: SimulatedLoop) -> None:
        with pytest.raises(ArgusError) as raised:
            await Lookout(ask).run()
        assert raised.value.message == "the engine went away in the middle of the run: connection refused"

    run_simulated(main)


@pytest.mark.parametrize(("away", "closed", "then"), [(20.0, False, True), (0.0, False, False), (0.0, True, True)])
def test_a_case_is_disturbed_also_by_an_engine_that_is_away(away: float, closed: bool, then: bool):
    async def ask() -> None:
        if asyncio.get_running_loop().time() < away:
            raise GONE

    async def main(loop: SimulatedLoop) -> None:
        turnstile = Turnstile()
        async with turnstile.case("a case") as turn:
            if closed:
                turnstile.close()
        assert await Watched(turn, Lookout(ask)).was_disturbed() is then
        assert loop.time() >= away

    run_simulated(main)


def test_a_run_that_nobody_wants_any_more_is_torn_down_and_told():
    stage = Stage("one", "two")

    async def main(loop: SimulatedLoop) -> None:
        conductor = stage.conductor()
        running = asyncio.ensure_future(conductor.run(None))
        await asyncio.sleep(1.5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert conductor.collected().totals["passed"] == 1

    run_simulated(main)
    assert stage.torn_down == ["one"]
    assert stage.events[-1][1]["status"] == "cancelled"


def test_containers_that_were_restarted_are_in_the_result_and_one_given_up_fails_it():
    stage = Stage("one")
    stage.guard.gone = [ArgusError(Code.CONTAINER_RESTART_EXHAUSTED, "api")]
    done = stage.run()
    assert (done.status, done.problems[0].code) == (Verdict.FAILED, Code.CONTAINER_RESTART_EXHAUSTED)
    assert stage.guard.since == 1_800_000_000.0


def test_the_cases_of_a_program_are_told_when_it_has_ended():
    stage = Stage("one")

    async def play(suite: Suite, told: Callable[[Progress], None]) -> SuiteResult:
        cases = tuple(CaseResult(name, Verdict.PASSED, 0.1) for name in "xy")
        return SuiteResult(suite.id, suite.name, Verdict.PASSED, 0.2, cases)

    stage.run(play=play)
    assert stage.told[1:-1] == ["suite_started one", "case_ended one x", "case_ended one y", "suite_ended one"]


def test_of_a_thousand_cases_each_is_on_record_and_the_rest_is_shown():
    stage = Stage("one", cases=" ".join(f"c{n}" for n in range(1500)))
    assert stage.run().totals["passed"] == 1500
    recorded = [type for type, _ in stage.events if type == "case_ended"]
    assert (len(recorded), stage.shown.count("case_ended")) == (1000, 500)


@pytest.mark.parametrize("gone", [False, True])
def test_a_run_ends_when_it_is_known_what_became_of_a_restart_under_way(gone: bool):
    stage = Stage("one", cases="a")
    stage.guard.unwell = 30.0
    stage.guard.gone = [ArgusError(Code.CONTAINER_RESTART_EXHAUSTED, "api")] if gone else []
    done = stage.run()
    assert (done.status.value, round(done.seconds)) == ("failed" if gone else "passed", 30)


def test_a_run_whose_time_is_over_does_not_pass_over_a_restart_under_way():
    stage = Stage("one", cases="a")
    stage.guard.unwell = 30.0
    done = stage.run(timeout=10.0)
    assert (done.status, round(done.seconds)) == (Verdict.FAILED, 10)
    assert [one.code for one in done.problems] == [Code.CONTAINER_CRASH]
