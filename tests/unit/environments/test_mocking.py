"""What a mock answers: which route, what body, what is kept of the request."""

import json
from typing import Any

import pytest

from argus.core.errors import ArgusError, Code
from argus.core.redact import MASK
from argus.environments.e2e.mocks import Mock
from argus.environments.mocking import answering, definition, log
from argus.environments.mocking.answering import Reply
from argus.environments.mocking.asking import Filter, tell
from argus.environments.mocking.definition import Placed, Served
from argus.environments.mocking.log import KEPT, RequestLog, seen
from argus.environments.mocking.reading import Request, request


def mock(*routes: dict[str, Any], overrides: tuple[dict[str, Any], ...] = ()) -> Served:
    said = {"port": 9081, "routes": list(routes), "overrides": list(overrides)}
    return definition.of("pay", Mock.model_validate(said))


def route(
    method: str, path: str, body: Any = None, *, when: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    return {"method": method, "path": path, "response": {"body": body, **more}, **({"when": when} if when else {})}


def ask(method: str, target: str, body: Any = None, *headers: tuple[str, str], raw: bytes | None = None) -> Request:
    path, _, query = target.partition("?")
    sent = raw if raw is not None else json.dumps(body).encode() if body is not None else b""
    return request(method, path, query, list(headers), sent)


def answer(served: Served, asked: Request) -> Reply:
    return answering.answer(served, asked, "2026-11-16T00:00:00Z", lambda: "u-1")


def said(served: Served, asked: Request) -> Any:
    reply = answer(served, asked)
    is_json = ("content-type", "application/json") in reply.headers
    return json.loads(reply.body) if is_json else reply.body.decode()


PLAIN = route("POST", "/pay", "plain")
GOLD = route("POST", "/pay", "gold", when={"body": {"card": {"kind": "gold"}}})
SECOND = route("POST", "/pay", "second", when={"body": {"card": {}}})
OVER = route("POST", "/pay", "over")


@pytest.mark.parametrize(
    ("served", "body", "expected"),
    [
        pytest.param(mock(PLAIN, GOLD), {"card": {"kind": "gold", "no": 1}}, "gold", id="what-fits-goes-before-plain"),
        pytest.param(mock(PLAIN, GOLD), {"card": {"kind": "tin"}}, "plain", id="what-does-not-fit-is-passed-over"),
        pytest.param(mock(PLAIN, GOLD), "card", "plain", id="a-body-that-is-no-object-fits-nothing"),
        pytest.param(mock(SECOND, GOLD), {"card": {"kind": "gold"}}, "second", id="of-two-that-fit-the-first"),
        pytest.param(mock(PLAIN, route("POST", "/pay", "x")), {}, "plain", id="of-two-plain-the-first"),
        pytest.param(mock(GOLD, overrides=(OVER,)), {"card": {"kind": "gold"}}, "over", id="overrides-go-first"),
    ],
)
def test_the_route_that_answers(served: Served, body: Any, expected: str) -> None:
    assert said(served, ask("POST", "/pay", body)) == expected


@pytest.mark.parametrize(
    ("path", "target", "is_found"),
    [
        ("/users/:id", "/users/7", True),
        ("/users/:id", "/users/", False),
        ("/users/:id", "/users/7/8", False),
        ("/users/:id/orders/:no", "/users/7/orders/8?x=1", True),
        ("/users", "/users/", False),
        ("/", "/", True),
        ("/files/*", "/files/a/b", True),
        ("/a b", "/a%20b", True),
        ("/a/b", "/a%2Fb", False),
    ],
)
def test_paths(path: str, target: str, is_found: bool) -> None:
    assert (answer(mock(route("GET", path, "x")), ask("GET", target)).status == 200) is is_found


@pytest.mark.parametrize(
    ("when", "asked", "is_found"),
    [
        ({"headers": {"X-Kind": "a"}}, ask("GET", "/", None, ("x-kind", "a")), True),
        ({"headers": {"X-Kind": "a"}}, ask("GET", "/", None, ("x-kind", "b")), False),
        ({"query": {"page": "2"}}, ask("GET", "/?page=1&page=2"), True),
        ({"query": {"page": "2"}}, ask("GET", "/?page=3"), False),
        ({"body": {"a": [1, {"b": 2}]}}, ask("GET", "/", {"a": [1, {"b": 2, "c": 3}]}), True),
        ({"body": {"a": [1]}}, ask("GET", "/", {"a": [1, 2]}), False),
        ({"body": {"a": 1}}, ask("GET", "/", {"a": True}), False),
        ({"body": {"a": None}}, ask("GET", "/", {}), False),
        (
            {"body": {"a": "1"}},
            ask("GET", "/", None, ("Content-Type", "application/x-www-form-urlencoded"), raw=b"a=1"),
            True,
        ),
    ],
)
def test_what_a_request_has_to_have(when: dict[str, Any], asked: Request, is_found: bool) -> None:
    assert (answer(mock(route("GET", "/", "x", when=when)), asked).status == 200) is is_found


def test_templates_are_of_each_request_and_one_alone_keeps_its_type() -> None:
    body = {
        "all": "{{request.body}}", "sum": "{{ request.body.sum }}", "second": "{{request.body.list.1}}",
        "text": "{{request.params.id}}: {{request.body.list}} {{request.body.yes}}", "page": "{{request.query.page}}",
        "at": "{{timestamp}}", "id": "{{uuid}}", "missing": "{{request.body.nothing}}",
        "kind": "{{request.headers.x-kind}}",
    }  # fmt: skip
    sent = {"sum": 7, "list": [1, None], "yes": True}
    found = said(mock(route("POST", "/a/:id", body)), ask("POST", "/a/b%20c?page=2", sent, ("X-Kind", "k")))
    assert found == {
        "all": sent, "sum": 7, "second": None, "text": "b c: [1, null] true", "page": "2",
        "at": "2026-11-16T00:00:00Z", "id": "u-1", "missing": "{{request.body.nothing}}", "kind": "k",
    }  # fmt: skip


def test_an_answer_that_is_filled_in_without_end_is_not_made() -> None:
    served = mock(route("POST", "/", ["{{request.body.a}}"] * 30))
    assert answer(served, ask("POST", "/", {"a": "x" * 1_000_000})).status == 500


def test_the_answer_is_as_the_file_says() -> None:
    served = mock(
        route("GET", "/text", "hello", status=203, headers={"X-A": "b", "Content-Length": "1"}, delay="1500ms"),
        route("GET", "/json", [1]),
        route("GET", "/own", "{}", headers={"Content-Type": "application/json"}),
        route("GET", "/split", "x", headers={"X-A": "b\r\nX-B: c", "bad name": "x"}),
        route("GET", "/never", "x", status=101),
        route("any", "/any", "x"),
    )
    reply = answer(served, ask("GET", "/text"))
    assert (reply.status, reply.body, reply.delay, reply.route) == (203, b"hello", 1.5, "GET /text")
    assert reply.headers == (("X-A", "b"), ("content-type", "text/plain; charset=utf-8"))
    assert answer(served, ask("GET", "/json")).headers == (("content-type", "application/json"),)
    assert answer(served, ask("GET", "/own")).headers == (("Content-Type", "application/json"),)
    assert answer(served, ask("GET", "/split")).headers[0] == ("X-A", "b  X-B: c")
    assert answer(served, ask("GET", "/never")).status == 500
    assert answer(served, ask("PATCH", "/any")).status == 200
    assert answer(served, ask("HEAD", "/json")).status == 200


def test_where_no_route_is_the_routes_are_named() -> None:
    reply = answer(mock(PLAIN, GOLD), ask("GET", "/other"))
    found = json.loads(reply.body)
    assert (reply.status, reply.route) == (404, None)
    assert (found["mock"], found["method"], found["path"], found["routes"]) == ("pay", "GET", "/other", ["POST /pay"])


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000,
        b'{"a":' * 500 + b"1" + b"}" * 500,
        b"1" * 5000,
        b"NaN",
        b'"\\ud800"',
        b"\xff\xfe",
        b'{"a": "\\ud800"}',
    ],
    ids=["deep", "deep-object", "a-long-number", "no-number", "half-a-character", "no-text", "half-in-an-object"],
)
def test_hostile_bodies_are_text_or_values_that_can_be_written_again(raw: bytes) -> None:
    asked = ask("POST", "/pay", raw=raw)
    reply = answer(mock(route("POST", "/pay", {"said": "{{request.body}}", "text": "a {{request.body}}"})), asked)
    assert reply.status == 200
    kept = seen("pay", 0.0, asked, raw, None, 200, 0.0)
    assert json.dumps(kept.body, ensure_ascii=False).encode()


