"""SIGKILL at every step of a restart: the command runs at most once per intent, and each intent gets one outcome."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from argus.core.failpoints import Place
from tests.acceptance.harness import Argus, Hook, WebServer, eventually, is_alive, never
from tests.faults import Injection


class End(NamedTuple):
    runs: int
    how: str


REPAIRED = End(1, "service_recovered")
NOT_BEGUN = End(0, "service_escalated")
"""The intent was on record and its command had not been started. Nobody can know that afterwards: it counts, is not
repeated, and a person is told."""

STEPS = {
    Place.INTENT_PLANNED: REPAIRED,
    Place.ACT_OPENED: REPAIRED,
    f"{Place.ACT_OPENED}>{Place.COMMITTING}": REPAIRED,
    f"{Place.ACT_OPENED}>{Place.COMMITTED}": NOT_BEGUN,
    Place.INTENT_RECORDED: NOT_BEGUN,
    Place.COMMAND_DUE: NOT_BEGUN,
    Place.COMMAND_FORKED: REPAIRED,
    Place.COMMAND_RUNS: REPAIRED,
    Place.COMMAND_ENDED: REPAIRED,
    Place.VERIFYING: REPAIRED,
    Place.VERIFIED: REPAIRED,
    Place.OUTCOME_PLANNED: REPAIRED,
    Place.ACT_CLOSED: REPAIRED,
    f"{Place.ACT_CLOSED}>{Place.COMMITTING}": REPAIRED,
    f"{Place.ACT_CLOSED}>{Place.COMMITTED}": REPAIRED,
    Place.OUTCOME_RECORDED: REPAIRED,
    Place.MESSAGE_MARKED: REPAIRED,
    Place.MESSAGE_SENT: REPAIRED,
}
TITLES = {"service_recovered": "SERVICE RECOVERED: web", "service_escalated": "SERVICE STILL DOWN: web"}


def test_every_place_where_argus_can_be_made_to_die_is_a_step_here() -> None:
    assert {step.rpartition(">")[2] for step in STEPS} == set(Place)


def up_to(argus: Argus, step: str) -> None:
    argus.env["ARGUS_FAILPOINT"] = step
    argus.up()
    del argus.env["ARGUS_FAILPOINT"]


def dies(argus: Argus, step: str) -> None:
    eventually(lambda: not is_alive(argus.pid), f"Argus dies at {step}")


def ends(argus: Argus, web: WebServer, hook: Hook, end: End) -> None:
    """Healthy or escalated, with one of everything on record and told."""
    argus.wait_for(end.how, "web")
    hook.wait_for(TITLES[end.how])
    (intent,) = argus.journal("restart_started")
    (outcome,) = argus.journal("restart_finished")
    assert outcome.data["act"] == intent.data["act"]
    assert web.runs == end.runs
    state = argus.get("/api/state")
    assert state["budget"] == {"left": state["budget"]["most"] - 1, "most": state["budget"]["most"]}
    if end is NOT_BEGUN:
        web.start()
        argus.wait_for("service_recovered", "web")
        hook.wait_for(TITLES["service_recovered"])
    argus.wait_until("web", "up")
    changes = [event.type for event in argus.journal("service_down", "service_escalated", "service_recovered")]
    assert changes == list(dict.fromkeys(["service_down", end.how, "service_recovered"]))
    (incident,) = argus.get("/api/incidents")["incidents"]
    assert incident["closed"] is not None
    told_once_or_marked(hook)


def told_once_or_marked(hook: Hook) -> None:
    seen: set[str] = set()
    for message in hook.messages:
        assert message.title not in seen or "repetition" in message.body, hook.messages
        seen.add(message.title)
    assert "SERVICE DOWN: web" in seen


def prepare(argus: Argus, web: WebServer, hook: Hook, *steps: str, store: str = "", autonomy: str = "moderate") -> None:
    service = web.service(*steps, interval="100ms")
    argus.configure([service], channels=[hook.url], verifyAfter="300ms", autonomy=autonomy)
    if store:
        argus.env["ARGUS_STORE"] = store


@pytest.mark.fault("ST3")
@pytest.mark.req("INFRA-02.4")
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_there_is_one_act_one_outcome_and_one_report(
    argus: Argus, web: WebServer, hook: Hook, injected: Injection, step: str
) -> None:
    prepare(argus, web, hook, "repair")
    up_to(argus, step)
    argus.wait_until("web", "up")
    with injected:
        web.kill()
        dies(argus, step)
        argus.up()
        ends(argus, web, hook, STEPS[step])


@pytest.mark.fault("ST3")
@pytest.mark.parametrize(
    "step",
    [
        Place.ACT_OPENED,
        f"{Place.ACT_OPENED}>{Place.COMMITTED}",
        f"{Place.ACT_CLOSED}>{Place.COMMITTING}",
        f"{Place.ACT_CLOSED}>{Place.COMMITTED}",
    ],
)
def test_the_same_holds_with_the_record_in_postgresql(
    argus: Argus, web: WebServer, hook: Hook, database: str, injected: Injection, step: str
) -> None:
    prepare(argus, web, hook, "repair", store=database)
    up_to(argus, step)
    argus.wait_until("web", "up")
    with injected:
        web.kill()
        dies(argus, step)
        argus.up()
        ends(argus, web, hook, STEPS[step])


@pytest.mark.fault("ST3")
@pytest.mark.parametrize("again", [Place.OUTCOME_PLANNED, Place.ACT_CLOSED, f"{Place.ACT_CLOSED}>{Place.COMMITTED}"])
def test_killed_once_more_while_it_completes_the_record_there_is_still_one_of_everything(
    argus: Argus, web: WebServer, hook: Hook, injected: Injection, again: str
) -> None:
    prepare(argus, web, hook, "repair")
    up_to(argus, Place.VERIFYING)
    argus.wait_until("web", "up")
    with injected:
        web.kill()
        dies(argus, Place.VERIFYING)
        up_to(argus, again)
        dies(argus, again)
        argus.up()
        ends(argus, web, hook, REPAIRED)


@pytest.mark.fault("ST3")
@pytest.mark.parametrize("step", [Place.COMMAND_FORKED, Place.COMMAND_RUNS])
async def test_a_command_that_outlives_argus_is_known_to_the_next_one_from_its_first_moment(
    argus: Argus, web: WebServer, hook: Hook, injected: Injection, step: str
) -> None:
    # At full autonomy a second restart is allowed: nothing holds it back but the knowledge that the first still runs.
    prepare(argus, web, hook, "block", "repair", autonomy="full")
    up_to(argus, step)
    argus.wait_until("web", "up")
    with injected:
        web.kill()
        dies(argus, step)
        argus.up()
        eventually(web.blocked.exists, "the command runs")
        # Four times as long as it would take to look, and to find the service down.
        judged = "it was judged before its end"
        await never(lambda: web.runs > 1 or argus.journal("restart_finished"), judged, seconds=1.5)
        web.let_go()
        ends(argus, web, hook, REPAIRED)
