"""Typing into the real Claude Code, as npm brings it, in a real tmux."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.acceptance.harness import DEADLINE, eventually
from tests.claude_code import SESSION, ClaudeCode, claude_code

from argus.host.children import Children
from argus.host.panes import Look, Who
from argus.host.tmux import Tmux
from argus.host.tmux_panes import TmuxPanes
from argus.typist import CLAUDE, By, Deferred, Message, Outcome, Pace, Reason, Refused, Typed, Typist, Wanted, quoted
from argus.typist.kinds import Line

PATIENT = Pace(answer=DEADLINE, show=DEADLINE, take=DEADLINE, again=10.0)
LARGE = "".join(f"{n}: -x 'a' \"b\" `touch x` $(touch x) \\ #{{pid}} %1 é€😀;\n" for n in range(900)) + "-end;"
assert len(LARGE.encode()) > 40_000


class Desk:
    def __init__(self, claude: ClaudeCode) -> None:
        self.claude = claude
        children = Children()
        self.panes = TmuxPanes(children, Tmux(children))
        self.typist = Typist(self.panes, PATIENT)

    async def type(self, text: str, *, command: bool = False) -> Outcome:
        message = Message(text, command=command)
        return await self.typist.type(self.claude.tmux.socket, SESSION, message, Wanted(CLAUDE))

    async def interrupt(self, ours: str = "") -> Outcome:
        return await self.typist.interrupt(self.claude.tmux.socket, SESSION, Wanted(CLAUDE), ours=ours)

    async def look(self) -> Look:
        (look,) = await self.panes.find(self.claude.tmux.socket, SESSION, Who(), timeout=DEADLINE)
        return look

    async def ready(self) -> None:
        """At its prompt, with nothing to do."""
        for _ in range(int(DEADLINE / 0.05)):
            look = await self.look()
            if CLAUDE.read(look) == Line("") and CLAUDE.is_busy and not CLAUDE.is_busy(look):
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"it is not ready:\n{self.claude.tmux.screen(SESSION)}")

    def prompts(self) -> list[str]:
        return list(self.claude.model.asked[-1].prompts) if self.claude.model.asked else []


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    with claude_code(tmp_path, "--permission-mode", "default") as claude:
        one = Desk(claude)
        yield one
        one.panes.close()
        await asyncio.sleep(0.05)  # the client's end is reaped by the loop


def dialog(screen: str) -> str:
    """What it asks. Not all that it shows: above is its figure, which winks, hops and looks about."""
    return screen[screen.index("Create file") :]


async def test_a_prompt_is_answered_a_dialog_is_left_alone_and_a_command_taken(desk: Desk) -> None:
    claude = desk.claude
    # A prompt: the model is asked, and wants to write a file, so a dialog opens.
    assert isinstance(await desk.type("write - both; files"), Typed)
    claude.shows("Do you want to create")
    assert "write - both; files" in claude.model.wait_for(done=0).prompts
    before = dialog(claude.tmux.screen(SESSION))
    assert await desk.type("go on") == Deferred(Reason.DIALOG)
    assert await desk.interrupt() == Deferred(Reason.DIALOG)
    assert dialog(claude.tmux.screen(SESSION)) == before
    assert not claude.files[0].exists()
    claude.reject()
    await desk.ready()

    # A person's half-typed line, also of two rows, and in the shell mode.
    claude.keys("-l", "what a person\\", shows="what a person\\")
    await asyncio.sleep(0.3)  # sooner, the Enter counts as a part of the text
    claude.keys("Enter")
    claude.keys("-l", "begins", shows="begins")
    assert await desk.type("go on") == Deferred(Reason.HALF_TYPED)
    claude.shows("❯\xa0what a person\n  begins")
    claude.keys("C-u")
    claude.keys("BSpace")
    claude.keys("C-u")
    eventually(lambda: claude.line() == "", "the line is empty")
    claude.keys("-l", "!", shows="shell mode")
    assert await desk.type("touch x") == Deferred(Reason.HALF_TYPED)
    claude.keys("BSpace")
    await desk.ready()

    # What would be read as a command is not typed as a text, and one that would become another is taken back.
    assert await desk.type("!touch x") == Refused(Reason.COMMAND)
    hasty = Typist(desk.panes, Pace(answer=DEADLINE, show=3.0))
    part = await hasty.type(claude.tmux.socket, SESSION, Message("/cle", command=True), Wanted(CLAUDE))
    assert part == Refused(Reason.OTHER_COMMAND)
    assert claude.line() == ""

    # A command: a new conversation begins.
    first = {one.session for one in claude.model.asked}
    assert isinstance(await desk.type("/clear", command=True), Typed)
    await desk.ready()
    claude.model.think_at(0)
    assert isinstance(await desk.type(LARGE), Typed)
    eventually(lambda: any(LARGE in one.prompts for one in claude.model.asked), "40 KB arrive byte for byte")
    assert claude.model.asked[-1].session not in first
    assert not any("write - both; files" in prompt for prompt in desk.prompts())

    # It works, and is interrupted by its own key. What it puts back is not ours to erase, unless we are told so.
    assert await desk.interrupt() == Typed(By.PANE)
    eventually(lambda: "Truncated text" in claude.tmux.screen(SESSION), "it has put the text back")
    assert await desk.type("go on") == Deferred(Reason.HALF_TYPED)
    assert await desk.interrupt() == Deferred(Reason.HALF_TYPED)
    claude.keys("C-c")
    await desk.ready()
    ours = "Create handoff document now. " + "And go on with it. " * 12 + "Now."
    assert isinstance(await desk.type(ours), Typed)
    eventually(lambda: ours in desk.prompts(), "it works on it")
    assert await desk.interrupt(ours) == Typed(By.PANE)
    await desk.ready()
    assert await desk.interrupt() == Deferred(Reason.NOT_BUSY)
    assert sum(LARGE in one.prompts for one in claude.model.asked) == 1, "submitted once"
    assert not list(claude.project.iterdir()), "nothing of it was run"


async def test_a_file_that_a_log_mentions_is_not_read_into_the_conversation(desk: Desk) -> None:
    claude = desk.claude
    secret = claude.tmux.folder / "secret.txt"
    secret.write_text("canary-of-a-file\n")
    log = f"Error: cannot read @{secret} now"
    assert isinstance(await desk.type(f"It failed: {quoted(log)}. Look into it."), Typed)
    claude.shows("Do you want to create")
    asked = claude.model.wait_for(done=0).prompts
    assert any("cannot read" in one for one in asked)
    assert not any("canary-of-a-file" in one for one in asked)
    claude.reject()
    await desk.ready()
    # As a person may mean it, and why the above is needed.
    assert isinstance(await desk.type(f"It failed: “{log}”"), Typed)
    eventually(lambda: "canary-of-a-file" in str(claude.model.asked[-1].prompts), "the file is read")
