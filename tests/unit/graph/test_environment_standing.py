"""How an environment stands for those who need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from argus.core.autonomy import Level
from argus.core.depending import Kind, Thing
from argus.environments.guarding.guardian import Seen
from argus.environments.guarding.model import State as Guard
from argus.environments.runs import Run, State
from argus.graph.model import Gone, Role, Told
from argus.graph.policy import Back, news
from argus.graph_room import Parts
from argus.testing import FakeClock

SHOP = Thing(Kind.ENVIRONMENT, "shop")


@dataclass
class Yard:
    """Environments of one run, whose containers stand as they are said to."""

    seen: dict[str, Seen]
    state: State = State.UP

    @property
    def runs(self) -> tuple[Run, ...]:
        return (Run("shop", "/shop", "run1", self.state, 0.0),) if self.state is not State.NONE else ()

    def guards(self, run: Run) -> dict[str, Seen]:
        return self.seen


def parts(**seen: Seen) -> Parts:
    yard = cast(Any, Yard(seen))
    return Parts(FakeClock(), lambda: Level.OBSERVE, list, lambda text: text, environments=yard)


def well(*, is_settling: bool = False) -> Seen:
    return Seen(Guard.WELL, 2, 3, None, "", None, False, is_settling=is_settling)


@pytest.mark.parametrize(
    ("is_settling", "heard"),
    [
        pytest.param(True, None, id="its-restart-was-not-the-first-and-a-moment-ago"),
        pytest.param(False, Back(("environment:shop",)), id="it-has-settled"),
    ],
)
def test_who_needs_it_hears_that_it_is_back_once_its_containers_have_settled(is_settling: bool, heard: Back | None):
    told = Told("agent:one", {SHOP.written: {}}, said=(SHOP.written,))
    shop = parts(api=well(is_settling=is_settling), db=well())
    assert news([SHOP], told, shop.look) == heard
    assert news([SHOP], None, shop.look) is None  # it is not down either: nobody waits for it


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        (State.CLEANING, "cleaned"),
        pytest.param(State.NONE, "cleaned", id="nothing-is-left-of-it"),
        (State.SETTING_UP, "set_up_anew"),
        (State.FAILED, "set_up_anew"),
        pytest.param(State.INTERRUPTED, "not_up", id="cut-off"),
    ],
)
def test_what_became_of_an_environment_that_is_up_no_longer_is_said_by_its_run(state: State, outcome: str):
    yard = cast(Any, Yard({}, state))
    made = Parts(FakeClock(), lambda: Level.OBSERVE, list, lambda text: text, environments=yard)
    assert made.gone(Role.ENVIRONMENT, "shop") == Gone(outcome)
