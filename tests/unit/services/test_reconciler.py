"""The deciding code, unchanged, on simulated time: scripts of what befalls a machine, and what comes of it."""

import asyncio
import inspect
import math
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from argus.core.autonomy import Level
from argus.core.clock import milliseconds, stamp
from argus.core.errors import REGISTRY, ArgusError, Code
from argus.core.events import Event
from argus.host.seam import Failure, HttpReply, HttpRequest, Ran
from argus.services.model import Flapping, Gate, Observation, Outage, Seen, Status, Use
from argus.services.settings import Health as Settings
from argus.services.tools import Tools
from argus.services.watch import Watch, describe
from argus.store.notes import Notes
from argus.store.records import Act, Incident, OpenAct, PutIncident, PutSetting
from argus.store.sqlite import SqliteStore
from argus.testing import Answers, FakeClock, FakeHost, SimulatedLoop, run_simulated
from argus.timekeeper import Timekeeper

MINUTE, HOUR = 60.0, 3600.0
REFUSES = Answers(failure=Failure.REFUSED)
WITNESS = 7117


class Store:
    """The real store behind a disk that can be full."""

    def __init__(self, real: SqliteStore) -> None:
        self._real = real
        self.full = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def commit(self, *writes: Any) -> list[Event]:
        if self.full:
            raise ArgusError(Code.STORE_UNAVAILABLE, "the disk is full")
        return await self._real.commit(*writes)


