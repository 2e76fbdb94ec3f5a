"""What fails again and again is not asked for a while; that is shown, told, kept on record and reset by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.harness import Argus, Hook


@pytest.fixture
def away(argus: Argus, hook: Hook) -> Argus:
    """An Argus whose Docker engine is not there."""
    argus.env["DOCKER_HOST"] = f"unix://{argus.folder}/none.sock"
    entry = {"name": "stack", "type": "docker", "containers": ["a"], "interval": "100ms", "timeout": "5s"}
    argus.configure([entry], channels=[hook.url])
    argus.up()
    argus.wait_for("breaker_opened")
    return argus


def docker(argus: Argus) -> dict[str, Any]:
    (one,) = argus.get("/api/breakers")["breakers"]
    return dict(one)


def test_an_open_breaker_is_shown_on_every_face_and_told_once(away: Argus, hook: Hook) -> None:
    one = docker(away)
    assert (one["name"], one["state"], one["failures"], len(one["history"])) == ("docker", "open", 5, 5)
    assert 0 < one["retryInSeconds"] <= 30
    assert {failure["code"] for failure in one["history"]} == {"DOCKER_UNAVAILABLE"}
    assert "docker: open, 5 failures in a row" in away.cli("breakers").stdout
    assert "BREAKER docker: open" in away.cli("status").stdout
    assert "Breaker docker: OPEN 5x" in away.cli("context").stdout
    assert 'argus_breaker_open{breaker="docker"} 1.0' in away.rest("GET", "/metrics").body.decode()
    assert "5 failures in a row" in hook.wait_for("NOT ASKED FOR NOW: docker").body
    assert away.service("stack")["state"] == "unknown"


def test_a_breaker_outlives_argus(away: Argus) -> None:
    before = docker(away)
    away.kill()
    away.up()
    after = docker(away)
    assert (after["state"], after["failures"], len(after["history"])) == ("open", 5, 5)
    assert after["retryInSeconds"] < before["retryInSeconds"]
    assert len(away.journal("breaker_opened")) == 1


def test_a_breaker_is_reset_by_hand_once(away: Argus) -> None:
    done = away.cli("breakers", "reset", "docker", "--json").json
    assert (done["previousState"], done["currentState"], len(done["failureHistory"])) == ("open", "half-open", 5)
    (said,) = away.journal("breaker_reset")
    assert said.data == {**said.data, "breaker": "docker", "by": "cli"}
    away.cli("services", "check", "stack")  # the one that is let through, unless the schedule was quicker
    assert docker(away)["failures"] > 5
    unknown = away.cli("breakers", "reset", "nothing", "--json").error
    assert (unknown["code"], unknown["details"]["known"]) == ("NOT_FOUND", ["docker"])
    assert unknown["suggestedActions"] == ["list_breakers"]
    assert "docker" in away.cli("breakers", "reset", "nothing").stderr, "it names those there are"


def test_a_closed_breaker_has_nothing_to_reset(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    done = argus.cli("breakers", "reset", "docker", "--json").json
    assert (done["previousState"], done["currentState"]) == ("closed", "closed")
    assert done["message"] == "it is closed: nothing to reset"
    assert argus.journal("breaker_reset") == []
