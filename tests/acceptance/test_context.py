"""The block on the machine's health for an AI's context: compact, stable, the same by every way in."""

from __future__ import annotations

import re

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.acceptance.harness import PROGRAM, Argus, WebServer


def _plain(text: str) -> list[str]:
    """With numbers that change from check to check made the same."""
    text = re.sub(r"\(\d+ms\)", "(1ms)", text)
    return re.sub(r"DOWN \d+x", "DOWN 3x", text).splitlines()


@pytest.mark.req("INFRA-01.8")
async def test_the_block_says_what_is_up_and_down_and_what_is_left_of_the_budget_on_every_face(
    argus: Argus, web: WebServer
) -> None:
    db = WebServer(argus, "db").start()
    shop = WebServer(argus, "shop").start()
    argus.configure([web.service(), db.service(), shop.service(dependsOn=["db"])], autonomy="observe")
    argus.up()
    for one in (web, db, shop):
        argus.wait_until(one.name, "up")
    shop.kill()
    db.kill()
    argus.wait_until("db", "down")
    argus.wait_until("shop", "down")

    lines = _plain(argus.cli("context").stdout)
    assert lines[0] == "Service Health:"
    assert lines[1] == f"- db: DOWN 3x (connection refused) [{db.port}] -- needs a person"
    assert lines[2] == f"- shop: DOWN 3x (connection refused) [{shop.port}] -- because of db"
    assert lines[3] == f"- web: UP (1ms) [{web.port}]"
    assert "Restart budget: 2/2 remaining this hour" in lines
    # Compact: an AI pays for every word of it.
    assert len("\n".join(lines)) < 600
    assert _plain(argus.get("/api/context")["text"]) == lines
    program = StdioServerParameters(command=PROGRAM, args=["mcp"], env=argus.env)
    async with Client(program) as client:
        said = await client.call_tool("argus_context", {})
    assert "- db: DOWN" in str(said.structured_content or said.content)


def test_what_is_in_maintenance_is_told_with_its_end(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service()])
    argus.up()
    argus.wait_until("web", "up")
    assert argus.cli("services", "pause", "web", "--for", "1h").code == 0
    until = argus.service("web")["pausedUntil"]
    minutes = until.rpartition(":")[0]  # its end is counted by the boot clock, and a few milliseconds off
    (line,) = [one for one in argus.cli("context").stdout.splitlines() if "web" in one]
    assert f" -- in maintenance, paused until {minutes}" in line
    web.kill()
    argus.wait_until("web", "down")
    (line,) = [one for one in argus.cli("context").stdout.splitlines() if "web" in one]
    assert line.startswith("- web: DOWN")
    assert f" -- in maintenance, paused until {minutes}" in line