class Rig:
    """A machine with services, and an Argus on it that can be killed and started again."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self.loop = loop
        self.clock = FakeClock(loop)
        self.host = FakeHost()
        self.store = Store(SqliteStore(None, clock=self.clock, inline=True))
        self.level = Level.MODERATE
        self.ports: dict[str, int] = {}
        self.settings = Settings()
        self.curable = True
        self.with_intent: list[bool] = []
        self.busy: list[str] = []
        """Who works with every service."""
        self.ids = 0
        self.witness: tuple[str, int] | None = None
        self._running: asyncio.Task[None] | None = None
        self.host.programs["restart"] = self._restart

    def registry(self, *names: str, depends: dict[str, list[str]] | None = None, **settings: Any) -> None:
        for place, name in enumerate(names):
            self.ports.setdefault(name, 9000 + place)
            self.host.ports.setdefault(self.ports[name], Answers())
        services = [
            {
                "name": name,
                "type": "http",
                "url": f"http://localhost:{self.ports[name]}/",
                "dependsOn": (depends or {}).get(name, []),
                "restart": {"command": ["restart", name], "timeout": "20s"},
            }
            for name in names
        ]
        self.settings = Settings.model_validate({"services": services, **settings})

    async def start(self) -> None:
        notes = Notes(self.store, self.clock)
        timekeeper = Timekeeper(self.clock, notes)
        self.watch = watch = Watch(
            self.settings,
            self.settings.services,
            Tools(
                host=self.host,
                store=self.store,
                notes=notes,
                clock=self.clock,
                autonomy=lambda: self.level,
                time_is_sound=timekeeper.sound,
                new_id=self._new_id,
                log_path=lambda name: name,
                witness=lambda: self.witness,
                in_use=lambda name, agent: [Use(who, "is in a turn") for who in self.busy if who != agent],
            ),
        )
        timekeeper.on_jump(watch.time_jumped)
        await watch.restore()

        async def run() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(watch.run())
                group.create_task(timekeeper.run())
                group.create_task(notes.run())

        self._running = self.loop.create_task(run())

    async def kill(self) -> None:
        assert self._running is not None
        self._running.cancel()
        await asyncio.wait([self._running])

    async def passes(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def dies(self, *names: str) -> None:
        for name in names:
            self.host.ports[self.ports[name]] = REFUSES

    def heals(self, *names: str) -> None:
        for name in names:
            self.host.ports[self.ports[name]] = Answers()

    @property
    def restarted(self) -> list[str]:
        return [argv[1] for argv in self.host.started]

    async def said(self, *types: str) -> list[str]:
        events = await self.store.events(0, limit=10_000, channel="services")
        return [event.type for event in events if not types or event.type in types]

    async def last(self, type: str) -> dict[str, Any]:
        (event,) = await self.store.last_events(1, type=type)
        return dict(event.data)

    async def _restart(self, argv: list[str]) -> Ran:
        self.with_intent.append(any(act.subject == argv[1] for act in await self.store.open_acts()))
        if self.curable:
            self.heals(argv[1])
        return Ran(0, "done", 1.0)

    def _new_id(self) -> str:
        self.ids += 1
        return f"id{self.ids}"


def simulated(scenario: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    def test(**given: Any) -> None:
        async def whole(loop: SimulatedLoop) -> None:
            rig = Rig(loop)
            try:
                await scenario(rig, **given)
            finally:
                if rig._running is not None:
                    await rig.kill()
                await rig.store.close()

        run_simulated(whole)

    parameters = list(inspect.signature(scenario).parameters.values())[1:]
    test.__name__, test.__doc__, test.__module__ = scenario.__name__, scenario.__doc__, scenario.__module__
    test.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return test


# One service, from its death to its recovery.


@pytest.mark.req("INFRA-02.1", "INFRA-02.4")
@simulated
async def test_a_service_that_dies_is_restarted_once_looked_at_and_recorded(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    rig.dies("api")
    await rig.passes(5 * MINUTE)
    assert rig.restarted == ["api"]
    assert rig.with_intent == [True]
    assert await rig.said() == [
        "state_changed",
        "service_down",
        "restart_started",
        "restart_finished",
        "service_recovered",
    ]
    down, finished = await rig.last("service_down"), await rig.last("restart_finished")
    assert (down["failures"], down["action"], down["target"], down["cause"]) == (
        3,
        "restart",
        "api",
        "connection refused",
    )
    assert (finished["outcome"], finished["exitCode"], finished["state"]) == ("recovered", 0, "up")
    recovered = await rig.last("service_recovered")
    assert (recovered["restarted"], recovered["restartHelped"]) == (True, True)
    (act,) = await rig.store.acts(kind="restart_service")
    assert act.outcome == "recovered"
    assert act.ended - act.begun.wall >= 30.0
    (incident,) = await rig.store.incidents()
    assert incident.closed is not None
    assert incident.cause == "connection refused"
    assert rig.watch.healths["api"].status is Status.UP
    assert rig.watch.healths["api"].outage is None
    assert rig.watch.budget() == (1, 2)


@pytest.mark.req("INFRA-01.6")
@simulated
async def test_two_failures_are_nothing_to_tell(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    rig.dies("api")
    await rig.passes(2 * MINUTE)
    assert rig.watch.healths["api"].failures == 2
    rig.heals("api")
    await rig.passes(10 * MINUTE)
    assert await rig.said() == ["state_changed"]
    assert rig.restarted == []


@pytest.mark.req("INFRA-02.4")
@simulated
async def test_what_is_still_down_after_its_restart_is_escalated_and_never_restarted_again(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    rig.dies("api")
    await rig.passes(3 * HOUR)
    assert rig.restarted == ["api"]
    assert await rig.said("service_down", "service_escalated") == ["service_down", "service_escalated"]
    assert (await rig.last("service_escalated"))["why"] == "still_down"
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    assert (await rig.said())[-1] == "service_recovered"


@simulated
async def test_full_autonomy_tries_a_second_time_and_then_escalates(rig: Rig):
    rig.registry("api")
    rig.curable, rig.level = False, Level.FULL
    await rig.start()
    rig.dies("api")
    await rig.passes(3 * HOUR)
    assert rig.restarted == ["api", "api"]
    assert await rig.said("service_down", "restart_finished", "service_escalated") == [
        "service_down",
        "restart_finished",
        "restart_finished",
        "service_escalated",
    ]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(None, id="a-program-that-is-not-there"),
        pytest.param("fails", id="a-program-that-fails"),
        pytest.param("hangs", id="a-program-that-hangs"),
        pytest.param("crashes", id="a-seam-that-crashes"),
    ],
)
@simulated
async def test_a_restart_that_could_not_be_carried_out_counts_and_is_escalated(rig: Rig, program: str | None):
    async def run(argv: list[str]) -> Ran:
        if program == "hangs":
            await asyncio.sleep(HOUR)
        if program == "crashes":
            raise RuntimeError("no such thing")
        return Ran(1, "", 0.1)

    rig.registry("api")
    rig.host.programs = {"restart": run} if program else {}
    await rig.start()
    rig.dies("api")
    await rig.passes(10 * MINUTE)
    assert (await rig.last("restart_finished"))["outcome"] == "failed"
    assert await rig.said("service_escalated") == ["service_escalated"]
    assert rig.watch.budget() == (1, 2)
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    assert (await rig.last("service_recovered"))["restarted"] is False, "a person did it"


@simulated
async def test_what_somebody_repairs_while_the_restart_cannot_be_begun_was_not_restarted(rig: Rig):
    rig.registry("api")
    rig.host.programs = {}
    await rig.start()
    rig.dies("api")
    while not await rig.said("restart_started"):
        await rig.passes(1)
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    assert (await rig.last("restart_finished"))["outcome"] == "failed"
    assert (await rig.last("service_recovered"))["restarted"] is False
    assert await rig.said("service_escalated") == []


@simulated
async def test_a_restart_that_was_carried_out_is_remembered_across_a_kill(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    rig.dies("api")
    await rig.passes(10 * MINUTE)
    assert await rig.said("service_escalated") == ["service_escalated"]
    await rig.kill()
    await rig.start()
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    recovered = await rig.last("service_recovered")
    assert (recovered["restarted"], recovered["restartHelped"]) == (True, False), "something else did it, minutes later"


@simulated
async def test_readings_during_a_repair_are_noted_and_not_judged(rig: Rig):
    rig.registry("api", verifyAfter="10m")
    await rig.start()
    rig.dies("api")
    await rig.passes(4 * MINUTE)
    assert rig.watch.healths["api"].repair is not None
    rig.dies("api")
    await rig.passes(4 * MINUTE)
    health = rig.watch.healths["api"]
    assert (health.failures, health.status) == (3, Status.DOWN)
    assert health.last is not None
    assert health.last.at >= rig.clock.monotonic() - MINUTE
    assert rig.restarted == ["api"]


@simulated
async def test_a_check_that_crashes_says_nothing_about_the_service(rig: Rig):
    class Crashing(FakeHost):
        async def http(self, request: HttpRequest, *, timeout: float) -> HttpReply:
            raise RuntimeError("a bug in a check")

    rig.registry("api")
    rig.host = Crashing()
    await rig.start()
    await rig.passes(20 * MINUTE)
    assert rig.watch.healths["api"].status is Status.UNKNOWN
    assert await rig.said() == ["state_changed", "service_unknown"]


def container_service(rig: Rig, **keys: Any) -> None:
    entry = {"name": "stack", "type": "docker", "containers": ["web"], **keys}
    rig.settings = Settings.model_validate({"services": [entry]})


@simulated
async def test_a_container_that_is_starting_after_its_restart_is_waited_for(rig: Rig):
    web = rig.host.docker.add("web", health="healthy", is_healthy_after_start=False)
    container_service(rig)
    await rig.start()
    await rig.passes(3 * MINUTE)
    web.end(1)
    await rig.passes(10 * MINUTE)
    assert (web.starts, web.health) == (1, "starting")
    assert await rig.said("restart_finished") == []
    web.health = "healthy"
    await rig.passes(2 * MINUTE)
    assert await rig.said() == [
        "state_changed",
        "service_down",
        "restart_started",
        "restart_finished",
        "service_recovered",
    ]


@simulated
async def test_a_container_that_never_gets_healthy_is_not_waited_for_for_ever(rig: Rig):
    web = rig.host.docker.add("web", health="healthy", is_healthy_after_start=False)
    container_service(rig)
    await rig.start()
    await rig.passes(3 * MINUTE)
    web.end(1)
    await rig.passes(20 * MINUTE)
    assert (await rig.last("restart_finished"))["outcome"] == "unverified"
    assert web.starts == 1


@simulated
async def test_nothing_is_restarted_because_the_engine_is_away(rig: Rig):
    web = rig.host.docker.add("web")
    container_service(rig, interval="10s")
    await rig.start()
    await rig.passes(MINUTE)
    web.end(1)
    rig.host.docker.is_frozen = True
    await rig.passes(30 * MINUTE)
    assert (web.starts, rig.watch.healths["stack"].status) == (0, Status.UNKNOWN)
    assert await rig.said() == ["state_changed", "state_changed", "service_unknown"]
    rig.host.docker.is_frozen = False
    await rig.passes(5 * MINUTE)
    assert (web.starts, rig.watch.healths["stack"].status) == (1, Status.UP)


@pytest.mark.req("INFRA-01.2")
@simulated
async def test_a_slow_check_delays_no_other(rig: Rig):
    rig.registry("quick", "slow")
    rig.host.ports[rig.ports["slow"]] = Answers(hangs=True)
    await rig.start()
    for _ in range(20):
        await rig.passes(MINUTE)
        last = rig.watch.healths["quick"].last
        assert last is not None
        assert rig.clock.monotonic() - last.at <= MINUTE


@simulated
async def test_what_is_shown_of_a_service(rig: Rig):
    rig.registry("api")
    rig.level = Level.OBSERVE
    await rig.start()
    rig.dies("api")
    await rig.passes(4 * MINUTE)
    shown = describe(rig.watch, "api", rig.clock.wall())
    assert (shown["state"], shown["failures"], shown["gate"]) == ("down", 4, "autonomy")
    assert (shown["place"], shown["port"], shown["detail"]) == ("Port 9000", 9000, "connection refused")
    assert (shown["restarts"], shown["repairing"], shown["restartable"]) == (0, False, True)


# The gates.


@pytest.mark.req("INFRA-01.9", "INFRA-02.1")
@pytest.mark.parametrize(
    ("level", "restarts"),
    [
        pytest.param(Level.OBSERVE, 0, id="observe-checks-and-tells"),
        pytest.param(Level.CAUTIOUS, 0, id="cautious-checks-and-tells"),
        pytest.param(Level.MODERATE, 1, id="moderate-restarts-too"),
        pytest.param(Level.FULL, 1, id="full-restarts-too"),
    ],
)
@simulated
async def test_every_level_checks_and_tells_and_only_some_restart(rig: Rig, level: Level, restarts: int):
    rig.registry("api")
    rig.level = level
    await rig.start()
    rig.dies("api")
    await rig.passes(20 * MINUTE)
    assert await rig.said("service_down") == ["service_down"]
    assert (await rig.last("service_down"))["autonomy"] == level.value
    assert len(rig.restarted) == restarts
    assert rig.watch.healths["api"].status is (Status.UP if restarts else Status.DOWN)


@simulated
async def test_a_level_raised_within_an_outage_acts_at_the_next_reading(rig: Rig):
    rig.registry("api")
    rig.level = Level.OBSERVE
    await rig.start()
    rig.dies("api")
    await rig.passes(30 * MINUTE)
    assert rig.restarted == []
    rig.level = Level.MODERATE
    await rig.passes(5 * MINUTE)
    assert rig.restarted == ["api"]
    assert await rig.said("service_down", "decision_changed", "service_recovered") == [
        "service_down",
        "decision_changed",
        "service_recovered",
    ]
    assert (await rig.last("decision_changed"))["news"] is False


@simulated
async def test_a_level_lowered_within_an_outage_holds_back(rig: Rig):
    rig.registry("api")
    rig.level, rig.curable = Level.FULL, False
    await rig.start()
    rig.dies("api")
    while not rig.restarted:
        await rig.passes(1)
    rig.level = Level.OBSERVE
    await rig.passes(HOUR)
    assert rig.restarted == ["api"]
    assert await rig.said("service_escalated") == ["service_escalated"]


@pytest.mark.req("INFRA-02.2")
@simulated
async def test_the_budget_holds_over_all_services_and_frees_itself(rig: Rig):
    rig.registry("a", "b", "c", correlatedFailureThreshold=3, restartBudget={"maxPerHour": 2})
    await rig.start()
    for name in "abc":
        rig.dies(name)
        await rig.passes(10 * MINUTE)
    assert rig.restarted == ["a", "b"]
    assert rig.watch.budget() == (0, 2)
    assert (await rig.last("service_down"))["gate"] == "budget"
    await rig.passes(HOUR)
    assert rig.restarted == ["a", "b", "c"]


@pytest.mark.req("INFRA-02.2")
@simulated
async def test_a_new_argus_does_not_refill_the_budget(rig: Rig):
    rig.registry("a", "b", "c")
    await rig.start()
    for name in "ab":
        rig.dies(name)
        await rig.passes(10 * MINUTE)
    await rig.kill()
    await rig.start()
    rig.dies("c")
    await rig.passes(10 * MINUTE)
    assert rig.restarted == ["a", "b"]


@simulated
async def test_a_budget_of_nothing_means_nothing(rig: Rig):
    rig.registry("api", restartBudget={"maxPerHour": 0})
    await rig.start()
    rig.dies("api")
    await rig.passes(5 * HOUR)
    assert rig.restarted == []
    assert (await rig.last("service_down"))["gate"] == "budget"


@pytest.mark.req("INFRA-02.2")
@simulated
async def test_after_a_store_was_set_aside_the_budget_counts_as_spent_for_one_window(rig: Rig):
    now = stamp(rig.clock)
    mark = {"boot_id": now.boot_id, "boot": now.boot, "wall": now.wall, "kept": "argus.db.corrupt-1"}
    await rig.store.commit(PutSetting("store.set_aside", mark))
    rig.registry("api")
    await rig.start()
    rig.dies("api")
    await rig.passes(55 * MINUTE)
    assert (rig.restarted, rig.watch.budget()) == ([], (0, 2))
    await rig.passes(10 * MINUTE)
    assert rig.restarted == ["api"]


@simulated
async def test_what_a_failed_dependency_explains_is_neither_restarted_nor_told(rig: Rig):
    rig.registry("db", "api", depends={"api": ["db"]})
    rig.curable = False
    await rig.start()
    rig.dies("db", "api")
    await rig.passes(20 * MINUTE)
    assert rig.restarted == ["db"]
    health = rig.watch.healths["api"]
    assert health.outage is not None
    assert (health.outage.gate, health.outage.told) == (Gate.DEPENDENCY, False)
    rig.heals("db")
    await rig.passes(5 * MINUTE)
    assert rig.restarted == ["db", "api"]
    assert (await rig.last("decision_changed"))["news"] is True


@simulated
async def test_what_a_root_explained_stays_in_its_story_when_it_is_over(rig: Rig):
    rig.registry("db", "api", "gate", depends={"api": ["db"], "gate": ["api"]})
    rig.curable = False
    await rig.start()
    rig.dies("db", "api", "gate")
    await rig.passes(20 * MINUTE)
    rig.heals("db")
    await rig.passes(5 * MINUTE)
    assert rig.restarted == ["db", "api"], "what is still down then is handled for itself"
    rig.heals("api", "gate")
    await rig.passes(5 * MINUTE)
    found = {one.subject: one for one in await rig.store.incidents()}
    assert all(one.closed is not None for one in found.values())
    assert found["api"].data["explainedBy"] == found["db"].id
    assert found["gate"].data["explainedBy"] in (found["db"].id, found["api"].id)


@simulated
async def test_what_went_down_before_its_root_was_confirmed_stands_under_it_without_another_reading(rig: Rig):
    rig.registry("db", "api", depends={"api": ["db"]})
    services = [
        one.model_copy(update={"interval": HOUR}) if one.name == "api" else one for one in rig.settings.services
    ]
    rig.settings = rig.settings.model_copy(update={"services": tuple(services)})
    rig.curable = False
    await rig.start()
    await rig.passes(90)
    rig.dies("db", "api")
    await rig.watch.check("db")
    for _ in range(3):
        await rig.watch.check("api")
    assert rig.watch.healths["api"].outage is not None
    assert rig.watch.healths["db"].outage is None
    await rig.passes(10 * MINUTE)
    db, api = rig.watch.healths["db"].outage, rig.watch.healths["api"].outage
    assert db is not None
    assert api is not None
    assert api.explained_by == db.incident


@simulated
async def test_a_root_that_is_configured_anew_while_it_is_down_still_explains(rig: Rig):
    rig.registry("db", "api", depends={"api": ["db"]})
    rig.curable = False
    await rig.start()
    rig.dies("api")
    rig.host.ports[rig.ports["db"]] = Answers(hangs=True)
    await rig.passes(20 * MINUTE)
    changed = [one.model_copy(update={"timeout": one.timeout + (one.name == "db")}) for one in rig.settings.services]
    await rig.watch.reconfigure(rig.settings, tuple(changed), (), lambda: None)
    await rig.watch.check("api")  # before the other was seen again
    await rig.passes(20 * MINUTE)
    assert rig.restarted == ["db"]


@pytest.mark.parametrize(
    ("before", "after", "explained"),
    [
        pytest.param({"aa": ["bb"]}, {"bb": ["aa"]}, {"bb": "aa"}, id="turned-round"),
        pytest.param({"bb": ["aa"], "cc": ["bb"]}, {"bb": ["aa"]}, {"bb": "aa"}, id="one-let-go"),
        pytest.param({"bb": ["aa"], "cc": ["bb"]}, {}, {}, id="all-let-go"),
    ],
)
@simulated
async def test_what_it_depends_on_no_longer_explains_it_no_longer(
    rig: Rig, before: dict[str, list[str]], after: dict[str, list[str]], explained: dict[str, str]
):
    rig.registry("aa", "bb", "cc", depends=before, correlatedFailureThreshold=9)
    rig.curable = False
    await rig.start()
    rig.dies("aa", "bb", "cc")
    await rig.passes(20 * MINUTE)
    changed = [one.model_copy(update={"depends_on": tuple(after.get(one.name, ()))}) for one in rig.settings.services]
    await rig.watch.reconfigure(rig.settings, tuple(changed), (), lambda: None)
    roots = {name: _incident_of(rig, name) for name in ("aa", "bb", "cc")}
    await rig.passes(20 * MINUTE)
    wanted = {name: roots[explained[name]] if name in explained else None for name in roots}
    assert {name: rig.watch.explained_by(name) for name in roots} == wanted
    on_record = {one.subject: one.data.get("explainedBy") or None for one in await rig.store.incidents()}
    assert on_record == wanted


def _incident_of(rig: Rig, name: str) -> str:
    outage = rig.watch.healths[name].outage
    assert outage is not None
    return outage.incident


@simulated
async def test_a_pause_holds_everything_back_and_its_end_is_the_news(rig: Rig):
    rig.registry("api")
    await rig.start()
    until = await rig.watch.pause("api", HOUR, "someone")
    assert until == pytest.approx(rig.clock.wall() + HOUR)
    rig.dies("api")
    await rig.passes(30 * MINUTE)
    assert rig.restarted == []
    assert (await rig.last("service_down"))["gate"] == "maintenance"
    assert (await rig.last("service_down"))["told"] is False
    assert await rig.watch.pause("api", None, "someone") is None
    await rig.passes(5 * MINUTE)
    assert rig.restarted == ["api"]
    assert (await rig.last("decision_changed"))["news"] is True


@simulated
async def test_a_pause_ends_by_itself_and_survives_a_new_argus(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.watch.pause("api", HOUR, "someone")
    rig.dies("api")
    await rig.passes(20 * MINUTE)
    await rig.kill()
    await rig.start()
    await rig.passes(35 * MINUTE)
    assert rig.restarted == []
    assert rig.watch.paused_until("api") is not None
    await rig.passes(10 * MINUTE)
    assert rig.restarted == ["api"]
    assert rig.watch.paused_until("api") is None


@simulated
async def test_a_pause_is_counted_by_the_boot_clock_and_not_by_a_wall_clock_that_is_set(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.watch.pause("api", HOUR, "someone")
    rig.clock.step(10 * HOUR)
    assert rig.watch.paused_until("api") == pytest.approx(rig.clock.wall() + HOUR)


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf], ids=["nothing", "less", "no-number", "for-ever"])
@simulated
async def test_a_pause_of_no_length_is_refused(rig: Rig, seconds: float):
    rig.registry("api")
    await rig.start()
    with pytest.raises(ArgusError) as caught:
        await rig.watch.pause("api", seconds, "someone")
    assert caught.value.code is Code.INVALID_REQUEST


@simulated
async def test_ending_a_pause_that_is_none_is_no_event(rig: Rig):
    rig.registry("api")
    await rig.start()
    assert await rig.watch.pause("api", None, "someone") is None
    assert "service_resumed" not in await rig.said()


# Asked by somebody.


@simulated
async def test_an_asked_restart_of_a_healthy_service_is_done_and_says_who_asked(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    act = await rig.watch.restart("api", "cli")
    await rig.passes(2 * MINUTE)
    assert rig.restarted == ["api"]
    assert rig.with_intent == [True]
    started, finished = await rig.last("restart_started"), await rig.last("restart_finished")
    assert (started["act"], started["by"], finished["outcome"]) == (act, "cli", "recovered")


@pytest.mark.parametrize(
    ("change", "code", "gate"),
    [
        pytest.param({"level": Level.OBSERVE}, Code.GATE_REFUSED, "autonomy", id="below-moderate"),
        pytest.param({"most": 0}, Code.RESTART_BUDGET_EXHAUSTED, "budget", id="without-a-budget"),
        pytest.param({"paused": True}, Code.GATE_REFUSED, "maintenance", id="in-maintenance"),
    ],
)
@simulated
async def test_an_asked_restart_passes_the_same_gates(rig: Rig, change: dict[str, Any], code: Code, gate: str):
    rig.level = change.get("level", rig.level)
    rig.registry("api", restartBudget={"maxPerHour": change.get("most", 2)})
    await rig.start()
    if change.get("paused"):
        await rig.watch.pause("api", HOUR, "someone")
    with pytest.raises(ArgusError) as caught:
        await rig.watch.restart("api", "agent")
    assert (caught.value.code, caught.value.details["gate"]) == (code, gate)
    if code is Code.RESTART_BUDGET_EXHAUSTED:
        assert set(caught.value.details) == set(REGISTRY[code].details), "as docs/errors.md shows it"
    assert rig.restarted == []
    refused = await rig.last("restart_refused")
    assert (refused["gate"], refused["by"]) == (gate, "agent")


@simulated
async def test_a_person_restarts_what_argus_restarted_in_vain_and_no_agent_does(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    rig.dies("api")
    await rig.passes(5 * MINUTE)
    assert await rig.said("service_escalated") == ["service_escalated"]
    with pytest.raises(ArgusError) as caught:
        await rig.watch.restart("api", "agent")
    assert caught.value.details["gate"] == "already restarted in this outage"
    rig.curable = True
    act = await rig.watch.restart("api", "cli", is_person=True)
    with pytest.raises(ArgusError) as caught:
        await rig.watch.restart("api", "page", is_person=True)
    assert caught.value.code is Code.INVALID_STATE
    started = await rig.last("restart_started")
    assert (started["act"], started["by"], started["byPerson"]) == (act, "cli", True)
    await rig.passes(2 * MINUTE)
    assert rig.restarted == ["api", "api"]
    assert rig.with_intent == [True, True]
    assert (await rig.said())[-1] == "service_recovered"
    first = next(e for e in await rig.store.events(0, limit=100, channel="services") if e.type == "restart_started")
    assert (first.data["by"], "byPerson" in first.data) == ("argus", False)


@simulated
async def test_a_restart_of_a_person_that_does_not_help_is_said_on_record_and_spends_the_budget(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    rig.dies("api")
    await rig.passes(5 * MINUTE)
    await rig.watch.restart("api", "cli", is_person=True)
    await rig.passes(5 * MINUTE)
    assert (await rig.last("restart_finished"))["outcome"] == "still_down"
    assert await rig.said("service_escalated") == ["service_escalated"]
    assert describe(rig.watch, "api", rig.clock.wall())["gate"] == "already restarted in this outage"
    with pytest.raises(ArgusError) as caught:
        await rig.watch.restart("api", "cli", is_person=True)
    assert caught.value.code is Code.RESTART_BUDGET_EXHAUSTED
    assert rig.restarted == ["api", "api"]


@pytest.mark.parametrize("is_killed", [False, True], ids=["watched-all-along", "over-a-restart-of-argus"])
@simulated
async def test_how_long_it_was_down_counts_from_its_first_failing_check(rig: Rig, is_killed: bool):
    rig.level = Level.OBSERVE
    rig.registry("api")
    await rig.start()
    await rig.passes(MINUTE)
    rig.dies("api")
    await rig.passes(4 * MINUTE)
    if is_killed:
        await rig.kill()
        await rig.start()
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    down = await rig.last("service_down")
    first = min(one["at"] for one in down["readings"] if one["state"] == "down") / 1000
    (recovered,) = await rig.store.last_events(1, type="service_recovered")
    assert recovered.data["downSeconds"] == pytest.approx(recovered.timestamp / 1000 - first, abs=5)


@simulated
async def test_whoever_is_refused_for_the_budget_hears_when_there_is_room_again(rig: Rig):
    rig.registry("a", "b", "c")
    await rig.start()
    first = rig.clock.wall()
    for name in "ab":
        await rig.watch.restart(name, "cli")
        await rig.passes(10 * MINUTE)
    with pytest.raises(ArgusError) as caught:
        await rig.watch.restart("c", "cli")
    said = re.search(r"at (\d\d):(\d\d) UTC there is room again", caught.value.details["hint"])
    assert said is not None
    at = int(said[1]) * HOUR + int(said[2]) * MINUTE
    assert 0 <= (at - (first + HOUR)) % (24 * HOUR) <= 2 * MINUTE
    await rig.passes(at - rig.clock.wall() % (24 * HOUR))
    await rig.watch.restart("c", "cli")


@simulated
async def test_whoever_is_refused_hears_what_comes_first(rig: Rig):
    rig.registry("db", "api", "front", depends={"api": ["db"], "front": ["api", "db"]})
    rig.curable = False
    await rig.start()
    rig.dies("db", "api", "front")
    await rig.passes(5 * MINUTE)
    for name in ("api", "front"):
        with pytest.raises(ArgusError) as caught:
            await rig.watch.restart(name, "cli", is_person=True)
        assert caught.value.details["hint"].endswith("first: argus services restart db")
    rig.heals("db", "api", "front")
    await rig.passes(5 * MINUTE)
    rig.level = Level.OBSERVE
    with pytest.raises(ArgusError) as caught:
        await rig.watch.restart("api", "cli", is_person=True)
    assert caught.value.details["hint"].endswith("argus autonomy moderate allows it")


@simulated
async def test_a_second_asked_restart_while_one_is_under_way_is_refused(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.watch.restart("api", "cli")
    with pytest.raises(ArgusError) as caught:
        await rig.watch.restart("api", "cli")
    assert caught.value.code is Code.INVALID_STATE
    await rig.passes(2 * MINUTE)
    assert rig.restarted == ["api"]


@pytest.mark.parametrize("call", ["check", "restart", "pause"])
@simulated
async def test_a_service_nobody_knows_is_said(rig: Rig, call: str):
    rig.registry("api")
    await rig.start()
    asked = {
        "check": lambda: rig.watch.check("nobody"),
        "restart": lambda: rig.watch.restart("nobody", "cli"),
        "pause": lambda: rig.watch.pause("nobody", 1.0, "cli"),
    }[call]
    with pytest.raises(ArgusError) as caught:
        await asked()
    assert caught.value.code is Code.SERVICE_NOT_FOUND


@simulated
async def test_an_asked_check_counts_like_any_other(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(10)
    rig.dies("api")
    counts = [(await rig.watch.check("api")).failures for _ in range(3)]
    assert counts == [1, 2, 3]
    assert await rig.said("service_down") == ["service_down"]


# The store.


@simulated
async def test_without_a_record_nothing_is_done_and_with_one_it_is_done_later(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    rig.store.full = True
    rig.dies("api")
    await rig.passes(HOUR)
    assert rig.restarted == []
    outage = rig.watch.healths["api"].outage
    assert outage is not None
    assert outage.gate is Gate.RECORD
    rig.store.full = False
    await rig.passes(5 * MINUTE)
    assert rig.restarted == ["api"]
    assert await rig.said("service_down", "decision_changed", "restart_started", "service_recovered") == [
        "service_down",
        "decision_changed",
        "restart_started",
        "service_recovered",
    ]


@simulated
async def test_what_happens_while_the_store_is_away_is_on_record_afterwards_with_its_own_time(rig: Rig):
    rig.registry("api")
    rig.level = Level.OBSERVE
    await rig.start()
    await rig.passes(90)
    rig.store.full = True
    rig.dies("api")
    await rig.passes(10 * MINUTE)
    rig.heals("api")
    healed = milliseconds(rig.clock.wall())
    await rig.passes(HOUR)
    rig.store.full = False
    await rig.passes(5)
    down, up = [e for e in await rig.store.last_events(100) if e.type in ("service_down", "service_recovered")]
    assert (down.type, up.type) == ("service_down", "service_recovered")
    assert down.timestamp < healed < up.timestamp < healed + 2 * MINUTE * 1000
    (over,) = await rig.store.incidents()
    assert over.closed is not None


@simulated
async def test_an_act_gets_its_one_outcome_however_long_the_store_is_away(rig: Rig):
    rig.registry("api")
    await rig.start()
    rig.dies("api")
    while not rig.restarted:
        await rig.passes(1)
    rig.store.full = True
    await rig.passes(HOUR)
    assert len(await rig.store.open_acts()) == 1
    rig.store.full = False
    await rig.passes(MINUTE)
    assert await rig.store.open_acts() == []
    assert await rig.said("restart_finished", "service_recovered") == ["restart_finished", "service_recovered"]


@simulated
async def test_who_asks_while_the_store_is_away_is_told_so(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(10)
    rig.store.full = True
    for call in (lambda: rig.watch.restart("api", "cli"), lambda: rig.watch.pause("api", 60.0, "cli")):
        with pytest.raises(ArgusError) as caught:
            await call()
        assert caught.value.code is Code.STORE_UNAVAILABLE
    await rig.passes(MINUTE)
    assert rig.restarted == []
    assert rig.watch.paused_until("api") is None


# Time.


@pytest.mark.parametrize("kind", ["sleep", "forward", "back", "stall"])
@simulated
async def test_after_a_jump_of_time_every_count_starts_over(rig: Rig, kind: str):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    rig.dies("api")
    await rig.passes(2 * MINUTE)
    assert rig.watch.healths["api"].failures == 2
    match kind:
        case "sleep":
            rig.clock.sleep(2 * HOUR)
        case "forward":
            rig.clock.step(2 * HOUR)
        case "back":
            rig.clock.step(-2 * HOUR)
        case "stall":
            rig.loop.stall(10 * MINUTE)
    await rig.passes(2)
    assert rig.watch.healths["api"].failures <= 1
    await rig.passes(MINUTE)
    assert await rig.said("service_down") == []
    assert rig.restarted == []
    # It is checked afresh at once, and a full new run of failures confirms it.
    await rig.passes(2 * MINUTE)
    assert rig.restarted == ["api"]
    assert len(await rig.store.last_events(10, type="clock_jump")) == 1


@simulated
async def test_a_jump_of_time_with_everything_well_changes_nothing(rig: Rig):
    rig.registry("a", "b", "c")
    await rig.start()
    await rig.passes(90)
    rig.loop.stall(HOUR)
    await rig.passes(10 * MINUTE)
    assert await rig.said() == ["state_changed"] * 3


# A new Argus on the same record.


@simulated
async def test_a_new_argus_is_no_change_of_state(rig: Rig):
    rig.registry("a", "b")
    await rig.start()
    await rig.passes(2 * MINUTE)
    since = rig.watch.healths["a"].since
    await rig.kill()
    await rig.passes(HOUR)
    await rig.start()
    await rig.passes(2 * MINUTE)
    assert await rig.said() == ["state_changed", "state_changed"]
    assert rig.watch.healths["a"].since == since


@pytest.mark.req("INFRA-01.7", "INFRA-02.4")
@simulated
async def test_an_outage_is_the_same_outage_for_a_new_argus(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    rig.dies("api")
    await rig.passes(10 * MINUTE)
    (before,) = await rig.store.incidents(open_only=True)
    await rig.kill()
    await rig.start()
    assert rig.watch.healths["api"].status is Status.DOWN
    await rig.passes(3 * HOUR)
    assert rig.restarted == ["api"]
    assert await rig.said("service_down", "service_escalated") == ["service_down", "service_escalated"]
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    (after,) = await rig.store.incidents()
    assert (after.id, after.closed is not None, after.cause) == (before.id, True, before.cause)
    assert (await rig.last("service_recovered"))["downSeconds"] > 3 * HOUR


@pytest.mark.parametrize(
    ("came_back", "outcome"),
    [
        pytest.param(True, "recovered", id="it-came-back-meanwhile"),
        pytest.param(False, "still_down", id="it-is-still-down"),
    ],
)
@simulated
async def test_an_argus_killed_within_an_act_completes_the_record_and_does_not_act_again(
    rig: Rig, came_back: bool, outcome: str
):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    rig.dies("api")
    while not rig.restarted:
        await rig.passes(0.5)
    await rig.kill()
    if came_back:
        rig.heals("api")
    await rig.start()
    assert rig.watch.healths["api"].repair is not None
    await rig.passes(10 * MINUTE)
    assert rig.restarted == ["api"]
    assert await rig.store.open_acts() == []
    finished = await rig.last("restart_finished")
    assert (finished["outcome"], finished["interrupted"]) == (outcome, True)
    assert rig.watch.budget() == (1, 2)
    assert await rig.said("restart_finished") == ["restart_finished"]


@pytest.mark.parametrize(
    ("after", "outcome", "latest"),
    [
        pytest.param(15, "recovered", 15 + 5 + 3, id="it-comes-back-when-the-engine-is-done"),
        pytest.param(HOUR, "still_down", 40 + 5 + 3, id="it-does-not-come-back"),
    ],
)
@simulated
async def test_an_act_that_the_engine_may_still_carry_out_is_judged_when_its_time_is_over(
    rig: Rig, after: float, outcome: str, latest: float
):
    restart = {"docker": ["web"], "timeout": "40s"}
    web = {"name": "web", "type": "http", "url": "http://localhost:9000/", "restart": restart}
    rig.ports["web"] = 9000
    rig.settings = Settings.model_validate({"services": [web], "verifyAfter": "5s"})
    act = Act("a1", "restart_service", "web", stamp(rig.clock), "i1", {"target": "Container web", "timeout": 40.0})
    data = {"restarts": 1, "told": True}
    outage = Incident("i1", "service_outage", "web", rig.clock.wall(), None, "refused", data)
    await rig.store.commit(OpenAct(act), PutIncident(outage))
    rig.dies("web")
    await rig.passes(6)  # as long as a start takes, or longer
    await rig.start()
    await rig.passes(after - 6 if after < MINUTE else 33)
    assert await rig.said("restart_finished", "service_escalated") == []
    if after < MINUTE:
        rig.heals("web")
    await rig.passes(latest)
    assert (await rig.last("restart_finished"))["outcome"] == outcome
    (ended,) = await rig.store.acts(kind="restart_service")
    assert ended.ended is not None
    assert ended.ended - act.begun.wall < latest
    assert await rig.said("service_escalated") == (["service_escalated"] if outcome == "still_down" else [])
    assert rig.host.docker.asked == 0, "it is not restarted again"


@simulated
async def test_what_is_open_about_a_service_that_is_gone_is_closed(rig: Rig):
    await rig.store.commit(
        OpenAct(Act("a1", "restart_service", "gone", stamp(rig.clock))),
        PutIncident(Incident("i1", "service_outage", "gone", rig.clock.wall(), None, "refused", {"restarts": 1})),
    )
    rig.registry("api")
    await rig.start()
    await rig.passes(1)
    assert await rig.store.open_acts() == []
    assert await rig.store.incidents(open_only=True) == []
    (act,) = await rig.store.acts(kind="restart_service")
    assert act.outcome == "unverified"
    (incident,) = await rig.store.incidents()
    assert incident.cause == "refused"


# Many at once.


@pytest.mark.req("INFRA-02.3")
@simulated
async def test_three_that_die_together_are_one_event_and_nothing_is_restarted(rig: Rig):
    rig.registry("a", "b", "c", "d")
    rig.host.ports[WITNESS] = Answers()
    rig.witness = ("127.0.0.1", WITNESS)
    await rig.start()
    await rig.passes(90)
    rig.dies("a", "b", "c")
    await rig.passes(HOUR)
    assert rig.restarted == []
    assert await rig.said("infrastructure_event", "witness_failed") == ["infrastructure_event"]
    event = await rig.last("infrastructure_event")
    assert event["services"] == ["a", "b", "c"]
    assert rig.watch.infrastructure_event == event["incident"]
    for health in (rig.watch.healths[name] for name in "abc"):
        assert health.outage is not None
        assert (health.outage.gate, health.outage.told) == (Gate.INFRASTRUCTURE, False)


@pytest.mark.req("INFRA-02.3")
@simulated
async def test_an_event_ends_after_a_full_quiet_window_and_the_survivors_are_handled(rig: Rig):
    rig.registry("a", "b", "c")
    await rig.start()
    await rig.passes(90)
    rig.dies("a", "b", "c")
    await rig.passes(10 * MINUTE)
    rig.heals("a", "b")
    await rig.passes(MINUTE)
    assert await rig.said("infrastructure_event_ended") == []
    await rig.passes(5 * MINUTE)
    assert (await rig.last("infrastructure_event_ended"))["stillFailing"] == ["c"]
    assert rig.restarted == ["c"]
    assert (await rig.last("decision_changed"))["news"] is True
    assert rig.watch.infrastructure_event is None


@simulated
async def test_two_that_die_together_are_two_failures(rig: Rig):
    rig.registry("a", "b", "c")
    await rig.start()
    await rig.passes(90)
    rig.dies("a", "b")
    await rig.passes(10 * MINUTE)
    assert await rig.said("infrastructure_event") == []
    assert sorted(rig.restarted) == ["a", "b"]


@pytest.mark.req("INFRA-02.3")
@simulated
async def test_when_argus_cannot_reach_itself_the_fault_is_its_own(rig: Rig):
    rig.registry("a", "b", "c")
    rig.witness = ("127.0.0.1", WITNESS)
    await rig.start()
    await rig.passes(90)
    rig.dies("a", "b", "c")
    await rig.passes(HOUR)
    assert rig.restarted == []
    assert await rig.said("infrastructure_event", "witness_failed") == ["witness_failed"]
    assert (await rig.last("witness_failed"))["detail"] == "connection refused"


@simulated
async def test_an_event_is_the_same_event_for_a_new_argus(rig: Rig):
    rig.registry("a", "b", "c")
    await rig.start()
    await rig.passes(90)
    rig.dies("a", "b", "c")
    await rig.passes(10 * MINUTE)
    event = rig.watch.infrastructure_event
    assert event is not None
    await rig.kill()
    await rig.start()
    assert rig.watch.infrastructure_event == event
    await rig.passes(10 * MINUTE)
    assert rig.restarted == []
    assert await rig.said("infrastructure_event") == ["infrastructure_event"]
    rig.heals("a", "b", "c")
    await rig.passes(10 * MINUTE)
    assert await rig.said("infrastructure_event_ended") == ["infrastructure_event_ended"]


@pytest.mark.parametrize("reachable", [True, False], ids=["an-event-out-there", "a-fault-of-its-own"])
@simulated
async def test_an_event_that_is_over_keeps_its_cause(rig: Rig, reachable: bool):
    rig.registry("a", "b", "c")
    rig.witness = ("127.0.0.1", WITNESS)
    if reachable:
        rig.host.ports[WITNESS] = Answers()
    await rig.start()
    await rig.passes(90)
    rig.dies("a", "b", "c")
    await rig.passes(10 * MINUTE)
    (before,) = [one for one in await rig.store.incidents() if one.kind == "infrastructure_event"]
    rig.heals("a", "b", "c")
    await rig.passes(10 * MINUTE)
    after = await rig.store.incident(before.id)
    assert after is not None
    assert after.closed is not None
    assert before.cause
    assert after.cause == before.cause


# The short way, for readings that change nothing.


def reading(rig: Rig, status: Status = Status.UP, **more: Any) -> Observation:
    return Observation(Seen(status, 0.01, **more), rig.clock.monotonic(), rig.clock.wall())


@simulated
async def test_a_reading_that_changes_nothing_is_taken_in_at_once(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    before, seen = rig.watch.healths["api"], reading(rig)
    assert rig.watch._reconciler.take_as_before("api", seen)
    assert rig.watch.healths["api"] == before._replace(last=seen)
    assert await rig.said() == ["state_changed"]


@pytest.mark.parametrize(
    ("name", "made", "more"),
    [
        pytest.param("api", {"status": Status.DOWN}, {}, id="a-failure"),
        pytest.param("api", {"status": Status.DEGRADED}, {}, id="another-state"),
        pytest.param("api", {"status": Status.UNKNOWN}, {}, id="what-nobody-knows"),
        pytest.param("api", {"tls_expires": 1.0}, {}, id="a-certificate"),
        pytest.param("gone", {}, {}, id="of-a-service-that-is-gone"),
        pytest.param("api", {}, {"failures": 1, "failing_since": 1.0}, id="the-first-after-a-failure"),
        pytest.param("api", {}, {"answers": None}, id="the-first-after-a-jump"),
        pytest.param("api", {}, {"flips": (1.0,)}, id="of-one-that-went-up-and-down"),
        pytest.param("api", {}, {"flapping": Flapping("id", 0.0, 0.0)}, id="of-one-that-flaps"),
        pytest.param("api", {}, {"outage": Outage("id", 0.0)}, id="of-one-that-was-down"),
        pytest.param("api", {}, {"repair": "act"}, id="of-one-that-is-restarted"),
        pytest.param("api", {}, {"judged_from": math.inf}, id="from-before-its-restart"),
    ],
)
@simulated
async def test_a_reading_that_may_change_something_is_not_taken_the_short_way(
    rig: Rig, name: str, made: dict[str, Any], more: dict[str, Any]
):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    rig.watch.healths["api"] = before = rig.watch.healths["api"]._replace(**more)
    assert not rig.watch._reconciler.take_as_before(name, reading(rig, **made))
    assert rig.watch.healths == {"api": before}


@simulated
async def test_no_reading_overtakes_what_came_before_it(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    asking = asyncio.ensure_future(rig.watch.pause("api", 60.0, "somebody"))
    await asyncio.sleep(0)
    assert not rig.watch._reconciler.take_as_before("api", reading(rig))
    await asking
    await rig.passes(1)
    assert rig.watch._reconciler.take_as_before("api", reading(rig))
