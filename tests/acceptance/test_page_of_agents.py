"""What the page and the state say of agents, in a real browser."""

from __future__ import annotations

import os
import signal
import sys

import pytest
import yaml
from playwright.sync_api import expect

from tests.acceptance.browser import CHROMIUM, page_of
from tests.acceptance.harness import DEADLINE, Argus, WebServer, eventually, watched
from tests.faults import Injection

_MORE_THAN_ARE_SHOWN = 25
MARKUP = "<img src=x onerror=\"document.title='broken'\">"


@pytest.fixture
def running(argus: Argus) -> Argus:
    command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)", "{{task}}"]
    settings = {
        "server": {"port": 0},
        "autonomy": "observe",
        "agents": {"configs": {"SNTGreen": {"command": command, "cwd": str(argus.folder)}}},
    }
    argus.write(yaml.safe_dump(settings))
    argus.up()
    return argus


@pytest.mark.req("HB-09")
@pytest.mark.fault("AP7")
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_state_and_page_show_every_agents_heartbeat_and_what_needs_a_person(
    running: Argus, injected: Injection
) -> None:
    expect.set_options(timeout=DEADLINE * 1000)
    with page_of(running) as page:
        expect(page.locator("#verdict")).to_have_text("Nothing is watched yet")
        page.evaluate("location.hash = '#/agents'")
        expect(page.locator("main")).to_contain_text("No agent is known")
        with injected:
            running.rest("POST", "/api/heartbeat", {"agent_id": "foreign", "current_task": MARKUP})
            running.cli("agents", "spawn", "SNTGreen", "--task", MARKUP)
            rows = page.locator("a.agent")
            expect(rows).to_have_count(2)
            expect(rows.nth(1)).to_contain_text(MARKUP)
        expect(rows.nth(0)).to_contain_text("foreign")
        expect(rows.nth(0)).to_contain_text("s ago")
        expect(rows.nth(1).locator(".is-alive")).to_be_visible()
        state = running.get("/api/state")
        assert [one["agent_id"] for one in state["agents"]] == ["foreign", "team-sntgreen001"]
        assert state["well"] is True
        assert state["agents"][0]["age_seconds"] is not None
        os.kill(state["agents"][1]["pid"], signal.SIGKILL)
        expect(page.locator("#verdict")).to_have_text("Agents need you")
        expect(page.locator("a.agent .is-dead")).to_be_visible()
        assert page.title().startswith("(1) "), "what an agent says is text, never markup"
    status = running.cli("status")
    assert status.code == 1
    assert "team-sntgreen001" in status.stdout
    assert "agent team-sntgreen001: DEAD" in running.cli("context").stdout
    assert running.cli("agents", "forget", "team-sntgreen001").code == 0
    assert running.get("/api/state")["well"] is True


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_one_root_is_one_alert_with_what_it_explains_under_it(argus: Argus) -> None:
    root, middle, leaf = (WebServer(argus, name).start() for name in ("db", "api", "web"))
    worker = {"command": ["sleep", "600"], "cwd": str(argus.folder), "dependsOn": ["api"]}
    chain = [root.service(), middle.service(dependsOn=["db"]), leaf.service(dependsOn=["api"])]
    said = {
        "server": {"port": 0},
        "health": {"services": chain, "correlatedFailureThreshold": 9},
        "agents": {"configs": {"worker": worker}},
    }
    argus.write(yaml.safe_dump(said))
    argus.up()
    for name in ("db", "api", "web"):
        argus.wait_until(name, "up")
    argus.cli("agents", "spawn", "worker", "--task", "a task")
    argus.wait_for("agent_spawned")
    expect.set_options(timeout=DEADLINE * 1000)
    with page_of(argus) as page:
        for one in (root, middle, leaf):
            one.kill()
        expect(page.locator("#verdict")).to_have_text("1 of 3 services is down, and 2 more because of it")
        wrong = page.locator("section[aria-labelledby=wrong]")
        expect(wrong.locator("a.card")).to_have_count(1)
        expect(wrong.locator("a.card")).to_contain_text("db")
        # Also what depends on it only through another.
        expect(wrong.locator(".because")).to_have_text("because of it: api down, web down, team-worker001 waits")
        wrong.get_by_role("link", name="team-worker001").click()
        expect(page.locator("dl.facts")).to_contain_text("Dependencieswaits for service db")
        page.goto(page.url.split("#")[0] + "#/agents")
        expect(page.locator("a.agent")).to_contain_text("waits for service db")
        page.goto(page.url.split("#")[0] + "#/overview")
        wrong.get_by_role("link", name="api", exact=True).click()
        expect(page.locator("main h1")).to_contain_text("api")
        page.go_back()
        for one in (root, middle, leaf):
            one.start()
        expect(page.locator("#verdict")).to_have_text("All is well")


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_an_infrastructure_event_is_one_alert_with_its_members_and_who_waits_for_them_under_it(argus: Argus) -> None:
    three = [WebServer(argus, name).start() for name in ("a", "b", "c")]
    leaf, shared = WebServer(argus, "leaf").start(), WebServer(argus, "shared").start()
    late = [f"late-{n:02d}" for n in range(_MORE_THAN_ARE_SHOWN)]
    worker = {"command": ["sleep", "600"], "cwd": str(argus.folder), "dependsOn": ["a"]}
    services = [*(one.service() for one in three), leaf.service(dependsOn=["b"])]
    services += [watched(name, shared.url) for name in late]
    said = {"server": {"port": 0}, "health": {"services": services}, "agents": {"configs": {"worker": worker}}}
    argus.write(yaml.safe_dump(said))
    argus.up()
    for name in ("a", "b", "c", "leaf"):
        argus.wait_until(name, "up")
    argus.cli("agents", "spawn", "worker", "--task", "a task")
    argus.wait_for("agent_spawned")
    expect.set_options(timeout=DEADLINE * 1000)
    with page_of(argus) as page:
        for one in (*three, leaf):
            one.kill()
        incident = argus.wait_for("infrastructure_event").data["incident"]
        wrong = page.locator("section[aria-labelledby=wrong]")
        expect(wrong.locator(".because")).to_have_text(
            "because of it: a down, b down, c down, leaf down, team-worker001 waits"
        )
        expect(wrong.locator("a.card")).to_have_count(1)
        expect(wrong.locator("a.card")).to_contain_text("Infrastructure event")
        # It needs somebody, as the terminal says; what is a part of it does not.
        needs = page.locator("section[aria-labelledby=needs] article")
        expect(needs).to_have_count(1)
        expect(needs).to_contain_text("Infrastructure event")
        assert argus.get("/api/state")["needsYou"] == ["infrastructure event"]
        expect(page.locator("nav a", has_text="Overview").locator(".count")).to_have_text("1 needs you")
        expect(page.locator("#verdict")).to_contain_text("4 of 29 services are down")
        expect(page.locator("nav a", has_text="Incidents").locator(".count")).to_have_text("1 not well")
        page.locator("nav a", has_text="Incidents").click()
        expect(page.locator("a.card", has_text="because of infrastructure event")).to_have_count(4)

        # What fails later belongs to it and is newer. A page that is opened then, and reads only the newest events,
        # still says what is at the root of it all, and what Argus does about it.
        shared.kill()
        eventually(lambda: len(argus.journal("service_down")) == 4 + len(late), "all of them are down")
        page.route("**/api/events*", lambda route: route.continue_(url=route.request.url.replace("=200", "=5")))
        page.reload()
        first = page.locator("main a.card").first
        expect(first).to_contain_text("infrastructure event")
        expect(first).not_to_contain_text("because of")
        expect(page.locator("nav a", has_text="Incidents").locator(".count")).to_have_text("1 not well")
        page.locator("nav a", has_text="Overview").click()
        expect(page.locator("#verdict")).to_contain_text("29 of 29 services are down")
        did = page.locator("section[aria-labelledby=did]")
        expect(did.locator("ol.acts > li").first).to_contain_text("nothing is restarted")
        assert did.get_by_role("link", name="evidence").first.get_attribute("href") == f"#/incidents/{incident}"
    explains = argus.get(f"/api/incidents/{incident}")["explains"]
    named = [f"{kind} {name}" for kind, name in sorted((one["kind"], one["name"]) for one in explains)]
    members = ["a", "b", "c", *late, "leaf"]
    assert named == ["agent team-worker001", *(f"service {name}" for name in members)]
    own = {one["name"]: one["incident"] for one in explains}
    assert f"service leaf: down, and not restarted for itself (argus explain {own['leaf']})" in (
        argus.cli("explain", incident).stdout
    )
    assert f"because of another incident: argus explain {incident}" in argus.cli("explain", own["a"]).stdout


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_what_is_down_with_its_root_needs_nobody_by_itself_and_says_why_it_is_down(argus: Argus) -> None:
    root, child = WebServer(argus, "root").start(), WebServer(argus, "child").start()
    argus.configure([root.service("fail"), child.service(dependsOn=["root"])])
    argus.up()
    argus.wait_until("root", "up")
    argus.wait_until("child", "up")
    expect.set_options(timeout=DEADLINE * 1000)
    with page_of(argus) as page:
        root.kill()
        child.kill()
        argus.wait_for("service_escalated", "root")
        argus.wait_for("service_down", "child")
        needs = page.locator("section[aria-labelledby=needs] article")
        expect(needs).to_have_count(1)
        expect(needs).to_contain_text("root")
        expect(page.locator("nav a", has_text="Overview").locator(".count")).to_have_text("1 needs you")
        page.locator("nav a", has_text="Incidents").click()
        expect(page.locator("a.card", has_text="because of root")).to_contain_text("child")
        root.start()
        page.locator("nav a", has_text="Overview").click()
        expect(needs).to_contain_text("child")
        expect(needs).to_contain_text("no restart configured")
