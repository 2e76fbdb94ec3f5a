"""Thousands that fail together: what one reading then costs does not depend on how many the others are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.services.test_reconciler import Rig, simulated

from argus.core.autonomy import Level
from argus.services.correlation import Correlator
from argus.services.healths import Healths
from argus.services.messages import Looked, Message
from argus.services.model import Gate, Health, Outage
from argus.store.records import Incident, PutIncident

MANY = [f"s{place:04}" for place in range(4000)]
FIRST = 100
"""Of 4,000, as many as an event takes: two in a hundred, and a few."""

_OUTAGES = st.builds(
    Outage,
    incident=st.sampled_from(["i1", "i2", "i3"]),
    opened=st.just(0.0),
    gate=st.sampled_from([None, Gate.DEPENDENCY, Gate.AUTONOMY]),
    explained_by=st.sampled_from(["", "root"]),
)
_HEALTHS = st.builds(Health, failing_since=st.none() | st.just(5.0), outage=st.none() | _OUTAGES)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | _HEALTHS), max_size=30))
def test_who_fails_is_known_without_a_look_at_all(steps: list[tuple[str, Health | None]]):
    healths = Healths("ab")
    for name, health in steps:
        if health is None:
            if name in healths:
                del healths[name]
        else:
            healths[name] = health._replace(outage=health.outage and _own(health.outage, name))
    open_ones = {name: one.outage for name, one in healths.items() if one.outage is not None}
    assert healths.failing == {name for name, one in healths.items() if one.failing_since is not None}
    assert healths.outages == {outage.incident: name for name, outage in open_ones.items()}
    assert healths.unexplained == {
        name for name, one in open_ones.items() if one.gate is Gate.DEPENDENCY and not one.explained_by
    }


def _own(outage: Outage, name: str) -> Outage:
    """An incident is of one service only."""
    return Outage(f"{outage.incident}-{name}", 0.0, gate=outage.gate, explained_by=outage.explained_by)


async def _event(rig: Rig) -> list[Incident]:
    """An infrastructure event of the first of 4,000; what is written of it from now on."""
    rig.registry(*MANY)
    await rig.start()
    await rig.passes(90)
    written: list[Incident] = []
    commit = rig.store.commit

    async def watched(*writes: Any) -> Any:
        written.extend(
            one.incident for one in writes if isinstance(one, PutIncident) and one.incident.kind == Correlator.KIND
        )
        return await commit(*writes)

    rig.store.commit = watched  # type: ignore[method-assign]
    rig.dies(*MANY[:FIRST])
    await rig.passes(4 * 60)
    assert rig.watch.infrastructure_event is not None
    written.clear()
    return written


@pytest.mark.req("INFRA-02.3")
@simulated
async def test_thousands_that_join_an_event_are_members_at_once_and_written_now_and_then(rig: Rig):
    written = await _event(rig)
    rig.dies(*MANY)
    await rig.passes(4 * 60)
    assert await rig.said("infrastructure_event") == ["infrastructure_event"]
    assert rig.restarted == []
    explained = {
        one.data["explainedBy"] for one in await rig.store.incidents(open_only=True, limit=10_000) if one.subject
    }
    assert explained == {rig.watch.infrastructure_event}
    assert written[-1].data["services"] == MANY
    # Each name costs as much to write as the service's own outage: all of them for each that joins would be 8,000,000.
    assert sum(len(one.data["services"]) for one in written) < 100 * len(MANY)


@simulated
async def test_each_that_falls_before_its_root_is_confirmed_is_looked_at_once_more_and_not_with_every_other(rig: Rig):
    many, rig.level = MANY[:200], Level.OBSERVE
    rig.registry("db", *many, depends={name: ["db"] for name in many})
    seldom, *often = rig.settings.services
    often = [one.model_copy(update={"interval": 5.0}) for one in often]
    rig.settings = rig.settings.model_copy(update={"services": (seldom, *often)})
    await rig.start()
    await rig.passes(130)
    looked: list[str] = []
    queue = rig.watch._reconciler.queue
    put = queue.put_nowait

    def counted(message: Message) -> None:
        looked.extend([message.name] if isinstance(message, Looked) else [])
        put(message)

    queue.put_nowait = counted  # type: ignore[method-assign]
    rig.dies("db", *many)
    await rig.passes(4 * 60)
    root = rig.watch.healths["db"].outage
    assert root is not None
    assert {rig.watch.explained_by(name) for name in many} == {root.incident}
    assert len(looked) < 3 * len(many)
