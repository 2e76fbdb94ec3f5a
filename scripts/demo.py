"""`make demo`: a small shop on Docker, in which things are broken on purpose, and what Argus does about it.

    python scripts/demo.py [--fast]

Needs a Docker engine and a static busybox (Debian: apt-get install docker.io busybox-static). An Argus of its own, with
a state folder of its own, and a copy of examples/shop: nothing of yours is touched, and nothing is left at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARGUS = ROOT / ".venv" / "bin" / "argus"
SHOP = ROOT / "examples" / "shop"


class Demo:
    def __init__(self, folder: Path, *, fast: bool) -> None:
        self.shop = folder / "shop"
        self.pause = 0.0 if fast else 1.5
        self.env = {**os.environ, "ARGUS_HOME": str(folder / "argus"), "NO_COLOR": "1", "COLUMNS": "100"}
        self.helpers = helpers()
        shutil.copytree(SHOP, self.shop)
        # On any port: another Argus may run here, and is not disturbed.
        (self.shop / "argus.yaml").write_text("server: {port: 0}\n", encoding="utf-8")

    def say(self, text: str) -> None:
        print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)
        time.sleep(self.pause)

    def argus(self, *words: str, expect: int = 0) -> None:
        """In the shop's folder, with what it prints shown."""
        print(f"$ argus {' '.join(words)}", flush=True)
        done = subprocess.run([ARGUS, *words], cwd=self.shop, env=self.env)
        if done.returncode != expect:
            raise SystemExit(f"argus {' '.join(words)} ended with {done.returncode}, not with {expect}")

    def docker(self, *words: str) -> str:
        done = subprocess.run(["docker", *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"docker {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout.strip()

    def breaks(self, *words: str) -> None:
        print(f"$ docker {' '.join(words)}        # broken on purpose", flush=True)
        self.docker(*words)

    def argus_meanwhile(self, words: tuple[str, ...], seen: str, breaks: tuple[str, ...]) -> None:
        """Something is broken as soon as its output says this."""
        print(f"$ argus {' '.join(words)}", flush=True)
        out, err = subprocess.PIPE, subprocess.STDOUT
        with subprocess.Popen(
            [ARGUS, *words], cwd=self.shop, env=self.env, text=True, stdout=out, stderr=err
        ) as program:
            for line in program.stdout or ():
                print(line, end="", flush=True)
                if seen in line:
                    self.breaks(*breaks)
        if program.returncode != 0:
            raise SystemExit(f"argus {' '.join(words)} ended with {program.returncode}")

    def play(self) -> None:
        self.say("1. A port that the shop wants is taken by somebody else.")
        with taken(18080):
            self.argus("env", "build")
            self.argus("env", "setup")
        self.say("2. The tests run. In the middle of them the database is killed.")
        self.argus_meanwhile(("env", "run"), "the database runs one server", ("kill", "shop-db"))
        self.say("3. The API says that it is ill. Argus starts it anew, and shows that it is well.")
        began = self.docker("inspect", "-f", "{{.State.StartedAt}}", "shop-api")
        self.breaks("exec", "shop-api", "touch", "/dev/shm/ill")
        self.until_restarted("shop-api", began)
        self.argus("env", "status")
        self.argus("env", "run")
        self.say("4. What the payment service was asked.")
        self.argus("env", "mock-requests")
        self.say("5. Somebody removes the database's container. The next setup brings everything up again.")
        self.breaks("rm", "-f", "shop-db")
        self.argus("env", "setup")
        self.argus("env", "run")

    def until_restarted(self, container: str, began: str) -> None:
        for _ in range(600):
            if self.docker("inspect", "-f", "{{.State.StartedAt}}", container) != began:
                return
            time.sleep(0.1)
        raise SystemExit(f"{container} was not started again within a minute")

    def end(self) -> None:
        self.say("At the end nothing is left behind.")
        subprocess.run([ARGUS, "env", "clean", "--force"], cwd=self.shop, env=self.env)
        subprocess.run([ARGUS, "down"], cwd=self.shop, env=self.env, capture_output=True)
        for image in ("argus-demo-db:1", "argus-demo-api:1", *(helpers() - self.helpers)):
            subprocess.run(["docker", "rmi", "-f", image], capture_output=True)


@contextlib.contextmanager
def taken(port: int) -> Iterator[None]:
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # somebody has it already: all the better
            held.bind(("0.0.0.0", port))
            held.listen()
        yield


def helpers() -> set[str]:
    """The images that Argus made for itself."""
    words = ["docker", "images", "--format", "{{.Repository}}:{{.Tag}}", "argusai/helper"]
    return set(subprocess.run(words, capture_output=True, text=True).stdout.split())


def busybox() -> Path:
    for name in ("busybox-static", "busybox"):
        found = shutil.which(name)
        if found and is_static(Path(found)):
            return Path(found).resolve()
    raise SystemExit("a static busybox is needed (Debian: apt-get install busybox-static)")


def is_static(program: Path) -> bool:
    """An ELF file that names no interpreter."""
    return b"ld-linux" not in program.read_bytes()[:4096] and b"ld-musl" not in program.read_bytes()[:4096]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="without the pauses for reading")
    told = parser.parse_args()
    if subprocess.run(["docker", "version"], capture_output=True).returncode != 0:
        raise SystemExit(
            "a Docker engine is needed, and `docker version` must work (Debian: apt-get install docker.io)"
        )
    program = busybox()
    with tempfile.TemporaryDirectory(prefix="argus-demo-") as folder:
        demo = Demo(Path(folder), fast=told.fast)
        (demo.shop / ".busybox").mkdir()
        shutil.copy(program, demo.shop / ".busybox" / "busybox")
        try:
            demo.play()
        finally:
            demo.end()
    print("\nThe shop is in examples/shop. docs/environments.md and docs/tests.md say the rest.")


if __name__ == "__main__":
    main()
