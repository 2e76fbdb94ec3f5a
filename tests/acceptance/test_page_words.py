"""What the page says in which words, and by whose clock, in a real browser."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.acceptance.browser import CHROMIUM, only_when_told, page_of
from tests.acceptance.harness import DEADLINE, Argus, WebServer, free_port

pytestmark = [
    pytest.mark.req("IF-04"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]
ELSEWHERE = "Asia/Kolkata"


@pytest.fixture(autouse=True)
def _patience() -> None:
    expect.set_options(timeout=DEADLINE * 1000)


def go(page: Page, place: str) -> None:
    page.evaluate("place => { location.hash = '#/' + place }", place)


def test_an_incident_is_told_by_one_clock_and_the_evidence_under_it_too(argus: Argus) -> None:
    web = WebServer(argus, "web").start()
    argus.configure([web.service("repair")])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    incident = argus.wait_for("service_recovered", "web").data["incident"]
    told = argus.journal("service_down")[0].data
    with page_of(argus, timezone_id=ELSEWHERE, locale="en-US") as page:
        go(page, f"incidents/{incident}")
        readings = page.locator("ol.story pre.lines").first
        expect(readings).to_be_visible()
        for one, line in zip(told["readings"], readings.inner_text().splitlines(), strict=True):
            seen = datetime.fromtimestamp(one["at"] / 1000, ZoneInfo(ELSEWHERE))
            assert f"{seen:%H:%M:%S}.{one['at'] % 1000:03d} {one['state']}" in line
            assert "Z" not in line
        facts = page.locator("dl.facts")
        expect(facts).to_contain_text(re.compile(r"Opened\s*\w+ \d+, \d{4} \d\d:\d\d:\d\d"))
        expect(facts).not_to_contain_text(re.compile("[AP]M"))


def test_of_an_argus_that_does_not_answer_the_page_says_how_it_was_and_counts_no_further(argus: Argus) -> None:
    web = WebServer(argus, "web").start()
    argus.configure([web.service()])
    argus.up()
    argus.wait_until("web", "up")
    with page_of(argus) as page:
        headline = page.locator("main h1")
        expect(headline).to_have_text("All is well")
        argus.kill()
        expect(page.get_by_role("alert")).to_contain_text("Disconnected since")
        since = page.get_by_role("alert").locator("strong").inner_text().removeprefix("Disconnected since ").rstrip(".")
        for shown in (headline, page.locator("#verdict")):
            expect(shown).to_have_text(f"All was well at {since}")
            expect(shown).to_have_class(re.compile("none"))
        footer = page.locator("footer")
        expect(footer).to_contain_text("was up for")
        assert footer.locator("time").count() == 0, "nothing that counts on"


def test_a_dialog_says_by_a_code_there_is_that_argus_is_gone_and_no_longer_when_it_is_back(argus: Argus) -> None:
    web = WebServer(argus, "web").start()
    argus.configure([web.service("repair")])
    said = yaml.safe_load(argus.config.read_text())
    argus.write(yaml.safe_dump({**said, "server": {"port": free_port()}}))
    argus.up()
    argus.wait_until("web", "up")
    with page_of(argus) as page:
        go(page, "services/web")
        page.get_by_role("button", name="Restart…").click()
        dialog = page.get_by_role("dialog")
        argus.kill()
        dialog.get_by_role("button", name="Restart", exact=True).click()
        trouble = dialog.get_by_role("alert")
        expect(trouble).to_contain_text("Argus does not answer")
        code = trouble.locator("strong").inner_text()
        assert argus.cli("explain", code, env={"ARGUS_NO_AUTOSTART": "1"}).code == 0, code
        argus.up()
        expect(dialog).to_contain_text("Argus answers again")
        expect(trouble).to_have_count(0)
        argus.wait_until("web", "up")
        dialog.get_by_role("button", name="Restart", exact=True).click()
        expect(page.get_by_role("status").filter(has_text="The restart of web is on record")).to_be_visible()


def test_a_service_that_fails_and_is_not_confirmed_down_is_called_failing_and_not_up(argus: Argus) -> None:
    web = WebServer(argus, "web").start()
    argus.configure([web.service(interval="1h")])
    argus.up()
    argus.wait_until("web", "up")
    with page_of(argus) as page:
        only_when_told(page)
        expect(page.locator("main h1")).to_have_text("All is well")
        expect(page.locator(".live")).to_contain_text("live")
        # One reading, which no event of the record tells of.
        web.kill()
        argus.cli("services", "check", "web")
        expect(page.locator("main h1")).to_have_text("One thing is not well")
        card = page.locator("section[aria-labelledby=wrong] a.card")
        expect(card.locator(".status.warn")).to_have_text("failing")
        expect(card).to_contain_text("connection refused")
        assert card.locator(".side").inner_text() == "1 failure in a row"
        expect(page.locator(".figures")).to_contain_text("0 of 1 service up")
        go(page, "services")
        row = page.locator("a.service[data-row]")
        expect(row.locator(".status.warn")).to_have_text("failing")
        expect(row).to_contain_text("connection refused")
        expect(page.locator(".chip")).to_contain_text("failing")
        go(page, "services/web")
        expect(page.locator(".title .status")).to_have_text("failing")
        expect(page.locator("dl.facts")).not_to_contain_text("In this state")
        web.start()
        argus.cli("services", "check", "web")
        expect(page.locator(".title .status")).to_have_text("up")
        expect(page.locator("#verdict")).to_have_text("All is well")


def test_what_nobody_has_seen_yet_is_not_called_well(argus: Argus) -> None:
    gate = argus.folder / "gate"
    waits = f"until [ -e {gate} ]; do sleep 0.05; done"
    slow = {"name": "slow", "type": "command", "command": ["sh", "-c", waits], "timeout": "20s", "interval": "30s"}
    argus.configure([slow])
    argus.up()
    assert "not known yet: slow" in argus.cli("status").stdout
    with page_of(argus) as page:
        expect(page.locator("main h1")).to_have_text("1 service is not known yet")
        expect(page.locator("main h1")).to_have_class("big none")
        expect(page.locator("section[aria-labelledby=wrong]")).to_contain_text("has answered yet")
        gate.touch()
        expect(page.locator("main h1")).to_have_text("All is well")


@pytest.mark.parametrize("has_a_file", [True, False])
def test_where_nothing_is_watched_nothing_is_called_well_and_the_next_step_is_said(
    argus: Argus, has_a_file: bool
) -> None:
    argus.configure()
    argus.up()
    with page_of(argus) as page:
        if not has_a_file:
            page.route("**/api/state", lambda route: route.fulfill(json=without_a_file(argus)))
            page.reload()
        headline = page.locator("main h1")
        expect(headline).to_have_text("Nothing is watched yet")
        expect(headline).to_have_class("big none")
        expect(page.locator(".figures span").first).to_have_text("0 services")
        wrong = page.locator("section[aria-labelledby=wrong]")
        expect(wrong).to_contain_text("argus reload")
        expect(wrong).to_contain_text("names no service" if has_a_file else "argus init")
        expect(page.locator("main")).not_to_contain_text("answers as it should")
        go(page, "settings")
        notices = page.locator("section[aria-labelledby=configuration] .empty")
        expect(notices).to_have_text(
            "No notices: everything in it was understood." if has_a_file else "There is no file."
        )
        argus.rest("POST", "/api/heartbeat", {"agent_id": "one"})
        page.unroute_all()
        expect(page.locator("#verdict")).to_have_text("All is well")


def without_a_file(argus: Argus) -> dict[str, Any]:
    """This machine has much that listens: what is found where nothing does is played."""
    state = dict(argus.get("/api/state"))
    return {**state, "argus": {**state["argus"], "config": None, "discovered": True}}


def test_an_address_that_leads_nowhere_says_so_and_how_to_the_overview(argus: Argus) -> None:
    argus.configure()
    argus.up()
    with page_of(argus) as page:
        for place in ("nowhere", "toString", "services/%", "over view"):
            go(page, place)
            expect(page.locator("main h1")).to_have_text("There is no such page")
            expect(page.locator("nav [aria-current]")).to_have_count(0)
            expect(page).to_have_title("No such page · Argus")
            page.locator("main").get_by_role("link", name="The overview").click()
            expect(page.locator("main h2").first).to_have_text("Is anything wrong now?")


def test_a_restart_that_only_autonomy_holds_back_is_proposed_and_approved_on_the_page(argus: Argus) -> None:
    web = WebServer(argus, "web").start()
    argus.configure([web.service("repair")], autonomy="cautious")
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    incident = argus.wait_for("service_down", "web").data["incident"]
    with page_of(argus) as page:
        card = page.locator("section[aria-labelledby=needs] article")
        expect(card).to_contain_text("Argus proposes: restart web")
        expect(card).not_to_contain_text("holds back")
        card.get_by_role("button", name="Approve the restart…").click()
        page.get_by_role("dialog").get_by_role("button", name="Restart", exact=True).click()
        argus.wait_for("service_recovered", "web")
        expect(page.locator("main h1")).to_have_text("All is well")
        go(page, f"incidents/{incident}")
        expect(page.locator("dl.facts")).to_contain_text("Restarts1")
        expect(page.locator("h2", has_text="Kept with it")).to_have_count(0)


def test_who_stood_still_and_goes_on_is_not_said_to_wait(argus: Argus) -> None:
    db = WebServer(argus, "db").start()
    argus.configure([db.service()])
    said = yaml.safe_load(argus.config.read_text())
    worker = {"command": ["sleep", "600"], "cwd": str(argus.folder), "dependsOn": ["db"]}
    argus.write(yaml.safe_dump({**said, "agents": {"configs": {"worker": worker}}}))
    argus.up()
    argus.wait_until("db", "up")
    argus.cli("agents", "spawn", "worker", "--task", "a task")
    argus.wait_for("agent_spawned")
    db.kill()
    incident = argus.wait_for("dependency_lost").data["incident"]
    db.start()
    argus.wait_for("dependency_back")
    with page_of(argus) as page:
        go(page, f"incidents/{incident}")
        waits = page.locator("ol.story [data-part=explained] strong")
        expect(waits).to_have_text(["Waits", "Goes on"])


def test_who_was_stopped_while_it_waited_is_said_to_be_and_not_to_go_on(argus: Argus) -> None:
    db = WebServer(argus, "db").start()
    argus.configure([db.service()])
    said = yaml.safe_load(argus.config.read_text())
    worker = {"command": ["sleep", "600"], "cwd": str(argus.folder), "dependsOn": ["db"]}
    argus.write(yaml.safe_dump({**said, "agents": {"configs": {"worker": worker}}}))
    argus.up()
    argus.wait_until("db", "up")
    argus.cli("agents", "spawn", "worker", "--task", "a task")
    agent = argus.wait_for("agent_spawned").data["agent_id"]
    db.kill()
    incident = argus.wait_for("dependency_lost").data["incident"]
    argus.cli("agents", "stop", agent)
    argus.wait_for("dependency_wait_ended")
    argus.cli("agents", "spawn", "worker", "--task", "another")
    waiting = argus.wait_for("spawn_waits").data["agent_id"]
    argus.cli("agents", "stop", waiting)
    argus.wait_for("spawn_wait_ended")
    with page_of(argus) as page:
        go(page, f"incidents/{incident}")
        waits = page.locator("ol.story [data-part=explained] strong")
        expect(waits).to_have_text(["Waits", "Outcome", "Waits", "Outcome"])
        go(page, "timeline")
        events = page.locator("ol.story")
        expect(events).to_contain_text("was stopped, and waits no longer for db")
        expect(events).to_contain_text("waits no longer to be started: it was stopped")


def test_what_happened_is_said_in_sentences_and_what_a_person_did_is_not_said_to_be_done_by_argus(argus: Argus) -> None:
    web, lost = WebServer(argus, "web").start(), WebServer(argus, "lost").start()
    argus.configure([web.service("repair"), lost.service("fail")])
    said = yaml.safe_load(argus.config.read_text())
    worker = {"command": ["sleep", "600"], "cwd": str(argus.folder)}
    argus.write(yaml.safe_dump({**said, "agents": {"configs": {"worker": worker}}}))
    argus.up()
    for one in ("web", "lost"):
        argus.wait_until(one, "up")
    argus.rest("PUT", "/api/autonomy", {"level": "cautious"})
    argus.rest("PUT", "/api/autonomy", {"level": "moderate"})
    argus.cli("services", "pause", "web", "--for", "1h")
    argus.cli("services", "resume", "web")
    said["health"]["restartBudget"] = {"maxPerHour": 5}
    argus.write(yaml.safe_dump({**said, "agents": {"configs": {"worker": worker}}}))
    argus.cli("reload")
    argus.cli("agents", "spawn", "worker", "--task", "a task")
    agent = argus.wait_for("agent_spawned").data["agent_id"]
    argus.cli("agents", "stop", agent)
    web.kill()
    argus.wait_for("service_recovered", "web")
    lost.kill()
    argus.wait_for("service_escalated", "lost")
    argus.wait_for("agent_removed")
    with page_of(argus) as page:
        done = page.locator("section[aria-labelledby=did] ol.acts")
        acts = (
            "web was restarted and is up again",
            "lost could not be restarted: exit status 7",
            "lost is handed to you: its restart could not be carried out",
            f"{agent} was told to end",
        )
        for words in acts:
            expect(done).to_contain_text(words)
        for words in ("autonomy", "configuration", "paused", "resumed", "_"):
            expect(done).not_to_contain_text(words)
        go(page, "timeline")
        events = page.locator("ol.story")
        by_a_person = (
            "configuration read again by cli",
            f"{agent} is started by cli",
            "autonomy cautious → moderate by",
        )
        for words in (*acts, *by_a_person):
            expect(events).to_contain_text(words)
