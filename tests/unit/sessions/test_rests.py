"""For how long a document has lain there, by looks at it and by its own word."""

from __future__ import annotations

from argus.core.clock import Stamp
from argus.sessions.handoff import Handoff, Paper, Step
from argus.sessions.rests import Rests
from argus.sessions.tools import Leaf


def at(seconds: float, *, wall: float | None = None) -> Stamp:
    return Stamp("boot", 1000.0 + seconds, 5000.0 + (seconds if wall is None else wall))


def leaf(modified: float, size: int = 500) -> Leaf:
    return Leaf(7, size, 5000.0 + modified)


ONE = Handoff("h1", "/work/shop/handoff.md", 86, Step.WRITING, at(0), at(0))


def test_it_rests_from_the_look_that_found_it_and_was_written_before():
    rests = Rests()
    assert rests.seen(ONE, None, at(10)) is None
    assert rests.seen(ONE, leaf(11), at(13)) == Paper(500, 0.0, written=2.0)
    assert rests.seen(ONE, leaf(11), at(20)) == Paper(500, 7.0, written=9.0)


def test_what_changes_begins_anew():
    rests = Rests()
    rests.seen(ONE, leaf(11), at(13))
    assert rests.seen(ONE, leaf(15, 600), at(16)) == Paper(600, 0.0, written=1.0)
    assert rests.seen(ONE, None, at(17)) is None
    assert rests.seen(ONE, leaf(15, 600), at(18)) == Paper(600, 0.0, written=1.0)


def test_no_clock_makes_it_older_than_the_last_look_without_it():
    rests = Rests()
    rests.seen(ONE, None, at(10))
    assert rests.seen(ONE, leaf(11), at(13, wall=3613)) == Paper(500, 0.0, written=3.0)
    assert rests.seen(ONE, leaf(20), at(15, wall=3)) == Paper(500, 0.0, written=0.0), "a clock that was set back"


def test_an_argus_that_comes_later_takes_the_files_word_within_the_handoff():
    assert Rests().seen(ONE, leaf(5), at(30)) == Paper(500, 0.0, written=25.0)
    assert Rests().seen(ONE, leaf(-900), at(30)) == Paper(500, 0.0, written=30.0)


def test_what_is_over_is_forgotten():
    rests = Rests()
    rests.seen(ONE, leaf(5), at(6))
    rests.forget(ONE)
    assert rests.seen(ONE, leaf(5), at(9)) == Paper(500, 0.0, written=4.0)
