"""A pytest plugin: the fault campaign of spec/faults.yaml.

A test that injects a fault says which row it shows, and when: `@pytest.mark.fault("AG1")`, and `with injected:` around
what passes from the injection to the recovery. A control, where nothing is broken, says `@pytest.mark.control("NO1")`.
An id that is not in the table is a collection error, and so is a fault that is never timed.

In `make test` these are tests like all others, and nobody minds how long they take. With ARGUS_FAULTS set
(`make faults`) only they run, a recovery that took longer than its bound is a failure, and one JSON object per test is
written to the file of that name. ARGUS_FAULT_ROWS names the rows that are wanted, if not all are.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import yaml

PROPERTY = "fault"
FIXTURE = "injected"


class Injection:
    """The time of one fault, from its injection to the recovery. Used more than once, the longest counts."""

    def __init__(self, *, in_campaign: bool) -> None:
        self.in_campaign = in_campaign
        """Whether there is time for the fault in its whole length."""
        self.seconds: float | None = None
        self._began = 0.0

    def __enter__(self) -> Injection:
        self._began = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = max(self.seconds or 0.0, time.monotonic() - self._began)


INJECTION = pytest.StashKey[Injection]()


@pytest.fixture
def injected(request: pytest.FixtureRequest) -> Injection:
    made = Injection(in_campaign=bool(os.environ.get("ARGUS_FAULTS")))
    request.node.stash[INJECTION] = made
    return made


def read(table: Path) -> tuple[dict[str, float], set[str]]:
    """The bound of each fault, and the ids of the controls."""
    found: dict[str, Any] = yaml.safe_load(table.read_text(encoding="utf-8"))
    return {row["id"]: float(row["bound"]) for row in found["faults"]}, {row["id"] for row in found["controls"]}


def ids_of(item: pytest.Item, mark: str) -> list[str]:
    return list(dict.fromkeys(str(name) for found in item.iter_markers(mark) for name in found.args))


class Campaign:
    def __init__(self, table: Path, target: str | None, wanted: set[str]) -> None:
        self._table = table
        self._bounds, self._controls = read(table)
        self._target = target
        self._wanted = wanted
        self._tests: dict[str, dict[str, Any]] = {}

    # What is asked of a test, in every run.

    def mistakes(self, item: pytest.Item) -> list[str]:
        found = []
        place = f"{self._table.parent.name}/{self._table.name}"
        for mark, known in (("fault", set(self._bounds)), ("control", self._controls)):
            if any(given.kwargs or not given.args for given in item.iter_markers(mark)):
                found.append(f"{item.nodeid}: {mark} takes one or more ids, and nothing else")
            found += [f"{item.nodeid}: no {mark} {id!r} in {place}" for id in ids_of(item, mark) if id not in known]
        if ids_of(item, "fault") and FIXTURE not in getattr(item, "fixturenames", ()):
            found.append(f"{item.nodeid}: a fault is timed: `with {FIXTURE}:` from the injection to the recovery")
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        items = [node for node in report.result or () if isinstance(node, pytest.Item)]
        mistakes = [mistake for item in items for mistake in self.mistakes(item)]
        if mistakes:
            report.outcome = "failed"
            report.longrepr = "\n".join(dict.fromkeys(mistakes))
            report.result = []
        return report

    # The campaign.

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if self._target is None:
            return
        chosen, others = [], []
        for item in items:
            ids = {*ids_of(item, "fault"), *ids_of(item, "control")}
            (chosen if (ids & self._wanted if self._wanted else ids) else others).append(item)
        config.hook.pytest_deselected(items=others)
        items[:] = chosen

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        faults, controls = ids_of(item, "fault"), ids_of(item, "control")
        if not faults and not controls:
            return report
        injection = item.stash.get(INJECTION, None)
        seconds = injection.seconds if injection else None
        bound = min((self._bounds[id] for id in faults), default=None)
        if report.when == "call" and report.passed and bound is not None:
            if seconds is None:
                _fail(report, "nothing was injected")
            elif self._target is not None and seconds > bound:
                _fail(report, f"recovered after {seconds:.1f} s; the bound is {bound:g} s")
        if report.when == "call" and not faults:
            seconds = report.duration
        # Properties travel with the report, also from a worker of pytest-xdist to its controller.
        told = {"rows": faults + controls, "seconds": seconds, "why": _why(report)}
        report.user_properties.append((PROPERTY, json.dumps(told)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = next((json.loads(str(value)) for name, value in report.user_properties if name == PROPERTY), None)
        if told is None:
            return
        one = self._tests.setdefault(report.nodeid, {"test": report.nodeid, **told, "outcome": "passed"})
        if told["seconds"] is not None:
            one["seconds"] = told["seconds"]
        if not report.passed and one["outcome"] != "failed":
            one |= {"outcome": report.outcome, "why": told["why"]}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._target is None or hasattr(session.config, "workerinput"):
            return  # a worker's tests are written by its controller
        with open(self._target, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in self._tests.values())


def _fail(report: pytest.TestReport, why: str) -> None:
    report.outcome = "failed"
    report.longrepr = why


def _why(report: pytest.TestReport) -> str:
    """In one line."""
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash else report.longrepr).strip().partition("\n")[0]


def pytest_configure(config: pytest.Config) -> None:
    target = os.environ.get("ARGUS_FAULTS") or None
    table = Path(os.environ.get("ARGUS_FAULT_TABLE") or config.rootpath / "spec" / "faults.yaml")
    wanted = set(os.environ.get("ARGUS_FAULT_ROWS", "").split())
    config.pluginmanager.register(Campaign(table, target, wanted), "argus-faults")
