"""`make recovery`: an environment whose tests run to the end, whatever is done to it meanwhile (SC-R01), and what the
preflight is good for (SC-R02).

    python -m tests.recovery.campaign [--runs 30]

A Docker engine and an Argus of its own. Every fault is injected in turn: the share that recovered by itself and ended
with passing tests is printed, with the goal. Then setups on a broken machine, without and with the preflight: how many
failed in the middle of their work, with something begun, and how many were refused before.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.acceptance.yard import NOTHING, SHOP, Project, Yard, ended, ours, service
from tests.docker_engine import Engine, missing
from tests.recovery.faults import DB, FAULTS, NETWORK, PORT, Fault

IMAGE = "breaks:1"
SCRIPT = (
    "mkdir -p /www; touch /www/health; httpd -f -p 8080 -h /www &"
    " trap 'exit 3' USR1; trap 'dd if=/dev/zero of=/dev/null bs=200M; exit $?' HUP; trap exit TERM;"
    " while :; do sleep 600 & wait $!; done"
)
HEALTH = {"path": "/health", "port": 8080, "interval": "1s", "timeout": "2s", "startPeriod": "20s"}
CASES = 6


@dataclass(frozen=True)
class Played:
    fault: str
    passed: bool
    seconds: float
    restarts: int
    why: str = ""


def part(name: str, port: int, **more: Any) -> dict[str, Any]:
    return service(name, IMAGE, f"{port}:8080", container={"healthcheck": HEALTH}, **more)


def shop(yard: Yard, folder: str, *, preflight: bool = True, threshold: str = "1MB") -> Project:
    made = yard.project(
        folder=folder,
        services=[part("api", PORT, dependsOn=[DB]), part(DB, PORT + 1)],
        tests={"suites": [{"id": "all", "name": "All", "file": "all.yaml"}]},
        resilience={
            "container": {"restartDelay": "500ms"},
            "preflight": {"enabled": preflight, "diskSpaceThreshold": threshold},
        },
    )
    ask = {"request": {"method": "GET", "path": "/health"}, "expect": {"status": 200}, "delay": "500ms"}
    inside = {"exec": {"command": f"wget -q -O /dev/null http://{DB}:8080/health", "container": "api"}}
    reached = {**inside, "expect": {"exitCode": 0}, "retry": {"maxAttempts": 5, "delay": "1s"}}
    cases = [{"name": f"asked {n}", **ask} if n % 2 else {"name": f"reached {n}", **reached} for n in range(CASES)]
    text = yaml.safe_dump({"name": "All", "cases": cases})
    (made.folder / "all.yaml").write_text(text, encoding="utf-8")
    return made


def play(yard: Yard, fault: Fault, n: int) -> Played:
    engine, project = yard.engine, shop(yard, f"run{n}")
    began = time.monotonic()
    with fault.before(engine) if fault.before else contextlib.nullcontext():
        setup = project.env("setup", timeout=180)
        if setup.code != 0:
            return Played(fault.name, False, time.monotonic() - began, 0, f"setup: {setup.error['code']}")
        running = project.begin("run")
        injected = threading.Timer(1.0, fault.meanwhile, (engine,)) if fault.meanwhile else None
        if injected:
            injected.start()
        ran = ended(running, timeout=300)
        if injected:
            injected.join()
    seconds = time.monotonic() - began
    said = ran.json if ran.stdout.strip() else {}
    why = "" if ran.code == 0 else str(said.get("error", {}).get("code") or _failed(said))
    played = Played(fault.name, ran.code == 0, seconds, len(said.get("restarts", [])), why)
    cleaned = project.env("clean", "--force", timeout=120)
    left = ours(engine)
    if cleaned.code != 0 or left != NOTHING:
        return Played(fault.name, False, seconds, played.restarts, f"left behind: {left}")
    return played


def _failed(said: dict[str, Any]) -> str:
    cases = [case for suite in said.get("suites", []) for case in suite["cases"] if case["status"] == "failed"]
    return "; ".join(f"{case['name']}: {case['failures'][0]['message'][:120]}" for case in cases[:2])


def recovery(yard: Yard, runs: int) -> bool:
    done = []
    for n in range(runs):
        one = play(yard, FAULTS[n % len(FAULTS)], n)
        done.append(one)
        how = "passed" if one.passed else f"FAILED ({one.why})"
        print(f"{n + 1:3} {one.fault:22} {how}, {one.restarts} restarts, {one.seconds:.1f} s", flush=True)
    good = sum(one.passed for one in done)
    share = 100 * good / len(done)
    print(f"\nSC-R01: {good} of {len(done)} recovered by themselves ({share:.0f} %; allowed 90, goal 100)")
    return good >= 0.9 * len(done)


# SC-R02: what is wrong before a setup begins.


@contextlib.contextmanager
def broken(engine: Engine, how: str) -> Iterator[None]:
    if how == "engine away":
        engine.kill()
        try:
            yield
        finally:
            engine.start()
        return
    if how == "orphans with the names":
        for name in (DB, "api"):
            engine.run(name, "sleep", "600", Labels=SHOP)
    if how == "orphan with the network":
        engine.ask("POST", "/networks/create", {"Name": NETWORK, "Labels": SHOP})
        engine.run("left", "sleep", "600", host={"NetworkMode": NETWORK}, Labels=SHOP)
    yield


def judged(yard: Yard, how: str, n: int, *, preflight: bool) -> str:
    """up; refused before anything was begun, with what is wrong; or failed, in the middle or without saying it."""
    name = f"{how.replace(' ', '-')}-{n}-{preflight}"
    threshold = "900TB" if how == "disk too full" else "1MB"
    project = shop(yard, name, preflight=preflight, threshold=threshold)
    begun = len(yard.journal("network_created"))
    with broken(yard.engine, how):
        ran = project.env("setup", timeout=180)
    touched = len(yard.journal("network_created")) > begun
    project.env("reset-circuit")
    project.env("clean", "--force", timeout=120)
    yard.engine.clean()
    if ran.code == 0:
        return "went on unwarned" if how == "disk too full" else "up"
    told = "healthReport" in ran.error["details"]
    return "refused before" if told and not touched else "failed"


BROKEN = ("engine away", "disk too full", "orphans with the names", "orphan with the network")


def preflight(yard: Yard, rounds: int) -> bool:
    bad: Counter[bool] = Counter()
    print("\nSC-R02: setups on a machine on which something is wrong, without and with the preflight")
    for how in BROKEN:
        for on in (False, True):
            found = Counter(judged(yard, how, n, preflight=on) for n in range(rounds))
            bad[on] += found["failed"] + found["went on unwarned"]
            said = ", ".join(f"{count} {what}" for what, count in found.items())
            print(f"    {how:24} {'with' if on else 'without':8} {said}", flush=True)
    total = rounds * len(BROKEN)
    less = 100 * (1 - bad[True] / bad[False]) if bad[False] else 0.0
    print(f"SC-R02: {bad[False]} of {total} went wrong without it, {bad[True]} with it: {less:.0f} % fewer (asked 70)")
    return less >= 70


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=30)
    told = parser.parse_args()
    if why := missing():
        print(f"no engine can be started here: {why}")
        return 1
    engine = Engine(keeps=False)
    try:
        with tempfile.TemporaryDirectory(prefix="argus-recovery-") as folder:
            yard = Yard(Path(folder), engine)
            yard.configure([])
            engine.image(IMAGE, "sh", "-c", SCRIPT)
            yard.up()
            try:
                good = recovery(yard, told.runs)
                return 0 if preflight(yard, max(1, told.runs // 10)) and good else 1
            finally:
                yard.end()
    finally:
        engine.end()


if __name__ == "__main__":
    sys.exit(main())
