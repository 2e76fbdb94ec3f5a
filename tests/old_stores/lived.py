"""Stores that a real Argus of an earlier version left, and what it showed: services, incidents, events, agents.

`sqlite-1.sql` and its like hold rows that were made up to fill every table; these hold what the program of that day
wrote while it ran. To record one, with the code of then in a folder beside:

    git archive COMMIT src | tar x -C OLD && python -m tests.old_stores.lived OLD/src
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.acceptance.harness import Argus, WebServer, eventually
from tests.old_stores import FOLDER, dump_postgres, dump_sqlite
from tests.postgresql import Server, find_programs

PLACE = Path("/tmp/argus-lived")
DEAD = 1
"""A port on which nobody listens."""
SERVICES = ("web", "database", "paused")
AGENT = "SNTGreen"
LONG = "87600h"
"""Ten years: the recorded ones are looked at for long."""


def shown(argus: Argus) -> dict[str, Any]:
    """What a person sees of the record, but for what time alone changes."""
    state = argus.get("/api/state")
    found = {
        "autonomy": state["autonomy"],
        "budget": state["budget"],
        "incidents": argus.get("/api/incidents")["incidents"],
        "services": {one["name"]: {key: one[key] for key in ("restarts", "incident")} for one in state["services"]},
        "paused": [one["name"] for one in state["services"] if one["pausedUntil"]],
        "events": [[one.id, one.name, one.data] for one in argus.journal()],
    }
    if "agents" in state:
        kept = ("agent_id", "config_name", "task", "state", "project_path", "generation")
        found["agents"] = [{key: one[key] for key in kept if key in one} for one in argus.get("/api/agents")["agents"]]
    return found


def configure(argus: Argus, services: list[dict[str, Any]], more: str = "") -> None:
    argus.configure(services, autonomy="observe", correlatedFailureThreshold=99)
    argus.write(argus.config.read_text(encoding="utf-8") + more)


def agents(folder: Path) -> str:
    return f"agents: {{configs: {{{AGENT}: {{command: [/bin/sleep, '600'], cwd: {folder}}}}}}}\n"


def live(argus: Argus, version: int, store: str = "") -> dict[str, Any]:
    """A day in short: one service is restarted and recovers, one stays down, one is paused; autonomy is raised."""
    web = WebServer(argus, "web").start()
    dead = {"type": "tcp", "port": DEAD, "interval": "200ms"}
    services = [web.service("repair"), *({"name": name, **dead} for name in SERVICES[1:])]
    configure(argus, services, store + (agents(argus.folder) if version >= 3 else ""))
    argus.up()
    argus.cli("services", "pause", "paused", "--for", LONG)
    argus.cli("autonomy", "moderate")
    argus.wait_for("service_down", "database")
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("service_recovered", "web")
    if version >= 3:
        said = argus.cli("agents", "spawn", AGENT, "--task", "SEC-1: make a key", "--json")
        id = said.json["agent_id"]
        argus.wait_for("agent_spawned")
        argus.cli("agents", "stop", id)
        eventually(
            lambda: not [one for one in argus.get("/api/agents")["agents"] if one["state"] != "dead"], "it ended"
        )
    web.kill()  # nobody is there any more when the store is opened the next time
    argus.cli("services", "pause", "web", "--for", LONG)
    found = shown(argus)
    argus.down()
    return found


def record(kind: str, dump: str, version: int, found: dict[str, Any]) -> None:
    (FOLDER / f"lived-{kind}-{version}.sql").write_text(dump, encoding="utf-8")
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)
    (FOLDER / f"lived-{kind}-{version}.json").write_text(text + "\n", encoding="utf-8")


def main(old: Path) -> None:
    version = len(list((old / "argus" / "store" / "migrations" / "sqlite").glob("*.sql")))
    programs = find_programs()
    assert programs is not None, "PostgreSQL is missing"
    server = Server(programs)
    try:
        for kind in ("sqlite", "postgres"):
            shutil.rmtree(PLACE, ignore_errors=True)
            argus = Argus(PLACE)
            argus.env["PYTHONPATH"] = str(old)
            try:
                url = server.new_database()
                found = live(argus, version, f"store: {{url: '{url}'}}\n" if kind == "postgres" else "")
                made = dump_postgres(url) if kind == "postgres" else dump_sqlite(argus.home / "argus.db")
                record(kind, made, version, found)
            finally:
                argus.end()
    finally:
        server.end()
        shutil.rmtree(PLACE, ignore_errors=True)


def load(kind: str, version: int) -> tuple[str, dict[str, Any]]:
    stem = FOLDER / f"lived-{kind}-{version}"
    text = stem.with_suffix(".sql").read_text(encoding="utf-8")
    return text, json.loads(stem.with_suffix(".json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
