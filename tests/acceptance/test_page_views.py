"""The page in a real browser, on a real Argus with real services, agents, sessions, containers and MCP servers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import docker_engine
from tests.acceptance.browser import CHROMIUM
from tests.acceptance.harness import DEADLINE, eventually
from tests.acceptance.page_world import MARKUP, House, browser_in, opened
from tests.acceptance.test_agent_programs import missing
from tests.acceptance.yard import stays
from tests.docker_engine import Engine

pytestmark = [
    pytest.mark.req("IF-04"),
    pytest.mark.skipif(CHROMIUM is None or bool(docker_engine.missing()), reason="chromium or Docker is missing"),
]
_BROUGHT = Path(__file__).resolve().parents[2] / ".venv" / "agents"
VIEWS = ("overview", "services", "agents", "environments", "servers", "incidents", "timeline", "settings")


@pytest.fixture(scope="module")
def house(docker_engine_of_all: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One for all: to furnish it takes longer than to look at it."""
    made = House(tmp_path_factory.mktemp("page") / "argus", docker_engine_of_all)
    try:
        made.furnish("api", "search", "web")
        made.up()
        made.set_up()
        made.employ()
        made.converse()
        made.trip()
        yield made
    finally:  # also of one that could not be furnished: its servers stood until somebody found them
        made.end()
        docker_engine_of_all.clean()


@pytest.fixture(scope="module")
def browser(house: House) -> Iterator[Browser]:
    expect.set_options(timeout=DEADLINE * 1000)
    with browser_in(house) as made:
        yield made


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    """Logged in. Whatever the browser complains of is a failure: a breach of the content security policy too."""
    made = opened(browser, house, viewport={"width": 1180, "height": 820})
    said: list[str] = []
    made.on("console", lambda one: said.append(one.text) if one.type == "error" else None)
    made.on("pageerror", lambda error: said.append(str(error)))
    yield made
    made.context.close()
    assert [one for one in said if "Failed to load resource" not in one and "ERR_" not in one] == []


_FAINT = """() => {
  const canvas = document.querySelector('.chart canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 3; at < data.length; at += 4) count += data[at] > 20 && data[at] < 40 ? 1 : 0;
  return count;
}"""
"""Pixels of a chart that are nearly clear."""


def go(page: Page, place: str) -> None:
    page.evaluate("place => { location.hash = '#/' + place }", place)


def confirm(page: Page, button: str, *, within: str = "main", verb: str, choose: str | None = None) -> str:
    """Presses a button, reads what would happen, and says yes."""
    page.locator(within).get_by_role("button", name=button).first.click()
    dialog = page.get_by_role("dialog")
    said = dialog.inner_text()
    if choose:
        dialog.get_by_role("combobox").select_option(choose)
    dialog.get_by_role("button", name=verb, exact=True).click()
    return str(said)


def test_the_overview_says_what_is_wrong_what_was_done_and_what_needs_you_in_this_order(
    page: Page, house: House
) -> None:
    titles = page.locator("main h2")
    expect(titles.nth(0)).to_have_text("Is anything wrong now?")
    expect(titles.nth(1)).to_have_text("What did Argus do about it?")
    expect(titles.nth(2)).to_have_text("What needs you?")
    expect(page.locator("#verdict")).to_have_text("One thing is not well")
    wrong = page.locator("section[aria-labelledby=wrong]")
    expect(wrong).to_contain_text("mcp:broken")
    expect(wrong).to_contain_text("exit status 137")
    waiting = page.locator("section[aria-labelledby=needs]")
    expect(waiting).to_contain_text("release-bot asks to end")
    expect(waiting).to_contain_text("git push --force origin main")

    house.servers["search"].kill()
    done = page.locator("section[aria-labelledby=did]")
    expect(done).to_contain_text("search was restarted and is up again")
    done.get_by_role("link", name="evidence").first.click()
    story = page.locator("ol.story")
    expect(story.locator("[data-part=observation]")).to_contain_text("connection refused")
    expect(story.locator("[data-part=observation] pre")).to_contain_text("down: connection refused")
    expect(story.locator("[data-part=decision]")).to_contain_text("restart")
    expect(story.locator("[data-part=act]")).to_contain_text("by argus")
    expect(story.locator("[data-part=outcome]").last).to_contain_text("up again after its restart")
    story.locator("summary").first.click()
    expect(story.locator("dl.evidence").first).to_contain_text("connection refused")


