"""A house full of everything that the page shows: services, agents, sessions, an environment, MCP servers. All real."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from playwright.sync_api import Browser, Page, sync_playwright

from argus.store.records import AddTallies, Counts, Tally
from argus.store.sqlite import SqliteStore
from tests.acceptance.browser import ALONE, CHROMIUM
from tests.acceptance.harness import DEADLINE, WebServer, eventually, free_port
from tests.acceptance.yard import COMMANDS, Project, Yard, service, stays
from tests.docker_engine import Engine

MARKUP = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
PAY = {
    "port": 19081,
    "containerPort": 80,
    "routes": [
        {"method": "GET", "path": "/rates/:to", "response": {"body": {"to": "{{request.params.to}}", "rate": 1.08}}}
    ],
}
WORKER = "import time; print('reading the task'); print('writing tests first', flush=True); time.sleep(600)"


class Inside(WebServer):
    """Stands where the engine publishes its ports, as its Argus does."""

    def __init__(self, house: House, name: str) -> None:
        super().__init__(house, name)
        self._start = [*house.engine.entering, *self._start]


class House(Yard):
    def __init__(self, folder: Path, engine: Engine) -> None:
        super().__init__(folder, engine)
        self.port = free_port()
        self.servers: dict[str, Inside] = {}
        self.shop: Project | None = None

    def furnish(self, *names: str, quick: bool = True, needed: str = "", by: str = "") -> None:
        """Servers of these names; `search` is one that Argus may restart. `needed`: what the service `by` and the
        Builders depend on."""
        for name in names:
            self.servers[name] = Inside(self, name)
            self.servers[name].start()
        every = "300ms" if quick else "2s"
        services = [
            {**one.service(*(["repair"] if name in ("search", "web") else [])), "interval": every}
            for name, one in self.servers.items()
        ]
        command = [sys.executable, "-I", "-S", "-c", WORKER, "{{task}}"]
        settings: dict[str, Any] = {
            "server": {"port": self.port},
            "autonomy": "moderate",
            "health": {"verifyAfter": "500ms", "restartBudget": {"maxPerHour": 20}, "services": services},
            "agents": {
                "respawn": {"enabled": False},
                "configs": {"Builder": {"command": command, "cwd": str(self.folder)}},
            },
            "sessions": {"lookEvery": "500ms"},
            "bridge": {"servers": {"broken": {"command": "/bin/false"}, "files": {"command": sys.executable}}},
        }
        if needed:
            next(one for one in services if one["name"] == by)["dependsOn"] = [needed]
            settings["agents"]["configs"]["Builder"]["dependsOn"] = [needed]
        self.write(yaml.safe_dump(settings, sort_keys=False))

    def remember(self, *names: str) -> None:
        """A month of checks on record, before Argus is up for the first time."""
        asyncio.run(self._remember(names))

    async def _remember(self, names: tuple[str, ...]) -> None:
        self.home.mkdir(mode=0o700, exist_ok=True)
        store = SqliteStore(self.home / "argus.db")
        rolls = random.Random(7)
        hour = int(time.time() // 3600) * 3600
        tallies = [tally for name in names for tally in _month(name, hour, rolls)]
        await store.commit(AddTallies(tuple(tallies)))
        await store.close()

    def employ(self) -> None:
        """Agents: one that Argus started, one that it started and that died, and two of others'."""
        spawn = {"config_name": "Builder", "task": "SHOP-214: let the basket survive a lost session"}
        self.post("/api/agents/spawn", spawn, 201)
        died = self.post("/api/agents/spawn", {**spawn, "task": "SHOP-220: sort the catalogue by rating"}, 201)
        id = died["agent_id"]
        pid = eventually(lambda: self.agent(id)["pid"], f"{id} runs")
        said = f"/api/agents/{id}/logs"
        eventually(lambda: "writing tests first" in json.dumps(self.get(said)), f"{id} has said what it does")
        os.kill(pid, 9)
        eventually(lambda: self.agent(id)["state"] == "dead", f"{id} is dead")
        self.post(
            "/api/heartbeat", {"agent_id": "reviewer", "status": "working", "current_task": "reads pull request 88"}
        )
        self.post("/api/heartbeat", {"agent_id": "release-bot", "status": "idle", "current_task": "waits for the tag"})
        self.post(
            "/api/stop-requests",
            {
                "agent_id": "release-bot",
                "reason": "The release is out and nothing else is planned.",
                "work_completed": "Tag v2.4.0, changelog, images pushed.",
            },
            201,
        )

    def converse(self) -> None:
        """Sessions of three projects, told of by their hooks."""
        for project in ("checkout", "search-api", "docs-site"):
            folder = self.folder / project
            folder.mkdir(exist_ok=True)
            self.post("/api/sessions", {"project": project, "session_type": "sdk", "path": str(folder)}, 201)
        self.hook("checkout", "PreToolUse", tool_name="Bash", tool_input={"command": "make test"})
        self.hook(
            "search-api", "PermissionRequest", tool_name="Bash", tool_input={"command": "git push --force origin main"}
        )
        self.hook("docs-site", "Stop", last_assistant_message="The guide is written.\nShall I publish it?")
        self.tell_context(0)
        self.post(
            "/api/spawns",
            {
                "project": "checkout",
                "task_id": "SHOP-231",
                "task_type": "tests",
                "description": "cover the refund path",
            },
            201,
        )

    def tell_context(self, step: int) -> None:
        for project, base, grows in (
            ("checkout", 118_000, 900),
            ("search-api", 171_500, 120),
            ("docs-site", 41_000, 60),
        ):
            self.post(f"/api/sessions/{project}/context", {"used": base + step * grows, "total": 200_000})

    def hook(self, project: str, event: str, **more: Any) -> None:
        body = {"hook_event_name": event, "session_id": f"{project}-1", "cwd": str(self.folder / project), **more}
        self.post("/api/hooks/claude", body)

    def set_up(self) -> None:
        for image, command in COMMANDS.items():
            self.engine.image(image, *command)
        self.shop = self.project(services=[stays("db"), service("web", "web:1", "18080:8080")], mocks={"rates": PAY})
        self.shop.up()

    def trip(self) -> None:
        """A breaker that opens: an MCP server that cannot be started is asked three times."""
        for _ in range(3):
            self.rest("POST", "/api/call", {"server": "broken", "tool": "any"})

    def post(self, path: str, body: dict[str, Any], status: int = 200) -> Any:
        reply = self.rest("POST", path, body)
        assert reply.status == status, (path, reply.status, reply.body)
        return reply.json

    def agent(self, id: str) -> dict[str, Any]:
        (found,) = [one for one in self.get("/api/agents")["agents"] if one["agent_id"] == id]
        return dict(found)


