"""Mocks without an image: answered by Argus, reached by containers under their names and by the host on their ports."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.acceptance.harness import eventually
from tests.acceptance.yard import NOTHING, Yard, ours, stays
from tests.docker_engine import Engine

PAY = {
    "port": 19081,
    "containerPort": 80,
    "routes": [
        {
            "method": "GET",
            "path": "/users/:id",
            "response": {"body": {"id": "{{request.params.id}}", "page": "{{request.query.page}}"}},
        },
        {"method": "POST", "path": "/charge", "response": {"status": 402, "body": "no money"}},
        {
            "method": "POST",
            "path": "/charge",
            "when": {"body": {"card": {"kind": "gold"}}},
            "response": {"status": 201, "headers": {"X-Mock": "yes"}, "body": {"sum": "{{request.body.sum}}"}},
        },
    ],
    "overrides": [{"method": "GET", "path": "/users/0", "response": {"body": "override"}}],
}


def asked(yard: Yard, port: int, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, Any]:
    """From the host that the engine is on."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.sock = yard.engine.connect("127.0.0.1", port)
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    response = connection.getresponse()
    said = response.read().decode()
    connection.close()
    is_json = response.getheader("content-type") == "application/json"
    return response.status, json.loads(said) if is_json else said, response.headers


def called(docker: Engine, network: str, *words: str) -> str:
    """By a container of somebody's on the network: what it printed."""
    docker.run("caller", "busybox", *words, host={"NetworkMode": network})
    docker.ask("POST", "/containers/caller/wait")
    said = docker.ask("GET", f"/containers/caller/logs?{urlencode({'stdout': 1, 'stderr': 1})}")
    docker.ask("DELETE", "/containers/caller?force=1")
    return str(said)


def test_a_mock_answers_containers_by_its_name_and_the_host_on_its_port_and_tells_who_asked(
    yard: Yard, docker: Engine, stranger: Any
) -> None:
    stranger(19081)
    db = stays("db", "15432:5432", vars={"pay": "http://localhost:19081"})
    worker = stays("worker", "15001:1", container={"environment": {"PAY": "{{config.pay}}"}})
    shop = yard.project(services=[db, worker], mocks={"pay": PAY, "more": {"port": 19082, "openapi": "x.yaml"}})
    assert any("`mocks.more.openapi`" in one for one in shop.env("init").json["warnings"])
    done = shop.up()
    port = next(one["actualPort"] for one in done["portMappings"] if one["service"] == "pay")
    assert port != 19081
    assert f"PAY=http://localhost:{port}" in docker.ask("GET", "/containers/worker/json")["Config"]["Env"]
    (pay, _) = done["mocks"]
    assert (pay["name"], pay["state"], pay["ports"][0]["hostPort"], pay["ports"][0]["containerPort"]) == (
        "pay",
        "running",
        port,
        80,
    )
    assert [{**one, "guard": None} for one in shop.status["mocks"]] == done["mocks"]

    # By its name, from a container.
    said = called(docker, done["network"], "wget", "-qO-", "http://pay/users/a%2Fb?page=2")
    assert '"id": "a/b"' in said
    assert '"page": "2"' in said
    # From the host.
    gold = {"sum": 7, "card": {"kind": "gold", "more": 1}}
    status, body, headers = asked(yard, port, "POST", "/charge", gold, Authorization="Bearer abcdefgh12345678")
    assert (status, body["sum"], headers["X-Mock"]) == (201, 7, "yes")
    assert asked(yard, port, "POST", "/charge", {"card": {}})[:2] == (402, "no money")
    assert asked(yard, port, "GET", "/users/0")[:2] == (200, "override")
    status, body, _ = asked(yard, port, "GET", "/nowhere")
    assert (status, body["mock"], body["method"], body["path"]) == (404, "pay", "GET", "/nowhere")
    assert "POST /charge" in body["routes"]

    told = shop.env("mock-requests", "--mock-name", "pay").json
    assert [(one["method"], one["path"], one["status"], one["route"]) for one in told["requests"]] == [
        ("GET", "/users/a%2Fb", 200, "GET /users/:id"),
        ("POST", "/charge", 201, "POST /charge"),
        ("POST", "/charge", 402, "POST /charge"),
        ("GET", "/users/0", 200, "GET /users/0"),
        ("GET", "/nowhere", 404, None),
    ]
    charged = told["requests"][1]
    assert (charged["body"], charged["headers"]["authorization"]) == (gold, "[redacted]")
    assert shop.env("mock-requests", "--method", "post", "--limit", "1", "--clear").json["requests"][0]["status"] == 402
    assert shop.env("mock-requests").json["requests"] == []
    error = shop.refused("mock-requests", "--mock-name", "nobody")
    assert (error["code"], error["details"]["known"]) == ("MOCK_NOT_FOUND", ["more", "pay"])

    # Every answer of a hostile request is an answer, and the mock lives on.
    with docker.connect("127.0.0.1", port) as raw:
        raw.sendall(b"\x00\xff nonsense\r\n\r\n")
        assert b"400" in raw.recv(100)
    assert asked(yard, port, "POST", "/charge", "x" * 2_000_000)[0] == 413
    assert asked(yard, port, "GET", "/users/1")[0] == 200

    shop.env("clean")
    assert ours(docker) == NOTHING
    with pytest.raises(ConnectionRefusedError):
        docker.connect("127.0.0.1", port)


def test_a_daemon_that_was_killed_answers_for_its_mocks_again_when_it_is_back(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[], mocks={"pay": PAY})
    done = shop.up()
    port = done["mocks"][0]["ports"][0]["hostPort"]
    relay = done["mocks"][0]["container"]
    yard.kill()
    yard.up()
    eventually(lambda: asked_or_not(yard, port) == 200, "the mock answers")
    assert docker.starts(relay) == 1
    assert '"id": "5"' in called(docker, done["network"], "wget", "-qO-", "http://pay/users/5")
    assert [one["path"] for one in shop.env("mock-requests").json["requests"]][-1] == "/users/5"
    # Set up again, it is on the same port: nothing of its own is in the way.
    assert shop.up()["mocks"][0]["ports"][0]["hostPort"] == port


def asked_or_not(yard: Yard, port: int) -> int:
    try:
        return asked(yard, port, "GET", "/users/1")[0]
    except ConnectionRefusedError:
        return 0
