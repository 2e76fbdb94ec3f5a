"""The API is what its description says: schemathesis reads the document and tries to prove otherwise."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.harness import Argus, WebServer

_HOOKS = Path(__file__).with_name("schemathesis_hooks.py")
_SETTINGS = """
seed = 1
checks.enabled = true

# OpenAPI 3.1 says of a body what it is as a whole: here text. schemathesis takes the schema for one event's.
[[operations]]
include-operation-id = "events"
checks.response_schema_conformance.enabled = false

# Which fields go together is said in words: a schema of the fields cannot.
[[operations]]
include-operation-id = "tokens.make"
checks.positive_data_acceptance.enabled = false

# Texts of a hundred thousand characters take it two minutes to make up, each time.
[[operations]]
include-operation-id = "stop_requests.ask"
phases.coverage.enabled = false

[[operations]]
include-operation-id = "stop_requests.respond"
phases.coverage.enabled = false

# The program that it would ask with is not there, and that is what it says.
[[operations]]
include-operation-id = "bridge.query"
phases.coverage.enabled = false
checks.not_a_server_error.enabled = false
checks.positive_data_acceptance.enabled = false

[[operations]]
include-operation-id = "sessions.add"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-operation-id = "sessions.context"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-operation-id = "spawns.update"
checks.positive_data_acceptance.enabled = false
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Argus]:
    """A throwaway: whatever is done to it, nothing outside changes."""
    one = Argus(tmp_path_factory.mktemp("described") / "argus")
    try:
        web = WebServer(one, "web").start()
        one.configure([{**web.service("repair"), "interval": "1h"}], autonomy="full", verifyAfter="50ms")
        with one.config.open("a", encoding="utf-8") as file:
            file.write("bridge: {program: /no/such/program}\n")  # nobody is asked anything in earnest
        one.up()
        yield one
    finally:
        one.end()


def _shortened(said: str) -> str:
    """What was found, without the long bodies that found it."""
    return "\n".join(line[:300] for line in said.splitlines())[-12_000:]


@pytest.mark.req("IF-01")
def test_no_request_gets_a_server_s_error_or_an_answer_that_is_not_documented(running: Argus, tmp_path: Path) -> None:
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(_SETTINGS, encoding="utf-8")
    ran = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            f"--config-file={settings}",
            "run",
            f"{running.url}/openapi.json",
            f"--header=Authorization: Bearer {running.token}",
            "--max-examples=10",
            "--phases=examples,coverage,fuzzing",
            "--request-timeout=20",
            "--suppress-health-check=all",
            "--no-color",
        ],
        cwd=tmp_path,
        env={**running.env, "SCHEMATHESIS_HOOKS": str(_HOOKS)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, _shortened(ran.stdout) + ran.stderr[-2000:]
    operations = sum(len(methods) for methods in running.get("/openapi.json")["paths"].values())
    assert f"Tested: {operations}" in ran.stdout
    assert running.rest("GET", "/healthz", token=False).status == 200
