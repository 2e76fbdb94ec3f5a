"""What the page and the state say of agents, in a real browser."""

from __future__ import annotations

import os
import signal
import sys

import pytest
import yaml
from playwright.sync_api import expect

from tests.acceptance.browser import CHROMIUM, page_of
from tests.acceptance.harness import DEADLINE, Argus, WebServer
from tests.faults import Injection

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
        expect(page.locator("#verdict")).to_have_text("All is well")
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
    root, leaf = WebServer(argus, "db").start(), WebServer(argus, "api").start()
    worker = {"command": ["sleep", "600"], "cwd": str(argus.folder), "dependsOn": ["api"]}
    said = {
        "server": {"port": 0},
        "health": {"services": [root.service(), leaf.service(dependsOn=["db"])]},
        "agents": {"configs": {"worker": worker}},
    }
    argus.write(yaml.safe_dump(said))
    argus.up()
    argus.wait_until("db", "up")
    argus.wait_until("api", "up")
    argus.cli("agents", "spawn", "worker", "--task", "a task")
    argus.wait_for("agent_spawned")
    expect.set_options(timeout=DEADLINE * 1000)
    with page_of(argus) as page:
        root.kill()
        leaf.kill()
        expect(page.locator("#verdict")).to_have_text("1 of 2 services is down, and 1 more because of it")
        wrong = page.locator("section[aria-labelledby=wrong]")
        expect(wrong.locator("a.card")).to_have_count(1)
        expect(wrong.locator("a.card")).to_contain_text("db")
        expect(wrong.locator(".because")).to_have_text("because of it: api down, team-worker001 waits")
        wrong.get_by_role("link", name="api", exact=True).click()
        expect(page.locator("main h1")).to_contain_text("api")
        page.go_back()
        root.start()
        leaf.start()
        expect(page.locator("#verdict")).to_have_text("All is well")
