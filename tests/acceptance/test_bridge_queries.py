"""Questions to a model that may use MCP servers: the real Claude Code and a real server that fails and comes back."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.acceptance.asking_model import LIMIT, NO_MODEL, AskingModel
from tests.acceptance.harness import Argus, Ran, eventually, words_of
from tests.acceptance.test_agent_programs import program

_TESTS = Path(__file__).resolve().parents[1]
_SMALL, _REAL = _TESTS / "mcp_small.py", _TESTS / "mcp_peer.py"
ADD = 'use mcp__peer__add {"a": 2, "b": 3}'
DIE = "use mcp__peer__die {}"


class Desk:
    """An Argus whose bridge knows the server `peer`, `other`, which is well and never used, and `real`, the SDK's."""

    def __init__(self, argus: Argus) -> None:
        self.argus = argus
        self.model = AskingModel()
        self._callers: list[subprocess.Popen[str]] = []
        self.starts = argus.folder / "starts"
        self.starts.touch()
        self.broken = argus.folder / "broken"
        argus.env |= {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "sk-ant-stand-in",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def up(self, **bridge: Any) -> None:
        script = f'echo $$ >> "{self.starts}"; [ ! -e "{self.broken}" ] || exit 3; exec "$@"'
        peer = {"command": "sh", "args": ["-c", script, "sh", sys.executable, str(_SMALL)]}
        others = {"other": {"command": sys.executable, "args": [str(_SMALL)]}}
        servers = {"peer": peer, **others, "real": {"command": sys.executable, "args": [str(_REAL)]}}
        made = {"program": program("claude"), "servers": servers, **bridge}
        self.argus.write(yaml.safe_dump({"server": {"port": 0}, "bridge": made}))
        self.argus.up()

    def ask(self, prompt: str, *more: str, tools: str = "mcp__peer__*") -> Ran:
        return self.argus.cli("ask", prompt, "--tools", tools, "--json", *more, timeout=120)

    def begin(self, prompt: str) -> subprocess.Popen[str]:
        self._callers.append(self.argus.background("ask", prompt, "--tools", "mcp__peer__*", "--json"))
        return self._callers[-1]

    def close(self) -> None:
        self.model.close()
        for one in self._callers:
            one.kill()
            one.communicate()

    def breaker(self, server: str = "peer") -> dict[str, Any]:
        found = self.argus.get("/api/breakers")["breakers"]
        return next((one for one in found if one["name"] == f"mcp:{server}"), {"state": "closed", "failures": 0})

    @property
    def started(self) -> int:
        return len(self.starts.read_text().split())


@pytest.fixture
def desk(argus: Argus) -> Iterator[Desk]:
    made = Desk(argus)
    yield made
    made.close()


@pytest.mark.req("INFRA-03.1")
def test_a_question_is_answered_by_the_tools_of_a_server(desk: Desk) -> None:
    desk.up()
    asked = desk.ask(ADD.replace("peer", "real"), "--model", "haiku", tools="mcp__real__add")
    assert asked.code == 0, asked
    answer = asked.json
    assert "5" in answer["text"]
    assert answer["servers"] == [{"name": "real", "state": "answered", "reason": ""}]
    assert answer["turns"] == 2
    assert answer["structured"] is None
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    structured = desk.ask(f'{ADD}\nuse StructuredOutput {{"sum": 5}}', "--schema", json.dumps(schema))
    assert (structured.code, structured.json["structured"]) == (0, {"sum": 5})
    # A model that will not keep to the form: said, and nobody's breaker.
    refused = desk.argus.rest(
        "POST", "/api/ask", {"prompt": "say what you like", "tools": ["mcp__peer__add"], "schema": schema}
    )
    assert (refused.status, refused.error["code"], refused.error["details"]["cause"]) == (503, "MCP_FAILED", "output")
    assert refused.error["details"]["answer"] == "nothing was wanted"
    assert desk.breaker()["failures"] == 0


@pytest.mark.req("INFRA-03.3", "INFRA-03.4")
def test_after_three_failures_a_server_rests_and_one_question_finds_out_whether_it_is_back(desk: Desk) -> None:
    desk.up(resetAfter="3s")
    desk.broken.touch()
    for _ in range(3):
        failed = desk.ask(ADD)
        assert (failed.code, failed.error["code"], failed.error["details"]["server"]) == (1, "MCP_FAILED", "peer")
    assert (desk.breaker()["state"], desk.breaker()["failures"]) == ("open", 3)
    asked, started = len(desk.model.asked), desk.started
    refused = desk.ask(ADD)
    assert refused.error["code"] == "CIRCUIT_OPEN"
    assert refused.error["details"]["breaker"] == "mcp:peer"
    assert (len(desk.model.asked), desk.started) == (asked, started), "no program was started"
    desk.broken.unlink()
    eventually(lambda: desk.breaker()["retryInSeconds"] == 0, "it may be asked again")
    probe = desk.ask(ADD)
    assert (probe.code, desk.breaker()["state"]) == (0, "closed"), probe


def test_what_the_models_service_refuses_is_charged_to_no_server(desk: Desk) -> None:
    desk.up(failures=1)
    for refusal, cause in ((LIMIT, "limit"), (NO_MODEL, "model")):
        desk.model.refuses = refusal
        failed = desk.ask(ADD)
        assert (failed.error["code"], failed.error["details"]["cause"]) == ("MCP_FAILED", cause)
    assert desk.breaker()["failures"] == 0
    desk.model.refuses = None
    assert desk.ask(ADD).code == 0
    told = [one.data for one in desk.argus.journal("query_failed", "query_answered")]
    assert [one.get("cause") for one in told] == ["limit", "model", None]
    assert told[-1]["servers"] == {"peer": "answered"}


def test_only_the_server_that_failed_is_charged(desk: Desk) -> None:
    desk.up(slowAfter="5s")
    hasty = {"prompt": ADD, "tools": ["mcp__peer__*"], "timeout": "1ms"}
    assert desk.argus.rest("POST", "/api/ask", hasty).error["details"]["cause"] == "timeout"
    assert desk.breaker()["failures"] == 0, "that was the caller's own haste"
    failed = desk.argus.rest(
        "POST",
        "/api/ask",
        {"prompt": "use mcp__peer__hang {}", "tools": ["mcp__peer__*", "mcp__other__add"], "timeout": "10s"},
    )
    assert failed.error["details"]["cause"] == "server"
    assert failed.error["details"]["reason"] == "it did not answer a call within 10 s"
    assert (desk.breaker()["failures"], desk.breaker("other")["failures"]) == (1, 0)
    died = desk.ask(DIE)
    assert died.error["details"]["server"] == "peer"
    assert desk.breaker()["failures"] == 2


@pytest.mark.req("INFRA-03.2")
def test_two_are_asked_at_once_and_a_killed_caller_gives_its_place_back(desk: Desk) -> None:
    desk.up()
    desk.model.think()
    first, second = (desk.begin(ADD) for _ in range(2))
    eventually(lambda: len(desk.model.asked) == 2, "both are asked")
    late = desk.argus.rest("POST", "/api/ask", {"prompt": ADD, "tools": ["mcp__peer__*"], "timeout": "1s"})
    assert (late.error["code"], late.error["details"]["cause"]) == ("MCP_FAILED", "busy")
    assert late.error["details"]["waitedSeconds"] >= 1
    assert len(desk.model.asked) == 2
    third = desk.begin(ADD)
    first.kill()
    eventually(lambda: len(desk.model.asked) == 3, "the third has its place")
    assert len(_asking(desk)) == 2, "what the killed one asked has ended"
    desk.model.answer()
    said, _ = third.communicate(timeout=60)
    assert json.loads(said)["servers"][0]["state"] == "answered"
    assert second.wait(60) == 0
    assert desk.breaker()["failures"] == 0


def test_a_killed_argus_leaves_nothing_behind(desk: Desk) -> None:
    desk.up()
    desk.begin("use mcp__peer__hang {}")
    eventually(lambda: desk.model.asked and desk.started, "it is asked")
    started = eventually(lambda: len(found := _asking(desk)) == 1 and found, "it runs")[0].children(recursive=True)
    desk.argus.kill()
    eventually(lambda: not _asking(desk), "the program has ended")
    eventually(lambda: not any(one.is_running() for one in started), "and all that it started")


def test_agents_ask_by_mcp_and_bad_questions_are_answered_with_what_to_do(desk: Desk) -> None:
    desk.up()
    (desk.argus.folder / ".mcp.json").write_text("{ not json")

    async def ask(**arguments: Any) -> dict[str, Any]:
        command, *words = desk.argus.words("mcp")
        parameters = StdioServerParameters(command=command, args=words, env=desk.argus.env, cwd=desk.argus.folder)
        async with Client(parameters) as client:
            return dict((await client.call_tool("argus_query_mcp", arguments)).structured_content or {})

    told = asyncio.run(ask(prompt=ADD, tools=["mcp__peer__add"]))
    assert told["data"]["servers"][0]["state"] == "answered", told
    schema = {"type": "strange"}
    for arguments, code, words in (
        ({"tools": ["Bash(ls)"]}, "INVALID_REQUEST", "mcp__SERVER__TOOL"),
        ({"tools": []}, "INVALID_REQUEST", "tools"),
        ({"tools": ["mcp__peer__add"], "schema": schema}, "INVALID_REQUEST", "not a JSON schema"),
        ({"tools": ["mcp__peer__add"], "maxTurns": 0}, "INVALID_REQUEST", "maxTurns"),
        ({"tools": ["mcp__nobody__add"]}, "NOT_FOUND", "nobody"),
        ({"tools": ["mcp__made-up__x"], "timeout": "1ms"}, "MCP_FAILED", "no answer within"),
    ):
        refused = desk.argus.rest("POST", "/api/ask", {"prompt": "x", **arguments})
        assert refused.error["code"] == code, refused
        assert words in refused.error["message"]
    assert desk.ask(ADD, "--schema", "{").code == 2
    known = [one["name"] for one in desk.argus.get("/api/breakers")["breakers"]]
    assert [one for one in known if one.startswith("mcp:")] == ["mcp:peer"], "none for what is not there"


def test_a_question_is_only_text_and_no_session_of_the_folder_it_is_asked_in(desk: Desk) -> None:
    folder = desk.argus.folder
    (folder / "secret").write_text("the-secret-of-another")
    (folder / "CLAUDE.md").write_text("the-memory-of-the-project")
    (folder / ".claude").mkdir()
    ran = folder / "ran"
    (folder / ".claude" / "settings.json").write_text(json.dumps({"apiKeyHelper": f"touch {ran}; echo key"}))
    desk.up()
    asked = desk.ask(f"/cost of @{folder / 'secret'} and @secret?")
    assert (asked.code, asked.json["text"]) == (0, "nothing was wanted"), asked
    (said,) = desk.model.asked
    shown = "\n".join(said.prompts)
    assert "/cost of @" in shown
    assert "the-secret-of-another" not in shown
    assert "the-memory-of-the-project" not in shown
    desk.argus.env.pop("ANTHROPIC_API_KEY")
    refused = desk.ask(ADD)
    assert refused.error["details"]["cause"] == "model", "nobody is logged in"
    assert (not ran.exists(), desk.breaker()["failures"]) == (True, 0)


def _asking(desk: Desk) -> list[psutil.Process]:
    """The programs that are asked with just now."""
    return [
        one
        for one in desk.argus.marked()
        if any("stream-json" in word for word in words_of(one)) and words_of(one)[:1] != ["/bin/sh"]
    ]
