"""What a hostile reviewer found in the parts: odd answers, odd names of this machine, secrets in other spellings."""

import asyncio
import json
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.contract.test_host import World, on_the_real_machine

from argus import config
from argus.core.errors import ArgusError, Code
from argus.core.redact import MASK, Redactor
from argus.host.channels import AppriseSender, understood
from argus.host.dns import Resolver
from argus.host.machine import MachineHost
from argus.host.seam import Failure, ProbeFailed
from argus.services.checks import HttpService
from argus.services.model import Status

ENOUGH = 30.0
CANARY = "canary7Kq2vXw9"


# Answers that no textbook has, from services that live all the same.

UPGRADE = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
BOTH = b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"


@pytest.mark.req("INFRA-01.3")
@pytest.mark.parametrize(
    ("answer", "status"),
    [
        pytest.param(UPGRADE, 101, id="switching-protocols"),
        pytest.param(UPGRADE + b"\x81\x05hello", 101, id="switching-protocols-and-speaking-the-other"),
        pytest.param(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, id="lines-that-end-with-lf-only"),
        pytest.param(b"HTTP/1.0 404 Not Found\n\nno", 404, id="lf-only-and-no-header"),
        pytest.param(b"HTTP/1.1 200 OK\r\n" + BOTH, 200, id="a-length-and-chunks"),
        pytest.param(b"HTTP/1.1 503 Busy\r\n" + BOTH, 503, id="a-length-and-chunks-of-an-error"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX Odd@Name: 1\r\nContent-Length: 2\r\n\r\nok", 200, id="an-odd-header-name"),
        pytest.param(b"HTTP/1.1 200 OK\r\n(odd): 1\r\n\r\n", 200, id="brackets-in-a-header-name"),
    ],
)
@on_the_real_machine
async def test_an_odd_answer_is_an_answer(world: World, answer: bytes, status: int):
    for body in (0, 65536):
        assert (await world.ask(await world.says(answer), body=body)).status == status


@on_the_real_machine
async def test_a_service_that_upgrades_and_then_says_nothing_is_up(world: World):
    port = await world.says(UPGRADE, then="silence")
    service = HttpService.model_validate({"name": "a", "type": "http", "url": f"http://127.0.0.1:{port}/"})
    assert (await service.probe(world.host)).status is Status.UP


# Look-ups.


async def test_who_waited_for_our_own_look_up_threads_learns_nothing_about_the_name():
    let_go = threading.Event()

    def hangs(host: str, port: int) -> list[str]:
        let_go.wait(ENOUGH)
        return ["127.0.0.1"]

    host = MachineHost(Resolver(look_up=hangs, threads=2))
    stuck = [asyncio.ensure_future(host.tcp(f"stuck{n}.invalid", 1, timeout=0.2)) for n in range(2)]
    try:
        for failed in await asyncio.gather(*stuck, return_exceptions=True):
            assert isinstance(failed, ProbeFailed)
            assert failed.failure is Failure.DNS, "these were asked about and did not answer"
        service = HttpService.model_validate({"name": "a", "type": "http", "url": "http://third.invalid:1/"})
        assert (await service.probe(host)).status is Status.UNKNOWN
        numeric = HttpService.model_validate({"name": "a", "type": "http", "url": "http://127.0.0.1:1/"})
        assert (await numeric.probe(host)).status is Status.DOWN, "a number needs no look-up"
    finally:
        let_go.set()
        host.close()


# Argus itself, by its other names.


def with_service(own_port: int = 7117, **service: Any) -> str:
    return json.dumps({"server": {"port": own_port}, "health": {"services": [{"name": "me", **service}]}})


SPELLINGS = ["2130706433", "0x7f.1", "0x7f000001", "017700000001", "ip6-localhost", "a.localhost", "A.LocalHost."]


@pytest.mark.req("INFRA-02.5")
@pytest.mark.parametrize("host", SPELLINGS)
@pytest.mark.parametrize("port", [7117, 8123])
def test_argus_itself_is_refused_in_every_spelling_of_loopback(host: str, port: int):
    for service in ({"type": "http", "url": f"http://{host}:{port}/"}, {"type": "tcp", "host": host, "port": port}):
        with pytest.raises(ArgusError) as caught:
            config.read(with_service(port, **service), "argus.yaml")
        assert caught.value.code is Code.CONFIG_INVALID
        (problem,) = caught.value.details["errors"]
        assert "Argus itself" in problem["message"]


@pytest.mark.parametrize("host", ["134744072", "0x08.8", "localhost.example", "notlocalhost", "ip6-localhost.example"])
def test_another_machine_on_argus_s_port_is_watched(host: str):
    assert config.read(with_service(type="http", url=f"http://{host}:7117/"), "argus.yaml").health.services
    assert config.read(with_service(type="tcp", host=host, port=7117), "argus.yaml").health.services


@pytest.mark.parametrize("host", SPELLINGS)
def test_another_port_of_this_machine_is_watched(host: str):
    assert config.read(with_service(type="tcp", host=host, port=7118), "argus.yaml").health.services


# Secrets.


@pytest.mark.parametrize(
    "text",
    [
        f"token: {CANARY}",
        f"DB_PASSWORD: {CANARY}",
        f"api_key = {CANARY}",
        f"apiKey: '{CANARY}'",
        f'"password": "{CANARY}"',
        f"client-secret ={CANARY}",
        f"PASSPHRASE:{CANARY}",
        f"login failed, token: {CANARY}, retrying",
    ],
)
def test_a_secret_is_masked_however_it_is_assigned(text: str):
    masked = Redactor().text(f"before\n{text}\nafter")
    assert CANARY not in masked
    assert MASK in masked
    assert masked.startswith("before\n")
    assert masked.endswith("\nafter")


# A receiver that takes its time.


async def test_a_receiver_that_answers_late_has_taken_the_message_once():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of Apprise's plug-ins use what Python calls deprecated
        assert understood("json://host")
    sender = AppriseSender()
    posts: list[str] = []
    # Longer than the four seconds that Apprise waits of its own accord.
    late, never = 4.6, threading.Event()

    class Late(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posts.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["title"])
            never.wait(late)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Late)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        url = f"json://127.0.0.1:{server.server_port}/"
        assert await sender.send(url, "SERVICE DOWN: web", "text", timeout=ENOUGH) is True
    finally:
        never.set()
        sender.close()
        server.shutdown()
        server.server_close()
        thread.join(ENOUGH)
    assert posts == ["SERVICE DOWN: web"]
