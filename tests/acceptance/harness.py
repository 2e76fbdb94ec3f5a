"""Drives the installed program as a user does: the `argus` command, REST and SSE, with real services to break."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import random
import shlex
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode, urlsplit

import psutil
import yaml

DEADLINE = 30.0
MARK = "ARGUS_ACCEPTANCE"
PROGRAM = str(Path(sys.executable).with_name("argus"))
ERROR_FIELDS = {"code", "category", "severity", "message", "details", "suggestedActions", "timestamp"}
_SERVER = Path(__file__).with_name("web_server.py")
_POLL = 0.05
T = TypeVar("T")


def eventually(look: Callable[[], T], what: str, seconds: float = DEADLINE) -> T:
    """The first true answer; the one place where tests wait for what no event tells."""
    until = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds:g} s: {what} (last seen: {found!r})")
        time.sleep(_POLL)


async def never(look: Callable[[], object], what: str, seconds: float) -> None:
    """What must not happen has no event to wait for: it is looked for as long as it would take."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert not look(), what
        await asyncio.sleep(_POLL)


def is_alive(pid: int) -> bool:
    """A zombie is dead."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


_GIVEN: set[int] = set()


def free_port() -> int:
    """Below the range that the kernel hands out: nobody else gets it while the service on it is dead. No number twice:
    who binds it may do so later, or where we do not see it."""
    while True:
        port = random.randint(15000, 32000)
        if port in _GIVEN:
            continue
        _GIVEN.add(port)
        with socket.socket() as trial, contextlib.suppress(OSError):
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(("127.0.0.1", port))
            return port


class Ran(NamedTuple):
    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.stdout)

    @property
    def error(self) -> dict[str, Any]:
        answer = self.json
        assert set(answer) == {"error"}
        return whole(answer["error"])


class Reply(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        answer = self.json
        assert set(answer) == {"error"}
        return whole(answer["error"])


def whole(error: dict[str, Any]) -> dict[str, Any]:
    """A structured error has all its parts, and no others."""
    assert set(error) == ERROR_FIELDS
    assert error["category"] in {"infrastructure", "configuration", "container", "network", "test", "system"}
    assert isinstance(error["details"], dict)
    assert error["suggestedActions"], "an error says what to do"
    assert isinstance(error["timestamp"], int)
    return error


class Event(NamedTuple):
    id: str
    name: str
    data: dict[str, Any]

    @property
    def type(self) -> str:
        return str(self.data["type"])

    @property
    def number(self) -> int:
        return int(self.id.rpartition("-")[2])


class Stream:
    """One connection to /api/events."""

    def __init__(self, connection: http.client.HTTPConnection, headers: dict[str, str], query: dict[str, str]) -> None:
        self._connection = connection
        self._connection.request("GET", f"/api/events?{urlencode(query)}", headers=headers)
        self._response = self._connection.getresponse()
        assert self._response.status == 200, self._response.read()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()
        self._connection.close()

    def __iter__(self) -> Iterator[Event]:
        """Events as they come, to the end of the connection. The deadline is for all of them: comments that keep the
        connection alive do not move it."""
        fields: dict[str, str] = {}
        until = time.monotonic() + DEADLINE
        while line := self._line():
            text = line.decode().rstrip("\n")
            if text and not text.startswith(":"):
                key, _, value = text.partition(": ")
                fields[key] = value
            elif not text and "data" in fields:
                yield Event(fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"]))
                fields = {}
            if time.monotonic() > until:
                raise TimeoutError(f"the stream goes on after {DEADLINE:g} s")

    def _line(self) -> bytes:
        try:
            return self._response.readline()
        except (http.client.IncompleteRead, ConnectionError):
            return b""  # the daemon was killed

    def take(self, count: int) -> list[Event]:
        return self._collect(lambda events: len(events) == count, f"{count} events")

    def until(self, matches: Callable[[Event], bool], what: str) -> list[Event]:
        """All that came, up to the one that matches."""
        return self._collect(lambda events: matches(events[-1]), what)

    def _collect(self, enough: Callable[[list[Event]], bool], what: str) -> list[Event]:
        events: list[Event] = []
        with contextlib.suppress(TimeoutError):
            for event in self:
                events.append(event)
                if enough(events):
                    return events
        raise AssertionError(f"the stream ended or was silent before {what}; these came: {events}")


class Argus:
    """One Argus of its own: state folder, configuration, environment; and an end to everything it started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "state"
        self.config = folder / "argus.yaml"
        self.url = ""
        self.pid = 0
        kept = {
            name: value
            for name, value in os.environ.items()
            if (not name.startswith("ARGUS_") or name == "ARGUS_TEST_RUN") and not name.lower().endswith("_proxy")
        }
        (folder / "user").mkdir(parents=True)
        self.env = {
            **kept,
            "HOME": str(folder / "user"),
            "XDG_CONFIG_HOME": str(folder / "user" / "config"),
            "XDG_STATE_HOME": str(folder / "user" / "state"),
            "XDG_CACHE_HOME": str(folder / "user" / "cache"),
            "ARGUS_HOME": str(self.home),
            MARK: str(folder),
        }

    # --- configuration

    def write(self, text: str) -> None:
        self.config.write_text(text, encoding="utf-8")

    def configure(
        self,
        services: Iterable[dict[str, Any]] = (),
        *,
        autonomy: str = "moderate",
        channels: Iterable[str] = (),
        **health: Any,
    ) -> None:
        settings = {
            "server": {"port": 0},
            "autonomy": autonomy,
            "health": {"verifyAfter": "500ms", **health, "services": list(services)},
            "notify": {"channels": [{"url": url} for url in channels]},
        }
        self.write(yaml.safe_dump(settings, sort_keys=False))

    # --- the command

    def words(self, *arguments: str) -> list[str]:
        return [PROGRAM, *arguments]

    def cli(
        self, *arguments: str, env: dict[str, str] | None = None, timeout: float = 60.0, nowhere: bool = False
    ) -> Ran:
        """`nowhere`: in a folder that is taken away before it starts."""
        words = self.words(*arguments)
        if nowhere:
            words = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh", *words]
        done = subprocess.run(
            words,
            cwd=self.folder,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def background(self, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words(*arguments),
            cwd=self.folder,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def up(self, *arguments: str) -> dict[str, Any]:
        ran = self.cli("up", "--detach", "--json", *arguments)
        assert ran.code == 0, ran
        said: dict[str, Any] = ran.json
        self.url, self.pid = said["url"], said["pid"]
        return said

    def down(self) -> Ran:
        ran = self.cli("down", "--json")
        assert ran.code == 0, ran
        assert not is_alive(self.pid)
        return ran

    def kill(self) -> None:
        """As the kernel would when memory runs out."""
        os.kill(self.pid, signal.SIGKILL)
        eventually(lambda: not is_alive(self.pid), "the daemon is dead")

    def find(self) -> dict[str, Any] | None:
        """What daemon.json says, for daemons that `up` did not start."""
        try:
            said: dict[str, Any] = json.loads((self.home / "daemon.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        self.url, self.pid = said["url"], said["pid"]
        return said

    # --- REST and SSE

    def connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=DEADLINE)

    @property
    def token(self) -> str:
        return (self.home / "token").read_text(encoding="utf-8").strip()

    @property
    def authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def rest(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
        token: bool = True,
    ) -> Reply:
        connection = self.connection()
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        sent = {**(self.authorization if token else {}), "Connection": "close"}
        if data is not None:
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, path, data, {**sent, **(headers or {})})
            response = connection.getresponse()
            return Reply(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        reply = self.rest("GET", path)
        assert reply.status == 200, reply
        return reply.json

    def service(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/api/services/{name}")
        return found

    def events(self, *, after: str | None = None, **query: str) -> Stream:
        headers = {**self.authorization, **({"Last-Event-ID": after} if after else {})}
        return Stream(self.connection(), headers, query)

    def journal(self, *types: str) -> list[Event]:
        """Everything on record, or what is of these types."""
        with self.events(last="10000", follow="false") as stream:
            return [event for event in stream if not types or event.type in types]

    def wait_for(self, type: str, service: str | None = None, count: int = 1) -> Event:
        """The event, once the journal has it (that many times)."""
        seen = 0

        def matches(event: Event) -> bool:
            nonlocal seen
            seen += event.type == type and (service is None or event.data.get("service") == service)
            return seen >= count

        with self.events(last="10000") as stream:
            return stream.until(matches, f"{type} of {service or 'anything'} x{count}")[-1]

    def wait_until(self, name: str, state: str) -> dict[str, Any]:
        return eventually(lambda: (one := self.service(name))["state"] == state and one, f"{name} is {state}")

    # --- the end

    def end(self) -> None:
        """Kills whatever carries this Argus's mark: daemons, restart commands, and the services those left."""
        until = time.monotonic() + DEADLINE
        while marked := list(self.marked()):
            assert time.monotonic() < until, f"still alive: {marked}"
            for process in marked:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            time.sleep(_POLL)

    def marked(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get(MARK) == self.env[MARK] and process.status() != psutil.STATUS_ZOMBIE:
                    yield process


def words_of(process: psutil.Process) -> list[str]:
    """The command that it runs; none, where it ends just now."""
    with contextlib.suppress(psutil.Error):
        return list(process.cmdline())
    return []


def watched(name: str, url: str, **more: Any) -> dict[str, Any]:
    """A service in the configuration. A dead one refuses at once, so the timeout may be generous."""
    return {"name": name, "type": "http", "url": url, "interval": "200ms", "timeout": "2s", **more}


class WebServer:
    """A real HTTP service that can be killed, and a restart command for it that counts its runs."""

    def __init__(self, argus: Argus, name: str) -> None:
        self.name = name
        self.port = free_port()
        self._argus = argus
        self._base = argus.folder / name
        self._pid_file = Path(f"{self._base}.pid")
        self._runs = Path(f"{self._base}.runs")
        self.blocked = Path(f"{self._base}.blocked")
        self.gate = Path(f"{self._base}.gate")
        self._start = [sys.executable, "-I", "-S", str(_SERVER), str(self.port), str(self._pid_file)]

    @property
    def pid(self) -> int:
        return int(self._pid_file.read_text())

    @property
    def runs(self) -> int:
        """How often the restart command ran."""
        return len(self._runs.read_text().splitlines()) if self._runs.exists() else 0

    def start(self) -> WebServer:
        subprocess.run(self._start, env=self._argus.env, check=True, timeout=DEADLINE)
        return self

    def kill(self) -> None:
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not is_alive(pid), f"{self.name} is dead")

    @property
    def answers(self) -> bool:
        with socket.socket() as trial:
            trial.settimeout(5)
            return trial.connect_ex(("127.0.0.1", self.port)) == 0

    def script(self, *steps: str) -> list[str]:
        """A restart command of these steps: `repair` starts the server, `block` waits until `gate` is there."""
        lines = {
            "repair": " ".join(map(shlex.quote, self._start)),
            "block": f"touch {shlex.quote(str(self.blocked))}\n"
            f"while [ ! -e {shlex.quote(str(self.gate))} ]; do sleep 0.05; done",
            "fail": "exit 7",
        }
        path = Path(f"{self._base}.restart.sh")
        body = "\n".join(lines[step] for step in steps)
        path.write_text(f"#!/bin/sh\necho $$ >> {shlex.quote(str(self._runs))}\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return [str(path)]

    @property
    def script_pid(self) -> int:
        return int(self._runs.read_text().splitlines()[-1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def service(self, *steps: str, **more: Any) -> dict[str, Any]:
        """Its entry in the configuration; without steps nothing restarts it."""
        entry = watched(self.name, self.url)
        restart = {"restart": {"command": self.script(*steps)}} if steps else {}
        return {**entry, **restart, **more}

    def let_go(self) -> None:
        self.gate.touch()


class Silent:
    """Takes connections and never answers."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"

    def close(self) -> None:
        self._listener.close()


class Message(NamedTuple):
    title: str
    body: str

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.body}"


class Hook:
    """Takes the posts of Apprise's json:// channel."""

    def __init__(self, port: int = 0) -> None:
        self.messages: list[Message] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                hook.messages.append(Message(said["title"], said["message"]))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        self.url = f"json://127.0.0.1:{self._server.server_port}/hook"

    def titled(self, title: str) -> list[Message]:
        return [message for message in self.messages if message.title == title]

    def wait_for(self, title: str) -> Message:
        return eventually(lambda: self.titled(title), f"a message {title!r}; there are {self.messages}")[0]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(DEADLINE)