def test_a_service_is_checked_paused_resumed_and_restarted_and_a_refusal_says_why(page: Page, house: House) -> None:
    go(page, "services")
    page.locator("input[type=search]").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("web")
    rows = page.locator("a.service[data-row]")
    expect(rows).to_have_count(1)
    rows.first.click()
    expect(page.locator("h1")).to_have_text("web")
    expect(page.locator(".chart canvas")).to_be_visible()
    eventually(lambda: page.evaluate(_FAINT) > 500, "what is under the line is filled, faintly")
    expect(page.locator("svg.bars")).to_have_count(2)
    expect(page.locator("section[aria-labelledby=checks] tbody tr").first).to_contain_text("up")

    said = confirm(page, "Check", verb="Check now")
    assert "counts like any other" in said
    expect(page.get_by_role("dialog")).to_have_count(0)

    confirm(page, "Pause", verb="Pause", choose="4h")
    expect(page.locator(".title")).to_contain_text("paused")
    assert house.journal("service_paused")[-1].data["by"] == "page"
    # A gate refuses: the code, the sentence and what may help are shown, and nothing is done.
    confirm(page, "Restart", verb="Restart")
    refusal = page.get_by_role("dialog").get_by_role("alert")
    expect(refusal).to_contain_text("GATE_REFUSED")
    expect(refusal).to_contain_text("What may help")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    confirm(page, "Resume", verb="Resume")
    expect(page.locator(".title")).not_to_contain_text("paused")

    before = house.servers["web"].runs
    confirm(page, "Restart", verb="Restart")
    expect(page.get_by_role("dialog")).to_have_count(0)
    eventually(lambda: house.servers["web"].runs == before + 1, "the restart ran")
    assert house.journal("restart_started")[-1].data["by"] == "page"


def test_agents_are_answered_respawned_stopped_and_forgotten_and_a_session_is_handed_on(
    page: Page, house: House
) -> None:
    go(page, "agents")
    card = page.locator("article.need", has_text="release-bot")
    said = confirm(page, "Deny", within="article.need:has-text('release-bot')", verb="Deny")
    assert "goes on" in said
    expect(card).to_have_count(0)
    assert house.journal("stop_answered")[-1].data == {
        **house.journal("stop_answered")[-1].data,
        "status": "denied",
        "by": "page",
    }
    house.post("/api/stop-requests", {"agent_id": "reviewer", "reason": "all is read"}, 201)
    confirm(page, "Approve", within="article.need:has-text('reviewer')", verb="Approve")
    eventually(lambda: house.rest("POST", "/api/heartbeat", {"agent_id": "reviewer"}).json["ok"] is False, "it is told")

    dead = next(one["agent_id"] for one in house.get("/api/agents")["agents"] if one["state"] == "dead")
    go(page, f"agents/{dead}")
    expect(page.locator("pre.log")).to_contain_text("writing tests first")
    confirm(page, "Respawn", verb="Respawn")
    eventually(lambda: house.journal("agent_respawned"), "it is started again")
    new = house.journal("agent_respawned")[-1].data["agent_id"]
    go(page, f"agents/{new}")
    confirm(page, "Stop", verb="Stop")
    house.wait_for("stop_finished")
    go(page, "agents/release-bot")
    confirm(page, "Forget", verb="Forget")
    expect(page.locator("main")).to_contain_text("There is no agent release-bot")

    go(page, "sessions/checkout")
    expect(page.locator(".gauge")).to_contain_text("59 %")
    expect(page.locator(".chart canvas")).to_be_visible()
    # Nobody can type into it: the daemon says so, and the page says what the daemon said.
    confirm(page, "Hand off", verb="Hand off")
    refusal = page.get_by_role("dialog").get_by_role("alert")
    expect(refusal).to_contain_text(re.compile("[A-Z]+_[A-Z]+"))
    page.keyboard.press("Escape")
    go(page, "agents")
    expect(page.locator("section[aria-labelledby=spawns]")).to_contain_text("SHOP-231")


