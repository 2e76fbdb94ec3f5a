"""The page with ten thousand services and two hundred agents, and after an hour of events."""

from __future__ import annotations

import json

import pytest
import yaml
from playwright.sync_api import Page, Route, expect

from tests.acceptance.browser import CHROMIUM, page_of
from tests.acceptance.harness import DEADLINE, Argus, WebServer, eventually

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
SERVICES, AGENTS = 10_000, 200
_AN_HOUR = 180_000
"""Events, at fifty a second."""
_PORTION = 15_000


@pytest.fixture
def crowded(argus: Argus, web: WebServer) -> Argus:
    services = [
        {"name": f"service-{n:05d}", "type": "tcp", "host": "127.0.0.1", "port": web.port, "interval": "1h"}
        for n in range(SERVICES)
    ]
    argus.write(yaml.safe_dump({"server": {"port": 0}, "health": {"services": services}}))
    argus.up()
    for n in range(AGENTS):
        beat = {"agent_id": f"agent-{n:03d}", "current_task": f"TASK-{n}"}
        assert argus.rest("POST", "/api/heartbeat", beat).status == 200
    return argus


def test_long_lists_are_whole_and_only_what_is_seen_is_in_the_document(crowded: Argus) -> None:
    expect.set_options(timeout=DEADLINE * 1000)
    with page_of(crowded) as page:
        page.evaluate("location.hash = '#/services'")
        rows = page.locator("a.service[data-row]")
        expect(rows.first).to_be_visible()
        assert page.locator("ul.rows").get_attribute("style") == f"height: {SERVICES * 46}px;"
        assert rows.count() < 60
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(page.locator("ul.rows > li").last).to_have_attribute("aria-posinset", str(SERVICES))
        assert rows.count() < 60
        page.locator("input[type=search]").fill("service-07777")
        expect(rows).to_have_count(1)
        # What happens to one of a thousand is shown.
        crowded.rest("POST", "/api/services/service-07777/pause", {"for": "1h"})
        expect(rows.first).to_contain_text("paused")

        page.evaluate("location.hash = '#/agents'")
        agents = page.locator("a.agent")
        expect(agents.first).to_contain_text("agent-000")
        assert agents.count() < 60
        page.locator("input[type=search]").fill("TASK-199")
        expect(agents).to_have_count(1)


def _events(first: int, count: int, epoch: str) -> str:
    data = {"type": "session_prompted", "project": "shop", "what": "context", "text": "x" * 100, "outcome": "typed"}
    body = json.dumps({**data, "timestamp": 1_800_000_000_000})
    return "".join(f"id: {epoch}-{first + n}\nevent: sessions:session_prompted\ndata: {body}\n\n" for n in range(count))


def _heap(page: Page) -> float:
    """Megabytes that are in use, after everything that can go has gone."""
    tools = page.context.new_cdp_session(page)
    tools.send("HeapProfiler.collectGarbage")
    used = tools.send("Runtime.getHeapUsage")["usedSize"]
    tools.detach()
    return float(used) / 1e6


@pytest.fixture
def quiet(argus: Argus) -> Argus:
    argus.configure()
    argus.up()
    return argus


def test_an_hour_of_events_leaves_the_page_as_large_as_before(quiet: Argus) -> None:
    expect.set_options(timeout=DEADLINE * 1000)
    epoch, _, newest = quiet.get("/api/state")["cursor"].rpartition("-")
    told, heaps = 0, []

    with page_of(quiet) as page:

        def answer(route: Route) -> None:
            nonlocal told
            if told < _AN_HOUR:
                body = _events(int(newest) + 1 + told, _PORTION, epoch)
                route.fulfill(content_type="text/event-stream", body=body)
                told += _PORTION
            # The last is left open: the page follows, and nothing more comes.

        page.evaluate("location.hash = '#/timeline'")
        page.route("**/api/events*", answer)
        page.reload()
        rows = page.locator("ol.story > li")
        expect(rows).to_have_count(500)

        def read(count: int) -> bool:
            # Whoever asks the page lets it ask us; and a stream that has ended is begun again at once.
            page.evaluate("document.querySelector('.cut button')?.click()")
            return told >= count

        eventually(lambda: read(3 * _PORTION), "the first of it was read")
        expect(rows).to_have_count(500)
        heaps.append(_heap(page))
        eventually(lambda: read(_AN_HOUR), "an hour of events was read")
        expect(rows).to_have_count(500)
        heaps.append(_heap(page))
    assert heaps[1] - heaps[0] < 3, heaps
