"""The page in a real browser, with 1,000 services and 200 agents: until data is painted, and from an event to the frame
that shows it. Wall time in the browser; the events' own timestamps and the browser's clock are of one machine.

The floor is a bare page that fetches the same JSON, from memory, and prints one line of it; and shows the number of
each event of a bare stream. A service's event is shown as it is told. A wish of an agent to end needs the state to be
read anew, at most every 0.4 s: those waits are in its figure, as somebody who looks has them too.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import urllib.request
from collections.abc import Callable, Iterable
from functools import partial
from statistics import median

import yaml
from playwright.sync_api import BrowserContext, Page, sync_playwright
from tests.acceptance.browser import ALONE, CHROMIUM
from tests.acceptance.harness import Argus, WebServer

from benchmarks.floors.programs import running
from benchmarks.measure import ROOT, interleave
from benchmarks.plan import Plan, Skipped
from benchmarks.rows import Goal, Row

_BUILT = ROOT / "src/argus/api/static"
_FILES = ("index.html", "app.js", "style.css", "favicon.svg")
_PAINT, _UPDATE, _BUNDLE = 1000, 200, 150
"""Goals of the design: milliseconds, milliseconds, kB."""
_SEEN = """([selector, text]) => {
  window.shown = new Promise((resolve) => {
    const look = () => {
      if (!document.querySelector(selector)?.textContent.includes(text)) return false;
      requestAnimationFrame(() => {
        const after = new MessageChannel();
        after.port1.onmessage = () => resolve({ since: performance.now(), at: Date.now() });
        after.port2.postMessage(0);
      });
      return true;
    };
    if (look()) return;
    const watch = new MutationObserver(() => look() && watch.disconnect());
    watch.observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
  });
}"""
"""Notes the moment after the first frame in which what the selector finds has this text."""
_FINEST = 0.5
"""Milliseconds: both clocks tell whole ones."""
Turn = Callable[[], float]


def measure(plan: Plan) -> Iterable[Row]:
    if CHROMIUM is None:
        raise Skipped("chromium is missing (Debian: apt-get install chromium)")
    services, agents, times = plan.size(1000, 30), plan.size(200, 10), plan.size(20, 2)
    argus = Argus(plan.folder / "argus")
    with contextlib.ExitStack() as stack:
        stack.callback(argus.end)
        _furnish(argus, services, agents)
        state = plan.folder / "state.json"
        state.write_text(json.dumps(argus.get("/api/state")))
        bare = stack.enter_context(running("bare_page", str(state)))
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ALONE, chromium_sandbox=os.geteuid() != 0)
        stack.callback(browser.close)
        context = browser.new_context()
        _opened(context, argus.cli("open").stdout.strip(), "main h2").close()
        floor = f"http://127.0.0.1:{bare.said}/"
        turns: dict[str, Turn] = {
            "bare": _painted(context, floor, "#line:not(:empty)", plan.size(5, 1)),
            "argus": _painted(context, f"{argus.url}/#/services", "a.service[data-row]", plan.size(5, 1)),
        }
        first = interleave(turns, plan.rounds, warm=not plan.quick)
        updates: dict[str, Turn] = {
            "bare": _events(context, floor, bare.said, times),
            "argus": _pauses(context, argus, times),
            "wish": _wishes(context, argus, min(times, agents)),
        }
        shown = interleave(updates, plan.rounds, warm=not plan.quick)
    title = f"page, {services:,} services and {agents} agents"
    yield Row(f"{title}: first data", "ms", first["argus"], floor=("bare page", first["bare"]), goal=Goal(_PAINT))
    floor_of_updates = ("bare page", shown["bare"])
    yield Row(f"{title}: a service's event", "ms", shown["argus"], floor=floor_of_updates, goal=Goal(_UPDATE))
    yield Row(f"{title}: an agent's event", "ms", shown["wish"], floor=floor_of_updates, goal=Goal(_UPDATE))
    size = sum(len(gzip.compress((_BUILT / name).read_bytes())) for name in _FILES) / 1000
    yield Row("page, all files", "kB, gzip", [size], goal=Goal(_BUNDLE))


def _furnish(argus: Argus, services: int, agents: int) -> None:
    web = WebServer(argus, "web").start()
    made = [
        {"name": f"service-{n:04d}", "type": "tcp", "host": "127.0.0.1", "port": web.port, "interval": "1h"}
        for n in range(services)
    ]
    argus.write(yaml.safe_dump({"server": {"port": 0}, "health": {"services": made}}))
    argus.up()
    for n in range(agents):
        argus.rest("POST", "/api/heartbeat", {"agent_id": f"agent-{n:03d}", "current_task": f"TASK-{n}"})


def _opened(context: BrowserContext, url: str, selector: str) -> Page:
    page = context.new_page()
    page.add_init_script(f"({_SEEN})({json.dumps([selector, ''])})")
    page.goto(url)
    _noted(page)
    return page


def _noted(page: Page) -> dict[str, float]:
    found: dict[str, float] = page.evaluate("window.shown")
    return found


def _painted(context: BrowserContext, url: str, selector: str, times: int) -> Turn:
    def turn() -> float:
        taken = []
        for _ in range(times):
            page = _opened(context, url, selector)
            taken.append(_noted(page)["since"])
            page.close()
        return median(taken)

    return turn


def _until_shown(page: Page, selector: str, text: str, happens: Callable[[], float]) -> float:
    """Milliseconds from the event's own time to the frame that shows it."""
    page.evaluate(_SEEN, [selector, text])
    at = happens()
    return max(_FINEST, _noted(page)["at"] - at)