def test_environments_show_containers_ports_mocks_and_guards_and_breakers_are_reset(page: Page, house: House) -> None:
    go(page, "environments")
    shown = page.locator("article.environment")
    expect(shown).to_contain_text("localhost:18080 → 8080")
    for name in ("db", "web", "rates"):
        part = shown.locator("li.part", has=page.locator("strong", has_text=re.compile(f"^{name}$")))
        expect(part).to_contain_text("running")
        expect(part.locator(".line .guard")).to_contain_text("well")
    shown.get_by_role("button", name="Requests").click()
    expect(shown).to_contain_text("Nobody asked it yet")
    house.engine.kill_container("db")
    eventually(lambda: house.journal("restart_success"), "the guardian restarted it")
    expect(shown.locator("li.part").first.locator(".line .guard")).to_have_text(
        re.compile("guard *well · 1 restart of")
    )

    go(page, "servers")
    expect(page.locator("section[aria-labelledby=servers]")).to_contain_text("files")
    said = confirm(page, "Reset", verb="Reset")
    assert "3 failures" in said
    expect(page.locator("article", has_text="mcp:broken").first).to_contain_text("half-open")
    assert house.journal("breaker_reset")[-1].data["by"] == "page"


def test_a_container_that_was_given_up_waits_for_somebody(page: Page, house: House) -> None:
    never = {"container": {"restartOnFailure": False}}
    broken = house.project("broken", "broken", services=[stays("gone")], resilience=never)
    broken.up()
    house.engine.kill_container("gone")
    waiting = page.locator("section[aria-labelledby=needs]")
    expect(waiting).to_contain_text("gone failed")
    waiting.get_by_role("link", name="broken").click()
    expect(page.locator("article.environment", has_text="broken").first).to_contain_text("gone")
    assert broken.env("clean").code == 0
    go(page, "overview")
    expect(waiting).not_to_contain_text("gone failed")


def test_an_interrupted_environment_waits_for_somebody_under_the_name_that_tells_it_apart(
    page: Page, house: House
) -> None:
    state = house.get("/api/state")
    run = {**state["environments"][0], "state": "interrupted", "guards": {}, "name": "shop (/elsewhere)"}
    needing = [*state["needsYou"], "environment shop (/elsewhere)"]
    said = {**state, "environments": [run, *state["environments"]], "needsYou": needing}
    page.route("**/api/state", lambda route: route.fulfill(json=said))
    page.reload()
    waiting = page.locator("section[aria-labelledby=needs]")
    expect(waiting.get_by_role("link", name="shop (/elsewhere)")).to_be_visible()
    expect(waiting).to_contain_text("Argus ended in the middle")


def test_an_environment_somebody_waits_for_is_named_with_what_was_stopped_in_it(page: Page, house: House) -> None:
    state = house.get("/api/state")
    run = {**state["environments"][0], "guards": {"web": "left alone", "db": "well"}}
    named = [f"environment {run['name']}"]
    said = {**state, "environments": [run], "notWell": named, "needsYou": named}
    page.route("**/api/state", lambda route: route.fulfill(json=said))
    page.reload()
    expect(page.locator("section[aria-labelledby=wrong]")).to_contain_text("web left alone")
    expect(page.locator("section[aria-labelledby=needs]")).to_contain_text("web: left alone because somebody stopped")


def test_autonomy_is_changed_and_the_timeline_tells_it_live_and_can_be_paused(page: Page, house: House) -> None:
    go(page, "timeline")
    page.locator("input[type=search]").fill("autonomy_changed")
    page.keyboard.press("Escape")
    rows = page.locator("ol.story > li")
    expect(rows).to_have_count(len(house.journal("autonomy_changed")))
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    page.keyboard.press("p")
    page.keyboard.press("g")
    page.keyboard.press("c")
    said = confirm(page, "cautious", verb="Set cautious")
    assert "until it is changed again" in said
    expect(page.locator("button.level[aria-pressed=true]")).to_contain_text("cautious")
    assert house.get("/api/autonomy") == {"level": "cautious"}
    go(page, "timeline")
    expect(rows.first).to_contain_text("autonomy moderate → cautious by page")
    go(page, "settings")
    confirm(page, "moderate", verb="Set moderate")
    expect(page.locator("button.level[aria-pressed=true]")).to_contain_text("moderate")
    confirm(page, "Reload", verb="Reload")
    expect(page.get_by_role("status").last).to_contain_text("taken up")


def test_the_page_is_used_with_the_keyboard_alone(page: Page) -> None:
    for place, name in enumerate(VIEWS, 1):
        page.keyboard.press(str(place))
        expect(page.locator("nav a[aria-current=page]")).to_have_attribute("href", f"#/{name}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keys")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("2")
    expect(page.locator("a.service[data-row]").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".back")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("h1")).to_have_text("Services")


