"""Every value an operation takes, replaced by what nobody should send. What there is to ask comes from the document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema
import pytest

from tests.acceptance.harness import Argus, Reply, WebServer

_TEXTS = {
    "nul": "%00",
    "a-lone-surrogate": "%ED%A0%80",
    "broken-utf-8": "%FF%FE%C3",
    "half-an-escape": "%E2%82",
    "no-escape": "%zz",
    "a-line-break": "%0D%0AX-Injected:%20yes",
    "right-to-left": "%E2%80%AE",
    "a-huge-number": "9" * 5000,
    "a-number-beyond-64-bits": "18446744073709551616",
    "less-than-nothing": "-1",
    "not-a-number": "nan",
    "up-and-out": "..%2F..%2Fetc%2Fpasswd",
    "nothing": "",
}
_VALUES = {
    "nul": '"\\u0000"',
    "a-lone-surrogate": '"\\ud800"',
    "two-surrogates-the-wrong-way-round": '"\\udc00\\ud800"',
    "a-huge-number": "9" * 5000,
    "infinity": "1e999",
    "not-a-number": "NaN",
    "null": "null",
    "true": "true",
    "a-list": "[[[]]]",
    "an-object": '{"level": {"level": {}}}',
    "a-long-text": '"' + "x" * 100_000 + '"',
}
_BODIES = {
    "broken-utf-8": b'{"level": "\xff\xfe"}',
    "another-encoding": '{"level": "full"}'.encode("utf-16"),
    "a-mark-of-bytes": b"\xef\xbb\xbf{}",
    "no-json": b"{level: full}",
    "deep": b'{"a":' * 50_000,
    "a-list": b"[1]",
    "a-key-twice": b'{"level": "full", "level": "full", "for": "1h", "for": "1h"}',
    "a-surrogate-for-a-key": b'{"\\ud800": 1}',
    "nul-for-a-key": b'{"\\u0000": 1}',
}


class Asked(NamedTuple):
    """One operation of the document."""

    method: str
    path: str
    described: dict[str, Any]

    def parameters(self, where: str) -> list[str]:
        return [one["name"] for one in self.described.get("parameters", ()) if one["in"] == where]

    @property
    def fields(self) -> list[str]:
        body = self.described.get("requestBody", {"content": {"application/json": {"schema": {}}}})
        return list(body["content"]["application/json"]["schema"].get("properties", {}))

    def at(self, **values: str) -> str:
        """The path with these values; the others are ordinary."""
        path = self.path
        for name in self.parameters("path"):
            path = path.replace(f"{{{name}}}", values.get(name, "web"))
        return path


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Argus]:
    """A throwaway on each store: they do not take the same texts."""
    one = Argus(tmp_path_factory.mktemp("hostile") / "argus")
    try:
        web = WebServer(one, "web").start()
        one.configure([{**web.service("repair"), "interval": "1h"}], verifyAfter="50ms")
        if request.param == "postgresql":
            server = request.getfixturevalue("postgres")
            one.env["ARGUS_STORE"] = server.new_database()
        one.up()
        yield one
    finally:
        one.end()


class Description:
    def __init__(self, argus: Argus) -> None:
        self._argus = argus
        self._document = argus.get("/openapi.json")
        self.operations = [
            Asked(method.upper(), path, described)
            for path, methods in self._document["paths"].items()
            for method, described in methods.items()
        ]
        assert len(self.operations) > 10

    def check(self, one: Asked, reply: Reply, what: str) -> None:
        """The answer is documented for this operation, its body too, and it is not a fault of ours."""
        said = f"{one.method} {one.path}, {what}: {reply.status} {reply.body[:300]!r}"
        assert reply.status < 500, said
        assert str(reply.status) in one.described["responses"] or self._is_no_operation(one, reply), said
        if reply.headers.get_content_type() == "text/event-stream":
            return
        content = one.described["responses"].get(str(reply.status), self._fallback)["content"]
        schema = {**content["application/json"]["schema"], "components": self._document["components"]}
        jsonschema.validate(reply.json, schema)
        if reply.status >= 400:
            assert reply.error["code"] in self._codes(one, reply), said

    _fallback = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}  # noqa: RUF012

    def _is_no_operation(self, one: Asked, reply: Reply) -> bool:
        # A value that holds a slash, or none at all, makes another path of it.
        return bool(one.parameters("path")) and reply.status in (404, 405)

    def _codes(self, one: Asked, reply: Reply) -> list[str]:
        documented = one.described["responses"].get(str(reply.status), {"description": ""})["description"]
        return [*documented.split(", "), *(("NOT_FOUND", "METHOD_NOT_ALLOWED") if one.parameters("path") else ())]


@pytest.fixture
def description(running: Argus) -> Description:
    return Description(running)


def query(one: Asked, *pairs: str) -> str:
    # Who follows the events reads for ever.
    closing = ["follow=false"] if one.path == "/api/events" and not any("follow" in pair for pair in pairs) else []
    return "?" + "&".join([*pairs, *closing])


@pytest.mark.parametrize("kind", _TEXTS)
def test_a_hostile_text_in_a_path_a_query_or_a_header_is_refused_as_documented(
    running: Argus, description: Description, kind: str
) -> None:
    text = _TEXTS[kind]
    for one in description.operations:
        for name in one.parameters("path"):
            path = one.at(**{name: text}) + query(one)
            description.check(one, running.rest(one.method, path), f"{name} in the path")
        for name in one.parameters("query"):
            path = one.at() + query(one, f"{name}={text}")
            description.check(one, running.rest(one.method, path), f"{name} in the query")
        for name in one.parameters("header"):
            headers = {name: text.encode("ascii").decode("ascii")}
            reply = running.rest(one.method, one.at() + query(one), headers=headers)
            description.check(one, reply, f"{name} in the head")
    assert running.rest("GET", "/healthz", token=False).status == 200


def test_a_parameter_given_twice_and_one_that_there_is_none_of_are_refused(
    running: Argus, description: Description
) -> None:
    for one in description.operations:
        names = one.parameters("query")
        for pairs in [*([f"{name}=1", f"{name}=1"] for name in names), ["there-is-no-such=1"] if names else []]:
            if pairs:
                reply = running.rest(one.method, one.at() + query(one, *pairs))
                description.check(one, reply, str(pairs))
                assert reply.status == 400, (one.path, pairs)


@pytest.mark.parametrize("kind", _VALUES)
def test_a_hostile_value_in_a_body_is_refused_as_documented(
    running: Argus, description: Description, kind: str
) -> None:
    for one in description.operations:
        for name in one.fields:
            raw = f"{{{json.dumps(name)}: {_VALUES[kind]}}}".encode()
            reply = running.rest(one.method, one.at(), raw=raw)
            description.check(one, reply, f"{name} in the body")
            assert reply.status in (400, 404) or kind in ("null", "true", "nul"), (one.path, name)


@pytest.mark.parametrize("kind", _BODIES)
def test_a_body_that_is_none_is_refused_and_does_nothing(running: Argus, description: Description, kind: str) -> None:
    before = running.get("/api/state")["cursor"]
    for one in description.operations:
        if one.method != "GET":
            reply = running.rest(one.method, one.at(), raw=_BODIES[kind])
            description.check(one, reply, kind)
            # Agents post fields of their own there: what tells nothing is ignored, and no error in their terminal.
            is_ignored = one.path == "/api/hooks/{agent}" and kind == "nul-for-a-key"
            assert reply.status == (200 if is_ignored else 400), (one.path, reply)
            assert not is_ignored or reply.json["ignored"]
    assert running.get("/api/state")["cursor"] == before


@pytest.mark.req("IF-02")
@pytest.mark.parametrize(
    ("status", "headers"),
    [
        pytest.param(401, {"Authorization": ""}, id="no-token"),
        pytest.param(401, {"Authorization": "Bearer"}, id="an-empty-token"),
        pytest.param(401, {"Authorization": "Bearer \xff\xfe\x00".replace("\x00", "")}, id="a-token-of-bytes"),
        pytest.param(401, {"Authorization": "Bearer " + "x" * 10_000}, id="a-long-token"),
        pytest.param(415, {"Content-Type": "text/plain"}, id="text"),
        pytest.param(415, {"Content-Type": "application/x-www-form-urlencoded"}, id="a-form"),
        pytest.param(415, {"Content-Type": "application/json\xff"}, id="a-type-of-bytes"),
        pytest.param(403, {"Origin": "http://elsewhere.example"}, id="another-origin"),
        pytest.param(421, {"Host": "elsewhere.example"}, id="another-host"),
    ],
)
def test_at_the_door_every_operation_refuses_alike_and_does_nothing(
    running: Argus, description: Description, status: int, headers: dict[str, str]
) -> None:
    before = running.get("/api/state")["cursor"]
    for one in description.operations:
        if (status == 415 and one.method == "GET") or (status == 401 and one.described.get("security") == []):
            continue
        reply = running.rest(
            one.method, one.at() + query(one), headers=headers, raw=None if one.method == "GET" else b"{}"
        )
        description.check(one, reply, str(headers))
        assert reply.status == status, (one.path, reply)
    assert running.get("/api/state")["cursor"] == before