def _events(context: BrowserContext, url: str, port: int, times: int) -> Turn:
    def publish(number: int) -> float:
        body = json.dumps({"number": number}).encode()
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/api/publish", body, method="PUT")
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return float(json.load(answer)["timestamp"])

    def turn() -> float:
        page = _opened(context, url, "#line:not(:empty)")
        page.evaluate("window.following")
        taken = [_until_shown(page, "#event", f"number {n}.", partial(publish, n)) for n in range(times)]
        page.close()
        return median(taken)

    return turn


def _told(argus: Argus, type: str) -> float:
    return float(argus.journal(type)[-1].data["timestamp"])


def _pauses(context: BrowserContext, argus: Argus, times: int) -> Turn:
    service = "/api/services/service-0007"

    def pause() -> float:
        argus.rest("POST", f"{service}/pause", {"for": "1h"})
        return _told(argus, "service_paused")

    def turn() -> float:
        page = _opened(context, f"{argus.url}/#/services", "a.service[data-row]")
        rows = page.locator("a.service[data-row]")
        page.locator("input[type=search]").fill("service-0007")
        rows.nth(1).wait_for(state="detached")
        taken = []
        for _ in range(times):
            taken.append(_until_shown(page, "a.service[data-row]", "paused", pause))
            argus.rest("POST", f"{service}/resume", {})
            page.locator("a.service[data-row]", has_text="paused").wait_for(state="detached")
        page.close()
        return median(taken)

    return turn


def _wishes(context: BrowserContext, argus: Argus, times: int) -> Turn:
    def ask(id: str) -> float:
        argus.rest("POST", "/api/stop-requests", {"agent_id": id, "reason": "all is done"})
        return _told(argus, "stop_requested")

    def turn() -> float:
        page = _opened(context, f"{argus.url}/#/agents", "a.agent")
        taken = []
        for n in range(times):
            taken.append(_until_shown(page, "article.need", "all is done", partial(ask, f"agent-{n:03d}")))
            (request,) = argus.get("/api/state")["stopRequests"]
            argus.rest("POST", f"/api/stop-requests/{request['id']}/respond", {"approved": False})
            page.locator("article.need").wait_for(state="detached")
        page.close()
        return median(taken)

    return turn
