"""What a person asks for while a session is handed on is never cleared away, however it came to the agent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.harness import eventually
from tests.acceptance.test_agent_programs import Bench, bench, program
from tests.acceptance.test_sessions import Desk

__all__ = ["bench"]
_LINES = Path(__file__).parent.parent / "line_agent.py"
_OVER = ("done", "called off", "failed")


@pytest.fixture
def desk(bench: Bench) -> Iterator[Desk]:
    made = Desk(bench)
    yield made
    made.close()


def asked(desk: Desk) -> Path:
    """Of its document: the handoff is begun."""
    assert desk.argus.cli("sessions", "handoff", "shop").code == 0
    found = eventually(lambda: (one := desk.session["handoff"]) and one["step"] == "writing" and one["path"], "begun")
    return Path(found)


def written(path: Path) -> None:
    eventually(path.is_file, "the document is written")


def called_off(desk: Desk) -> None:
    ended = eventually(lambda: (one := desk.session["handoff"])["step"] in _OVER and one, "it ends")
    assert (ended["step"], ended["reason"].partition(" ")[0]) == ("called off", "somebody"), desk.screen()


def test_while_argus_was_away(desk: Desk) -> None:
    desk.up(handoff={"settle": "5s"})
    assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    desk.say("begin the work")
    desk.becomes(state="idle")
    written(asked(desk))
    desk.argus.kill()
    desk.say("one thing more")
    desk.argus.up()
    called_off(desk)
    assert desk.model.asked[-1].prompts[0] == "begin the work", "nothing was cleared"


def test_while_it_was_about_to_write_the_document(desk: Desk) -> None:
    desk.up(handoff={"settle": "3s"})
    assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    desk.say("begin the work")
    desk.becomes(state="idle")
    desk.model.may_write.clear()
    path = asked(desk)
    desk.enter("one thing more")  # which Claude Code hands over with the result of what it does just then
    desk.model.may_write.set()
    written(path)
    called_off(desk)


def test_to_codex(desk: Desk) -> None:
    settings = desk.bench.home / ".codex/config.toml"
    settings.write_text(settings.read_text().replace(desk.bench.model.url, desk.model.url))
    projects = {"shop": {"path": str(desk.bench.project), "agent": "codex"}}
    desk.up(handoff={"settle": "5s"}, projects=projects)
    command = [program("codex"), "--dangerously-bypass-approvals-and-sandbox"]
    size = ("-x", "150", "-y", "50")
    desk.tmux("new-session", "-d", "-s", "shop-ps", *size, "-c", str(desk.bench.project), *command)
    desk.shows("›")
    desk.say("begin the work")
    desk.becomes(state="idle")
    written(asked(desk))
    desk.say("one thing more")
    called_off(desk)


def test_to_a_program_that_tells_nothing_of_itself(desk: Desk) -> None:
    projects = {"shop": {"path": str(desk.bench.project), "agent": "plain"}}
    desk.up(handoff={"settle": "5s"}, projects=projects)
    command = (sys.executable, str(_LINES), str(desk.bench.project / "noted.jsonl"))
    size = ("-x", "150", "-y", "50")
    desk.tmux("new-session", "-d", "-s", "shop-ps", *size, "-c", str(desk.bench.project), *command)
    desk.shows(">")
    path = asked(desk)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("where it stands")
    desk.enter("one thing more")
    called_off(desk)
    assert "/clear" not in desk.screen()
