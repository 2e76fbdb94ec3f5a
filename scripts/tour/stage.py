"""What the tour stands on: an Argus of its own, in a folder of its own, and somebody who says what happens."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tour.words import without_notice

ROOT = Path(__file__).resolve().parents[2]
ARGUS = ROOT / ".venv" / "bin" / "argus"
_HERE = Path(__file__).resolve().parent
_PATIENCE = 90.0
_GRACE = 5.0
"""Seconds for what was told to end."""
T = TypeVar("T")


class Stage:
    def __init__(self, folder: Path, *, fast: bool) -> None:
        self.folder = folder
        self.shop = folder / "shop"
        self.pause = 0.0 if fast else 2.0
        # A socket's path must be short, and folders for temporary files may be deep.
        self._short = tempfile.TemporaryDirectory(prefix="argus-demo-", dir="/tmp")
        own = {"ARGUS_HOME": str(folder / "argus"), "NO_COLOR": "1", "COLUMNS": "110"}
        self.sockets = own["TMUX_TMPDIR"] = self._short.name
        inherited = {name: text for name, text in os.environ.items() if not name.startswith(("ARGUS_", "TMUX"))}
        self.env = {**inherited, **own}
        # Not the busybox of somebody who has brought it up there.
        shutil.copytree(ROOT / "examples" / "shop", self.shop, ignore=shutil.ignore_patterns(".busybox"))
        # Under names of its own: you may have brought the shop up yourself, or play the tour twice at once.
        self.name = f"shop-{secrets.token_hex(2)}"
        file = self.shop / "e2e.yaml"
        said = file.read_text(encoding="utf-8")
        for theirs, ours in (("shop-", "{}-"), ("name: shop,", "name: {},"), ("argus-demo-", "argus-demo-{}-")):
            said = said.replace(theirs, ours.format(self.name))
        file.write_text(said, encoding="utf-8")
        self.images = [f"argus-demo-{self.name}-{part}:1" for part in ("db", "api")]
        self.ports = {name: free_port() for name in ("accounts", "search")}

    # Saying.

    def say(self, title: str, *lines: str) -> None:
        print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n== {title}", flush=True)
        for line in lines:
            print(f"   {line}", flush=True)
        time.sleep(self.pause)

    def breaks(self, command: str, what: str) -> None:
        print(f"$ {command}        # {what}, broken on purpose", flush=True)

    def show(self, text: str) -> None:
        for line in text.strip().splitlines():
            print(f"   | {line.rstrip()}", flush=True)

    # Argus.

    def configure(self, *, with_claude: bool) -> None:
        """Times are those of a tour: seconds, where a day has minutes."""
        needs = ["accounts"]
        agent = {"command": [sys.executable, str(_HERE / "worker.py"), "{{task}}"], "agent": "plain", "tmux": True}
        session = {"path": str(self.shop), "agent": "claude" if with_claude else "plain", "dependsOn": needs}
        said: dict[str, Any] = {
            "server": {"port": 0},
            "autonomy": "moderate",
            "health": {
                "verifyAfter": "1s",
                "restartBudget": {"maxPerHour": 10},
                "services": [self._service("accounts"), {**self._service("search"), "dependsOn": needs}],
            },
            "agents": {
                "heartbeat": {"interval": "2s", "staleAfter": "10s", "checkEvery": "2s"},
                "respawn": {"backoff": "1s"},
                "configs": {"worker": {**agent, "cwd": str(self.shop), "dependsOn": needs}},
            },
            "sessions": {"lookEvery": "1s", "projects": {"shop": session} if with_claude else {}},
            "environments": [{"path": "e2e.yaml", "dependsOn": needs}],
        }
        (self.shop / "argus.yaml").write_text(json.dumps(said, indent=2), encoding="utf-8")

    def _service(self, name: str) -> dict[str, Any]:
        port = self.ports[name]
        start = [sys.executable, str(_HERE / "server.py"), str(port), str(self._pid_file(name))]
        address = f"http://127.0.0.1:{port}/"
        return {"name": name, "type": "http", "url": address, "interval": "1s", "restart": {"command": start}}

    def _pid_file(self, name: str) -> Path:
        return self.folder / f"{name}.pid"

    def start_services(self) -> None:
        for name, port in self.ports.items():
            subprocess.run([sys.executable, _HERE / "server.py", str(port), self._pid_file(name)], check=True)

    def kill_service(self, name: str) -> None:
        os.kill(self.pid(name), signal.SIGKILL)

    def pid(self, name: str) -> int:
        return int(self._pid_file(name).read_text())

    def end(self) -> None:
        self.tmux("kill-server")
        self.kill_services()
        # Claude Code writes files while it ends: whoever removes its folder meanwhile finds it full again.
        end = time.monotonic() + _GRACE
        while (left := self._left()) and time.monotonic() < end:
            time.sleep(0.05)
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        while self._left() and time.monotonic() < end + _GRACE:
            time.sleep(0.05)
        self._short.cleanup()

    def _left(self) -> list[int]:
        """Whatever was started on this stage, by whomever: its environment says so, where the machine shows it."""
        mark = f"TMUX_TMPDIR={self.sockets}".encode()
        found = []
        for place in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):  # it is gone, or somebody else's
                if mark in place.read_bytes().split(b"\0"):
                    found.append(int(place.parent.name))
        return found

    def kill_services(self) -> None:
        for name in self.ports:
            with contextlib.suppress(OSError, ValueError):
                self.kill_service(name)

    def agents(self) -> list[str]:
        with contextlib.suppress(SystemExit):
            return [one["agent_id"] for one in json.loads(self.quietly("agents", "list", "--json"))["agents"]]
        return []

    def argus(self, *words: str, expect: int = 0) -> None:
        """In the shop's folder, with what it prints shown."""
        print(f"$ argus {shlex.join(words)}", flush=True)
        done = subprocess.run([ARGUS, *words], cwd=self.shop, env=self.env)
        if done.returncode != expect:
            raise SystemExit(f"argus {' '.join(words)} ended with {done.returncode}, not with {expect}")

    def quietly(self, *words: str, **env: str) -> str:
        # In a session of its own: whoever interrupts the tour does not interrupt how it ends.
        done = subprocess.run(
            [ARGUS, *words],
            cwd=self.shop,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            start_new_session=True,
        )
        if done.returncode != 0:
            raise SystemExit(f"argus {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def tidy(self, *words: str | Path) -> None:
        """In a session of its own: a Ctrl-C does not reach it."""
        subprocess.run(words, cwd=self.shop, env=self.env, capture_output=True, start_new_session=True)

    def works(self, *words: str) -> bool:
        done = subprocess.run([ARGUS, *words], cwd=self.shop, env=self.env, capture_output=True)
        return done.returncode == 0

    def argus_read(self, *words: str, seen: str = "", then: Callable[[], None] | None = None) -> None:
        """Line by line; `then` as soon as one has `seen` in it."""
        print(f"$ argus {shlex.join(words)}", flush=True)
        out, err = subprocess.PIPE, subprocess.STDOUT
        with subprocess.Popen(
            [ARGUS, *words], cwd=self.shop, env=self.env, text=True, stdout=out, stderr=err
        ) as program:
            for line in without_notice(program.stdout or ()):
                print(line, end="", flush=True)
                if then is not None and seen in line:
                    then()
        if program.returncode != 0:
            raise SystemExit(f"argus {' '.join(words)} ended with {program.returncode}")

    def events(self, *types: str) -> list[dict[str, Any]]:
        found = json.loads(self.quietly("events", "--last", "10000", "--json"))["events"]
        return [one for one in found if one["event"].partition(":")[2] in types]

    def event(self, type: str, count: int = 1) -> dict[str, Any]:
        return self.until(lambda: (found := self.events(type))[count - 1 :] and found[-1], f"the event {type}")

    def until(self, look: Callable[[], T], what: str) -> T:
        end = time.monotonic() + _PATIENCE
        while not (found := look()):
            if time.monotonic() > end:
                raise SystemExit(f"not within {_PATIENCE:g} s: {what}")
            time.sleep(0.2)
        return found

    # Others.

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", *words], env=self.env, capture_output=True, text=True)
        return done.stdout

    def docker(self, *words: str) -> str:
        done = subprocess.run(["docker", *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"docker {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout.strip()


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])
