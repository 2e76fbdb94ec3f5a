"""`argus mcp`: carries an agent's stdio to the daemon and back, line by line, knowing nothing of what the lines mean.

It outlives a restart of the daemon: it connects again and repeats the handshake, which is the one thing it remembers.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from typing import Any

from argus import home
from argus.cli.client import Daemon, Refused, find_or_start, token
from argus.cli.http import Connection
from argus.cli.shell import shell
from argus.core.errors import ArgusError, Code

_HANDSHAKE = ("initialize", "notifications/initialized")
_CANCELLED = "notifications/cancelled"
_TRIES = 20
_LAST_ANSWERS = 10.0
_LONGEST = 1024 * 1024


class _Turned(Exception):
    """Away, by a daemon that said why."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error


class Relay:
    def __init__(self, config: str | None) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._output = threading.Lock()
        self._connection: Connection | None = None
        self._handshake: list[bytes] = []
        # Asked and not answered: over which connection, or None once it is being answered with why it never will be.
        self._waiting: dict[str, Connection | None] = {}
        self._ended = threading.Event()

    def run(self) -> None:
        with contextlib.suppress(_Turned, OSError):  # each message tries again, and is answered with why
            self._connect()
        for line in sys.stdin.buffer:
            if line.strip():
                self._send(line.rstrip(b"\r\n") + b"\n")
        self._finish()

    def _send(self, line: bytes) -> None:
        message = _message(line)
        method, number = message.get("method"), message.get("id")
        wrong = _wrong(line, message)
        if wrong:
            # The daemon's side would drop it without a word, and the agent would wait for ever.
            self._say({"jsonrpc": "2.0", "id": number if _is_id(number) else None, "error": wrong})
            return
        asks = method is not None and number is not None
        if method == _CANCELLED and not self._withdraw(message):
            return
        try:
            self._deliver(line, json.dumps(number) if asks else None)
        except _Turned as turned:
            if asks:
                self._say({"jsonrpc": "2.0", "id": number, "error": turned.error})
            return
        except (ArgusError, Refused, OSError) as error:
            # The agent's session outlives the daemon: it hears why, and may ask again.
            if asks:
                self._say({"jsonrpc": "2.0", "id": number, "error": {"code": -32000, "message": str(error)}})
            return
        if method in _HANDSHAKE:
            self._handshake = [one for one in self._handshake if _message(one).get("method") != method] + [line]

    def _withdraw(self, message: dict[str, Any]) -> bool:
        """Nobody waits for that answer any more, and none will come. False: there is nobody to be told."""
        params = message.get("params")
        number = params.get("requestId") if isinstance(params, dict) else None
        with self._lock:
            self._waiting.pop(json.dumps(number), None)
            # What the daemon was asked ended with it; one is not started to be told that nobody wants that any more.
            return self._connection is not None

    def _deliver(self, line: bytes, number: str | None) -> None:
        for _ in range(_TRIES):
            connection = self._connection or self._connect()
            with self._lock:
                if self._connection is not connection:
                    continue  # it ended meanwhile, and nobody would answer what is asked over it now
                if number is not None:
                    self._waiting[number] = connection
            try:
                connection.write(_chunk(line))
                return
            except OSError:
                with self._lock:
                    if self._connection is connection:
                        self._connection = None
                    if number is not None and self._waiting.get(number) is not connection:
                        return  # it is answered already
                    self._waiting.pop(number or "", None)
        raise ArgusError(Code.NO_DAEMON, "the daemon cannot be reached")

    def _connect(self) -> Connection:
        daemon = find_or_start(self._config)
        connection = _open(daemon, token(home.folder(os.environ)))
        # Before anything is said: a daemon that turns one away hangs up on what it has not read, and with that its
        # answer can be lost.
        connection.read_head()
        if connection.status != 200:
            raise _Turned(_refused(b"".join(connection.chunks()), connection.status))
        # Where the agent works: environments are built and tested as in its own shell.
        connection.write(_chunk(json.dumps({"argus": shell(cut=True)}).encode() + b"\n"))
        silenced = set()
        for line in self._handshake:
            number = _message(line).get("id")
            if number is not None:
                silenced.add(json.dumps(number))
            connection.write(_chunk(line))
        with self._lock:
            self._connection = connection
        threading.Thread(target=self._receive, args=(connection, silenced), daemon=True).start()
        return connection

    def _receive(self, connection: Connection, silenced: set[str]) -> None:
        kept = b""
        try:
            for data in connection.chunks():
                *lines, kept = (kept + data).split(b"\n")
                for line in lines:
                    self._pass_on(line, silenced)
        except (OSError, ValueError):
            # The daemon has ended. What was asked is answered below. Only the agent's next line connects again, and
            # may start a daemon: one that a person stopped is not brought back by a relay that merely exists.
            pass
        with self._lock:
            if self._connection is connection:
                self._connection = None
            unanswered = [number for number, asked in self._waiting.items() if asked is connection]
            self._waiting.update(dict.fromkeys(unanswered))
        for number in unanswered:
            if not self._ended.is_set():
                self._say({"jsonrpc": "2.0", "id": json.loads(number), "error": _LOST})
            with self._lock:
                self._waiting.pop(number, None)  # only now: who ends waits until everything is answered

    def _pass_on(self, line: bytes, silenced: set[str]) -> None:
        message = _message(line)
        number = json.dumps(message.get("id")) if message.get("id") is not None and "method" not in message else None
        if number in silenced:
            silenced.discard(number or "")
            return
        if number is not None:
            with self._lock:
                self._waiting.pop(number, None)
        self._write(line)

    def _say(self, message: dict[str, Any]) -> None:
        self._write(json.dumps(message).encode())

    def _write(self, line: bytes) -> None:
        with self._output:
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()

    def _finish(self) -> None:
        """The agent closed its side: what it asked before still gets its answer, then the daemon hears of the end."""
        until = time.monotonic() + _LAST_ANSWERS
        while self._waiting and time.monotonic() < until:
            time.sleep(0.01)
        self._ended.set()
        connection = self._connection
        if connection is not None:
            try:
                connection.write(b"0\r\n\r\n")
            except OSError:
                return  # it is gone already


