"""HTTP/1.1 over a socket, as much of it as one client of one server needs.

The standard library's client costs more to import than all the rest of the CLI together.
"""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Callable, Iterator
from typing import Any

TIMEOUT = 60.0
SILENCE = 10.0
"""Seconds without a first byte after which it is asked whether there will ever be one."""


class Unanswered(ConnectionError):
    """The other end went away before it had answered: nobody knows whether it did what was asked."""


class Connection:
    """One request on one connection."""

    def __init__(self, host: str, port: int, timeout: float | None = TIMEOUT) -> None:
        self._socket = socket.create_connection((host, port), timeout=min(5.0, timeout or 5.0))
        self._socket.settimeout(timeout)
        self._file = self._socket.makefile("rb")
        self.status = 0
        self.headers: dict[str, str] = {}

    def begin(self, method: str, target: str, headers: dict[str, str]) -> None:
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        self._socket.sendall("\r\n".join(lines).encode("latin-1", "replace"))

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def has_answer(self, patience: float) -> bool:
        """Whether anything came within so many seconds."""
        looked = select.poll()
        looked.register(self._socket, select.POLLIN)
        return bool(looked.poll(patience * 1000))

    def read_head(self) -> None:
        line = self._file.readline(65536)
        if not line:
            raise Unanswered("it ended before it had answered")
        parts = line.split(None, 2)
        if len(parts) < 2 or not parts[0].startswith(b"HTTP/") or not parts[1].isdigit():
            raise ConnectionError("the answer is not HTTP")
        self.status = int(parts[1])
        while (line := self._file.readline(65536)) not in (b"\r\n", b"\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            self.headers[name.strip().lower()] = value.strip()

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes."""
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            length = self.headers.get("content-length")
            body = self._file.read(int(length)) if length is not None else self._file.read()
            if length is not None and len(body) < int(length):
                raise Unanswered("the answer is not whole")
            yield body
            return
        while True:
            line = self._file.readline(1024).strip()
            if not line:
                raise Unanswered("the answer ended in its middle")
            size = int(line.split(b";")[0], 16)
            data = self._file.read(size)
            self._file.readline(16)
            if size == 0:
                return
            yield data

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def end_input(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)


def request(
    host: str,
    port: int,
    token: str,
    method: str,
    target: str,
    body: Any = None,
    *,
    timeout: float = TIMEOUT,
    doubt: Callable[[], None] | None = None,
) -> tuple[int, Any]:
    """Status and JSON. `doubt` is called once when nothing has come for a while, and may raise to give up."""
    connection = Connection(host, port, timeout)
    try:
        raw = b"" if body is None else json.dumps(body).encode()
        headers = {
            "Host": f"{f'[{host}]' if ':' in host else host}:{port}",
            "Authorization": f"Bearer {token}",
            "User-Agent": "argus-cli",
            "Connection": "close",
            "Content-Length": str(len(raw)),
        }
        if raw:
            headers["Content-Type"] = "application/json"
        try:
            connection.begin(method, target, headers)
            connection.write(raw)
            if doubt is not None and not connection.has_answer(SILENCE):
                doubt()
            connection.read_head()
            body = b"".join(connection.chunks())
        except (ConnectionResetError, BrokenPipeError) as error:
            raise Unanswered(str(error)) from None
        return connection.status, json.loads(body or b"null")
    except ValueError:
        raise ConnectionError("the answer is not JSON") from None
    finally:
        connection.close()
