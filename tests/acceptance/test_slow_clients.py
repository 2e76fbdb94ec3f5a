"""Clients that are slow, at every place where one can be: they are let go in time, and nobody waits for them."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from tests.acceptance.cut_streams import head, place_of
from tests.acceptance.harness import DEADLINE, Argus, Silent, WebServer, eventually, watched, whole

_LONG = 180.0
_REQUEST = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.fixture
def running(argus: Argus) -> Argus:
    web = WebServer(argus, "web").start()
    argus.configure([web.service()], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    return argus


class Client:
    """One connection, and whether the daemon still holds its end of it."""

    def __init__(self, argus: Argus) -> None:
        self._daemon = psutil.Process(argus.pid)
        self.socket = socket.socket()
        # Little room, so that what is not read waits in the daemon and not in the kernel.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(DEADLINE)
        self.socket.connect(place_of(argus))
        self._own = self.socket.getsockname()

    def answer(self) -> bytes:
        """What has come so far, at least a head."""
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.socket.recv(4096)
        return received

    @property
    def is_held(self) -> bool:
        return any(one.raddr == self._own for one in self._daemon.net_connections("inet4"))


class Drip(threading.Thread):
    """Does one small thing a second until the daemon has let go of the connection."""

    def __init__(self, client: Client, step: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._step = step
        self.enough = threading.Event()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while not self.enough.wait(1.0):
                self._step()


@contextlib.contextmanager
def dripping(client: Client, step: Callable[[], Any]) -> Iterator[Client]:
    drip = Drip(client, step)
    drip.start()
    try:
        yield client
    finally:
        drip.enough.set()
        client.socket.close()
        drip.join(DEADLINE)


def sends(client: Client, data: bytes) -> Callable[[], Any]:
    return lambda: client.socket.send(data)


def slow_ones(argus: Argus) -> dict[str, tuple[Client, Callable[[], Any]]]:
    """One for each place; all of them at once, because each takes as long as it is borne."""
    clients = {name: Client(argus) for name in ("head", "second head", "line breaks", "body", "answers", "one answer")}
    clients["second head"].socket.sendall(_REQUEST)
    clients["second head"].answer()
    for name in ("head", "second head"):
        clients[name].socket.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
    clients["line breaks"].socket.sendall(_REQUEST)
    clients["line breaks"].answer()
    clients["body"].socket.sendall(
        head(argus, "PUT", "/api/autonomy", "Content-Type: application/json", "Content-Length: 1000")
    )
    # More than the kernel takes for somebody who does not read.
    many = head(argus, "GET", "/openapi.json") * 300
    clients["answers"].socket.sendall(many)
    clients["one answer"].socket.sendall(many)
    steps = {
        "head": sends(clients["head"], b"y"),
        "second head": sends(clients["second head"], b"y"),
        "line breaks": sends(clients["line breaks"], b"\r\n"),
        "body": sends(clients["body"], b" "),
        "answers": lambda: None,
        "one answer": lambda: clients["one answer"].socket.recv(1),
    }
    return {name: (client, steps[name]) for name, client in clients.items()}


def somebody_else_is_served(argus: Argus, round: str) -> None:
    """Reports come in, and who follows hears of them; they are also what the one that does not read is sent."""
    with argus.events(live="true") as stream:
        for _ in range(20):
            report = {"hook_event_name": round, "cwd": "/" + "x" * 4000}
            assert argus.rest("POST", "/api/hooks/claude", report).status == 200
        stream.until(lambda event: event.data.get("event") == round, f"the report of {round}")


@pytest.mark.req("IF-02")
def test_whoever_drips_or_does_not_read_is_let_go_and_nobody_waits_for_them(running: Argus) -> None:
    with contextlib.ExitStack() as crowd:
        clients = {name: crowd.enter_context(dripping(*one)) for name, one in slow_ones(running).items()}
        stuck = Client(running)
        crowd.enter_context(contextlib.closing(stuck.socket))
        stuck.socket.sendall(head(running, "GET", "/api/events?live=true"))
        stuck.answer()
        clients["events"] = stuck
        until = time.monotonic() + _LONG
        for number in itertools.count(1):
            held = [name for name, client in clients.items() if client.is_held]
            if not held:
                break
            assert time.monotonic() < until, f"still held: {held}"
            somebody_else_is_served(running, f"round-{number}")
        assert b"INVALID_REQUEST" in clients["body"].socket.recv(65536)
    before = running.service("web")["lastCheck"]
    eventually(lambda: running.service("web")["lastCheck"] > before, "checks go on")
    assert running.journal("service_down", "infrastructure_event") == []


def test_of_three_hundred_readers_two_hundred_are_served_and_the_others_told_why(running: Argus) -> None:
    with contextlib.ExitStack() as crowd:
        clients = [Client(running) for _ in range(300)]
        for client in clients:
            crowd.enter_context(contextlib.closing(client.socket))
            client.socket.sendall(head(running, "GET", "/api/events"))
        statuses = [int(client.answer().split(b" ")[1]) for client in clients]
        assert (statuses.count(200), statuses.count(409)) == (200, 100)
        refused = running.rest("GET", "/api/events")
        assert (refused.status, refused.error["code"], refused.error["details"]["limit"]) == (409, "CONFLICT", 200)
        # Whoever is in hears what happens, all of them.
        assert running.rest("PUT", "/api/autonomy", {"level": "full"}).status == 200
        for client, status in zip(clients, statuses, strict=True):
            if status == 200:
                received = b""
                while b"autonomy_changed" not in received:
                    received += client.socket.recv(4096)
    eventually(lambda: running.rest("GET", "/api/events?follow=false").status == 200, "there is room again")


def test_a_crowd_that_asked_once_makes_room_for_who_comes(running: Argus) -> None:
    with contextlib.ExitStack() as crowd:
        for _ in range(600):
            client = Client(running)
            crowd.enter_context(contextlib.closing(client.socket))
            client.socket.sendall(_REQUEST)
            client.answer()
        assert running.rest("GET", "/healthz", token=False).status == 200
        assert running.service("web")["state"] == "up"


def test_a_request_that_argus_stops_under_is_told_so_in_the_one_form_of_errors(argus: Argus, silent: Silent) -> None:
    argus.configure([watched("slow", silent.url, interval="1h", timeout="20s")])
    argus.up()
    client = Client(argus)
    with contextlib.closing(client.socket):
        client.socket.sendall(head(argus, "POST", "/api/services/slow/check"))
        argus.get("/api/state")  # which came later and is answered: so the other one is under way
        argus.down()
        said = b""
        while more := client.socket.recv(4096):
            said += more
    answer, _, body = said.partition(b"\r\n\r\n")
    assert answer.split(b" ")[1] == b"503", said
    assert whole(json.loads(body)["error"])["code"] == "NO_DAEMON"
