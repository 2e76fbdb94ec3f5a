"""Typing into the panes of a real tmux. The letters and numbers are the rows of the fault table."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.acceptance.harness import DEADLINE, eventually
from tests.tmux_server import TmuxServer, noted

from argus.host.children import Children
from argus.host.identity import identify, seen
from argus.host.panes import PanesFailed, Who
from argus.host.tmux import Tmux
from argus.host.tmux_panes import TmuxPanes
from argus.typist import PLAIN, Deferred, Message, Outcome, Pace, Reason, Refused, Typed, Typist, Wanted, plain

PATIENT = Pace(answer=DEADLINE, show=DEADLINE, take=DEADLINE)
"""For a machine that is busy with something else."""


class Room:
    def __init__(self, folder: Path) -> None:
        self.tmux = TmuxServer(folder)
        self._children = Children()
        self.panes = TmuxPanes(self._children, Tmux(self._children))
        self.typist = Typist(self.panes, PATIENT)

    async def type(self, text: str, session: str = "work", wanted: Wanted | None = None) -> Outcome:
        return await self.typist.type(self.tmux.socket, session, Message(text), wanted or Wanted(PLAIN))

    def noted(self, file: Path, count: int) -> list[str]:
        eventually(lambda: len(noted(file)) >= count, f"{count} lines noted")
        return noted(file)

    def cursor_row(self, session: str = "work") -> str:
        y = int(self.tmux.run("display-message", "-p", "-t", f"={session}:", "#{cursor_y}"))
        return self.tmux.screen(session).split("\n")[y]


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    one = Room(tmp_path)
    yield one
    one.panes.close()
    one.tmux.end()
    await asyncio.sleep(0.05)  # the client's end is reaped by the loop


async def test_what_is_typed_is_submitted_once_and_confirmed(room: Room) -> None:
    file = room.tmux.agent("work")
    assert isinstance(await room.type("go on"), Typed)
    assert isinstance(await room.type("and on"), Typed)
    assert room.noted(file, 2) == ["go on", "and on"]


async def test_ag9_a_session_whose_name_only_begins_so_is_not_typed_into(room: Room) -> None:
    file = room.tmux.agent("name2")
    before = room.tmux.screen("name2")
    assert await room.type("go on", session="name") == Refused(Reason.NO_SESSION)
    assert room.tmux.screen("name2") == before
    # And not when we are a guest of that session already.
    assert isinstance(await room.type("meant for it", session="name2"), Typed)
    assert await room.type("go on", session="name") == Refused(Reason.NO_SESSION)
    assert room.noted(file, 1) == ["meant for it"]


async def test_ag11_a_persons_half_typed_line_is_left_as_it_is_and_typing_deferred(room: Room) -> None:
    file = room.tmux.agent("work")
    room.tmux.keys("work", "-l", "what a person")
    room.tmux.shows("work", "what a person")
    assert await room.type("go on") == Deferred(Reason.HALF_TYPED)
    assert room.cursor_row() == "> what a person"
    room.tmux.keys("work", "-l", " says")
    room.tmux.keys("work", "Enter")
    assert room.noted(file, 1) == ["what a person says"]
    assert isinstance(await room.type("go on"), Typed)
    assert room.noted(file, 2)[1:] == ["go on"]


@pytest.mark.parametrize("known", [True, False], ids=["a-known-process", "any-process"])
async def test_ag12_what_an_agent_left_behind_to_a_shell_is_not_typed_at(room: Room, known: bool) -> None:
    room.tmux.start("work", "sh")
    room.tmux.keys("work", "-l", f"PS1='$ '; {' '.join(_line_agent(room.tmux.folder))}")
    room.tmux.keys("work", "Enter")
    room.tmux.shows("work", "\n>")
    (look,) = await room.panes.find(room.tmux.socket, "work", Who(), timeout=DEADLINE)
    assert look.agent is not None
    wanted = Wanted(PLAIN, look.agent.who if known else None)
    assert isinstance(await room.type("one", wanted=wanted), Typed)
    os.kill(look.agent.who.pid, signal.SIGKILL)
    eventually(lambda: identify(look.agent.who.pid) is None, "the agent is dead")  # type: ignore[union-attr]
    proof = room.tmux.folder / "executed"
    eventually(lambda: room.cursor_row().rstrip().endswith("$"), "the shell is back")
    before = room.tmux.screen("work")
    assert await room.type(f"touch {proof}", wanted=wanted) == Refused(Reason.SHELL)
    assert room.tmux.screen("work") == before
    assert not proof.exists()


def _line_agent(folder: Path) -> list[str]:
    return [sys.executable, str(Path(__file__).parents[1] / "line_agent.py"), str(folder / "noted.jsonl")]


ODD = "-n; Enter C-c 'a' \"b\" $HOME `touch x` $(touch x) ~ #{pid} #(touch x) \\n \\; {a} %1 é€😀 \ttab"


TEXTS = {
    "an-option": "-n",
    "a-dash": "- a task",
    "a-semicolon": ";",
    "a-semicolon-last": "done;",
    "an-escaped-one": "\\;",
    "odd": ODD,
    "lines": f"{ODD}\nand a second line;",
    "40-KB": "0123456 \n" * 4500 + "-e;",
    "40-KB-in-one-row": "-" + "x" * 40_000 + ";",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_ag13_a_text_arrives_byte_for_byte_and_is_submitted_once(room: Room, text: str) -> None:
    file = room.tmux.agent("work")
    wanted = Wanted(plain(lines=True))
    assert isinstance(await room.type(text, wanted=wanted), Typed)
    assert isinstance(await room.type("end", wanted=wanted), Typed)
    assert room.noted(file, 2) == [text, "end"]
    assert room.tmux.run("list-buffers") == ""


async def test_escape_sequences_do_not_end_the_paste_and_line_breaks_do_not_submit(room: Room) -> None:
    file = room.tmux.agent("work")
    assert isinstance(await room.type("a\x1b[201~\rtouch x\r\x03 b\x9b201~\x1b]0;title\x07 c\x00d"), Typed)
    assert isinstance(await room.type("end"), Typed)
    assert room.noted(file, 2) == ["a touch x b cd", "end"]


async def test_a_line_of_ours_that_was_left_is_taken_back_and_nobody_elses_is(room: Room) -> None:
    room.tmux.agent("work")

    async def erase(text: str) -> bool:
        return await room.typist.erase(room.tmux.socket, "work", text, Wanted(PLAIN))

    room.tmux.keys("work", "-l", "/clear")
    room.tmux.shows("work", "> /clear")
    assert not await erase("/new")
    assert room.cursor_row().strip() == "> /clear"
    assert await erase("/clear")
    assert room.cursor_row().strip() == ">"


async def test_an_agent_that_shows_nothing_gets_one_enter(room: Room) -> None:
    file = room.tmux.agent("work", "silent")
    pace = replace(PATIENT, again=0.3, take=0.3)
    outcome = await Typist(room.panes, pace).type(room.tmux.socket, "work", Message("go on"), Wanted(PLAIN))
    assert not isinstance(outcome, Typed)
    outcome = await Typist(room.panes, pace).type(
        room.tmux.socket, "work", Message("and on"), Wanted(PLAIN), told=lambda: len(noted(file)) == 2
    )
    assert isinstance(outcome, Typed)
    assert noted(file) == ["go on", "and on"]


async def test_an_enter_that_was_lost_is_pressed_again_and_the_text_is_not_doubled(room: Room) -> None:
    file = room.tmux.agent("work", "deaf")
    typist = Typist(room.panes, replace(PATIENT, again=0.3))
    assert isinstance(await typist.type(room.tmux.socket, "work", Message("go on"), Wanted(PLAIN)), Typed)
    assert room.noted(file, 1) == ["go on"]


async def test_nothing_is_typed_in_copy_mode(room: Room) -> None:
    file = room.tmux.agent("work")
    room.tmux.run("copy-mode", "-t", "=work:")
    assert await room.type("go on") == Deferred(Reason.COPY_MODE)
    room.tmux.keys("work", "-X", "cancel")
    assert isinstance(await room.type("go on"), Typed)
    assert room.noted(file, 1) == ["go on"]


async def test_a_pane_whose_program_has_ended_is_not_typed_into(room: Room) -> None:
    room.tmux.start("work", "cat")
    room.tmux.run("set-option", "-w", "-t", "=work:", "remain-on-exit", "on")
    room.tmux.keys("work", "C-d")
    eventually(lambda: room.tmux.run("display-message", "-p", "-t", "=work:", "#{pane_dead}").strip() == "1", "dead")
    assert await room.type("go on") == Refused(Reason.DEAD)


async def test_an_agent_that_is_stopped_is_not_typed_at(room: Room) -> None:
    room.tmux.agent("work", around="cd /; {}; true")  # tmux itself lets its own children go on
    (look,) = await room.panes.find(room.tmux.socket, "work", Who(), timeout=DEADLINE)
    assert look.agent is not None
    agent = look.agent.who
    os.kill(agent.pid, signal.SIGSTOP)
    eventually(lambda: seen(agent.pid) == (agent, "T"), "it is stopped")
    assert await room.type("go on") == Deferred(Reason.STOPPED)
    os.kill(agent.pid, signal.SIGCONT)
    assert isinstance(await room.type("go on"), Typed)


async def test_of_several_panes_the_agents_is_typed_into_and_nothing_if_that_is_not_certain(room: Room) -> None:
    file = room.tmux.agent("work")
    (look,) = await room.panes.find(room.tmux.socket, "work", Who(), timeout=DEADLINE)
    room.tmux.run("split-window", "-t", "=work:", "sh")
    assert isinstance(await room.type("one"), Typed)
    room.tmux.run("new-window", "-t", "=work:", "exec cat")
    # Not by tmux's own word for it: of a program that is about to begin tmux says what it was asked to start.
    pid = int(room.tmux.run("display-message", "-p", "-t", "=work:", "#{pane_pid}"))
    eventually(lambda: Path(f"/proc/{pid}/comm").read_text() == "cat\n", "another program has a pane of its own")
    assert await room.type("two") == Refused(Reason.SEVERAL_PANES)
    assert look.agent is not None
    assert isinstance(await room.type("three", wanted=Wanted(PLAIN, look.agent.who)), Typed)
    assert room.noted(file, 2) == ["one", "three"]


async def test_panes_that_are_typed_into_together_are_not_typed_into(room: Room) -> None:
    room.tmux.agent("work")
    room.tmux.run("split-window", "-t", "=work:", "sh")
    room.tmux.run("set-option", "-w", "-t", "=work:", "synchronize-panes", "on")
    assert await room.type("one") == Deferred(Reason.SYNCHRONIZED)


async def test_an_agent_behind_a_wrapper_of_the_shell_is_found(room: Room) -> None:
    file = room.tmux.agent("work", around="cd /; {}; true")
    assert isinstance(await room.type("go on"), Typed)
    assert room.noted(file, 1) == ["go on"]


async def test_a_server_that_was_killed_and_is_back_is_typed_into_again(room: Room) -> None:
    room.tmux.agent("work")
    assert isinstance(await room.type("one"), Typed)
    room.tmux.end()
    assert await room.type("two") == Refused(Reason.NO_SESSION)
    (room.tmux.folder / "work.jsonl").unlink()
    file = room.tmux.agent("work")
    assert isinstance(await room.type("three"), Typed)
    assert room.noted(file, 1) == ["three"]


async def test_other_sessions_are_typed_into_when_the_one_that_was_asked_about_has_ended(room: Room) -> None:
    room.tmux.agent("first")
    file = room.tmux.agent("work")
    assert isinstance(await room.type("one", session="first"), Typed)
    room.tmux.run("kill-session", "-t", "=first")
    assert isinstance(await room.type("two"), Typed)
    assert room.noted(file, 1) == ["two"]


async def test_a_server_that_hangs_is_given_up_and_used_again_when_it_goes_on(room: Room) -> None:
    file = room.tmux.agent("work")
    assert isinstance(await room.type("one"), Typed)
    server = int(room.tmux.run("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        typist = Typist(room.panes, replace(PATIENT, answer=0.3))
        outcome = await typist.type(room.tmux.socket, "work", Message("two"), Wanted(PLAIN))
        assert outcome == Deferred(Reason.UNANSWERED)
    finally:
        os.kill(server, signal.SIGCONT)
    assert isinstance(await room.type("three"), Typed)
    assert room.noted(file, 2) == ["one", "three"]


SPOOF = """
import time
now = int(time.time())
for number in range(1, 400):
    for second in range(9):
        print(f"%end {now + second} {number} 1")
