"""What is wrong with a container, and what is done about it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.core.errors import Code
from argus.environments.guarding.model import Attempt, Diagnostics, Settings
from argus.environments.guarding.policy import (
    Failed,
    Fallen,
    Finding,
    GiveUp,
    Left,
    Report,
    Restart,
    Well,
    decide,
    is_loop,
    judge,
)
from argus.environments.guarding.signs import Signs, hear
from argus.host.engine.resources import Happening, Made

UP = Made("1" * 64, "db", "db:1", "running", started=1.0)


def told(*words: str) -> Signs:
    """The signs after these events, a second apart: `kill:15`, `die`."""
    signs = Signs()
    for at, word in enumerate(words):
        action, _, signal = word.partition(":")
        more = {"signal": signal} if action == "kill" else {}
        name = f"health_status: {signal}" if action == "health" else action
        signs = hear(signs, Happening("container", name, UP.id, "db", {}, float(at), attributes=more), 1)
    return signs


def ended(code: int, *, oom: bool = False) -> Made:
    return replace(UP, state="exited", exit_code=code, oom_killed=oom, finished=2.0)


STOP = ("kill:15", "die", "stop")


@pytest.mark.req("FR-R07")
@pytest.mark.parametrize(
    ("made", "events", "more", "found"),
    [
        pytest.param(UP, (), {}, Well, id="it-runs"),
        pytest.param(ended(1), ("die",), {}, Code.CONTAINER_CRASH, id="a-crash"),
        pytest.param(ended(0), ("die",), {}, Left, id="ended-by-itself-with-0"),
        pytest.param(ended(137), ("kill:9", "die"), {}, Code.CONTAINER_CRASH, id="docker-kill"),
        pytest.param(ended(137), ("die",), {}, Code.CONTAINER_CRASH, id="killed-by-the-kernel-or-by-hand"),
        pytest.param(ended(137, oom=True), ("oom", "die"), {}, Code.CONTAINER_OOM, id="out-of-memory"),
        pytest.param(ended(1, oom=True), ("oom", "die"), {}, Code.CONTAINER_OOM, id="a-child-out-of-memory"),
        pytest.param(ended(0, oom=True), ("oom", "die"), {}, Code.CONTAINER_OOM, id="out-of-memory-and-ends-well"),
        pytest.param(ended(143), STOP, {}, Left, id="docker-stop"),
        pytest.param(ended(143), ("kill:15", "die"), {}, Left, id="docker-stop-before-its-end-is-told"),
        pytest.param(ended(137), ("kill:15", "kill:9", "die", "stop"), {}, Left, id="docker-stop-in-vain-first"),
        pytest.param(ended(0), ("kill:3", "die", "stop"), {}, Left, id="docker-stop-by-another-signal"),
        pytest.param(ended(1), ("kill:1", "die"), {}, Code.CONTAINER_CRASH, id="told-to-read-its-file-and-crashed"),
        pytest.param(ended(1), ("kill:SIGUSR1", "die"), {}, Code.CONTAINER_CRASH, id="a-signal-by-its-name"),
        pytest.param(ended(1), (*STOP, "start", "die"), {}, Code.CONTAINER_CRASH, id="stopped-in-an-earlier-life"),
        pytest.param(ended(137), (*STOP, "start", "kill:9", "die"), {}, Code.CONTAINER_CRASH, id="then-killed"),
        pytest.param(ended(1), (*STOP, "die"), {}, Code.CONTAINER_CRASH, id="stopped-before-and-its-start-was-missed"),
        pytest.param(ended(143), ("die", *STOP), {}, Left, id="crashed-before-and-its-start-was-missed"),
        pytest.param(ended(137), (), {}, Left, id="killed-while-nobody-saw-by-whom"),
        pytest.param(ended(7), (), {}, Code.CONTAINER_CRASH, id="crashed-while-nobody-saw"),
        pytest.param(ended(137), (), {"fell": True}, Fallen, id="unseen-while-the-engine-was-away"),
        pytest.param(ended(143), STOP, {"fell": True}, Fallen, id="ended-by-an-engine-that-ends"),
        pytest.param(ended(7), ("die",), {"fell": True}, Code.CONTAINER_CRASH, id="crashed-before-the-engine-was-away"),
        pytest.param(None, ("kill:9", "die", "destroy"), {}, Left, id="removed"),
        pytest.param(replace(UP, state="paused"), ("pause",), {"ailing": "timeout"}, Left, id="paused"),
        pytest.param(UP, (), {"ailing": "404", "has_check": True}, Code.HEALTH_CHECK_TIMEOUT, id="its-check-fails"),
        pytest.param(replace(UP, health="unhealthy"), (), {}, Code.HEALTH_CHECK_TIMEOUT, id="unhealthy"),
        pytest.param(replace(UP, health="starting"), (), {}, Well, id="not-known-yet"),
        pytest.param(
            replace(UP, health="unhealthy"), (), {"has_check": True}, Well, id="never-healthy-by-it"
        ),
        pytest.param(
            replace(UP, health="unhealthy"), ("health:healthy", "health:unhealthy"), {"has_check": True},
            Code.HEALTH_CHECK_TIMEOUT, id="healthy-before-and-the-file-asks-otherwise",
        ),
    ],
)  # fmt: skip
def test_each_end_is_what_it_was(
    made: Made | None, events: tuple[str, ...], more: dict[str, object], found: type[Finding] | Code
):
    finding = judge(made, told(*events), **more)  # type: ignore[arg-type]
    if isinstance(found, Code):
        assert isinstance(finding, Failed)
        assert finding.code is found
        assert finding.is_running == (found is Code.HEALTH_CHECK_TIMEOUT)
    else:
        assert isinstance(finding, found)


def test_one_that_did_not_listen_and_ends_much_later_ends_for_another_reason():
    asked = Signs(asked=0.0, died=601.0)
    assert isinstance(judge(ended(1), asked), Failed)
    assert isinstance(judge(ended(1), replace(asked, died=599.0)), Left)


@pytest.mark.req("FR-R09", "US3.3")
@pytest.mark.parametrize(
    ("settings", "delays"),
    [
        (Settings(), [2, 4, 8]),
        (Settings(growth="linear"), [2, 4, 6]),
        (Settings(most=7), [2, 4, 8, 16, 32, 60, 60]),
        (Settings(most=2, delay=0.0), [0, 0]),
        (Settings(most=2, delay=300.0), [60, 60]),
        (Settings(most=0), []),
    ],
)
def test_delays_grow_as_the_file_says(settings: Settings, delays: list[float]):
    decided = [decide(spent, settings) for spent in range(settings.most + 1)]
    assert decided == [*(Restart(n + 1, delay) for n, delay in enumerate(delays)), GiveUp(settings.most)]
    assert decide(0, replace(settings, restart=False)) == Report()


SETTINGS = st.builds(
    Settings,
    restart=st.booleans(),
    most=st.integers(0, 10),
    delay=st.floats(0, 1e6),
    growth=st.sampled_from(("exponential", "linear")),
)
EVENTS = st.lists(
    st.sampled_from(("start", "die", "stop", "oom", "kill:9", "kill:15", "kill:1", "kill:3", "health:healthy", "pause"))
)
MADES = st.builds(
    Made,
    id=st.just(UP.id), name=st.just("db"), image=st.just("db:1"),
    state=st.sampled_from(("created", "running", "paused", "restarting", "removing", "exited", "dead")),
    health=st.sampled_from((None, "starting", "healthy", "unhealthy")),
    exit_code=st.integers(0, 255),
    oom_killed=st.booleans(),
)  # fmt: skip


@pytest.mark.req("FR-R08", "FR-R09")
@given(SETTINGS, st.integers(0, 20))
def test_never_more_restarts_than_allowed_and_no_wait_shrinks_or_passes_its_cap(settings: Settings, spent: int):
    decision = decide(spent, settings)
    if isinstance(decision, Restart):
        assert settings.restart
        assert decision.attempt == spent + 1 <= settings.most
        assert 0 <= decision.delay <= 60
        following = decide(spent + 1, settings)
        assert not isinstance(following, Restart) or following.delay >= decision.delay
    else:
        assert not settings.restart or spent >= settings.most


@given(MADES, EVENTS, st.booleans(), st.booleans(), st.sampled_from(("", "404")))
def test_what_somebody_ended_is_never_a_failure_and_what_runs_well_is_left(
    made: Made, events: list[str], fell: bool, has_check: bool, ailing: str
):
    signs = told(*events)
    found = judge(made, signs, ailing=ailing, has_check=has_check, fell=fell)
    is_over = made.state in ("exited", "dead", "created")
    if is_over and signs.is_on_purpose:
        assert isinstance(found, Left | Fallen)
    if isinstance(found, Fallen):
        assert fell
    if isinstance(found, Failed):
        assert found.is_running == (not is_over)
        assert is_over or ailing or made.health == "unhealthy"
    if is_over:
        assert not isinstance(found, Well)


def died(ran: float | None) -> Diagnostics:
    return Diagnostics(UP.id, "db", 1, False, (), None, None, 0.0, ran)


@pytest.mark.parametrize(
    ("before", "last", "is_one"),
    [
        pytest.param([5000.0, 0.1, 0.2], 0.3, True, id="soon-after-every-restart"),
        pytest.param([5000.0, 0.1], 0.3, True, id="twice"),
        pytest.param([5000.0], 0.3, False, id="once-after-the-only-restart"),
        pytest.param([], 0.3, False, id="never-restarted"),
        pytest.param([1.0, 0.1, 0.2], 400.0, False, id="it-ran-for-long"),
        pytest.param([1.0, None], None, False, id="unhealthy"),
    ],
)
def test_a_crash_loop_is_one_that_ends_soon_after_its_restarts(
    before: list[float | None], last: float | None, is_one: bool
):
    attempts = [Attempt(n, 1.0, "CONTAINER_CRASH", "", 0.0, died(ran)) for n, ran in enumerate(before, 1)]
    assert is_loop(attempts, died(last)) is is_one
    # What the engine would not start was not ended by anything.
    assert not is_loop([replace(one, outcome="refused") for one in attempts], died(last))