def test_light_and_dark_follow_the_machine_unless_somebody_chose_and_the_choice_is_kept(page: Page) -> None:
    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light, dark = "rgb(246, 246, 243)", "rgb(17, 19, 21)"
    page.emulate_media(color_scheme="dark")
    assert ground() == dark
    page.emulate_media(color_scheme="light")
    assert ground() == light
    go(page, "settings")
    page.get_by_role("button", name="dark", exact=True).click()
    assert ground() == dark
    page.reload()
    page.locator("main h1").first.wait_for()
    assert ground() == dark
    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name="light", exact=True).click()
    assert ground() == light


def test_what_agents_say_is_text_and_never_markup(page: Page, house: House) -> None:
    house.post("/api/heartbeat", {"agent_id": "hostile", "status": MARKUP, "current_task": MARKUP})
    house.post(
        "/api/stop-requests",
        {"agent_id": "hostile", "reason": MARKUP, "context": MARKUP, "work_completed": MARKUP},
        201,
    )
    house.hook("docs-site", "PermissionRequest", tool_name=MARKUP, tool_input={"command": MARKUP})
    spawn = {"project": "checkout", "task_id": MARKUP[:90], "task_type": "x", "description": MARKUP}
    house.post("/api/spawns", spawn, 201)
    eventually(lambda: "<img src=x" in json.dumps(house.get("/api/sessions")), "the session asks")
    for place in (*VIEWS, "agents/hostile", "sessions/docs-site"):
        go(page, place)
        page.locator("main h1").first.wait_for()
        if place in ("agents", "agents/hostile", "sessions/docs-site", "timeline", "overview"):
            expect(page.locator("main")).to_contain_text("<img src=x onerror=")
        page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")
        assert page.locator("main img, main script").count() == 0, place
    assert "broken" not in page.title()


@pytest.fixture(scope="module")
def axe() -> Path:
    for found in _BROUGHT.glob("axe-core-*/node_modules/axe-core/axe.min.js"):
        return found
    return missing("axe-core is missing (make test TIERS=acceptance installs it, if there is npm)")


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_axe_finds_nothing_serious_in_any_view(browser: Browser, house: House, axe: Path, look: str) -> None:
    size = {"width": 360, "height": 720} if look == "phone" else {"width": 1180, "height": 820}
    page = opened(browser, house, color_scheme="dark" if look == "dark" else "light", viewport=size, bypass_csp=True)
    found: dict[str, Any] = {}
    try:
        page.add_script_tag(path=axe)
        for place in (*VIEWS, "services/web", "sessions/checkout", "agents/team-builder001"):
            go(page, place)
            page.locator("main h1").first.wait_for()
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, f"{place} is wider than the screen"
            said = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            bad = [one for one in said["violations"] if one["impact"] in ("serious", "critical")]
            found |= {place: [(one["id"], one["nodes"][0]["html"][:200]) for one in bad]} if bad else {}
    finally:
        page.context.close()
    assert found == {}


def test_the_page_outlives_a_daemon_that_was_killed_and_loses_nothing(page: Page, house: House) -> None:
    go(page, "timeline")
    rows = page.locator("ol.story > li")
    rows.first.wait_for()
    before = len(house.journal())
    shown = min(before, 200)
    expect(rows).to_have_count(shown)
    house.kill()
    expect(page.get_by_role("alert")).to_contain_text("Disconnected since")
    expect(page.get_by_role("alert")).to_contain_text("Trying again")
    expect(page.locator(".live")).to_contain_text("cut off")
    expect(rows).to_have_count(shown)
    house.up()
    house.rest("PUT", "/api/autonomy", {"level": "observe"})
    house.rest("PUT", "/api/autonomy", {"level": "moderate"})
    expect(page.locator(".live")).to_contain_text("live")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("ol.story > li", has_text="autonomy observe → moderate by token")).to_have_count(1)
    # Each event that came meanwhile stands there once: none was lost, and none told twice, by the resuming.
    eventually(lambda: rows.count() == shown + len(house.journal()) - before, "every event is there once")


def test_who_is_not_logged_in_is_told_what_to_do_and_comes_in_by_the_link(browser: Browser, house: House) -> None:
    context = browser.new_context()
    page = context.new_page()
    try:
        page.goto(house.url)
        expect(page.locator("h1")).to_have_text("Not logged in")
        expect(page.locator("main")).to_contain_text("argus open")
        page.goto(house.cli("open").stdout.strip())
        expect(page.locator("main h2").first).to_be_visible()
    finally:
        context.close()
