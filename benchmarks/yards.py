"""An Argus for environments beside an engine of its own, and the barest way to ask it: one connection that is kept."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from tests.acceptance.yard import Project, Yard, stays
from tests.docker_engine import Engine, missing

from benchmarks import load
from benchmarks.plan import Plan, Skipped

PORTS = range(13000, 13010)


@contextlib.contextmanager
def standing(plan: Plan) -> Iterator[Yard]:
    """Up until the block is left."""
    if reason := missing():
        raise Skipped(reason)
    with contextlib.ExitStack() as stack:
        engine = Engine()
        stack.callback(engine.end)
        made = Yard(plan.folder / "argus", engine)
        stack.callback(made.end)
        made.configure([])
        made.up()
        yield made
        made.down()


def shop(yard: Yard, **sections: Any) -> Project:
    """Five services with two ports each."""
    services = [
        stays(f"service{place}", *(f"{port}:{port}" for port in PORTS[2 * place : 2 * place + 2])) for place in range(5)
    ]
    return yard.project(services=services, **sections)


class Door:
    """One connection, used for one request after another: what is waited for is the other side."""

    def __init__(self, yard: Yard) -> None:
        parts = urlsplit(yard.url)
        self._port = parts.port or 0
        self._token = yard.token
        self._socket = yard.engine.connect(parts.hostname or "", self._port)

    def __enter__(self) -> Door:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def wire(self, method: str, target: str, body: Any = None) -> bytes:
        said = b"" if body is None else json.dumps(body).encode()
        return load.request(method, target, self._port, token=self._token, body=said)

    def asked(self, project: Project, operation: str, *, host: str = "", **more: Any) -> bytes:
        """An operation of environments, as the command line asks for it: with the caller's folder and variables."""
        environ = {**project.yard.env, **({"DOCKER_HOST": host} if host else {})}
        shell = {"folder": str(project.folder), "environ": environ}
        return self.wire("POST", f"/api/environments/{operation}", {"projectPath": ".", "shell": shell, **more})

    def timed(self, wire: bytes) -> tuple[float, int, bytes]:
        """Milliseconds, the status and the body."""
        began = time.perf_counter()
        self._socket.sendall(wire)
        said = b""
        while b"\r\n\r\n" not in said:
            said += self._more()
        head, _, body = said.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields[b"content-length"])
        pieces, size = [body], len(body)
        while size < length:
            pieces.append(self._more())
            size += len(pieces[-1])
        return (time.perf_counter() - began) * 1000, int(head[9:12]), b"".join(pieces)

    def _more(self) -> bytes:
        found = self._socket.recv(1 << 18)
        if not found:
            raise RuntimeError("the daemon closed the connection")
        return found


def checks(body: bytes) -> dict[str, Any]:
    """Of a preflight's answer, each check by its name."""
    return {one["name"]: one for one in json.loads(body)["healthReport"]["checks"]}
