"""What every container, network and volume of ours carries, and what it says about who may take it away. Pure.

A resource is an orphan when it carries its project's label and its run is not alive. Whoever cannot be looked at counts
as alive: a leftover costs a little disk, and another's environment taken away costs hours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

MANAGED = "argusai.managed"
PROJECT = "argusai.project"
RUN = "argusai.run-id"
CREATED = "argusai.created-at"
OWNER = "argusai.owner"


@dataclass(frozen=True, slots=True)
class Owner:
    """The daemon that made it: a process that cannot be mistaken for another, and the state folder it works on."""

    host: str
    boot: str
    pid: int
    started: str
    home: str = ""
    """Empty: not said."""

    def written(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


def read_owner(text: str) -> Owner | None:
    """None: nobody can say who that is."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):  # anybody can write a label
        return None
    if not isinstance(said, dict):
        return None
    pid, home = said.get("pid"), said.get("home", "")
    texts = [one for one in map(said.get, ("host", "boot", "started")) if one and isinstance(one, str)]
    if len(texts) != 3 or type(pid) is not int or not isinstance(home, str):
        return None
    return Owner(texts[0], texts[1], pid, texts[2], home)


def labels(project: str, run: str, owner: Owner, created: str) -> dict[str, str]:
    return {MANAGED: "true", PROJECT: project, RUN: run, CREATED: created, OWNER: owner.written()}


def of_project(project: str) -> dict[str, str]:
    """What to look for: all that is ours of one project, whoever made it."""
    return {MANAGED: "true", PROJECT: project}


@dataclass(frozen=True, slots=True)
class Witness:
    """What this daemon knows about who is alive."""

    me: Owner
    runs: frozenset[str]
    """Those of this state folder that are alive, its predecessors' included."""
    lives: Callable[[Owner], bool]
    """Whether a daemon of this machine lives, or another has taken its state folder over."""


def is_orphan(carried: Mapping[str, str], project: str, witness: Witness) -> bool:
    if carried.get(MANAGED) != "true" or carried.get(PROJECT) != project:
        return False
    if carried.get(RUN, "") in witness.runs:
        return False
    if OWNER not in carried:
        return True
    owner = read_owner(carried[OWNER])
    if owner is None or owner.host != witness.me.host:
        return False  # nobody can be asked
    if owner.home == witness.me.home:
        return True  # ours to know, and we know of no such run
    return owner.boot != witness.me.boot or not witness.lives(owner)
