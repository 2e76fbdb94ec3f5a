"""Who may take what away: only this project's resources of runs that are not alive."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.environments.labels import (
    CREATED,
    MANAGED,
    OWNER,
    PROJECT,
    RUN,
    Owner,
    Witness,
    is_orphan,
    labels,
    read_owner,
)

ME = Owner("here", "boot1", 100, "5", "/home/a/.argus")
OTHER = Owner("here", "boot1", 200, "7", "/home/b/.argus")
WHEN = "2026-11-15T12:00:00Z"


def witness(*alive: Owner, runs: tuple[str, ...] = ()) -> Witness:
    return Witness(ME, frozenset(runs), lambda owner: owner in alive)


def carried(owner: Owner | None = OTHER, *, project: str = "shop", run: str = "r1") -> dict[str, str]:
    made = labels(project, run, owner or ME, WHEN)
    if owner is None:
        del made[OWNER]
    return made


def test_everything_carries_the_five_labels():
    made = labels("shop", "r1", ME, WHEN)
    assert set(made) == {MANAGED, PROJECT, RUN, CREATED, OWNER}
    assert (made[MANAGED], made[PROJECT], made[RUN], made[CREATED]) == ("true", "shop", "r1", WHEN)
    assert read_owner(made[OWNER]) == ME


@pytest.mark.req("FR-R16")
@pytest.mark.parametrize(
    ("found", "by", "orphan"),
    [
        pytest.param({}, witness(), False, id="nothing-of-ours"),
        pytest.param({PROJECT: "shop", RUN: "r1"}, witness(), False, id="not-marked-as-managed"),
        pytest.param(carried(project="other"), witness(), False, id="another-project"),
        pytest.param(carried(), witness(runs=("r1",)), False, id="a-run-of-ours-that-lives"),
        pytest.param(carried(ME), witness(), True, id="a-run-of-this-folder-that-nobody-knows"),
        pytest.param(carried(replace(ME, pid=99, boot="boot0")), witness(), True, id="left-by-a-predecessor"),
        pytest.param(carried(replace(ME, pid=99)), witness(runs=("r1",)), False, id="taken-over-from-a-predecessor"),
        pytest.param(carried(None), witness(), True, id="without-an-owner-and-unknown"),
        pytest.param(carried(None), witness(runs=("r1",)), False, id="without-an-owner-and-known"),
        pytest.param({**carried(), OWNER: "{"}, witness(), True, id="an-owner-that-cannot-be-read-and-unknown"),
        pytest.param(carried(), witness(OTHER), False, id="another-daemon-that-lives"),
        pytest.param(carried(), witness(), True, id="another-daemon-that-is-dead"),
        pytest.param(carried(replace(OTHER, boot="boot0")), witness(OTHER), True, id="from-before-the-last-boot"),
        pytest.param(carried(replace(OTHER, host="there")), witness(), False, id="another-machine-cannot-be-asked"),
        pytest.param(carried(replace(ME, host="there")), witness(), False, id="the-same-path-on-another-machine"),
    ],
)
def test_what_is_an_orphan(found: dict[str, str], by: Witness, orphan: bool):
    assert is_orphan(found, "shop", by) is orphan


@given(st.text())
def test_an_owner_is_read_or_is_none(text: str):
    assert read_owner(text) is None or isinstance(read_owner(text), Owner)
