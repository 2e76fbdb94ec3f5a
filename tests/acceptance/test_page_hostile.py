"""Many tabs, a clock that is set back, answers that come late: the page stays right and lets nobody act by mistake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

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
