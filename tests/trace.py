"""A pytest plugin: which test proved which requirement.

A test names what it proves: `@pytest.mark.req("FR-R12")`. An id that is not in spec/requirements.yaml is a
collection error. With ARGUS_TRACE set, the outcome of every test is appended to the file of that name, one JSON
object per line: {"test": ..., "outcome": ..., "req": [...]}. `make trace` reads it.
"""

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest
import yaml

PROPERTY = "req"


def ids_of(item: pytest.Item) -> list[str]:
    """The ids of all req marks of a test, of its class and of its module; each once."""
    return list(dict.fromkeys(str(name) for mark in item.iter_markers("req") for name in mark.args))


class Trace:
    def __init__(self, spec: Path, target: str | None) -> None:
        self._spec = spec
        self._target = target
        self._known: set[str] | None = None
        self._tests: dict[str, tuple[str, list[str]]] = {}

    def known(self) -> set[str]:
        if self._known is None:
            entries = yaml.safe_load(self._spec.read_text(encoding="utf-8")) if self._spec.exists() else []
            self._known = {entry["id"] for entry in entries or []}
        return self._known

    def faults(self, item: pytest.Item) -> list[str]:
        found = []
        for mark in item.iter_markers("req"):
            if mark.kwargs or not mark.args:
                found.append(f"{item.nodeid}: req takes one or more ids, and nothing else")
            found += [
                f"{item.nodeid}: no requirement {name!r} in {self._spec.parent.name}/{self._spec.name}"
                for name in mark.args
                if name not in self.known()
            ]
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        items = [node for node in report.result or () if isinstance(node, pytest.Item)]
        faults = [fault for item in items for fault in self.faults(item)]
        if faults:
            report.outcome = "failed"
            report.longrepr = "\n".join(dict.fromkeys(faults))
            report.result = []
        return report

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        # User properties travel with the reports, also from a worker of pytest-xdist to its controller.
        for item in items:
            item.user_properties.extend((PROPERTY, name) for name in ids_of(item))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome: str = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "xpassed" if report.passed else "xfailed"
        before, ids = self._tests.get(report.nodeid, ("passed", []))
        if before == "failed" or outcome == "passed":
            outcome = before
        found = [str(value) for name, value in report.user_properties if name == PROPERTY]
        self._tests[report.nodeid] = (outcome, found or ids)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._target is None or hasattr(session.config, "workerinput"):
            return  # a worker's tests are written by its controller
        with open(self._target, "a", encoding="utf-8") as file:
            for test, (outcome, ids) in self._tests.items():
                file.write(json.dumps({"test": test, "outcome": outcome, "req": ids}) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    target = os.environ.get("ARGUS_TRACE") or None
    config.pluginmanager.register(Trace(config.rootpath / "spec" / "requirements.yaml", target), "argus-trace")
