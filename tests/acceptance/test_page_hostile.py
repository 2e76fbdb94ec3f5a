"""Many tabs, a clock that is set back, answers that come late: the page stays right and lets nobody act by mistake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.acceptance.browser import CHROMIUM, page_of
from tests.acceptance.harness import DEADLINE, Argus, WebServer

pytestmark = [
    pytest.mark.req("IF-04"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Argus, Page]]:
    expect.set_options(timeout=DEADLINE * 1000)
    argus = Argus(tmp_path_factory.mktemp("page") / "argus")
    try:
        services = [WebServer(argus, name).start().service("repair") for name in ("one", "two")]
        argus.configure(services, autonomy="observe")
        argus.up()
        argus.wait_until("one", "up")
        argus.wait_until("two", "up")
        with page_of(argus) as page:
            yield argus, page
    finally:
        argus.end()


@pytest.fixture
def page(shown: tuple[Argus, Page]) -> Page:
    argus, page = shown
    page.goto(f"{argus.url}/#/services/one")
    page.reload()
    expect(page.locator(".live")).to_contain_text("live")
    return page


def test_ten_tabs_of_one_browser_all_work(shown: tuple[Argus, Page], page: Page) -> None:
    """A browser has six connections for all of them, and a stream takes one."""
    argus, _ = shown
    tabs = [page.context.new_page() for _ in range(9)]
    for tab in tabs:
        tab.goto(f"{argus.url}/#/services/two")
        expect(tab.locator(".live")).to_contain_text("live")
    page.get_by_role("button", name="Check…").click()
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_role("status").filter(has_text="one was checked")).to_be_visible()
    # Also who only asks now and then shows what has happened.
    beat = argus.rest("POST", "/api/heartbeat", {"agent_id": "a-late-one"})
    assert beat.status == 200
    tabs[-1].goto(f"{argus.url}/#/agents")
    expect(tabs[-1].get_by_text("a-late-one").first).to_be_visible()
    for tab in tabs:
        tab.close()


def test_a_clock_that_is_set_back_stops_nothing(shown: tuple[Argus, Page], page: Page) -> None:
    argus, _ = shown
    page.goto(f"{argus.url}/#/agents")
    page.evaluate("const now = Date.now; Date.now = () => now() - 3_600_000")
    argus.rest("POST", "/api/heartbeat", {"agent_id": "after-the-clock"})
    expect(page.get_by_text("after-the-clock").first).to_be_visible()


def test_an_answer_belongs_to_the_dialog_that_asked(shown: tuple[Argus, Page], page: Page) -> None:
    held: list[Route] = []
    page.route("**/api/services/one/restart", lambda route: held.append(route))
    page.get_by_role("button", name="Restart…").click()
    page.get_by_role("button", name="Restart", exact=True).click()
    expect(page.get_by_text("closing this does not call it back")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Pause…").click()
    expect(page.get_by_role("heading", name="Pause one?")).to_be_visible()
    held.pop().continue_()
    # Refused at this autonomy: told, and the dialog that is open now is left alone.
    expect(page.get_by_role("status").filter(has_text="was not restarted")).to_be_visible()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="Pause one?")).to_be_visible()
    expect(dialog.get_by_role("button", name="Pause", exact=True)).to_be_enabled()
    expect(dialog.get_by_text("GATE_REFUSED")).to_have_count(0)
    page.unroute("**/api/services/one/restart")


def test_who_goes_elsewhere_leaves_the_question_behind(page: Page) -> None:
    page.get_by_role("button", name="Restart…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.evaluate("location.hash = '#/incidents'")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_refusal_says_what_opens_the_gate(page: Page) -> None:
    page.get_by_role("button", name="Restart…").click()
    page.get_by_role("button", name="Restart", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("restart requires moderate+")
    page.get_by_role("button", name="Close").click()


def told(shown: tuple[Argus, Page], page: Page, place: str, services: list[dict[str, Any]], **more: Any) -> None:
    """Shows services as a state says that is not easily come by; the rest is as it really is."""
    state = shown[0].get("/api/state")
    made = [{**state["services"][0], **one} for one in services]
    page.route("**/api/state", lambda route: route.fulfill(json={**state, "services": made, **more}))
    page.evaluate("place => { location.hash = '#/' + place }", place)
    page.reload()
    expect(page.locator(".live")).to_contain_text("live")


@pytest.fixture
def untold(page: Page) -> Iterator[Page]:
    yield page
    page.unroute_all()


def stands_clear_of(left: Locator, right: Locator) -> bool:
    one, other = left.bounding_box(), right.bounding_box()
    assert one
    assert other
    is_beside = one["x"] + one["width"] <= other["x"]
    return is_beside or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]


TWO_BLANKS = "z b  c"


@pytest.mark.parametrize("wide", [1180, 360])
def test_what_flaps_is_not_shown_as_well_nor_among_the_well(shown: tuple[Argus, Page], untold: Page, wide: int) -> None:
    page = untold
    page.set_viewport_size({"width": wide, "height": 800})
    flaps = {"name": TWO_BLANKS, "flapping": True}
    told(shown, page, "services", [{"name": "a"}, flaps], well=False, notWell=[f"service {TWO_BLANKS}"])
    row = page.locator("a.service[data-row]").first
    expect(row).to_contain_text("flapping")
    expect(page.locator("nav a", has_text="Services").locator(".count")).to_have_text("1 not well")
    expect(row.locator(".status.warn")).to_have_text("up · flapping")
    assert row.locator("strong").inner_text() == TWO_BLANKS
    assert stands_clear_of(row.locator(".status"), row.locator(".name"))
    row.click()
    expect(page.locator(".title .status.warn")).to_have_text("up · flapping")
    assert page.locator("h1").inner_text() == TWO_BLANKS
    told(shown, page, "overview", [{**flaps, "state": "pending"}], well=False, notWell=[f"service {TWO_BLANKS}"])
    card = page.locator("section[aria-labelledby=wrong] a.card")
    expect(card.locator(".status")).to_have_text("pending · flapping")
    assert card.locator("strong").inner_text() == TWO_BLANKS
    for part in card.locator(".status > *").all():
        assert stands_clear_of(part, card.locator("strong"))
    page.set_viewport_size({"width": 1180, "height": 800})


def test_a_restart_is_called_the_same_everywhere_and_by_a_word_that_holds_while_its_command_runs(
    shown: tuple[Argus, Page], untold: Page
) -> None:
    page = untold
    restarted = {"name": "web", "state": "down", "repairing": True}
    told(shown, page, "overview", [restarted], well=False, notWell=["service web"])
    expect(page.locator("section[aria-labelledby=wrong] a.card .side")).to_contain_text("restarting")
    page.locator("section[aria-labelledby=wrong] a.card").click()
    expect(page.locator(".title .status")).to_have_text("down · restarting")
    page.evaluate("location.hash = '#/services'")
    expect(page.locator("a.service[data-row] .status")).to_have_text("down · restarting")


def test_the_tab_counts_who_needs_you_as_the_overview_does_and_no_time_is_told_that_nobody_knows(
    shown: tuple[Argus, Page], untold: Page
) -> None:
    page = untold
    now = shown[0].get("/api/state")["argus"]["started"]
    run = {
        **{"name": "shop", "project": "shop", "folder": "/shop", "configFile": None, "state": "up", "since": now},
        **{"runId": "r1", "network": None, "containers": {}, "mocks": [], "guards": {"web": "failed"}, "waitsFor": []},
    }
    down = {"state": "down", "failures": 0, "gate": None, "repairing": False}
    services = [{"name": name, **down} for name in ("a", "b", "c")]
    unwell = [f"service {one['name']}" for one in services]
    needing = ["service a", "environment shop"]
    more = {"well": False, "notWell": [*unwell, "environment shop"], "needsYou": needing, "environments": [run]}
    told(shown, page, "overview", services, **more)
    expect(page.locator("nav a", has_text="Overview").locator(".count")).to_have_text("2 need you")
    expect(page).to_have_title("(2) Overview · Argus")
    side = page.locator("section[aria-labelledby=wrong] a.card .side").first
    assert not side.inner_text().strip().startswith("·")
    # Since when a container is so is not in the state; since when its environment is up says nothing of that.
    card = page.locator("section[aria-labelledby=needs] article", has_text="shop")
    expect(card).to_contain_text("web failed")
    expect(card.locator("time")).to_have_count(0)
    # What nobody has to do anything about is marked, and not counted.
    told(shown, page, "overview", services, well=False, notWell=unwell, needsYou=[], environments=[])
    expect(page).to_have_title("▲ Overview · Argus")
