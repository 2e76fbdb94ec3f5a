"""An Argus with one kind of agent, whose every start leaves a line, with the times of the source divided by 30."""

from __future__ import annotations

import sys
from typing import Any

import yaml

from tests.acceptance.harness import Argus, eventually

# The times of the source, divided by 30.
HEARTBEAT = {"interval": "1s", "staleAfter": "4s", "checkEvery": "2s"}
WORKER = """
import os, sys, time
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()} {os.environ['ARGUS_AGENT_ID']} {sys.argv[2]}\\n")
if os.path.exists(sys.argv[1] + ".exit"):
    sys.exit(int(open(sys.argv[1] + ".exit").read()))
time.sleep(600)
"""


class Crew:
    """An Argus with one kind of agent, whose every start leaves a line."""

    def __init__(self, argus: Argus) -> None:
        self.argus = argus
        self.project = argus.folder / "project"
        self.project.mkdir()
        self.starts = argus.folder / "starts"
        worker = argus.folder / "worker.py"
        worker.write_text(WORKER)
        self.command = [sys.executable, "-I", "-S", str(worker), str(self.starts), "{{task}}"]

    def configure(
        self,
        *,
        autonomy: str = "moderate",
        backoff: str = "0s",
        config: dict[str, Any] | None = None,
        **respawn: Any,
    ) -> None:
        settings = {
            "server": {"port": 0},
            "autonomy": autonomy,
            "agents": {
                "heartbeat": HEARTBEAT,
                "respawn": {"backoff": backoff, **respawn},
                "configs": {"SNTGreen": {"command": self.command, "cwd": str(self.project), **(config or {})}},
            },
        }
        self.argus.write(yaml.safe_dump(settings, sort_keys=False))

    def started(self) -> list[tuple[int, str, str]]:
        if not self.starts.exists():
            return []
        found: list[tuple[int, str, str]] = []
        for line in self.starts.read_text().split("\n")[:-1]:
            head = line.split(" ", 2)
            if len(head) == 3 and head[0].isdigit():
                found.append((int(head[0]), head[1], head[2]))
            else:
                # The task holds a line break: what follows belongs to the line before.
                pid, id, task = found[-1]
                found[-1] = (pid, id, f"{task}\n{line}")
        return found

    def spawn(self, task: str = "SEC-1 - make a key") -> dict[str, Any]:
        reply = self.argus.rest("POST", "/api/agents/spawn", {"config_name": "SNTGreen", "task": task})
        assert reply.status == 201, reply
        id = reply.json["agent_id"]
        self.argus.wait_for("agent_spawned", count=1)
        self.works(id)
        return self.agent(id)

    def works(self, id: str) -> None:
        """It has come so far as to leave its line: killed before, it would be a start that nobody can count."""
        eventually(lambda: any(one == id for _, one, _ in self.started()), f"{id} works")

    def agent(self, id: str) -> dict[str, Any]:
        (found,) = [one for one in self.argus.get("/api/agents")["agents"] if one["agent_id"] == id]
        return dict(found)

    def states(self) -> dict[str, str]:
        return {one["agent_id"]: one["state"] for one in self.argus.get("/api/agents")["agents"]}
