"""Who may take what away: only this project's resources of runs that are not alive."""

from __future__ import annotations

import json
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
HOMELESS = replace(OTHER, home="")
WHEN = "2026-11-15T12:00:00Z"


def _said(**other: object) -> str:
    """An owner that says nothing of its home, or something else."""
    fields: dict[str, object] = {"host": "here", "boot": "boot1", "pid": 200, "started": "7", **other}
    return json.dumps(fields)


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
        pytest.param({**carried(), OWNER: "{"}, witness(), False, id="an-owner-that-cannot-be-read"),
        pytest.param({**carried(), OWNER: ""}, witness(), False, id="an-owner-of-no-letters"),
        pytest.param({**carried(), OWNER: "[" * 3000}, witness(), False, id="an-owner-that-is-too-deep-to-read"),
        pytest.param({**carried(), OWNER: "mars:boot1:1:1"}, witness(), False, id="an-owner-in-another-form"),
        pytest.param({**carried(), OWNER: _said(host="mars")}, witness(), False, id="another-machine-without-a-home"),
        pytest.param({**carried(), OWNER: _said(pid="7")}, witness(), False, id="a-process-that-is-no-number"),
        pytest.param({**carried(), OWNER: _said(boot=None)}, witness(), False, id="of-nobody-knows-which-boot"),
        pytest.param({**carried(), OWNER: _said(home=7)}, witness(), False, id="a-home-that-is-none"),
        pytest.param({**carried(), OWNER: _said()}, witness(HOMELESS), False, id="alive-without-a-home"),
        pytest.param({**carried(), OWNER: _said()}, witness(), True, id="dead-without-a-home"),
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
