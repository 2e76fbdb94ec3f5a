"""`make demo`: the tour. Services, agents and a shop on Docker, broken on purpose, and what Argus does about it.

    python scripts/demo.py [--fast]

An Argus of its own, with a state folder of its own, and a copy of examples/shop: nothing of yours is touched, and
nothing is left at the end. What is not here is left out, and said: the shop needs a Docker engine and a static busybox
(Debian: apt-get install docker.io busybox-static), the agents tmux, Claude Code npm or itself.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

from test_tiers import CLAUDE, find, provide
from tour import scenes
from tour.claude import Claude
from tour.stage import ARGUS, Stage


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="without the pauses for reading")
    told = parser.parse_args()
    if not shutil.which("tmux"):
        raise SystemExit("the agents of the tour live in tmux (Debian: apt-get install tmux)")
    box, program = busybox(), claude()
    with tempfile.TemporaryDirectory(prefix="argus-demo-") as folder:
        stage = Stage(Path(folder), fast=told.fast)
        images = helpers()
        if box is not None:
            (stage.shop / ".busybox").mkdir()
            shutil.copy(box, stage.shop / ".busybox" / "busybox")
        try:
            play(stage, shop=box is not None, program=program)
        finally:
            end(stage, images)
    print("\nThe shop is in examples/shop; docs/ says the rest, one page for each part.")


def play(stage: Stage, *, shop: bool, program: str | None) -> None:
    stage.configure(with_claude=program is not None)
    scenes.opening(stage, shop=shop, claude=program is not None)
    agent = scenes.an_agent_at_work(stage)
    claude = Claude(stage, program) if program else None
    try:
        if shop:
            scenes.a_taken_port(stage)
            scenes.a_killed_database(stage)
        agent = scenes.a_killed_agent(stage, agent)
        scenes.a_killed_service(stage, agent, claude)
        if claude is not None:
            scenes.a_full_context(stage, claude)
        scenes.what_is_left(stage)
    finally:
        if claude is not None:
            claude.model.close()


def end(stage: Stage, images: set[str]) -> None:
    stage.say("At the end nothing is left behind.")
    if (stage.shop / ".busybox").exists():
        subprocess.run([ARGUS, "env", "clean", "--force"], cwd=stage.shop, env=stage.env)
        for image in ("argus-demo-db:1", "argus-demo-api:1", *(helpers() - images)):
            subprocess.run(["docker", "rmi", "-f", image], capture_output=True)
    for agent in stage.agents():
        stage.quietly("agents", "stop", agent, "--timeout", "2")
    subprocess.run([ARGUS, "down"], cwd=stage.shop, env=stage.env, capture_output=True)
    stage.end()


def claude() -> str | None:
    """The real one: yours, or the one that the tests use, which npm brings."""
    found = shutil.which("claude") or find(CLAUDE)
    if found is None and (missing := provide(CLAUDE)):
        print(f"Without Claude Code: {missing}.")
        return None
    return found or find(CLAUDE)


def helpers() -> set[str]:
    """The images that Argus made for itself."""
    if not shutil.which("docker"):
        return set()
    words = ["docker", "images", "--format", "{{.Repository}}:{{.Tag}}", "argusai/helper"]
    return set(subprocess.run(words, capture_output=True, text=True).stdout.split())


def busybox() -> Path | None:
    """None: the shop cannot be played, and it is said why."""
    if not shutil.which("docker") or subprocess.run(["docker", "version"], capture_output=True).returncode != 0:
        print("Without the shop: no Docker engine answers `docker version` (Debian: apt-get install docker.io).")
        return None
    for name in ("busybox-static", "busybox"):
        found = shutil.which(name)
        if found and is_static(Path(found)):
            return Path(found).resolve()
    print("Without the shop: a static busybox is missing (Debian: apt-get install busybox-static).")
    return None


def is_static(program: Path) -> bool:
    """An ELF file that names no interpreter."""
    return b"ld-linux" not in program.read_bytes()[:4096] and b"ld-musl" not in program.read_bytes()[:4096]


if __name__ == "__main__":
    main()
