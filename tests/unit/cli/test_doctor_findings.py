"""What the examinations of `argus doctor` make of what they see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from argus.cli.doctoring import folder, record
from argus.cli.doctoring.finding import Case
from argus.config import Config
from argus.host import disk


def case(home: Path, **more: Any) -> Case:
    return Case(home, Config(), **more)


@pytest.mark.parametrize(
    ("free", "state", "said"),
    [
        (560_000, "bad", "0.6 MB free at {}: soon nothing can be recorded, and then nothing is done"),
        (4_000, "bad", "4 kB free at {}: nothing can be recorded, so nothing is done"),
        (400_000_000, "warn", "0.4 GB free at {}"),
    ],
)
def test_a_disk_with_little_room_is_not_called_a_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str, said: str
) -> None:
    monkeypatch.setattr(disk, "free", lambda _: free)
    found = folder.space(case(tmp_path))
    assert (found.state.value, found.detail) == (state, said.format(tmp_path))


def test_a_clock_that_was_ahead_once_leaves_nothing_to_do_and_that_is_said() -> None:
    ahead = 40 * 86400.0
    (found,) = record.future(round((1_800_000_000.0 + ahead) * 1000), now=1_800_000_000.0)
    assert (found.name, found.state.value) == ("CLOCK_SET_BACK", "warn")
    assert "2027-02-24" in found.detail, "when it was written by its own word"
    assert "40d" in found.detail
    assert "2027-01-15" in found.next, "what the clock says now"
    assert "nothing is left to do" in found.next
    assert record.future(1_800_000_060_000, now=1_800_000_000.0) == []