time.sleep(1000)
"""


async def test_what_a_pane_shows_cannot_play_the_end_of_tmuxs_answer(room: Room) -> None:
    """The number of an answer is known beforehand to anybody who counts."""
    room.tmux.start("other", "cat")
    room.tmux.run("new-session", "-d", "-s", "work", "-x", "80", "-y", "4000", sys.executable, "-c", SPOOF)
    eventually(lambda: " 399 1" in room.tmux.screen("work"), "it plays")
    refused = 0
    for _ in range(20):
        try:
            (look,) = await room.panes.find(room.tmux.socket, "work", Who(), timeout=DEADLINE)
            assert len(look.lines) == look.rows
        except PanesFailed:
            refused += 1
    assert refused, "it was played"
    assert await room.panes.find(room.tmux.socket, "other", Who(), timeout=DEADLINE)


async def test_our_client_changes_no_size_and_no_environment_and_leaves_when_it_is_told_to(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.tmux.agent("work")
    monkeypatch.setenv("DISPLAY", ":77")
    assert isinstance(await room.type("one"), Typed)
    sizes = "#{window_width}x#{window_height} #{session_attached} #{client_flags}"
    assert room.tmux.run("list-clients", "-F", "#{client_control_mode} #{client_flags}").startswith("1 ")
    assert room.tmux.run("display-message", "-p", "-t", "=work:", sizes).startswith("80x10 1")
    assert ":77" not in room.tmux.run("show-environment", "-t", "=work")
    room.panes.close()
    eventually(lambda: room.tmux.run("list-clients") == "", "it has left")


@pytest.mark.parametrize("attached", [False, True])
async def test_a_server_that_stood_still_goes_on_with_everything_in_it(room: Room, attached: bool) -> None:
    """tmux 3.3a crashes when it comes back to clients that were killed while they attached."""
    file = room.tmux.agent("work")
    server = int(room.tmux.run("display-message", "-p", "#{pid}"))
    if attached:
        assert await room.panes.find(room.tmux.socket, "work", Who(), timeout=DEADLINE)
    os.kill(server, signal.SIGSTOP)
    try:
        for _ in range(5):
            with pytest.raises(PanesFailed):
                await room.panes.find(room.tmux.socket, "work", Who(), timeout=0.3)
    finally:
        os.kill(server, signal.SIGCONT)
    assert isinstance(await room.type("go on"), Typed)
    assert room.noted(file, 1) == ["go on"]
    assert int(room.tmux.run("display-message", "-p", "#{pid}")) == server
    assert len(room.tmux.run("list-clients").splitlines()) == 1


async def test_two_who_type_at_once_do_not_mix_their_texts(room: Room) -> None:
    file = room.tmux.agent("work")
    texts = [f"{n} {'word ' * n}end" for n in range(5)]
    assert all(isinstance(one, Typed) for one in await asyncio.gather(*map(room.type, texts)))
    assert sorted(room.noted(file, 5)) == sorted(texts)
