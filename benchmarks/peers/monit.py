"""Debian's monit: one process that checks everything in turn, once in a cycle."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

MISSING = "monit is not here (Debian: apt-get install monit)"


def program() -> str | None:
    return shutil.which("monit")


def http(name: str, port: int, path: str = "/", *, timeout: float = 5.0) -> str:
    return (
        f"check host {name} with address 127.0.0.1\n"
        f'  if failed port {port} protocol http request "{path}" with timeout {timeout:g} seconds then alert'
    )


@contextlib.contextmanager
def running(found: str, folder: Path, cycle: float, checks: Sequence[str]) -> Iterator[int]:
    """Its PID, while it checks all of these in every cycle."""
    folder.mkdir(exist_ok=True)
    settings = folder / "monitrc"
    own = [f"set daemon {cycle:g}", *(f"set {name}file {folder}/{name}" for name in ("id", "state", "pid"))]
    settings.write_text("\n".join([*own, *checks, ""]))
    settings.chmod(0o600)
    with subprocess.Popen(
        [found, "-I", "-c", str(settings)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process.pid
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