def test_more_fields_than_anybody_needs_are_none() -> None:
    assert ask("GET", "/?" + "&".join(f"a{n}=1" for n in range(5000))).query == {}


def test_what_is_kept_is_cut_and_without_secrets() -> None:
    body = json.dumps({"a": "x" * 50_000}).encode()
    asked = ask("POST", "/pay", None, ("Authorization", "Bearer x"), ("X-Api-Key", "k"), ("X-A", "b" * 5000), raw=body)
    kept = seen("pay", 1.0, asked, body, "POST /pay", 200, 0.1)
    assert (kept.body_bytes, kept.body_cut, isinstance(kept.body, str), len(kept.body)) == (
        len(body),
        True,
        True,
        16384,
    )
    assert (kept.headers["authorization"], kept.headers["x-api-key"], len(kept.headers["x-a"])) == (MASK, MASK, 1024)


def test_the_newest_are_kept_and_found_by_what_they_are() -> None:
    logs = {"pay": RequestLog(), "mail": RequestLog()}
    for n in range(KEPT + 10):
        logs["pay"].add(_seen("pay", n, "GET" if n % 2 else "POST", f"/{n}"))
    logs["mail"].add(_seen("mail", 3.5, "GET", "/mail"))
    told = tell(logs, ("image",), Filter(limit=1000))
    assert (len(told.requests), told.total) == (KEPT + 1, KEPT + 11)
    assert [one.mock for one in tell(logs, (), Filter(mock="mail")).requests] == ["mail"]
    assert [one.at for one in tell(logs, (), Filter(method="get", limit=2)).requests] == [507, 509]
    assert tell(logs, (), Filter(method="get", limit=2)).total == KEPT // 2 + 1
    assert tell(logs, (), Filter(path="/50", since=501, limit=2)).total == 9
    assert [one.path for one in tell(logs, (), Filter(path="/50", since=501)).requests] == [
        f"/{n}" for n in range(501, 510)
    ]
    assert tell(logs, ("image",), Filter(mock="image")).requests == ()
    with pytest.raises(ArgusError) as caught:
        tell(logs, ("image",), Filter(mock="other"))
    assert (caught.value.code, caught.value.details["known"]) == (Code.MOCK_NOT_FOUND, ["image", "mail", "pay"])


def _seen(mock: str, at: float, method: str, path: str) -> log.Seen:
    return seen(mock, at, Request(method, path), b"", None, 200, 0.0)


def test_what_is_on_record_is_the_same_mock_without_what_the_environment_keeps_secret() -> None:
    served = mock(GOLD, route("GET", "/token", {"token": "tok-123456"}, delay="100ms"), overrides=(OVER,))
    placed = Placed(served, 9081, "172.18.0.1")
    assert definition.read(json.loads(json.dumps(placed.written()))) == placed
    hidden = definition.read(placed.written({"tok-123456"}))
    assert hidden.mock.rules[1].body == {"token": MASK}
    assert hidden.mock.rules[0] == served.rules[0]
