"""Environments on a real engine: Argus stands where the engine publishes its ports."""

from __future__ import annotations

import http.client
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

from tests.acceptance.harness import DEADLINE, PROGRAM, Argus, Ran
from tests.docker_engine import Engine

STAYS, WEB = "stays:1", "web:1"
COMMANDS = {
    STAYS: ("sh", "-c", "trap exit TERM; while :; do sleep 600 & wait; done"),
    WEB: ("sh", "-c", "mkdir -p /www; touch /www/health; exec httpd -f -p 8080 -h /www"),
}


class Yard(Argus):
    def __init__(self, folder: Path, engine: Engine) -> None:
        super().__init__(folder)
        self.engine = engine
        self.env["DOCKER_HOST"] = engine.url

    def words(self, *arguments: str) -> list[str]:
        return [*self.engine.entering, PROGRAM, *arguments]

    def engine_state(self, container: str) -> str:
        return str(self.engine.state(container)["Status"])

    def project(self, name: str = "shop", folder: str = "project", **sections: Any) -> Project:
        return Project(self, self.folder / folder, {"project": {"name": name}, **sections})

    def connection(self) -> http.client.HTTPConnection:
        """This process stands elsewhere than its daemon."""
        parts = urlsplit(self.url)
        made = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=DEADLINE)
        made.sock = self.engine.connect(parts.hostname or "", parts.port or 80)
        return made


class Project:
    """A folder with an e2e.yaml."""

    def __init__(self, yard: Argus, folder: Path, said: dict[str, Any]) -> None:
        self.yard = yard
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.write(**said)

    def write(self, **said: Any) -> None:
        (self.folder / "e2e.yaml").write_text(yaml.safe_dump(said, sort_keys=False), encoding="utf-8")

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Not waited for."""
        return subprocess.Popen(
            self.yard.words("env", *words, "--json"),
            cwd=self.folder,
            env=self.yard.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def env(self, *words: str, env: dict[str, str] | None = None, timeout: float = 2 * DEADLINE) -> Ran:
        done = subprocess.run(
            self.yard.words("env", *words, "--json"),
            cwd=self.folder,
            env={**self.yard.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def up(self, *words: str) -> dict[str, Any]:
        ran = self.env("setup", *words)
        assert ran.code == 0, ran
        return dict(ran.json)

    def refused(self, *words: str) -> dict[str, Any]:
        ran = self.env(*words)
        assert ran.code != 0, ran
        return ran.error

    @property
    def status(self) -> dict[str, Any]:
        return dict(self.env("status").json)


def ended(process: subprocess.Popen[str], timeout: float = 2 * DEADLINE) -> Ran:
    """What became of one that was begun."""
    stdout, stderr = process.communicate(timeout=timeout)
    return Ran(process.returncode, stdout, stderr)


def service(name: str, image: str, *ports: str, container: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    run = {"name": name, "ports": list(ports), **(container or {})}
    return {"name": name, "build": {"dockerfile": "Dockerfile", "image": image}, "container": run, **more}


def stays(name: str, *ports: str, **more: Any) -> dict[str, Any]:
    """Runs until it is ended."""
    return service(name, STAYS, *ports, **more)


def web(name: str, *ports: str, **more: Any) -> dict[str, Any]:
    """Answers on 8080."""
    health = {"path": "/health", "port": 8080, "interval": "1s", "timeout": "5s", "startPeriod": "30s"}
    return service(name, WEB, *ports, container={"healthcheck": health}, **more)


def ours(engine: Engine, project: str = "shop") -> dict[str, list[str]]:
    """What is there of a project, by its label."""
    query = urlencode({"all": 1, "filters": json.dumps({"label": [f"argusai.project={project}"]})})
    return {
        "containers": sorted(one["Names"][0].lstrip("/") for one in engine.ask("GET", f"/containers/json?{query}")),
        "networks": sorted(one["Name"] for one in engine.ask("GET", f"/networks?{query}")),
        "volumes": sorted(one["Name"] for one in engine.ask("GET", f"/volumes?{query}")["Volumes"] or ()),
    }


NOTHING: dict[str, list[str]] = {"containers": [], "networks": [], "volumes": []}

SHOP = {"argusai.managed": "true", "argusai.project": "shop", "argusai.run-id": "gone"}


def leave(
    docker: Engine, containers: int, networks: int = 0, volumes: int = 0, *, joined: bool = False, **labels: str
) -> None:
    """What a run left that nobody knows any more: `left0`, `left-net0`, `left-data0` and so on.

    `joined`: every container is on one of the networks, and has one of the volumes.
    """
    carried = {**SHOP, **labels}
    for n in range(networks):
        docker.ask("POST", "/networks/create", {"Name": f"left-net{n}", "Labels": carried})
    for n in range(volumes):
        docker.ask("POST", "/volumes/create", {"Name": f"left-data{n}", "Labels": carried})

    def one(n: int) -> None:
        used = {"NetworkMode": f"left-net{n % networks}", "Binds": [f"left-data{n % volumes}:/data"]} if joined else {}
        docker.run(f"left{n}", host=used, Labels=carried)

    with ThreadPoolExecutor(4) as makers:
        list(makers.map(one, range(containers)))
