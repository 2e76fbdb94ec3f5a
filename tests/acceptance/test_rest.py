"""REST at its edges: who may ask, what may be sent, and what an error looks like."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from tests.acceptance.harness import DEADLINE, Argus, Reply, WebServer, eventually, free_port, whole
from tests.faults import Injection

_MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Argus]:
    """One daemon for all: nothing here changes it."""
    folder: Path = tmp_path_factory.mktemp("rest")
    one = Argus(folder / "argus")
    service = {"name": "web", "type": "tcp", "port": free_port(), "interval": "1h", "timeout": "1s"}
    one.configure([service], autonomy="observe")
    try:
        one.up()
        yield one
    finally:
        one.end()


def refusal(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.error["code"]


def raw(argus: Argus, data: bytes) -> tuple[int, str]:
    """Sends bytes as they are, and reads one refusal; the server may stop listening before all is sent."""
    parts = urlsplit(argus.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=DEADLINE) as connection:
        try:
            for start in range(0, len(data), 65536):
                connection.sendall(data[start : start + 65536])
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has answered already
        received = b""
        while b"\r\n\r\n" not in received or not received.rstrip().endswith(b"}"):
            more = connection.recv(65536)
            assert more, received
            received += more
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), str(whole(json.loads(body)["error"])["code"])


def head(argus: Argus, method: str, path: str, *lines: str) -> bytes:
    host = argus.url.removeprefix("http://")
    fixed = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {argus.token}"]
    return "\r\n".join([*fixed, *lines, "", ""]).encode()


@pytest.mark.parametrize(
    "path", ["/api/state", "/api/services", "/api/events", "/openapi.json", "/docs", "/mcp", "/api/nothing"]
)
@pytest.mark.fault("AP1")
def test_nothing_but_the_page_is_told_without_the_token(running: Argus, injected: Injection, path: str) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {running.token}"},
        {"Authorization": running.token},
        {"Authorization": f"Bearer {running.token[:-1]}"},
        {"Cookie": f"argus_session={running.token}"},
    ):
        with injected:
            reply = running.rest("GET", path, token=False, headers=headers)
        assert refusal(reply) == (401, "UNAUTHORIZED")
        assert running.token not in reply.body.decode()


def test_health_needs_no_token(running: Argus) -> None:
    reply = running.rest("GET", "/healthz", token=False)
    assert (reply.status, reply.json["status"]) == (200, "ok")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:7117", "127.0.0.1.evil.example", "", "[", "localhost@evil", "evil\\@localhost"],
)
@pytest.mark.fault("AP1")
def test_another_host_is_misdirected(running: Argus, injected: Injection, host: str) -> None:
    for path in ("/api/state", "/", "/healthz"):
        with injected:
            reply = running.rest("GET", path, headers={"Host": host})
        assert refusal(reply) == (421, "MISDIRECTED")


def test_two_hosts_are_misdirected_whichever_comes_first(running: Argus) -> None:
    own, wire = urlsplit(running.url).netloc, head(running, "GET", "/api/state", "Host: evil.example")
    turned = wire.replace(b"evil.example", b"OWN").replace(own.encode(), b"evil.example").replace(b"OWN", own.encode())
    for said in (wire, turned, head(running, "GET", "/api/state", f"Host: {own}")):
        assert raw(running, said) == (421, "MISDIRECTED")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example", "http://127.0.0.1:1", "file://"]
)
@pytest.mark.fault("AP1")
def test_another_origin_is_forbidden(running: Argus, injected: Injection, origin: str) -> None:
    with injected:
        reply = running.rest("PUT", "/api/autonomy", {"level": "full"}, headers={"Origin": origin})
    assert refusal(reply) == (403, "FORBIDDEN")
    assert running.get("/api/autonomy") == {"level": "observe"}


def test_its_own_origin_is_taken(running: Argus) -> None:
    assert running.rest("GET", "/api/state", headers={"Origin": running.url}).status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
@pytest.mark.fault("AP1")
def test_a_body_of_another_type_is_not_read(running: Argus, injected: Injection, kind: str) -> None:
    with injected:
        reply = running.rest("PUT", "/api/autonomy", {"level": "full"}, headers={"Content-Type": kind})
    assert refusal(reply) == (415, "UNSUPPORTED_TYPE")
    assert running.get("/api/autonomy") == {"level": "observe"}


_JSON = "Content-Type: application/json"


def test_a_body_that_says_it_is_over_a_mebibyte_is_refused_before_it_is_sent(running: Argus) -> None:
    said = head(running, "PUT", "/api/autonomy", _JSON, f"Content-Length: {_MEBIBYTE + 1}")
    assert raw(running, said) == (413, "TOO_LARGE")
    fits = b'{"level": "observe"' + b" " * (_MEBIBYTE - 20) + b"}"
    assert running.rest("PUT", "/api/autonomy", raw=fits).status == 200


def test_a_body_that_does_not_say_its_size_is_refused_when_it_passes_a_mebibyte(running: Argus) -> None:
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    chunked = head(running, "PUT", "/api/autonomy", _JSON, "Transfer-Encoding: chunked") + chunk * 17 + b"0\r\n\r\n"
    assert raw(running, chunked) == (413, "TOO_LARGE")


@pytest.mark.parametrize("says_its_size", [True, False], ids=["content-length", "chunked"])
def test_a_client_that_sends_two_mebibytes_to_the_end_still_hears_that_it_is_too_much(
    running: Argus, says_its_size: bool
) -> None:
    pieces = [b'{"level": "full"', *[b" " * 65536] * 32, b"}"]
    parts = urlsplit(running.url)
    with contextlib.closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)) as connection:
        body = b"".join(pieces) if says_its_size else iter(pieces)
        headers = {**running.authorization, "Content-Type": "application/json"}
        connection.request("PUT", "/api/autonomy", body, headers, encode_chunked=not says_its_size)
        response = connection.getresponse()
        assert (response.status, json.loads(response.read())["error"]["code"]) == (413, "TOO_LARGE")
    assert running.get("/api/autonomy") == {"level": "observe"}


@pytest.mark.parametrize(
    "path", ["/nothing", "/api", "/api/", "/api/state/", "/api/services/web/explode", "//", "/app.jsx"]
)
def test_an_unknown_route_is_not_found(running: Argus, path: str) -> None:
    assert refusal(running.rest("GET", path)) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "right"),
    [
        ("DELETE", "/api/state", "GET, HEAD"),
        ("POST", "/api/services", "GET, HEAD"),
        ("GET", "/api/services/web/check", "POST"),
        ("PATCH", "/api/autonomy", "GET, HEAD, PUT"),
        ("POST", "/api/events", "GET"),
        ("POST", "/", "GET, HEAD"),
        ("PUT", "/healthz", "GET, HEAD"),
        ("GET", "/mcp/stdio", "POST"),
    ],
)
def test_a_wrong_method_is_named_and_so_are_the_right_ones(running: Argus, method: str, path: str, right: str) -> None:
    reply = running.rest(method, path)
    assert refusal(reply) == (405, "METHOD_NOT_ALLOWED")
    assert reply.headers["Allow"] == reply.error["details"]["allow"] == right


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"not json",
        b"\xff\xfe",
        b"[]",
        b'"observe"',
        b"{}",
        b'{"level": "daring"}',
        b'{"level": 3}',
        b'{"level": null}',
        b'{"level": "full", "force": true}',
        b'{"level": "full", "level": "full"}',
        b'{"level": "\\ud800"}',
        '{"level": "full"}'.encode("utf-16"),
        b"[" * 100_000,
    ],
    ids=lambda body: body[:40].decode("latin-1"),
)
def test_a_body_that_cannot_be_read_or_is_not_valid_is_a_400_and_changes_nothing(running: Argus, body: bytes) -> None:
    assert refusal(running.rest("PUT", "/api/autonomy", raw=body)) == (400, "INVALID_REQUEST")
    assert running.get("/api/autonomy") == {"level": "observe"}


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=many", "limit=1&limit=2", "unknown=1", "open=perhaps", "limit=99999999999999999999"],
)
def test_a_wrong_query_is_a_400(running: Argus, query: str) -> None:
    assert refusal(running.rest("GET", f"/api/incidents?{query}")) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize("pause", [{}, {"for": "1"}, {"for": 60}, {"for": "0s"}, {"for": "-1h"}, {"for": "1h", "x": 1}])
def test_a_pause_needs_a_length_with_a_unit(running: Argus, pause: dict[str, object]) -> None:
    assert refusal(running.rest("POST", "/api/services/web/pause", pause)) == (400, "INVALID_REQUEST")
    assert running.service("web")["pausedUntil"] is None


_STRANGE = [
    "-f",
    "--json",
    "$(x)",
    "../x",
    "..",
    "; rm -rf",
    "%00",
    "a/b",
    "<b>",
    "web ",
    "no-such",
    "\u202e",
    "x" * 300,
]


@pytest.mark.parametrize("name", _STRANGE, ids=lambda name: quote(name)[:30])
def test_a_strange_name_is_no_service_in_a_url(running: Argus, name: str) -> None:
    place = f"/api/services/{quote(name, safe='')}"
    for reply in (
        running.rest("GET", place),
        running.rest("POST", f"{place}/check"),
        running.rest("POST", f"{place}/restart"),
        running.rest("POST", f"{place}/pause", {"for": "1h"}),
    ):
        assert reply.status in (400, 404)
        assert reply.error["code"] in ("SERVICE_NOT_FOUND", "NOT_FOUND", "INVALID_REQUEST")


@pytest.mark.parametrize("name", ["-f", "--force", "$(x)", "../x", "no-such"])
def test_a_strange_name_is_no_service_on_the_command_line(running: Argus, name: str) -> None:
    for words in (("check", "--", name), ("check", name), ("restart", name), ("resume", name)):
        ran = running.cli("services", *words[:1], "--json", *words[1:])
        assert ran.code == 2, words
        assert ran.error["code"] in ("SERVICE_NOT_FOUND", "INVALID_REQUEST", "NOT_FOUND")


def test_an_unknown_incident_is_not_found(running: Argus) -> None:
    assert refusal(running.rest("GET", "/api/incidents/no-such")) == (404, "NOT_FOUND")
    ran = running.cli("explain", "no-such", "--json")
    assert (ran.code, ran.error["code"]) == (2, "NOT_FOUND")


def test_the_description_names_every_operation(running: Argus) -> None:
    document = running.get("/openapi.json")
    assert document["openapi"].startswith("3.")
    for path in ("/api/state", "/api/services/{name}/restart", "/api/autonomy", "/api/incidents/{id}"):
        assert path in document["paths"]
    assert running.rest("GET", "/docs").status == 200


def test_a_services_checks_over_time_are_told_by_the_hour_by_the_day_and_singly(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service()])
    argus.up()
    argus.wait_until("web", "up")
    (one,) = argus.get("/api/history?services=web")["services"]
    assert one["name"] == "web"
    assert one["checks"][-1]["state"] == "up"
    assert one["checks"][-1]["latencyMs"] > 0
    for bars in (one["hours"], one["days"]):
        assert bars[-1]["uptime"] == 1
        assert bars[-1]["checks"] >= len(one["checks"]) - 1
        assert 0 < bars[-1]["latencyMs"] <= bars[-1]["slowestMs"]
    unknown = argus.rest("GET", "/api/history?services=web,nobody")
    assert (unknown.status, unknown.error["code"]) == (404, "SERVICE_NOT_FOUND")
    many = argus.rest("GET", "/api/history?services=" + ",".join(f"s{n}" for n in range(51)))
    assert (many.status, many.error["code"]) == (400, "INVALID_REQUEST")


def test_how_a_context_grew_is_told(argus: Argus) -> None:
    argus.configure()
    argus.up()
    reply = argus.rest("POST", "/api/sessions", {"project": "shop", "session_type": "sdk"})
    assert reply.status == 201, reply
    for used in (10_000, 20_000):
        argus.rest("POST", "/api/sessions/shop/context", {"used": used, "total": 100_000})
    found = eventually(
        lambda: (said := argus.get("/api/sessions/shop/growth"))["samples"] and said, "a reading is taken"
    )
    assert found["samples"][-1]["used"] in (10_000, 20_000)
    assert (found["total"], found["handoff_at"]) == (100_000, 85_000)
    assert argus.rest("GET", "/api/sessions/nobody/growth").status == 404


def test_a_large_answer_is_packed_for_who_can_unpack_it(argus: Argus) -> None:
    services = [{"name": f"s{n}", "type": "tcp", "port": 1, "interval": "1h"} for n in range(1000)]
    argus.configure(services, autonomy="observe")
    argus.up()
    plain = argus.rest("GET", "/api/state")
    assert plain.headers["content-encoding"] is None
    packed = argus.rest("GET", "/api/state", headers={"accept-encoding": "br, gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.body) < len(plain.body) / 4
    assert len(json.loads(gzip.decompress(packed.body))["services"]) == 1000
    small = argus.rest("GET", "/api/breakers", headers={"accept-encoding": "gzip"})
    assert small.headers["content-encoding"] is None