def _month(name: str, hour: int, rolls: random.Random) -> Iterator[Tally]:
    base = 0.004 + rolls.random() * 0.04
    day = hour // 86400 * 86400
    for span, start, count in [(3600, hour - n * 3600, 60) for n in range(1, 24)] + [
        (86400, day - n * 86400, 1440) for n in range(1, 30)
    ]:
        down = 0 if rolls.random() < 0.93 else round(count * rolls.random() * 0.5)
        up = count - down
        latency = base * (0.8 + rolls.random() * 0.5)
        counts = Counts(up=up, down=down, timed=up, latency=latency * up, slowest=latency * (1.5 + rolls.random() * 2))
        yield Tally(span, start, "services", name, counts)


@contextlib.contextmanager
def browser_in(house: House) -> Iterator[Browser]:
    """A browser that stands where its Argus does."""
    wrapper = house.folder / "browser.sh"
    words = " ".join([*house.engine.entering, str(CHROMIUM)])
    wrapper.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=str(wrapper),
            args=ALONE,
            chromium_sandbox=os.geteuid() != 0,
            env={**os.environ, "HOME": house.env["HOME"]},
        )
        try:
            yield browser
        finally:
            browser.close()


def opened(browser: Browser, house: House, **context: Any) -> Page:
    page = browser.new_context(**context).new_page()
    page.set_default_timeout(DEADLINE * 1000)
    page.goto(house.cli("open").stdout.strip())
    return page


__all__ = ["MARKUP", "House", "browser_in", "opened"]
