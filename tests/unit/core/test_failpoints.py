from __future__ import annotations

import pytest

from argus.core.failpoints import Place, Trap

A, B = Place.COMMITTING, Place.COMMITTED


@pytest.mark.parametrize(
    ("told", "reached", "where"),
    [
        pytest.param("committing", [B, A, A], 1, id="the-first-time"),
        pytest.param("committing:3", [A, B, A, A, A], 3, id="the-third-time"),
        pytest.param("committing>committed", [B, A, B, B], 2, id="only-after-another"),
        pytest.param("committing>committed:2", [B, A, B, B], 3, id="the-second-time-after-another"),
        pytest.param("elsewhere", [A, B], None, id="a-place-that-is-none"),
    ],
)
def test_a_trap_springs_where_it_was_told_to(told: str, reached: list[Place], where: int | None) -> None:
    trap = Trap(told)
    sprung = [place for place, one in enumerate(reached) if trap.springs(one)]
    assert sprung[:1] == ([] if where is None else [where])
