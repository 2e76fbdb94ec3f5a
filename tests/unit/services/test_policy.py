"""Judging and deciding: tables over values, no doubles."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.core.autonomy import Level
from argus.services.model import Flapping, Gate, Health, Observation, Outage, Seen, Status
from argus.services.policy import (
    SILENT,
    Correlation,
    Facts,
    Hold,
    Limits,
    Restart,
    decide,
    decided,
    explained_flips,
    failed_dependency,
    failing,
    failing_together,
    is_flapping,
    judge,
)

LIMIT = 3


def seen(status: Status, at: float = 0.0) -> Observation:
    return Observation(Seen(status), at, 1_000.0 + at)


def after(*statuses: Status, health: Health | None = None, limit: int = LIMIT) -> Health:
    health = health or Health()
    for at, status in enumerate(statuses):
        health = judge(health, seen(status, float(at)), Limits(limit))
    return health


UP, DOWN, DEGRADED, PENDING, UNKNOWN = Status.UP, Status.DOWN, Status.DEGRADED, Status.PENDING, Status.UNKNOWN


@pytest.mark.req("INFRA-01.6")
@pytest.mark.parametrize(
    ("readings", "status", "failures", "failing_since"),
    [
        pytest.param([], PENDING, 0, None, id="what-was-never-read-is-pending"),
        pytest.param([UP], UP, 0, None, id="one-success-is-up"),
        pytest.param([DEGRADED], DEGRADED, 0, None, id="degraded-is-alive-and-shown-as-such"),
        pytest.param([UP, DOWN], UP, 1, 1.0, id="one-failure-is-not-yet-down"),
        pytest.param([UP, DOWN, DOWN], UP, 2, 1.0, id="two-failures-are-not-yet-down"),
        pytest.param([UP, DOWN, DOWN, DOWN], DOWN, 3, 1.0, id="three-consecutive-failures-are-down"),
        pytest.param([UP, DOWN, DOWN, DOWN, DOWN], DOWN, 4, 1.0, id="it-goes-on-counting-when-down"),
        pytest.param([DOWN, DOWN, UP, DOWN, DOWN], UP, 2, 3.0, id="a-success-in-between-starts-the-count-over"),
        pytest.param([DOWN, DOWN, DEGRADED, DOWN, DOWN], DEGRADED, 2, 3.0, id="degraded-is-a-success-too"),
        pytest.param([DOWN, DOWN, DOWN, UP], UP, 0, None, id="one-success-ends-it"),
        pytest.param([DOWN, DOWN, DOWN], DOWN, 3, 0.0, id="the-first-readings-ever-may-confirm"),
        pytest.param([DOWN, DOWN, UNKNOWN, DOWN], DOWN, 3, 0.0, id="unknown-in-between-neither-adds-nor-clears"),
        pytest.param([DOWN] * 3 + [UNKNOWN, DOWN], DOWN, 4, 0.0, id="the-fourth-failure-confirms-as-the-third-did"),
        pytest.param([UP, UNKNOWN], UNKNOWN, 0, None, id="unknown-without-an-outage-is-shown"),
        pytest.param([UP, PENDING], PENDING, 0, None, id="pending-without-an-outage-is-shown"),
    ],
)
def test_judging(readings: list[Status], status: Status, failures: int, failing_since: float | None):
    health = after(*readings)
    assert (health.status, health.failures, health.failing_since) == (status, failures, failing_since)


OUT = Health(status=DOWN, since=500.0, outage=Outage("i", 500.0))


@pytest.mark.parametrize(
    ("readings", "status", "failures"),
    [
        pytest.param([UNKNOWN], DOWN, 0, id="unknown-does-not-end-an-outage"),
        pytest.param([PENDING], DOWN, 0, id="pending-does-not-end-an-outage"),
        pytest.param([DOWN], DOWN, 1, id="one-failure-after-a-restart-of-argus-is-still-the-same-outage"),
        pytest.param([UP], UP, 0, id="one-success-ends-an-outage"),
        pytest.param([DEGRADED], DEGRADED, 0, id="degraded-ends-an-outage"),
    ],
)
def test_judging_within_an_outage(readings: list[Status], status: Status, failures: int):
    health = after(*readings, health=OUT)
    assert (health.status, health.failures, health.outage) == (status, failures, OUT.outage)


def test_the_state_is_as_old_as_its_change_and_not_as_its_last_reading():
    health = after(UP, UP, DOWN, DOWN, DOWN, DOWN)
    assert health.since == 1_004.0
    assert health.last is not None
    assert health.last.at == 5.0


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_down_is_confirmed_by_as_many_failures_as_configured(limit: int):
    assert after(UP, *[DOWN] * (limit - 1), limit=limit).status is UP
    assert after(UP, *[DOWN] * limit, limit=limit).status is DOWN


@given(st.lists(st.sampled_from(list(Status)), max_size=30), st.integers(1, 5))
def test_the_count_is_the_run_of_failures_at_the_end_whatever_came_before(readings: list[Status], limit: int):
    health = after(*readings, limit=limit)
    run = 0
    for status in readings:
        run = run + 1 if status is DOWN else 0 if status.alive else run
    assert health.failures == run
    assert (health.failing_since is None) == (run == 0)
    assert (health.status is DOWN) <= (run >= limit)


@pytest.mark.parametrize(
    ("readings", "status", "successes"),
    [
        pytest.param([UP], DOWN, 1, id="one-success-is-not-enough"),
        pytest.param([UP, DEGRADED], DOWN, 2, id="two-are-not-enough"),
        pytest.param([UP, UP, UP], UP, 0, id="three-in-a-row-end-it"),
        pytest.param([UP, UP, DOWN, UP, UP], DOWN, 2, id="a-failure-in-between-starts-over"),
        pytest.param([UP, UP, UNKNOWN, UP], UP, 0, id="unknown-in-between-neither-adds-nor-clears"),
    ],
)
def test_recovery_after_three_successes(readings: list[Status], status: Status, successes: int):
    health = OUT
    for at, reading in enumerate(readings):
        health = judge(health, seen(reading, float(at)), Limits(successes=3))
    assert (health.status, health.successes) == (status, successes)


def flipping(*readings: tuple[float, Status], health: Health | None = None) -> tuple[Health, bool]:
    health = health or Health()
    limits = Limits(flips=4, flips_within=600.0)
    for at, status in readings:
        health = judge(health, seen(status, at), limits)
    return health, is_flapping(health, limits, readings[-1][0])


@pytest.mark.parametrize(
    ("readings", "flips", "flaps"),
    [
        pytest.param([(t, UP) for t in range(9)], 0, False, id="always-the-same"),
        pytest.param([(t, (UP, DOWN)[t % 2]) for t in range(5)], 4, False, id="four-flips-are-not-yet-flapping"),
        pytest.param([(t, (UP, DOWN)[t % 2]) for t in range(6)], 5, True, id="five-are"),
        pytest.param([(150 * t, (UP, DOWN)[t % 2]) for t in range(9)], 5, True, id="five-within-the-window"),
        pytest.param([(151 * t, (UP, DOWN)[t % 2]) for t in range(9)], 4, False, id="never-five-within-the-window"),
        pytest.param(
            [(t, (UP, DOWN, UNKNOWN, DEGRADED)[t % 4]) for t in range(9)], 4, False, id="unknown-is-no-result"
        ),
        pytest.param([(t, (UP, DEGRADED)[t % 2]) for t in range(9)], 0, False, id="degraded-is-alive"),
        pytest.param([(t, (DOWN, DOWN, UP)[t % 3]) for t in range(60)], 13, True, id="in-bounds-however-often"),
    ],
)
def test_flapping_begins(readings: list[tuple[float, Status]], flips: int, flaps: bool):
    health, found = flipping(*readings)
    assert (len(health.flips), found) == (flips, flaps)


@pytest.mark.parametrize(
    ("root", "own", "flaps"),
    [
        pytest.param((10.0, 20.0, 30.0), 5, False, id="it-fell-each-time-with-its-root"),
        pytest.param((10.0, 20.0, 30.0), 6, False, id="whose-coming-back-is-no-flip-where-it-was-restarted"),
        pytest.param((10.0,), 7, True, id="more-often-than-that"),
        pytest.param((), 5, True, id="beside-a-root-that-stands"),
        pytest.param((-700.0, -650.0, -600.0), 5, True, id="beside-one-that-fell-long-ago"),
    ],
)
@pytest.mark.parametrize("depends_on", [{"web": ["db"]}, {"web": ["api"], "api": ["db", "web"]}])
def test_what_falls_with_something_else_does_not_flap(
    root: tuple[float, ...], own: int, flaps: bool, depends_on: dict[str, list[str]]
):
    healths = {"db": Health(flips=root), "web": Health(flips=tuple(float(at) for at in range(own)))}
    healths["api"] = Health()
    explained = explained_flips("web", depends_on, healths, 0.0)
    assert is_flapping(healths["web"], Limits(flips=4, flips_within=600.0), 60.0, explained) is flaps


@pytest.mark.parametrize(
    ("flips", "now", "flaps"),
    [
        pytest.param((10.0, 20.0, 30.0, 40.0, 50.0), 649.0, True, id="for-a-whole-window"),
        pytest.param((10.0, 20.0, 30.0, 40.0, 50.0), 651.0, False, id="over-when-a-quiet-window-has-passed"),
        pytest.param((500.0, 510.0, 520.0), 700.0, True, id="not-over-while-it-flips-on"),
        pytest.param((500.0, 510.0), 700.0, False, id="a-few-are-no-flapping"),
        pytest.param((), 600.0, True, id="after-a-restart-of-argus-for-a-whole-window"),
    ],
)
def test_flapping_ends(flips: tuple[float, ...], now: float, flaps: bool):
    health = Health(flips=flips, flapping=Flapping("i", 0.0, 51.0))
    assert is_flapping(health, Limits(flips=4, flips_within=600.0), now) is flaps


# The gates, each as the one fact that makes it hold, in the order in which they are asked.
HOLDING = {
    Gate.MAINTENANCE: {"paused": True},
    Gate.SELF: {"is_self": True},
    Gate.INFRASTRUCTURE: {"infrastructure_event": True},
    Gate.DEPENDENCY: {"failed_dependency": "db"},
    Gate.FLAPPING: {"flapping": True},
    Gate.AUTONOMY: {"autonomy": Level.CAUTIOUS},
    Gate.NO_RESTART: {"restartable": False},
    Gate.ALREADY: {"restarts": 2},
    Gate.BUDGET: {"budget_left": 0},
    Gate.IN_USE: {"in_use": "session shop is in a turn"},
    Gate.RECORD: {"recordable": False},
}
FREE = {"autonomy": Level.MODERATE, "budget_left": 2}


def facts(*gates: Gate, **more: object) -> Facts:
    given_facts: dict[str, object] = dict(FREE)
    for gate in gates:
        given_facts |= HOLDING[gate]
    return Facts(**{**given_facts, **more})  # type: ignore[arg-type]


@pytest.mark.req("INFRA-02.1")
def test_a_service_that_nothing_holds_back_is_restarted():
    assert decide(facts()) == Restart()


def test_every_gate_is_in_the_table_in_the_order_of_the_model():
    assert list(HOLDING) == list(Gate)


@pytest.mark.parametrize("gate", list(Gate), ids=lambda gate: f"{gate}-alone-holds-back".replace(" ", "-"))
def test_one_gate_alone_holds_back(gate: Gate):
    assert decide(facts(gate)) == Hold(gate)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        pytest.param(earlier, later, id=f"{earlier} is named before {later}".replace(" ", "-"))
        for earlier, later in combinations(Gate, 2)
    ],
)
def test_of_two_gates_that_hold_the_earlier_is_named(earlier: Gate, later: Gate):
    assert decide(facts(earlier, later)) == Hold(earlier)


@given(st.sets(st.sampled_from(list(Gate)), min_size=1))
def test_nothing_is_ever_restarted_while_any_gate_holds_and_the_first_is_named(gates: set[Gate]):
    assert decide(facts(*gates)) == Hold(min(gates, key=list(Gate).index))


@given(
    st.builds(
        Facts,
        paused=st.booleans(),
        is_self=st.booleans(),
        infrastructure_event=st.booleans(),
        failed_dependency=st.none() | st.just("db"),
        flapping=st.booleans(),
        autonomy=st.sampled_from(Level),
        restartable=st.booleans(),
        restarts=st.integers(0, 5),
        budget_left=st.integers(-1, 5),
        approved=st.booleans(),
    )
)
def test_a_restart_means_that_every_fact_allowed_it(known: Facts):
    if decide(known) == Restart():
        assert (known.paused, known.is_self, known.infrastructure_event) == (False, False, False)
        assert known.failed_dependency is None
        assert not known.flapping
        assert known.autonomy in ((Level.CAUTIOUS,) if known.approved else ()) + (Level.MODERATE, Level.FULL)
        assert known.restartable
        assert known.approved or known.restarts < (2 if known.autonomy is Level.FULL else 1)
        assert known.budget_left > 0


@pytest.mark.req("INFRA-02.1")
@pytest.mark.parametrize(
    ("autonomy", "restarts", "answer"),
    [
        pytest.param(Level.OBSERVE, 0, Hold(Gate.AUTONOMY), id="observe-only-tells"),
        pytest.param(Level.CAUTIOUS, 0, Hold(Gate.AUTONOMY), id="cautious-only-proposes"),
        pytest.param(Level.MODERATE, 0, Restart(), id="moderate-restarts-once"),
        pytest.param(Level.MODERATE, 1, Hold(Gate.ALREADY), id="moderate-never-restarts-twice-per-outage"),
        pytest.param(Level.FULL, 0, Restart(), id="full-restarts"),
        pytest.param(Level.FULL, 1, Restart(), id="full-tries-a-second-time"),
        pytest.param(Level.FULL, 2, Hold(Gate.ALREADY), id="full-never-tries-a-third-time"),
    ],
)
def test_what_each_level_may_do(autonomy: Level, restarts: int, answer: Restart | Hold):
    assert decide(facts(autonomy=autonomy, restarts=restarts)) == answer


@pytest.mark.parametrize(
    ("autonomy", "restarts", "answer"),
    [
        pytest.param(Level.OBSERVE, 0, Hold(Gate.AUTONOMY), id="observe-proposes-nothing-that-could-be-approved"),
        pytest.param(Level.CAUTIOUS, 0, Restart(), id="cautious"),
        pytest.param(Level.OBSERVE, 1, Hold(Gate.AUTONOMY), id="observe-restarts-nothing-however-often-it-is-asked"),
        pytest.param(Level.CAUTIOUS, 1, Restart(), id="cautious-again-after-a-restart-that-did-not-help"),
        pytest.param(Level.MODERATE, 1, Restart(), id="moderate-after-the-restart-that-argus-tried"),
        pytest.param(Level.FULL, 2, Restart(), id="full-after-both-that-argus-tried"),
    ],
)
def test_what_a_person_approves(autonomy: Level, restarts: int, answer: Restart | Hold):
    assert decide(facts(autonomy=autonomy, restarts=restarts, approved=True)) == answer


def test_what_a_person_asks_for_is_bound_to_the_budget_however_often_it_was_tried():
    assert decide(facts(restarts=3, approved=True, budget_left=0)) == Hold(Gate.BUDGET)


def test_a_service_without_an_autonomy_set_is_only_watched():
    assert decide(Facts(budget_left=2)) == Hold(Gate.AUTONOMY)


@given(st.integers(1, 6), st.integers(0, 20))
def test_deciding_is_level_triggered_the_fourth_failure_still_acts(limit: int, held_for: int):
    """A gate that opens late must not find that its moment has passed."""
    health = after(UP, *[DOWN] * (limit + held_for), limit=limit)
    assert health.status is DOWN
    assert health.failures >= limit
    # A limit that was lowered meanwhile is passed already, and not met.
    passed = after(DOWN, health=Health(status=UP, failures=limit + held_for, failing_since=0.0), limit=limit)
    assert passed.status is DOWN
    assert decide(facts(Gate.INFRASTRUCTURE)) == Hold(Gate.INFRASTRUCTURE)
    assert decide(facts()) == Restart()


@pytest.mark.parametrize(
    ("before", "decision", "expected"),
    [
        pytest.param(Outage("i", 0.0), Restart(), (1, None, True), id="a-restart-is-counted-and-told"),
        pytest.param(Outage("i", 0.0, restarts=1), Restart(), (2, None, True), id="a-second-restart-is-counted"),
        pytest.param(
            Outage("i", 0.0, gate=Gate.AUTONOMY, told=True),
            Restart(),
            (1, None, True),
            id="a-restart-clears-the-gate",
        ),
        pytest.param(Outage("i", 0.0), Hold(Gate.BUDGET), (0, Gate.BUDGET, True), id="a-spent-budget-is-told"),
        pytest.param(Outage("i", 0.0), Hold(Gate.AUTONOMY), (0, Gate.AUTONOMY, True), id="a-low-level-is-told"),
        pytest.param(
            Outage("i", 0.0), Hold(Gate.MAINTENANCE), (0, Gate.MAINTENANCE, False), id="maintenance-is-not-told"
        ),
        pytest.param(
            Outage("i", 0.0, told=True),
            Hold(Gate.DEPENDENCY),
            (0, Gate.DEPENDENCY, True),
            id="what-was-told-once-stays-told",
        ),
    ],
)
def test_an_outage_with_a_decision_taken(before: Outage, decision: Restart | Hold, expected: tuple[object, ...]):
    outage = decided(before, decision)
    assert (outage.restarts, outage.gate, outage.told) == expected


@pytest.mark.parametrize("gate", list(Gate), ids=lambda gate: str(gate).replace(" ", "-"))
def test_only_gates_that_are_explained_elsewhere_are_silent(gate: Gate):
    silent = gate in (Gate.MAINTENANCE, Gate.INFRASTRUCTURE, Gate.DEPENDENCY, Gate.FLAPPING)
    assert (gate in SILENT) == silent
    assert decided(Outage("i", 0.0), Hold(gate)).told is not silent


FAILS, WELL = Health(failures=1, failing_since=0.0), Health(status=UP)


@pytest.mark.parametrize(
    ("depends_on", "failing", "root"),
    [
        pytest.param({}, "a", None, id="no-dependencies-explain-nothing"),
        pytest.param({"a": ["b"]}, "a", None, id="a-healthy-dependency-explains-nothing"),
        pytest.param({"a": ["b"]}, "ab", "b", id="a-failing-dependency-explains"),
        pytest.param({"a": ["b"], "b": ["c"]}, "abc", "c", id="the-root-of-a-chain-is-named"),
        pytest.param({"a": ["b"], "b": ["c"]}, "ab", "b", id="the-chain-ends-at-what-is-healthy"),
        pytest.param({"a": ["b"], "b": ["c"]}, "ac", None, id="what-is-behind-a-healthy-one-explains-nothing"),
        pytest.param({"a": ["b", "c"]}, "ac", "c", id="any-of-several-explains"),
        pytest.param({"a": ["b", "c"], "b": ["c"]}, "abc", "c", id="what-several-need-is-the-root"),
        pytest.param({"a": ["c", "b"], "b": ["c"]}, "abc", "c", id="in-whatever-order-they-are-named"),
        pytest.param({"a": ["a"]}, "a", None, id="a-service-does-not-explain-itself"),
        pytest.param({"a": ["b"], "b": ["a"]}, "ab", "b", id="a-circle-of-two-ends"),
        pytest.param({"a": ["b"], "b": ["c"], "c": ["b"]}, "abc", "c", id="a-circle-further-down-ends"),
        pytest.param({"a": ["gone"]}, "a", None, id="a-dependency-that-is-not-watched-explains-nothing"),
    ],
)
def test_the_failed_dependency(depends_on: dict[str, list[str]], failing: str, root: str | None):
    healths = {name: FAILS if name in failing else WELL for name in "abc"}
    assert failed_dependency("a", depends_on, healths) == root


names = st.sampled_from("abcdef")


@given(st.dictionaries(names, st.lists(names, max_size=4)), st.sets(names), names)
def test_looking_for_the_root_ends_in_any_graph_and_names_a_failing_other(
    depends_on: dict[str, list[str]], failing: set[str], name: str
):
    healths = {one: FAILS if one in failing else WELL for one in "abcdef"}
    root = failed_dependency(name, depends_on, healths)
    assert root is None or (root in failing and root != name)
    assert (root is None) == (not failing & (set(depends_on.get(name, ())) - {name}))


def failing_since(**moments: float) -> dict[str, Health]:
    return {name: Health(failures=1, failing_since=at) for name, at in moments.items()}


@pytest.mark.req("INFRA-02.3")
@pytest.mark.parametrize(
    ("healths", "depends_on", "intervals", "now", "together"),
    [
        pytest.param({}, {}, {}, 0.0, [], id="nothing-watched-nothing-fails"),
        pytest.param({"a": WELL}, {}, {"a": 60.0}, 0.0, [], id="what-is-well-does-not-fail-together"),
        pytest.param(
            failing_since(c=0.0, a=5.0, b=9.0), {}, dict.fromkeys("abc", 60.0), 10.0, ["a", "b", "c"], id="in-order"
        ),
        pytest.param(
            failing_since(a=0.0, b=10.0),
            {},
            dict.fromkeys("ab", 10.0),
            11.0,
            ["a", "b"],
            id="the-window-is-closed-and-has-a-second-for-late-starts",
        ),
        pytest.param(
            failing_since(a=0.0, b=10.0),
            {},
            dict.fromkeys("ab", 10.0),
            11.1,
            ["b"],
            id="what-began-before-the-window-is-another-failure",
        ),
        pytest.param(
            failing_since(a=0.0, b=50.0),
            {},
            {"a": 5.0, "b": 60.0},
            55.0,
            ["a", "b"],
            id="the-longest-interval-among-the-failing-is-the-window",
        ),
        pytest.param(
            {**failing_since(a=0.0, b=50.0), "slow": WELL},
            {},
            {"a": 5.0, "b": 5.0, "slow": 60.0},
            55.0,
            ["b"],
            id="the-interval-of-what-is-well-does-not-count",
        ),
        pytest.param(
            failing_since(a=0.0, b=119.0),
            {},
            dict.fromkeys("ab", 3600.0),
            120.0,
            ["a", "b"],
            id="two-minutes-are-the-longest-window-and-belong-to-it",
        ),
        pytest.param(
            failing_since(a=0.0, b=119.0),
            {},
            dict.fromkeys("ab", 3600.0),
            121.1,
            ["b"],
            id="beyond-two-minutes-it-is-another-failure-however-long-the-interval",
        ),
        pytest.param(
            failing_since(db=0.0, api=1.0, web=2.0),
            {"api": ["db"], "web": ["api"]},
            dict.fromkeys(("db", "api", "web"), 60.0),
            3.0,
            ["db"],
            id="what-a-failed-dependency-explains-does-not-count-the-root-alone-does",
        ),
        pytest.param(
            failing_since(api=1.0, web=2.0) | {"db": WELL},
            {"api": ["db"], "web": ["db"]},
            dict.fromkeys(("db", "api", "web"), 60.0),
            3.0,
            ["api", "web"],
            id="a-dependency-that-is-well-explains-nothing",
        ),
    ],
)
def test_failing_together(
    healths: dict[str, Health],
    depends_on: dict[str, list[str]],
    intervals: dict[str, float],
    now: float,
    together: list[str],
):
    assert failing_together(failing(healths, healths, depends_on), intervals, now) == together


@pytest.mark.req("INFRA-02.3")
@pytest.mark.parametrize(
    ("threshold", "share", "services", "needed"),
    [
        pytest.param(3, 0.02, 3, 3, id="three-of-three"),
        pytest.param(3, 0.02, 150, 3, id="two-percent-of-150-are-three"),
        pytest.param(3, 0.02, 151, 4, id="a-part-of-a-service-is-rounded-up"),
        pytest.param(3, 0.02, 1000, 20, id="the-share-where-that-is-more"),
        pytest.param(3, 0.0, 1000, 3, id="without-a-share-the-threshold"),
        pytest.param(2, 1.0, 8, 8, id="a-share-of-one-is-all-of-them"),
        pytest.param(3, 0.02, 0, 3, id="nothing-watched"),
    ],
)
def test_how_many_make_an_event(threshold: int, share: float, services: int, needed: int):
    assert Correlation(threshold, share).needed(services) == needed


@pytest.mark.parametrize(("status", "alive"), list(zip(Status, (False, True, True, False, False), strict=True)))
def test_what_is_alive(status: Status, alive: bool):
    assert status.alive is alive


def test_the_order_of_two_gates_does_not_depend_on_the_rest():
    for restarts, budget in product((0, 1), (0, 1)):
        assert decide(Facts(paused=True, is_self=True, restarts=restarts, budget_left=budget)) == Hold(Gate.MAINTENANCE)
