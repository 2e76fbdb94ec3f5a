"""A page that comes back to an Argus whose record is another one by then, or has run far ahead."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page, expect

from argus.core.events import Draft
from argus.store.records import Append
from argus.store.sqlite import SqliteStore
from tests.acceptance.browser import CHROMIUM, only_when_told, page_of
from tests.acceptance.harness import DEADLINE, Argus, WebServer, eventually, free_port

pytestmark = [
    pytest.mark.req("IF-04"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]
MISSED = 2_500
ANEW = "The record began anew or ran far ahead"


class Open:
    """An Argus at a port of its own, so that it is found again, and a page of it on its timeline."""

    def __init__(self, argus: Argus, page: Page, add: Callable[[], None]) -> None:
        self.argus = argus
        self.add_a_service = add
        self.page = page
        self.rows = page.locator("ol.story > li")

    def is_cut_off(self) -> None:
        self.argus.kill()
        expect(self.page.get_by_role("alert")).to_contain_text("Disconnected since")

    def is_back(self) -> None:
        self.argus.up()
        expect(self.page.locator(".live")).to_contain_text("live")
        expect(self.page.get_by_role("alert")).to_have_count(0)

    def shows_all(self) -> None:
        eventually(lambda: self.rows.count() == len(self.argus.journal()), "every event of the record is shown, once")


def _gate(argus: Argus) -> Path:
    """While it is there, the service `slow` answers at once."""
    return argus.folder / "gate"


def configure(argus: Argus, port: int, *services: WebServer) -> None:
    made = [{**one.service(), "interval": "1h"} for one in services]
    waits = f"until [ -e {_gate(argus)} ]; do sleep 0.05; done"
    slow = {"name": "slow", "type": "command", "command": ["sh", "-c", waits], "timeout": "20s", "interval": "1h"}
    made.append(slow)
    argus.write(yaml.safe_dump({"server": {"port": port}, "autonomy": "moderate", "health": {"services": made}}))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    expect.set_options(timeout=DEADLINE * 1000)
    argus = Argus(tmp_path_factory.mktemp("page") / "argus")
    port = free_port()
    try:
        known, late = (WebServer(argus, name).start() for name in ("known", "late"))
        _gate(argus).touch()
        configure(argus, port, known)
        argus.up()
        with page_of(argus) as page:
            only_when_told(page)
            page.evaluate("location.hash = '#/timeline'")
            yield Open(argus, page, lambda: configure(argus, port, known, late))
    finally:
        argus.end()


async def _written(argus: Argus) -> None:
    store = SqliteStore(argus.home / "argus.db")
    drafts = [Draft("other", "written", "other", {"number": number}) for number in range(MISSED)]
    await store.commit(*map(Append, drafts))
    await store.close()


def test_more_than_it_can_catch_up_with_is_skipped_and_what_is_shown_is_right(shown: Open) -> None:
    argus, page = shown.argus, shown.page
    shown.rows.first.wait_for()
    expect(page.get_by_text(ANEW)).to_have_count(0)
    shown.is_cut_off()
    with ThreadPoolExecutor(1) as elsewhere:  # a loop of the browser's runs in this thread
        elsewhere.submit(lambda: asyncio.run(_written(argus))).result()
    shown.add_a_service()
    shown.is_back()
    expect(page.get_by_text(ANEW)).to_have_count(1)
    argus.rest("PUT", "/api/autonomy", {"level": "observe"})
    expect(page.locator("ol.story > li", has_text="→ observe by token")).to_have_count(1)
    # The newest 200 at the time, then each that came since, once: the end of what was missed, without a hole.
    search = page.locator("input[type=search]")
    search.fill('"number":')
    kept = shown.rows.count()
    assert 100 < kept <= 200
    for number, count in ((MISSED - 1, 1), (MISSED - kept, 1), (MISSED - kept - 1, 0)):
        search.fill(f'"number":{number}')
        expect(shown.rows).to_have_count(count)
    search.fill("")
    # Everything else is as the daemon says now.
    page.evaluate("location.hash = '#/services'")
    expect(page.locator("a.service[data-row]")).to_have_count(3)
    page.evaluate("location.hash = '#/settings'")
    expect(page.locator("button.level[aria-pressed=true]")).to_contain_text("observe")
    page.evaluate("location.hash = '#/timeline'")


def test_another_record_replaces_all_that_was_shown_of_the_one_before(shown: Open) -> None:
    argus, page = shown.argus, shown.page
    argus.rest("PUT", "/api/autonomy", {"level": "cautious"})
    expect(page.locator("ol.story > li", has_text="→ cautious by token")).to_have_count(1)
    shown.is_cut_off()
    for file in argus.home.glob("argus.db*"):
        file.unlink()
    shown.is_back()
    expect(page.get_by_text(ANEW)).to_have_count(1)
    expect(page.locator("ol.story > li", has_text="cautious")).to_have_count(0)
    argus.rest("PUT", "/api/autonomy", {"level": "full"})
    expect(page.locator("ol.story > li", has_text="→ full by token")).to_have_count(1)
    shown.shows_all()
    page.evaluate("location.hash = '#/settings'")
    expect(page.locator("button.level[aria-pressed=true]")).to_contain_text("full")


def test_what_is_seen_after_a_restart_is_shown_when_it_is_seen(shown: Open) -> None:
    argus, page = shown.argus, shown.page
    page.evaluate("location.hash = '#/overview'")
    up = page.locator(".figures span").first
    expect(up).to_have_text("3 of 3 services up")
    shown.is_cut_off()
    _gate(argus).unlink()
    shown.is_back()
    expect(up).to_have_text("2 of 3 services up")
    expect(page.locator("main h1")).to_have_text("1 service is not known yet")
    _gate(argus).touch()
    expect(up).to_have_text("3 of 3 services up")
    expect(page.locator("main h1")).to_have_text("All is well")


def test_of_an_argus_that_is_stopped_nobody_is_told_that_it_is_live(shown: Open) -> None:
    argus, page = shown.argus, shown.page
    argus.rest("PUT", "/api/autonomy", {"level": "moderate"})
    page.evaluate("location.hash = '#/settings'")
    expect(page.locator("button.level[aria-pressed=true]")).to_contain_text("moderate")
    os.kill(argus.pid, signal.SIGSTOP)
    try:
        expect(page.get_by_role("alert")).to_contain_text("Disconnected since")
        expect(page.locator(".live")).to_contain_text("cut off")
    finally:
        os.kill(argus.pid, signal.SIGCONT)
    expect(page.locator(".live")).to_contain_text("live")
