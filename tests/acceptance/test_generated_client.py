"""A client that a generator made from the running daemon's OpenAPI document: it imports, it works, it reads errors."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.acceptance.harness import ERROR_FIELDS, Argus, WebServer, free_port

_NAME = "argus_client"


class Made:
    """The generated package, with a connection of its own to the daemon."""

    def __init__(self, argus: Argus, folder: Path) -> None:
        self.document = argus.get("/openapi.json")
        described = folder / "openapi.json"
        described.write_text(json.dumps(self.document), encoding="utf-8")
        settings = folder / "generator.yaml"
        settings.write_text("post_hooks: []\n", encoding="utf-8")  # how the code looks is of no interest
        subprocess.run(
            [
                str(Path(sys.executable).with_name("openapi-python-client")),
                "generate",
                f"--path={described}",
                f"--output-path={folder / 'made'}",
                f"--config={settings}",
                "--fail-on-warning",
            ],
            check=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        sys.path.insert(0, str(folder / "made"))
        self.models = importlib.import_module(f"{_NAME}.models")
        client = importlib.import_module(f"{_NAME}.client").AuthenticatedClient
        self.client = client(base_url=argus.url, token=argus.token).__enter__()
        self.operations = {name.rpartition(".")[2]: module for name, module in self._modules()}

    def _modules(self) -> Iterator[tuple[str, ModuleType]]:
        api = importlib.import_module(f"{_NAME}.api")
        for found in pkgutil.walk_packages(api.__path__, f"{api.__name__}."):
            if not found.ispkg:
                yield found.name, importlib.import_module(found.name)

    def __getattr__(self, name: str) -> Any:
        """An operation by its name, `services_list` for `services.list`: the answer with its status and its model."""
        called = self.operations[name].sync_detailed  # type: ignore[attr-defined]
        return lambda *given, **more: called(*given, client=self.client, **more)

    def close(self) -> None:
        self.client.__exit__()
        sys.path.pop(0)
        for name in [name for name in sys.modules if name.partition(".")[0] == _NAME]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Argus]:
    one = Argus(tmp_path_factory.mktemp("client") / "argus")
    try:
        web = WebServer(one, "web").start()
        dead = {"name": "dead", "type": "tcp", "port": free_port(), "interval": "1h", "timeout": "1s"}
        one.configure([{**web.service("repair"), "interval": "1h"}, dead], failuresBeforeAction=1)
        one.up()
        one.wait_for("service_down", "dead")
        yield one
    finally:
        one.end()


@pytest.fixture(scope="module")
def made(running: Argus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    one = Made(running, tmp_path_factory.mktemp("generated"))
    yield one
    one.close()


@pytest.mark.req("IF-01")
def test_every_operation_has_its_function_and_whatever_needs_nothing_answers(made: Made) -> None:
    ids = {one["operationId"] for methods in made.document["paths"].values() for one in methods.values()}
    assert {id.replace(".", "_") for id in ids} == set(made.operations)
    asked = 0
    for name, module in made.operations.items():
        given = inspect.signature(module.sync_detailed).parameters.values()  # type: ignore[attr-defined]
        needed = [one.name for one in given if one.default is inspect.Parameter.empty and one.name != "client"]
        if not needed and name != "events":  # which go on until the reader leaves
            answer = getattr(made, name)()
            assert answer.status_code < 300, (name, answer.content)
            assert answer.parsed is not None
            assert not isinstance(answer.parsed, made.models.Error)
            asked += 1
    assert asked >= 5


def test_services_are_read_checked_paused_and_restarted(made: Made, running: Argus) -> None:
    assert {one.name for one in made.services_list().parsed.services} == {"web", "dead"}
    checked = made.services_check("web")
    assert (checked.status_code, checked.parsed.state, checked.parsed.failures) == (200, "up", 0)
    assert checked.parsed.latency_ms > 0

    paused = made.services_pause("web", body=made.models.ServicesPauseBody(for_="1h"))
    assert paused.parsed.paused_until is not None
    assert made.services_show("web").parsed.paused_until is not None
    assert made.services_resume("web").parsed.paused_until is None

    restarted = made.services_restart("web")
    assert (restarted.status_code, restarted.parsed.service, restarted.parsed.accepted) == (202, "web", True)
    assert running.wait_for("restart_finished", "web").data["act"] == restarted.parsed.act


def test_the_state_and_the_incidents_are_read_into_their_models(made: Made) -> None:
    state = made.state().parsed
    assert state.well is False
    assert {one.name: one.state for one in state.services}["dead"] == "down"
    assert state.budget.most >= state.budget.left
    incident = made.incidents_list(limit=1, open_=True).parsed.incidents[0]
    assert (incident.subject, incident.closed) == ("dead", None)
    story = made.incidents_explain(incident.id).parsed
    assert "service_down" in [event.type_ for event in story.events]


def test_autonomy_is_read_and_set(made: Made) -> None:
    level = made.models.Level
    assert made.autonomy_show().parsed.level is level.MODERATE
    assert made.autonomy_set(body=made.models.AutonomySetBody(level=level.CAUTIOUS)).parsed.level is level.CAUTIOUS
    assert made.autonomy_show().parsed.level is level.CAUTIOUS
    made.autonomy_set(body=made.models.AutonomySetBody(level=level.MODERATE))


def test_a_refusal_is_read_into_its_model_with_all_its_parts(made: Made, running: Argus) -> None:
    codes = made.models.ErrorCode
    refused = made.services_restart("dead")
    assert isinstance(refused.parsed, made.models.Error)
    error = refused.parsed.error
    assert (refused.status_code, error.code) == (409, codes.GATE_REFUSED)
    assert set(error.to_dict()) == ERROR_FIELDS
    assert error.details["gate"]
    assert error.suggested_actions
    assert error.timestamp > 1_600_000_000_000
    unknown = made.services_show("no-such")
    assert (unknown.status_code, unknown.parsed.error.code) == (404, codes.SERVICE_NOT_FOUND)
    wrong = made.incidents_list(limit=0)
    assert (wrong.status_code, wrong.parsed.error.code) == (400, codes.INVALID_REQUEST)
    assert wrong.parsed.error.details["errors"][0]["field"] == "limit"
    with type(made.client)(base_url=running.url, token="wrong") as stranger:
        locked = made.operations["state"].sync_detailed(client=stranger)  # type: ignore[attr-defined]
    assert (locked.status_code, locked.parsed.error.code) == (401, codes.UNAUTHORIZED)


def test_the_events_are_text_and_resume_by_the_header(made: Made) -> None:
    first = made.events(last=10000, follow=False)
    assert first.status_code == 200
    ids = [line[4:] for line in first.parsed.splitlines() if line.startswith("id: ")]
    assert len(ids) >= 2
    rest = made.events(last_event_id=ids[0], follow=False).parsed
    assert [line[4:] for line in rest.splitlines() if line.startswith("id: ")] == ids[1:]
