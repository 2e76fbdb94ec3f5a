"""Argus dies in the middle of an act: the act happens once, and gets exactly one outcome."""

from __future__ import annotations

import pytest

from tests.acceptance.harness import Argus, Hook, WebServer, eventually, free_port, is_alive


def interrupted_outcome(argus: Argus) -> str:
    """The outcome of the one act, which an Argus other than its beginner wrote."""
    (started,) = argus.journal("restart_started")
    (finished,) = argus.journal("restart_finished")
    assert finished.data["act"] == started.data["act"]
    assert finished.data["interrupted"] is True
    return str(finished.data["outcome"])


@pytest.mark.req("INFRA-02.4")
def test_killed_between_intent_and_outcome_with_the_service_repaired_it_is_verified_and_recovered(
    argus: Argus, web: WebServer, hook: Hook
) -> None:
    argus.configure([web.service("repair", "block")], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("notification_sent")
    eventually(web.blocked.exists, "the command has repaired and goes on")
    argus.kill()
    argus.up()
    argus.wait_for("service_recovered", "web")
    assert interrupted_outcome(argus) == "recovered"
    assert web.runs == 1
    assert argus.service("web")["state"] == "up"
    hook.wait_for("SERVICE RECOVERED: web")
    assert [message.title for message in hook.messages] == ["SERVICE DOWN: web", "SERVICE RECOVERED: web"]
    assert argus.get("/api/state")["budget"]["left"] == 1


@pytest.mark.req("INFRA-02.4")
def test_killed_between_intent_and_outcome_with_the_service_still_down_it_is_escalated_and_not_repeated(
    argus: Argus, web: WebServer
) -> None:
    argus.configure([web.service("block", interval="100ms")])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    eventually(web.blocked.exists, "the command runs")
    argus.kill()
    argus.up()
    web.gate.touch()
    argus.wait_for("service_escalated", "web")
    assert interrupted_outcome(argus) == "still_down"
    failures = argus.service("web")["failures"]
    eventually(lambda: argus.service("web")["failures"] >= failures + 10, "ten more failed checks")
    assert web.runs == 1
    assert len(argus.journal("service_escalated")) == 1
    assert interrupted_outcome(argus) == "still_down"


def test_killed_again_and_again_the_act_still_runs_once_and_gets_one_outcome(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("block", "repair")])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    eventually(web.blocked.exists, "the command runs")
    for _ in range(3):
        argus.kill()
        argus.up()
    web.let_go()
    eventually(lambda: web.answers, "the command has repaired")
    argus.wait_for("service_recovered", "web")
    assert interrupted_outcome(argus) in ("recovered", "still_down")
    assert web.runs == 1
    assert len(argus.journal("service_down")) == 1


def test_stopped_in_the_middle_of_a_restart_the_command_goes_on_and_the_next_start_completes_the_record(
    argus: Argus, web: WebServer
) -> None:
    argus.configure([web.service("block", "repair")])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    eventually(web.blocked.exists, "the command runs")
    command = web.script_pid
    argus.down()
    assert is_alive(command), "half a restart is worse than one that nobody watches"
    web.let_go()
    eventually(lambda: not is_alive(command), "the command ends by itself")
    assert web.answers
    argus.up()
    argus.wait_for("service_recovered", "web")
    assert interrupted_outcome(argus) == "recovered"
    assert web.runs == 1


def test_an_outage_outlives_argus_and_is_told_once(argus: Argus, web: WebServer, hook: Hook) -> None:
    argus.configure([web.service()], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    down = argus.wait_for("service_down", "web")
    argus.wait_for("notification_sent")
    argus.kill()
    argus.up()
    eventually(lambda: argus.service("web")["failures"] >= 5, "it goes on failing")
    assert argus.journal("service_down") == [down]
    argus.kill()
    web.start()
    argus.up()
    recovered = argus.wait_for("service_recovered", "web")
    assert recovered.data["incident"] == down.data["incident"]
    hook.wait_for("SERVICE RECOVERED: web")
    assert [message.title for message in hook.messages] == ["SERVICE DOWN: web", "SERVICE RECOVERED: web"]


def test_a_message_waits_for_a_channel_that_is_away(argus: Argus, web: WebServer) -> None:
    port = free_port()
    argus.configure([web.service()], channels=[f"json://127.0.0.1:{port}/hook"])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("notification_delayed")
    back = Hook(port)
    try:
        argus.wait_for("notification_sent")
        assert [message.title for message in back.messages] == ["SERVICE DOWN: web"]
    finally:
        back.close()
