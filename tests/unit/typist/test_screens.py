"""What is read out of the screens that real agents showed (tests/recorded_screens)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.recorded_screens import AGENT, names, screen

from argus.host.identity import Identity
from argus.host.panes import Look, Process
from argus.typist import CLAUDE, CODEX, PLAIN, Message, Reason, Wanted, may_type, plain
from argus.typist.kinds import Closed, Line
from argus.typist.policy import may_enter

RECORDED = "claude-2.1.325"
LINES = "\n".join(f"line {n}" for n in range(16, 30))
READ: dict[str, Line | Closed] = {
    "trust": Closed.DIALOG,
    "fresh": Line(""),
    "half-typed": Line("half typed"),
    "half-typed-cursor-at-its-start": Line("half typed"),
    "erased": Line(""),
    "one-letter-under-the-cursor": Line("x"),
    "half-typed-lines": Line("line one\nline two", whole=False),
    "permission": Closed.DIALOG,
    "rejected": Line(""),
    "half-typed-scrolled": Line(LINES, whole=False),
    "half-typed-scrolled-cursor-inside": Line(LINES, whole=False),
    "cleared-by-ctrl-c": Line(""),
    "pasted": Line("[Pasted text #1 +6 lines]"),
    "shell-mode": Line("!"),
    "shell-mode-half-typed": Line("! ls"),
    "shortcuts": Line(""),
    "menu": Line("/cl", choice="/clear"),
    "menu-at-the-command": Line("/clear", choice="/clear"),
    "choice-of-model": Closed.DIALOG,
    "after-a-choice": Line(""),
    "history": Closed.DIALOG,
    "after-the-history": Line(""),
    "working": Line(""),
    "working-half-typed": Line("half"),
    "working-with-one-queued": Line(""),
    "vim-insert": Line(""),
    "vim-normal": Line(""),
}


def test_every_recorded_screen_has_its_reading() -> None:
    assert set(names(RECORDED)) == set(READ)


@pytest.mark.parametrize("name", READ)
def test_the_prompt_is_read_as_a_person_reads_it(name: str) -> None:
    assert CLAUDE.read(screen(RECORDED, name)) == READ[name]


@pytest.mark.parametrize("name", READ)
def test_only_an_empty_prompt_is_typed_at(name: str) -> None:
    read = READ[name]
    expected = Reason.DIALOG if read is Closed.DIALOG else None
    if isinstance(read, Line) and read.text:
        expected = Reason.HALF_TYPED
    assert may_type(screen(RECORDED, name), Wanted(CLAUDE)) is expected


@pytest.mark.parametrize("name", READ)
def test_it_is_busy_only_while_it_works(name: str) -> None:
    assert CLAUDE.is_busy is not None
    assert CLAUDE.is_busy(screen(RECORDED, name)) == name.startswith("working")


ENTER = {
    "what-was-pasted-stands-there": ("half-typed", Message("half typed"), None),
    "its-start-is-under-the-cursor": ("half-typed-cursor-at-its-start", Message("half typed"), None),
    "lines": ("half-typed-lines", Message("line one\nline two"), None),
    "scrolled": ("half-typed-scrolled", Message("\n".join(f"line {n}" for n in range(30))), None),
    "abbreviated": ("pasted", Message("a\nb\nc\nd\ne\nf\ng"), None),
    "a-command-and-it-is-chosen": ("menu-at-the-command", Message("/clear", command=True), None),
    "another-is-chosen": ("menu", Message("/cl", command=True), Reason.OTHER_COMMAND),
    "something-else-stands-there": ("half-typed", Message("half"), Reason.CHANGED),
    "something-was-added": ("half-typed", Message("half typed too"), Reason.CHANGED),
    "nothing-stands-there": ("fresh", Message("half typed"), Reason.NOT_SEEN),
    "the-shell-mode": ("shell-mode-half-typed", Message("ls"), Reason.CHANGED),
    "a-dialog-came-up": ("permission", Message("half typed"), Reason.DIALOG),
}


@pytest.mark.parametrize(("name", "message", "reason"), ENTER.values(), ids=ENTER.keys())
def test_enter_is_pressed_only_on_exactly_what_was_pasted(name: str, message: Message, reason: Reason | None) -> None:
    assert may_enter(screen(RECORDED, name), Wanted(CLAUDE), message, message.text) is reason


def drawn(*lines: str, cursor: tuple[int, int]) -> Look:
    rows = (*lines, *[""] * (40 - len(lines)))
    return replace(screen(RECORDED, "fresh"), lines=rows, cursor=cursor)


OLD_TOP, OLD_BOTTOM = f"╭{'─' * 118}╮", f"╰{'─' * 118}╯"
DRAWN = {
    "an-older-box": (drawn(OLD_TOP, f"│ > {' ' * 114} │", OLD_BOTTOM, cursor=(4, 1)), Line("")),
    "an-older-box-half-typed": (drawn(OLD_TOP, f"│ > half{' ' * 110} │", OLD_BOTTOM, cursor=(8, 1)), Line("half")),
    "a-greyed-example": (
        drawn("─" * 120, '❯\xa0\x1b[7mT\x1b[0;2mry "fix the tests"\x1b[0m', "─" * 120, cursor=(2, 1)),
        Line(""),
    ),
    "a-greyed-completion": (
        drawn("─" * 120, "❯\xa0/cl\x1b[7me\x1b[0;2mar\x1b[0m", "─" * 120, cursor=(5, 1)),
        Line("/cl"),
    ),
    "green-is-not-grey": (drawn("─" * 120, "❯\xa0\x1b[38;5;2mhalf", "─" * 120, cursor=(6, 1)), Line("half")),
    "wide-letters": (drawn("─" * 120, "❯\xa0日本\x1b[7m \x1b[0m", "─" * 120, cursor=(6, 1)), Line("日本")),
    "a-named-rule": (drawn(f"{'─' * 100} shop {'─' * 14}", "❯\xa0", "─" * 120, cursor=(2, 1)), Line("")),
    "no-box-at-all": (drawn("starting ...", cursor=(0, 1)), Closed.NO_PROMPT),
    "the-cursor-is-elsewhere": (drawn("─" * 120, "❯\xa0", "─" * 120, "text", cursor=(0, 3)), Closed.NO_PROMPT),
    "an-editor": (drawn("text", "~", "~", "-- INSERT --", cursor=(0, 0)), Closed.NO_PROMPT),
}


@pytest.mark.parametrize(("look", "read"), DRAWN.values(), ids=DRAWN.keys())
def test_other_shapes_of_the_prompt(look: Look, read: Line | Closed) -> None:
    assert CLAUDE.read(look) == read


CODEX_SCREENS = {
    "a-greyed-example": (drawn("", "\x1b[1m›\x1b[0m \x1b[2mAsk Codex to do anything\x1b[0m", cursor=(2, 1)), Line("")),
    "half-typed": (drawn("", "\x1b[1m›\x1b[0m half", cursor=(6, 1)), Line("half")),
    "half-typed-lines": (drawn("› one", "  two", cursor=(5, 1)), Line("one\ntwo", whole=False)),
    "a-dialog": (drawn("Run it?", "› 1. Yes", "  2. No", cursor=(0, 1)), Closed.DIALOG),
}


@pytest.mark.parametrize(("look", "read"), CODEX_SCREENS.values(), ids=CODEX_SCREENS.keys())
def test_the_prompt_of_codex(look: Look, read: Line | Closed) -> None:
    assert CODEX.read(look) == read


PLAINLY = {
    "nothing-at-all": ("", None),
    "a-prompt": ("> ", None),
    "a-prompt-that-is-set-in": ("   ❯ ", None),
    "half-typed": ("> half", Reason.HALF_TYPED),
    "without-a-prompt": ("half", Reason.HALF_TYPED),
    "a-question": ("Go on? (y/n)", Reason.HALF_TYPED),
    "a-prompt-of-its-own": ("agent> ", Reason.HALF_TYPED),
}


@pytest.mark.parametrize(("row", "reason"), PLAINLY.values(), ids=PLAINLY.keys())
def test_a_plain_line_is_half_typed_if_anything_follows_the_prompt(row: str, reason: Reason | None) -> None:
    assert may_type(drawn("before", row, cursor=(len(row), 1)), Wanted(PLAIN)) is reason


def test_the_prompt_of_a_plain_agent_is_a_setting() -> None:
    look = drawn("before", "agent> ", cursor=(7, 1))
    assert may_type(look, Wanted(plain(r"^agent>\s*"))) is None


def test_a_line_that_wraps_after_a_space_is_known_by_its_end() -> None:
    text = "x" * 40 + " and the end"
    look = replace(drawn("> " + "x" * 40, "and the end", cursor=(11, 1)), columns=43)
    assert may_enter(look, Wanted(PLAIN), Message(text), text) is None


FRESH = screen(RECORDED, "fresh")
SHELL = Process(Identity(2000, "2"), "bash")
REFUSED = {
    "the-pane-is-gone": (None, Reason.GONE),
    "its-program-ended": (replace(FRESH, dead=True), Reason.DEAD),
    "a-shell-has-it": (replace(FRESH, agent=None, leader=SHELL), Reason.SHELL),
    "somebody-else-has-it": (replace(FRESH, agent=None), Reason.NOT_THE_AGENT),
    "nobody-knows-who-has-it": (replace(FRESH, agent=None, leader=None), Reason.NOT_THE_AGENT),
    "another-agent-has-it": (replace(FRESH, agent=Process(Identity(1000, "2"), "claude")), Reason.NOT_THE_AGENT),
    "it-is-stopped": (replace(FRESH, agent=replace(AGENT, stopped=True)), Reason.STOPPED),
    "copy-mode": (replace(FRESH, in_mode=True), Reason.COPY_MODE),
    "input-off": (replace(FRESH, input_off=True), Reason.INPUT_OFF),
    "synchronized": (replace(FRESH, synchronized=True), Reason.SYNCHRONIZED),
    "it-is-the-agents": (FRESH, None),
}


@pytest.mark.parametrize(("look", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_pane_that_is_not_verified_is_not_typed_into(look: Look | None, reason: Reason | None) -> None:
    assert may_type(look, Wanted(CLAUDE, AGENT.who)) is reason
