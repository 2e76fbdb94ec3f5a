"""Debian's prometheus-blackbox-exporter: it checks when it is asked over HTTP, and has no schedule of its own."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MISSING = "blackbox is not here (Debian: apt-get install prometheus-blackbox-exporter)"
_STARTED = 30.0
_MODULES = """
modules:
  http:
    prober: http
    http: {preferred_ip_protocol: ip4}
  tcp:
    prober: tcp
    tcp: {preferred_ip_protocol: ip4}
"""


def program() -> str | None:
    return shutil.which("prometheus-blackbox-exporter")


@dataclass(frozen=True, slots=True)
class Exporter:
    pid: int
    port: int

    async def probe(self, kind: str, port: int) -> None:
        """One question; it checks, and answers with what it saw."""
        target = f"http://127.0.0.1:{port}/" if kind == "http" else f"127.0.0.1:{port}"
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            # HTTP/1.0, so that the answer comes in one piece and its end is the end of the connection.
            writer.write(f"GET /probe?module={kind}&target={target} HTTP/1.0\r\n\r\n".encode())
            answer = await reader.read()
            if b"\nprobe_success 1\n" not in answer:
                raise RuntimeError(f"blackbox could not check {target}: {answer[-300:]!r}")
        finally:
            writer.close()


@contextlib.contextmanager
def running(found: str, folder: Path) -> Iterator[Exporter]:
    folder.mkdir(exist_ok=True)
    (settings := folder / "blackbox.yml").write_text(_MODULES)
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    command = [found, f"--config.file={settings}", f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait(port)
            yield Exporter(process.pid, port)
        finally:
            process.kill()


def _wait(port: int) -> None:
    until = time.monotonic() + _STARTED
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise RuntimeError("blackbox did not start") from None
            time.sleep(0.05)
