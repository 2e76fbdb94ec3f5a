"""What was heard lately is kept, within bounds."""

from __future__ import annotations

from tests.unit.sessions.recorded import NOW, hook, rows

from argus.core.clock import Stamp
from argus.sessions import ear, told
from argus.sessions.ear import Ear
from argus.sessions.model import Activity, Source
from argus.sessions.signals import Sign
from argus.testing import FakeClock


def sign(n: int, session: str = "s") -> Sign:
    return Sign(Activity.WORKING, Source.HOOK, Stamp("boot", float(n), float(n)), session=session, event=f"e{n}")


def test_the_signs_of_a_conversation_are_kept_and_the_oldest_go() -> None:
    heard = Ear(FakeClock())
    for n in range(10 * ear.SIGNS):
        heard.heard("claude", "/srv/green", sign(n))
    kept = heard.signs("claude", "s")
    assert len(kept) <= ear.SIGNS
    assert kept[-1] == sign(10 * ear.SIGNS - 1)
    assert heard.in_folder("claude", "/srv/green") == kept
    assert heard.in_folder("codex", "/srv/green") == ()


def test_conversations_that_were_silent_for_longest_go_first() -> None:
    heard = Ear(FakeClock())
    for n in range(ear.CONVERSATIONS + 5):
        heard.heard("claude", f"/srv/{n}", sign(n, f"s{n}"))
        heard.heard("claude", "/srv/first", sign(n, "first"))
    assert heard.signs("claude", "s0") == ()
    assert heard.signs("claude", "first")
    assert heard.signs("claude", f"s{ear.CONVERSATIONS + 4}")


def test_kinds_that_somebody_makes_up_are_counted_together() -> None:
    heard = Ear(FakeClock())
    for n in range(1000):
        heard.ignored(f"kind{n}")
    assert len(heard.lately()) <= 51
    assert sum(one.ignored for one in heard.lately()) == 1000


def test_what_was_posted_is_read_by_the_kind_of_agent() -> None:
    status = told.read("claude", rows("claude_status_lines")[-1], NOW)
    assert status.sign is not None
    assert (status.sign.source, status.folder) == (Source.STATUS_LINE, "/srv/green")
    turn = told.read("codex", rows("codex_notified")[0], NOW)
    assert turn.sign is not None
    assert (turn.sign.activity, turn.folder) == (Activity.IDLE, "/srv/green")
    assert told.read("claude", hook("Stop"), NOW).sign == told.read("other", hook("Stop"), NOW).sign
    assert told.read("claude", {"hook_event_name": "Setup"}, NOW).ignored == "Setup tells nothing about a session"
    assert told.read("claude", {}, NOW).ignored
