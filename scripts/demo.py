"""`make demo`: the tour. Services, agents and a shop on Docker, broken on purpose, and what Argus does about it.

    python scripts/demo.py [--fast]

An Argus of its own, with a state folder of its own, and a copy of examples/shop: nothing of yours is touched, and
nothing is left at the end. What is not here is left out, and said: the shop needs a Docker engine and a static busybox
(Debian: apt-get install docker.io busybox-static), Claude Code npm or itself. The agents need tmux, which is installed
as `make test` installs it: by root on Debian; else it is said how to get it.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
from pathlib import Path
from types import FrameType

from test_tiers import CLAUDE, TMUX, find, provide
from tour import scenes
from tour.claude import Claude
from tour.stage import ARGUS, Stage

HELPER = "argusai/helper"
"""The image that Argus makes for itself."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="without the pauses for reading")
    told = parser.parse_args()
    if missing := provide(TMUX):
        raise SystemExit(f"The agents of the tour live in tmux. {missing}.")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        tour(busybox(), claude(), fast=told.fast)
    except KeyboardInterrupt:
        sys.exit(130)
    print("\nThe shop is in examples/shop; its e2e.yaml says how to bring it up. docs/ has a page for each part.")


def tour(box: Path | None, program: str | None, *, fast: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="argus-demo-") as folder:
        stage = Stage(Path(folder), fast=fast)
        # Of another tour that is under way on this engine: whichever ends last removes it.
        images = set() if images_of("argus-demo-shop-*") else images_of(HELPER)
        if box is not None:
            (stage.shop / ".busybox").mkdir()
            shutil.copy(box, stage.shop / ".busybox" / "busybox")
        try:
            play(stage, shop=box is not None, program=program, fast=fast)
        finally:
            # From here to the very end: whoever presses Ctrl-C again would leave things behind.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            end(stage, images)


def interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def play(stage: Stage, *, shop: bool, program: str | None, fast: bool) -> None:
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
        look_around(stage, fast=fast)
    finally:
        if claude is not None:
            claude.model.close()


def look_around(stage: Stage, *, fast: bool) -> None:
    """The page goes with the tour: where a person sits, it waits for them. Ctrl-C tidies up as well."""
    if fast or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    stage.say("The page is still there.")
    stage.argus("open")
    # An Enter of before was not meant for this.
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    print("\nLook around on the page as long as you like; Enter tidies up.", flush=True)
    sys.stdin.readline()


def end(stage: Stage, images: set[str]) -> None:
    # Nobody may be reading any more.
    with contextlib.suppress(OSError):
        stage.say("Tidying up: at the end nothing is left behind.")
    has_shop = (stage.shop / ".busybox").exists()
    if has_shop:
        stage.tidy(ARGUS, "env", "clean", "--force")
    for agent in stage.agents():
        stage.tidy(ARGUS, "agents", "stop", agent, "--timeout", "2")
    stage.tidy(ARGUS, "down")
    # Last: an Argus that is still here may be making one.
    for image in stage.images if has_shop else ():
        stage.tidy("docker", "rmi", "-f", image)
    for image in images_of(HELPER) - images if has_shop else ():
        # Not by force: that would take its name away from another tour that uses it, and nobody would find it again.
        stage.tidy("docker", "rmi", image)
    stage.end()


def claude() -> str | None:
    """The real one: yours, or the one that the tests use, which npm brings."""
    found = shutil.which("claude") or find(CLAUDE)
    if found is None and (missing := provide(CLAUDE)):
        print(f"Without Claude Code: {missing}.")
        return None
    return found or find(CLAUDE)


def images_of(name: str) -> set[str]:
    if not shutil.which("docker"):
        return set()
    words = ["docker", "images", "--format", "{{.Repository}}:{{.Tag}}", name]
    return set(subprocess.run(words, capture_output=True, text=True).stdout.split())


def busybox() -> Path | None:
    """None: the shop cannot be played, and it is said why."""
    if why := no_engine():
        print(f"Without the shop: {why}.")
        return None
    for name in ("busybox-static", "busybox"):
        found = shutil.which(name)
        if found and is_static(Path(found)):
            return Path(found).resolve()
    print("Without the shop: a static busybox is missing (Debian: apt-get install busybox-static).")
    return None


def no_engine() -> str:
    """Why there is none, and what to do about it; empty when there is."""
    if not shutil.which("docker"):
        return "Docker is missing (Debian: apt-get install docker.io)"
    try:
        asked = subprocess.run(["docker", "version"], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "the Docker engine does not answer within 20 s"
    said = asked.stderr.strip()
    if asked.returncode == 0:
        return ""
    if "permission denied" in said:
        return "you may not use Docker's socket (join the group docker and log in again: sudo usermod -aG docker $USER)"
    return f"no Docker engine is running (systemctl start docker, or dockerd). It said: {said}"


def is_static(program: Path) -> bool:
    """An ELF file that names no interpreter."""
    return b"ld-linux" not in program.read_bytes()[:4096] and b"ld-musl" not in program.read_bytes()[:4096]


if __name__ == "__main__":
    main()
