"""The real Claude Code, attached to Argus by one line: it sees the tools, and its model gets what they answer."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from argus.mcp.tools import TOOLS
from tests.acceptance.harness import DEADLINE, PROGRAM, Argus, whole
from tests.acceptance.model_service import ModelService, _Messages, _Responses
from tests.acceptance.test_agent_programs import program
from tests.acceptance.test_agents_door import settle

_CALL = "CALL "


class CallingModel(ModelService):
    """Calls the one tool that its prompt names, `CALL tool {"its": "input"}`, and says then that it is done."""

    def __init__(self) -> None:
        super().__init__([])
        self.results: list[dict[str, Any]] = []
        """What came back to it."""

    def _work(self, shape: type[_Messages | _Responses], request: dict[str, Any]) -> list[dict[str, Any]]:
        back = [one for one in _Messages._blocks(request, "user") if one["type"] == "tool_result"]
        if back:
            self.results = back
            return shape.says("All is done.")
        (asked,) = [text for text in shape.prompts(request) if text.startswith(_CALL)]
        tool, _, wanted = asked.removeprefix(_CALL).partition(" ")
        return _Messages.uses(tool, json.loads(wanted), "call_1")


class Claude:
    """With a home of its own."""

    def __init__(self, argus: Argus) -> None:
        self.argus = argus
        self.model = CallingModel()
        self.folder = argus.folder / "project"
        self.folder.mkdir()
        # Argus is on the path, as it is where people installed it.
        path = f"{Path(PROGRAM).parent}{os.pathsep}{argus.env['PATH']}"
        self.env = {
            **argus.env,
            "PATH": path,
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "x",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [program("claude"), *words],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=4 * DEADLINE,
        )
        assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    def call(self, tool: str, **wanted: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The first line of its output, which says what it has; and what its model got back."""
        asked = f"{_CALL}mcp__argus__{tool} {json.dumps(wanted)}"
        allowed = ("--allowedTools", "mcp__argus__*", "--output-format", "stream-json", "--verbose")
        said = [json.loads(line) for line in self.run("-p", asked, *allowed).splitlines()]
        assert said[-1]["result"] == "All is done.", said[-1]
        (result,) = self.model.results
        return said[0], result


@pytest.fixture(scope="module")
def claude(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Claude]:
    program("claude")  # without it there is nothing to begin
    argus = Argus(tmp_path_factory.mktemp("claude") / "argus")
    try:
        made = Claude(settle(argus))
        made.run("mcp", "add", "argus", "--", "argus", "mcp")
        yield made
        made.model.close()
    finally:
        argus.end()


def said(result: dict[str, Any]) -> dict[str, Any]:
    content = result["content"]
    text = content if isinstance(content, str) else "".join(one["text"] for one in content)
    # Behind an error it adds what the tool takes.
    envelope: dict[str, Any] = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
    return envelope


def test_one_line_attaches_argus_over_stdio_or_http(claude: Claude) -> None:
    header = f"Authorization: Bearer {claude.argus.token}"
    claude.run("mcp", "add", "--transport", "http", "over-http", f"{claude.argus.url}/mcp", "--header", header)
    try:
        listed = dict(line.split(": ", 1) for line in claude.run("mcp", "list").splitlines() if ": " in line)
    finally:
        claude.run("mcp", "remove", "over-http")
    assert listed["argus"].startswith("argus mcp")
    for name in ("argus", "over-http"):
        assert listed[name].endswith("Connected"), listed


def test_it_lists_every_tool_and_its_model_gets_what_one_answers(claude: Claude) -> None:
    begun, result = claude.call("argus_context")
    assert [(one["name"], one["status"]) for one in begun["mcp_servers"]] == [("argus", "connected")]
    assert {one for one in begun["tools"] if one.startswith("mcp__argus__")} == {f"mcp__argus__{one}" for one in TOOLS}
    envelope = said(result)
    assert envelope["success"] is True
    assert "web: UP" in envelope["data"]["text"]
    assert not result.get("is_error")


def test_a_refusal_reaches_its_model_as_an_error_with_all_that_is_known(claude: Claude) -> None:
    _, result = claude.call("argus_restart_service", name="no-such")
    assert result["is_error"] is True
    error = said(result)["error"]
    assert error["code"] == "SERVICE_NOT_FOUND"
    assert whole(error["details"])["suggestedActions"]
    assert error["details"]["details"]["service"] == "no-such"


def test_what_it_asks_for_is_done_where_it_works(claude: Claude) -> None:
    """Relative paths are its own: the daemon stands elsewhere."""
    file = claude.folder / "e2e.yaml"
    file.write_text("project: {name: shop}\ntests: {suites: [{name: one, id: one, runner: shell, command: pwd}]}\n")
    _, result = claude.call("argus_init", projectPath=".")
    assert said(result)["data"]["folder"] == str(claude.folder.resolve())
