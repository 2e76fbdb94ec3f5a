"""The slice: a service dies, is confirmed down, restarted once, verified, and told about, as every face shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.acceptance.harness import PROGRAM, Argus, Event, Hook, Silent, WebServer, eventually, free_port, watched
from tests.faults import Injection


def story(events: list[Event], *types: str) -> list[str]:
    return [event.type for event in events if event.type in types]


_STORY = ("service_down", "restart_started", "restart_finished", "service_escalated", "service_recovered")


@pytest.mark.req("INFRA-01.3", "INFRA-01.6", "INFRA-02.6")
@pytest.mark.fault("SV1")
async def test_a_killed_service_is_confirmed_restarted_once_verified_and_told_on_every_face(
    argus: Argus, web: WebServer, hook: Hook, injected: Injection
) -> None:
    argus.configure([web.service("repair")], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")

    with argus.events() as stream, injected:
        web.kill()
        seen = stream.until(lambda event: event.type == "service_recovered", "the recovery")

    assert story(seen, *_STORY) == ["service_down", "restart_started", "restart_finished", "service_recovered"]
    by_type = {event.type: event for event in seen}
    down, finished = by_type["service_down"].data, by_type["restart_finished"].data
    assert by_type["service_down"].name == "services:service_down"
    assert (down["service"], down["failures"], down["code"]) == ("web", 3, "SERVICE_DOWN")
    assert (down["action"], down["autonomy"]) == ("restart", "moderate")
    assert (finished["outcome"], finished["exitCode"], finished["state"]) == ("recovered", 0, "up")
    assert by_type["restart_started"].data["act"] == finished["act"]
    assert web.runs == 1

    incident = down["incident"]
    state = argus.get("/api/state")
    assert state["well"] is True
    assert state["budget"] == {"left": 1, "most": 2}
    (entry,) = argus.get("/api/services")["services"]
    assert (entry["state"], entry["failures"], entry["incident"], entry["repairing"]) == ("up", 0, None, False)
    (over,) = argus.get("/api/incidents")["incidents"]
    assert (over["id"], over["subject"], over["kind"]) == (incident, "web", "service_outage")
    assert over["closed"] is not None
    explained = argus.get(f"/api/incidents/{incident}")
    assert story([Event(e["id"], "", e) for e in explained["events"]], *_STORY) == story(seen, *_STORY)

    assert argus.cli("explain", incident, "--json").json["incident"] == over
    told = argus.cli("status", "--json")
    assert (told.code, told.json["services"][0]["state"]) == (0, "up")
    async with Client(StdioServerParameters(command=PROGRAM, args=["mcp"], env=argus.env, cwd=argus.folder)) as client:
        answer = await client.call_tool("argus_services", {})
    assert answer.structured_content is not None
    assert answer.structured_content["data"]["services"][0]["state"] == "up"

    recovered = hook.wait_for("SERVICE RECOVERED: web")
    assert len(hook.messages) == 2
    first, second = hook.messages
    assert re.fullmatch(
        r"SERVICE DOWN: web\n"
        r"3 consecutive failures \(last check: \d+s ago\)\n"
        rf"Port {web.port} - connection refused\n"
        r"\n"
        r"Autonomy: moderate\n"
        r"Action: Restarting web\.\.\.",
        first.text,
    )
    assert second == recovered


@pytest.mark.req("INFRA-01.3")
def test_any_answer_is_alive_and_silence_is_not(argus: Argus, web: WebServer, silent: Silent) -> None:
    base = f"http://127.0.0.1:{web.port}"
    argus.configure(
        [
            watched("not-found", f"{base}/404"),
            watched("broken", f"{base}/500"),
            watched("broken-and-minded", f"{base}/500", expectStatus=200),
            watched("unexpected-body", f"{base}/", expectBody="never said"),
            watched("silent", silent.url, timeout="300ms"),
            watched("refused", f"http://127.0.0.1:{free_port()}/"),
            watched("nameless", "http://no-such-host.invalid/"),
        ],
        autonomy="observe",
        correlatedFailureThreshold=100,
    )
    argus.up()
    argus.wait_until("not-found", "up")
    argus.wait_until("broken", "degraded")
    for name in ("broken-and-minded", "unexpected-body", "refused"):
        assert argus.wait_until(name, "down")["code"] == "SERVICE_DOWN"
    assert argus.wait_until("silent", "down")["code"] == "HEALTH_CHECK_TIMEOUT"
    # A resolver that answers says that there is no such name; one that does not runs into the timeout.
    assert argus.wait_until("nameless", "down")["code"] in ("DNS_RESOLUTION_FAILED", "HEALTH_CHECK_TIMEOUT")


@pytest.mark.req("INFRA-01.6")
@pytest.mark.control("NO3")
def test_two_failures_are_no_outage(argus: Argus, web: WebServer, hook: Hook) -> None:
    argus.configure([web.service("repair", interval="1h")], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    for failures in (1, 2):
        seen = argus.rest("POST", "/api/services/web/check").json
        assert (seen["state"], seen["failures"]) == ("up", failures)
    web.start()
    assert argus.rest("POST", "/api/services/web/check").json["failures"] == 0
    assert argus.journal("service_down", "restart_started") == []
    assert web.runs == 0
    assert hook.messages == []


@pytest.mark.req("INFRA-02.6")
@pytest.mark.parametrize("level", ["observe", "cautious"])
def test_below_moderate_the_outage_is_told_and_nothing_is_restarted(
    argus: Argus, web: WebServer, hook: Hook, level: str
) -> None:
    argus.configure([web.service("repair")], autonomy=level, channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    down = argus.wait_for("service_down", "web").data
    assert (down["action"], down["gate"]) == ("proposed" if level == "cautious" else "none", "autonomy")
    message = hook.wait_for("SERVICE DOWN: web")
    assert f"\n\nAutonomy: {level} (restart requires moderate+)" in message.body
    failures = argus.service("web")["failures"]
    eventually(lambda: argus.service("web")["failures"] >= failures + 5, "checks go on")
    assert web.runs == 0
    assert argus.journal("restart_started", "decision_changed") == []
    assert len(hook.messages) == 1


def test_raising_autonomy_restarts_within_the_same_outage_and_outlives_argus(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("repair")], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    down = argus.wait_for("service_down", "web")

    changed = argus.cli("autonomy", "moderate", "--json")
    assert (changed.code, changed.json) == (0, {"level": "moderate"})
    recovered = argus.wait_for("service_recovered", "web")
    assert recovered.data["incident"] == down.data["incident"]
    assert web.runs == 1
    (recorded,) = argus.journal("autonomy_changed")
    assert (recorded.data["from"], recorded.data["to"]) == ("observe", "moderate")
    assert recorded.data["by"]

    argus.down()
    assert argus.up()["autonomy"] == "moderate"
    assert argus.cli("autonomy").stdout.strip() == "moderate"
    assert len(argus.journal("autonomy_changed")) == 1


@pytest.mark.req("INFRA-02.4")
@pytest.mark.parametrize("steps", [(), ("fail",)], ids=["the-command-did-nothing", "the-command-failed"])
def test_still_down_after_its_restart_is_escalated_once_and_never_restarted_again(
    argus: Argus, web: WebServer, hook: Hook, steps: tuple[str, ...]
) -> None:
    entry = web.service(interval="100ms")
    entry["restart"] = {"command": web.script(*steps)}
    argus.configure([entry], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    escalated = argus.wait_for("service_escalated", "web")
    failures = argus.service("web")["failures"]
    eventually(lambda: argus.service("web")["failures"] >= failures + 10, "ten more failed checks")

    assert web.runs == 1
    (finished,) = argus.journal("restart_finished")
    assert finished.data["outcome"] == ("failed" if steps else "still_down")
    assert argus.journal("service_escalated") == [escalated]
    assert argus.service("web")["gate"] == "already restarted in this outage"
    hook.wait_for("SERVICE STILL DOWN: web")
    assert [message.title for message in hook.messages] == ["SERVICE DOWN: web", "SERVICE STILL DOWN: web"]
    agent = argus.cli("token", "--agent", "a1").stdout.strip()
    refused = argus.rest("POST", "/api/services/web/restart", headers={"Authorization": f"Bearer {agent}"})
    assert refused.error["code"] == "GATE_REFUSED"
    assert "argus services restart web" in refused.error["details"]["hint"]

    web.start()
    argus.wait_for("service_recovered", "web")
    hook.wait_for("SERVICE RECOVERED: web")
    assert web.runs == 1


def test_a_person_restarts_what_argus_restarted_in_vain(argus: Argus, web: WebServer, hook: Hook) -> None:
    entry = web.service(interval="100ms")
    entry["restart"] = {"command": web.script()}
    argus.configure([entry], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("service_escalated", "web")
    assert "argus services restart web" in hook.wait_for("SERVICE STILL DOWN: web").body

    asked = argus.cli("services", "restart", "web", "--json")
    assert asked.code == 0, asked
    eventually(lambda: len(argus.journal("restart_finished")) == 2, "its outcome")
    started = argus.journal("restart_started")[-1].data
    assert (started["act"], started["by"], started["byPerson"]) == (asked.json["act"], "cli", True)
    assert web.runs == 2
    assert argus.cli("services", "restart", "web", "--json").error["code"] == "RESTART_BUDGET_EXHAUSTED"
    assert "asked for by a person (cli)" in argus.cli("explain").stdout


def test_what_the_look_after_an_asked_restart_confirms_is_told_at_once_and_with_that_restart(
    argus: Argus, web: WebServer, hook: Hook
) -> None:
    argus.configure([web.service(interval="1h", restart={"command": ["/nowhere/restart.sh"]})], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    for _ in range(2):
        argus.cli("services", "check", "web")
    assert argus.cli("services", "restart", "web").code == 0
    down = argus.wait_for("service_down", "web").data
    assert (down["failures"], down["gate"]) == (3, "already restarted in this outage")
    said = hook.wait_for("SERVICE DOWN: web").body
    assert "Action: none - already restarted in this outage" in said
    assert argus.get("/api/state")["needsYou"] == ["service web"]
    assert "down after 3 failing checks in a row" in argus.cli("explain").stdout
    assert "problem cannot start /nowhere/restart.sh: No such file or directory" in argus.cli("events").stdout
    argus.cli("services", "check", "web")
    assert len(argus.journal("restart_started")) == 1
    assert len(hook.messages) == 1


def test_a_restart_whose_program_is_not_there_is_said_before_it_is_needed(argus: Argus, web: WebServer) -> None:
    missing = argus.folder / "not-installed-yet.sh"
    argus.configure([web.service(restart={"command": [str(missing)]})])
    checked = argus.cli("check")
    assert checked.code == 0, "it may be installed later"
    assert f"notice: health.services: {missing} is not there: it restarts web" in checked.stdout
    (said,) = argus.up()["notices"]
    assert f"notice: {said}" in checked.stdout
    missing.write_text("#!/bin/sh\n")
    missing.chmod(0o700)
    assert argus.cli("reload").code == 0
    assert argus.get("/api/state")["argus"]["notices"] == []


@pytest.mark.req("INFRA-02.6")
def test_at_full_a_second_restart_is_tried_and_no_third(argus: Argus, web: WebServer, hook: Hook) -> None:
    entry = web.service(interval="100ms")
    entry["restart"] = {"command": web.script()}
    argus.configure([entry], autonomy="full", channels=[hook.url], restartBudget={"maxPerHour": 10})
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    message = hook.wait_for("SERVICE DOWN: web")
    assert message.body.endswith("\n\nAutonomy: full\nAction: Restarting web...")
    argus.wait_for("service_escalated", "web")
    failures = argus.service("web")["failures"]
    eventually(lambda: argus.service("web")["failures"] >= failures + 5, "five more failed checks")
    assert web.runs == 2
    hook.wait_for("SERVICE STILL DOWN: web")
    assert [message.title for message in hook.messages] == ["SERVICE DOWN: web", "SERVICE STILL DOWN: web"]


@pytest.mark.req("INFRA-01.9")
def test_checks_go_on_at_every_level(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service(interval="100ms")], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    for level in ("cautious", "moderate", "full", "observe"):
        assert argus.rest("PUT", "/api/autonomy", {"level": level}).json == {"level": level}
        before = argus.service("web")["lastCheck"]
        eventually(lambda before=before: argus.service("web")["lastCheck"] > before, f"a check at {level}")


def test_at_cautious_a_restart_is_proposed_and_a_person_approves_it(argus: Argus, web: WebServer, hook: Hook) -> None:
    argus.configure([web.service("repair")], autonomy="cautious", channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    down = argus.wait_for("service_down").data
    assert (down["action"], down["gate"]) == ("proposed", "autonomy")
    said = hook.wait_for("SERVICE DOWN: web").body
    assert "Autonomy: cautious (restart requires moderate+)" in said
    assert f"Proposed: Restarting {down['target']}; approve with: argus services restart web" in said
    agent = argus.cli("token", "--agent", "a1").stdout.strip()
    asked = argus.rest("POST", "/api/services/web/restart", headers={"Authorization": f"Bearer {agent}"})
    assert (asked.error["code"], asked.error["details"]["gate"]) == ("GATE_REFUSED", "autonomy")
    assert web.runs == 0
    assert argus.cli("services", "restart", "web").code == 0
    argus.wait_for("service_recovered")
    (started,) = argus.journal("restart_started")
    assert (started.data["by"], started.data["incident"], web.runs) == ("cli", down["incident"], 1)


def test_at_cautious_what_no_word_could_allow_is_not_proposed(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("repair")], autonomy="cautious", restartBudget={"maxPerHour": 0})
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    assert argus.wait_for("service_down").data["action"] == "none"
    assert argus.cli("services", "restart", "web", "--json").error["code"] == "RESTART_BUDGET_EXHAUSTED"


def test_a_restart_that_was_asked_for_runs_once_and_names_who_asked(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("block", interval="1h")])
    argus.up()
    argus.wait_until("web", "up")
    asked = argus.cli("services", "restart", "web", "--json")
    assert (asked.code, asked.json["accepted"]) == (0, True)
    eventually(lambda: web.runs == 1, "the command runs")
    again = argus.rest("POST", "/api/services/web/restart")
    assert (again.status, again.error["code"]) == (409, "INVALID_STATE")
    web.let_go()
    finished = argus.wait_for("restart_finished", "web").data
    assert (finished["act"], finished["outcome"]) == (asked.json["act"], "recovered")
    (started,) = argus.journal("restart_started")
    assert started.data["by"]
    assert web.runs == 1


def test_a_paused_service_is_neither_told_nor_restarted_until_it_is_resumed(
    argus: Argus, web: WebServer, hook: Hook
) -> None:
    argus.configure([web.service("repair")], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    assert argus.cli("services", "pause", "web", "--for", "1h").code == 0
    web.kill()
    down = argus.wait_for("service_down", "web").data
    assert (down["action"], down["gate"]) == ("none", "maintenance")
    failures = argus.service("web")["failures"]
    eventually(lambda: argus.service("web")["failures"] >= failures + 3, "it goes on being checked")
    assert (web.runs, hook.messages) == (0, [])
    assert argus.cli("services", "resume", "web").code == 0
    argus.wait_for("service_recovered", "web")
    assert web.runs == 1


Servers = Callable[..., list[WebServer]]


@pytest.mark.req("INFRA-02.2")
def test_the_budget_of_all_services_is_spent_once_and_kept_over_a_restart_of_argus(
    argus: Argus, servers: Servers, hook: Hook
) -> None:
    first, second = servers("first", "second")
    argus.configure(
        [first.service("repair"), second.service("repair")], channels=[hook.url], restartBudget={"maxPerHour": 1}
    )
    argus.up()
    argus.wait_until("first", "up")
    argus.wait_until("second", "up")
    first.kill()
    argus.wait_for("service_recovered", "first")
    second.kill()
    down = argus.wait_for("service_down", "second").data
    assert (down["action"], down["gate"]) == ("none", "budget")
    assert "budget" in hook.wait_for("SERVICE DOWN: second").body
    refused = argus.rest("POST", "/api/services/second/restart")
    assert (refused.status, refused.error["code"]) == (409, "RESTART_BUDGET_EXHAUSTED")
    assert refused.error["details"]["gate"] == "budget"

    def nothing_more() -> None:
        assert argus.get("/api/state")["budget"] == {"left": 0, "most": 1}
        failures = argus.service("second")["failures"]
        eventually(lambda: argus.service("second")["failures"] >= failures + 3, "it goes on failing")
        assert (first.runs, second.runs) == (1, 0)

    nothing_more()
    eventually(lambda: len(argus.journal("notification_sent")) == 3, "all three messages are on record as sent")
    argus.down()
    argus.up()
    nothing_more()
    assert len(hook.titled("SERVICE DOWN: second")) == 1
    assert len(argus.journal("service_down")) == 2


@pytest.mark.req("INFRA-02.2")
def test_a_budget_of_none_means_no_restart_at_all(argus: Argus, web: WebServer, hook: Hook) -> None:
    argus.configure([web.service("repair")], channels=[hook.url], restartBudget={"maxPerHour": 0})
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    assert argus.wait_for("service_down", "web").data["gate"] == "budget"
    assert "budget" in hook.wait_for("SERVICE DOWN: web").body
    refused = argus.cli("services", "restart", "web", "--json")
    assert (refused.code, refused.error["code"]) == (4, "RESTART_BUDGET_EXHAUSTED")
    assert web.runs == 0


def check_all(argus: Argus, some: list[WebServer]) -> list[dict[str, Any]]:
    return [argus.rest("POST", f"/api/services/{one.name}/check").json for one in some]


@pytest.mark.req("INFRA-02.3")
def test_three_that_die_together_are_one_event_and_nothing_is_restarted(
    argus: Argus, servers: Servers, hook: Hook
) -> None:
    three = servers("first", "second", "third")
    argus.configure([one.service("repair", interval="2s") for one in three], channels=[hook.url])
    argus.up()
    for one in three:
        argus.wait_until(one.name, "up")
    for one in three:
        one.kill()
    for _ in range(3):
        check_all(argus, three)
    event = argus.wait_for("infrastructure_event")
    assert event.data["services"] == ["first", "second", "third"]
    for one in three:
        assert argus.wait_for("service_down", one.name).data["gate"] == "infrastructure event"
    told = hook.wait_for("INFRASTRUCTURE EVENT")
    assert all(one.name in told.body for one in three)
    state = argus.get("/api/state")
    assert (state["well"], state["infrastructureEvent"]) == (False, event.data["incident"])
    assert state["needsYou"] == ["infrastructure event"], "Argus restarts none of them: it may never end by itself"
    refused = argus.rest("POST", "/api/services/first/restart")
    assert (refused.status, refused.error["details"]["gate"]) == (409, "infrastructure event")
    assert argus.cli("status").code == 1

    for one in three:
        one.start()
    check_all(argus, three)
    assert argus.get("/api/state")["needsYou"] == [], "it ends by itself now"
    ended = argus.wait_for("infrastructure_event_ended")
    assert (ended.data["incident"], ended.data["stillFailing"]) == (event.data["incident"], [])
    hook.wait_for("INFRASTRUCTURE EVENT ENDED")
    assert [message.title for message in hook.messages] == ["INFRASTRUCTURE EVENT", "INFRASTRUCTURE EVENT ENDED"]
    assert len(argus.journal("infrastructure_event")) == 1
    assert argus.journal("restart_started") == []
    assert [one.runs for one in three] == [0, 0, 0]
    assert argus.get("/api/state")["well"] is True


def test_a_failed_dependency_explains_the_dependent_until_it_is_back(
    argus: Argus, servers: Servers, hook: Hook
) -> None:
    database, app = servers("database", "app")
    argus.configure([database.service(), app.service("repair", dependsOn=["database"])], channels=[hook.url])
    argus.up()
    argus.wait_until("app", "up")
    argus.wait_until("database", "up")
    database.kill()
    argus.wait_for("service_down", "database")
    app.kill()
    held = argus.wait_for("service_down", "app").data
    assert (held["action"], held["gate"]) == ("none", "dependency down")
    assert "database" in held["hint"]
    hook.wait_for("SERVICE DOWN: database")
    failures = argus.service("app")["failures"]
    eventually(lambda: argus.service("app")["failures"] >= failures + 5, "it goes on failing")
    assert app.runs == 0
    assert hook.titled("SERVICE DOWN: app") == []

    database.start()
    argus.wait_for("service_recovered", "app")
    assert app.runs == 1