_LOST = {"code": -32000, "message": "Argus was restarted before it answered; ask again"}


def _refused(body: bytes, status: int) -> dict[str, Any]:
    """Why the daemon does not let this agent in, in its own words: asking again would not help."""
    error = _message(body).get("error")
    if not isinstance(error, dict):
        return {"code": -32000, "message": f"Argus answered with HTTP {status}"}
    return {"code": -32000, "message": f"{error.get('code')}: {error.get('message')}", "data": error}


def _open(daemon: Daemon, secret: str) -> Connection:
    connection = Connection(daemon.host, daemon.port, timeout=None)
    host = f"[{daemon.host}]" if ":" in daemon.host else daemon.host
    connection.begin(
        "POST",
        "/mcp/stdio",
        {
            "Host": f"{host}:{daemon.port}",
            "Authorization": f"Bearer {secret}",
            "Content-Type": "application/x-ndjson",
            "Transfer-Encoding": "chunked",
        },
    )
    return connection


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


_NO_JSON = {"code": -32700, "message": "the line is not JSON"}
_NO_MESSAGE = {"code": -32600, "message": "not a JSON-RPC 2.0 message"}


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _wrong(line: bytes, message: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON-RPC error for what is no message at all."""
    if len(line) > _LONGEST:
        return {"code": -32600, "message": "a message has at most 1 MiB"}
    if not message:
        return _NO_JSON if not _is_json(line) else _NO_MESSAGE
    method = message.get("method")
    answers = "result" in message or "error" in message
    well = message.get("jsonrpc") == "2.0" and (isinstance(method, str) or answers)
    if not well or not ("id" not in message or _is_id(message["id"])):
        return _NO_MESSAGE
    return None


def _is_id(number: Any) -> bool:
    return isinstance(number, str | int) and not isinstance(number, bool)
