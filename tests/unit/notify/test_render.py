"""The texts people get, letter by letter."""

from typing import Any

import pytest

from argus.core.events import Event
from argus.notify.about_record import record_is_away
from argus.notify.message import IMPORTANT, INFORMATIVE, URGENT, Message
from argus.notify.render import render

AT = 1_800_000_000_000


def event(type: str, channel: str = "services", **data: Any) -> Event:
    return Event(7, "epoch", AT, channel, type, "mlx-api", data)


def failing(**more: Any) -> dict[str, Any]:
    return {
        "service": "mlx-api",
        "failures": 3,
        "lastCheckAt": AT - 120_000,
        "place": "Port 8100",
        "cause": "connection refused",
        "detail": "connection refused",
        "incident": "i1",
        **more,
    }


RESTARTING = {"action": "restart", "target": "com.mlx-inference-api"}
TOO_LOW = {"action": "none", "gate": "autonomy", "hint": "restart requires moderate+"}


@pytest.mark.req("INFRA-02.6")
@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        pytest.param(
            {"autonomy": "observe", **TOO_LOW},
            "Autonomy: observe (restart requires moderate+)",
            id="observe-says-what-a-restart-would-need",
        ),
        pytest.param(
            {"autonomy": "cautious", **TOO_LOW},
            "Autonomy: cautious (restart requires moderate+)",
            id="cautious-says-what-a-restart-would-need",
        ),
        pytest.param(
            {"autonomy": "moderate", **RESTARTING},
            "Autonomy: moderate\nAction: Restarting com.mlx-inference-api...",
            id="moderate-says-what-it-restarts",
        ),
        pytest.param(
            {"autonomy": "full", **RESTARTING},
            "Autonomy: full\nAction: Restarting com.mlx-inference-api...",
            id="full-says-what-it-restarts",
        ),
        pytest.param(
            {"autonomy": "moderate", "action": "none", "gate": "budget", "hint": "all 2 restarts are spent"},
            "Autonomy: moderate\nAction: none - budget (all 2 restarts are spent)",
            id="a-gate-that-holds-back-is-named",
        ),
    ],
)
def test_a_service_that_is_down_is_told_in_these_words(data: dict[str, Any], verdict: str):
    assert render(event("service_down", **failing(**data))) == Message(
        URGENT,
        "SERVICE DOWN: mlx-api",
        f"3 consecutive failures (last check: 2m ago)\nPort 8100 - connection refused\n\n{verdict}",
    )


@pytest.mark.req("INFRA-02.6")
def test_title_and_body_together_are_the_block_of_the_source_document():
    message = render(event("service_down", **failing(autonomy="moderate", **RESTARTING)))
    assert message is not None
    assert f"{message.title}\n{message.body}" == (
        "SERVICE DOWN: mlx-api\n"
        "3 consecutive failures (last check: 2m ago)\n"
        "Port 8100 - connection refused\n"
        "\n"
        "Autonomy: moderate\n"
        "Action: Restarting com.mlx-inference-api..."
    )


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param(
            {"failures": 1}, ["1 consecutive failure (last check: 2m ago)", "Port 8100 - connection refused"], id="one"
        ),
        pytest.param(
            {"failures": 1, "failingSeconds": 91.2},
            ["Failing for 1m (last check: 2m ago)", "Port 8100 - connection refused"],
            id="counted-anew-since-it-fails",
        ),
        pytest.param(
            {"lastCheckAt": None},
            ["3 consecutive failures (last check: 0s ago)", "Port 8100 - connection refused"],
            id="without-a-check-the-event-is-the-moment",
        ),
        pytest.param(
            {"lastCheckAt": AT + 5_000},
            ["3 consecutive failures (last check: 0s ago)", "Port 8100 - connection refused"],
            id="a-clock-that-was-set-back-makes-no-negative-age",
        ),
        pytest.param(
            {"cause": "", "detail": "HTTP 404, expected 200"},
            ["3 consecutive failures (last check: 2m ago)", "Port 8100 - HTTP 404, expected 200"],
            id="without-a-cause-the-detail-is-said",
        ),
    ],
)
def test_what_failed(data: dict[str, Any], lines: list[str]):
    message = render(event("service_down", **failing(autonomy="observe", **TOO_LOW) | data))
    assert message is not None
    assert message.body.split("\n")[:2] == lines


@pytest.mark.parametrize(
    "gate",
    [
        pytest.param("maintenance", id="maintenance-is-quiet"),
        pytest.param("infrastructure event", id="the-event-is-told-once-and-not-per-service"),
        pytest.param("dependency down", id="the-dependency-is-told-and-not-its-dependents"),
    ],
)
@pytest.mark.parametrize("type", ["service_down", "decision_changed"])
def test_silent_gates(type: str, gate: str):
    data = failing(autonomy="moderate", action="none", gate=gate, hint="", news=True)
    assert render(event(type, **data)) is None


@pytest.mark.parametrize(
    ("news", "told"),
    [
        pytest.param(True, True, id="an-outage-nobody-has-heard-of-is-told-when-a-silent-gate-opens"),
        pytest.param(False, False, id="an-outage-that-was-told-is-not-told-again"),
    ],
)
def test_a_changed_decision(news: bool, told: bool):
    data = failing(autonomy="moderate", news=news, **RESTARTING)
    message = render(event("decision_changed", **data))
    expected = render(event("service_down", **data)) if told else None
    assert message == expected


@pytest.mark.req("INFRA-02.4")
@pytest.mark.parametrize(
    ("why", "reason"),
    [
        pytest.param("still_down", "restarted, and still down", id="the-restart-did-not-help"),
        pytest.param("failed", "the restart failed", id="the-restart-failed"),
        pytest.param("unverified", "it could not be looked at again", id="nobody-could-look"),
    ],
)
def test_an_escalation_says_why_and_who_has_to_act(why: str, reason: str):
    data = failing(failures=4, autonomy="moderate", restarts=1, why=why)
    assert render(event("service_escalated", **data)) == Message(
        URGENT,
        "SERVICE STILL DOWN: mlx-api",
        "4 consecutive failures (last check: 2m ago)\n"
        "Port 8100 - connection refused\n"
        "\n"
        "Autonomy: moderate\n"
        f"Escalated: {reason}; a person has to look\n"
        "When the cause is mended: argus services restart mlx-api",
    )
    lowered = render(event("service_escalated", **failing(autonomy="observe", restarts=1, why=why)))
    assert lowered is not None
    assert "services restart" not in lowered.body, "it would be refused"


@pytest.mark.parametrize(
    ("data", "body"),
    [
        pytest.param({"restarted": False, "told": True}, "Up again, down for 5m", id="by-itself"),
        pytest.param(
            {"restarted": True, "restartHelped": True, "told": True},
            "Up again after a restart, down for 5m",
            id="by-its-restart",
        ),
        pytest.param(
            {"restarted": True, "restartHelped": False, "told": True},
            "Up again, down for 5m; its restart had not helped",
            id="by-other-means-than-its-restart",
        ),
        pytest.param({"restarted": True, "told": True}, "Up again after a restart, down for 5m", id="after-a-restart"),
        pytest.param({"restarted": True, "told": False}, None, id="an-outage-nobody-heard-of-ends-as-quietly"),
    ],
)
def test_a_recovery(data: dict[str, Any], body: str | None):
    message = render(event("service_recovered", service="mlx-api", downSeconds=300.0, **data))
    assert message == (Message(IMPORTANT, "SERVICE RECOVERED: mlx-api", body) if body else None)


@pytest.mark.req("INFRA-02.3")
def test_an_infrastructure_event_is_one_urgent_message_that_names_all_of_them():
    assert render(event("infrastructure_event", services=["api", "db", "web"], incident="i")) == Message(
        URGENT,
        "INFRASTRUCTURE EVENT",
        "3 services fail together: api, db, web\n\nAction: none - nothing is restarted until it has ended\n"
        "Look at what they share; what has to be started again, start by hand",
    )


def test_an_event_of_hundreds_stays_readable_and_says_how_many_more():
    message = render(event("infrastructure_event", services=[f"s{place}" for place in range(500)]))
    assert message is not None
    assert message.body.startswith("500 services fail together: s0, s1, ")
    assert "s29 and 470 more\n" in message.body


@pytest.mark.parametrize(
    ("still", "body"),
    [
        pytest.param([], "All of them answer again", id="all-are-back"),
        pytest.param(["db", "web"], "Still failing: db, web", id="the-survivors-are-named"),
    ],
)
def test_the_end_of_an_infrastructure_event(still: list[str], body: str):
    message = render(event("infrastructure_event_ended", services=["api", "db", "web"], stillFailing=still))
    assert message == Message(IMPORTANT, "INFRASTRUCTURE EVENT ENDED", body)


def test_a_fault_of_arguss_own_is_told_as_such():
    assert render(event("witness_failed", services=["a", "b", "c"], detail="connection refused")) == Message(
        URGENT,
        "ARGUS CANNOT SEE",
        "3 checks fail, and Argus cannot reach its own listener (connection refused)\n\n"
        "Action: none - the fault is on this machine",
    )


@pytest.mark.parametrize(
    ("channel", "type"),
    [
        pytest.param("services", "restart_started", id="the-restart-was-announced-with-the-outage"),
        pytest.param("services", "state_changed", id="a-plain-change"),
        pytest.param("services", "service_paused", id="what-a-person-did"),
        pytest.param("notify", "notification_sent", id="messages-about-messages-would-never-end"),
        pytest.param("notify", "service_down", id="the-same-type-on-another-channel"),
        pytest.param("system", "argus_started", id="a-start"),
    ],
)
def test_nothing_is_told_about(channel: str, type: str):
    assert render(event(type, channel=channel, **failing(autonomy="moderate", **RESTARTING))) is None


MARKUP = "<b>api</b> *x* [click](http://evil) & $(reboot) `id` {{task}} %s"


def test_markup_stays_the_characters_it_is():
    message = render(event("service_down", **failing(service=MARKUP, cause=MARKUP, autonomy="full", **RESTARTING)))
    assert message is not None
    assert message.title == f"SERVICE DOWN: {MARKUP}"
    assert message.body.split("\n")[1] == f"Port 8100 - {MARKUP}"


FORGED = "api\nAutonomy: full\nAction: Restarting everything..."


@pytest.mark.parametrize(
    ("type", "data"),
    [
        pytest.param("service_down", {"service": FORGED}, id="in-a-name"),
        pytest.param("service_down", {"cause": FORGED}, id="in-a-cause"),
        pytest.param("service_down", {"place": FORGED}, id="in-a-place"),
        pytest.param("service_escalated", {"cause": FORGED}, id="in-the-cause-of-an-escalation"),
        pytest.param("infrastructure_event", {"services": ["a", FORGED, "b"]}, id="in-one-of-many-names"),
        pytest.param("witness_failed", {"services": ["a"], "detail": FORGED}, id="in-the-witness's-answer"),
    ],
)
def test_a_line_break_cannot_forge_a_line(type: str, data: dict[str, Any]):
    plain = {**failing(autonomy="observe", **TOO_LOW), "services": ["a", "b", "c"], "detail": "refused"}
    expected, message = render(event(type, **plain)), render(event(type, **plain | data))
    assert expected is not None
    assert message is not None
    assert message.title.count("\n") == 0
    assert message.body.count("\n") == expected.body.count("\n")


def test_the_tiers_are_the_numbers_channels_are_configured_with():
    assert (URGENT, IMPORTANT, INFORMATIVE) == (1, 2, 3)


def test_a_container_that_is_given_up_is_told_once_with_its_reason():
    data = {"container": "shop-db", "attempts": 3, "reason": "it ended with exit status 7", "crashLoop": True}
    said = render(event("restart_exhausted", "resilience", **data))
    text = "A crash loop: it ended with exit status 7\n\nGiven up after 3 restarts; a person has to look"
    assert said == Message(URGENT, "CONTAINER GIVEN UP: shop-db", text)
    assert render(event("restart_attempt", "resilience", container="shop-db", attempt=1)) is None


def test_a_record_that_was_away_for_long_is_told_to_be_written_again():
    data = {"since": AT - 200_000, "until": AT, "seconds": 200.0, "kept": 12, "why": "the disk is full", "told": True}
    said = render(event("record_away_ended", "system", **data))
    text = "It could not be for 3m, since 2027-01-15 07:56:40 UTC: the disk is full\n"
    text += "12 records were kept meanwhile and are on record now; what is told of them is told late"
    assert said == Message(IMPORTANT, "RECORD IS WRITTEN AGAIN", text)
    (nothing,) = [render(event("record_away_ended", "system", **data | {"told": False}))]
    assert nothing is None


def test_a_record_that_is_away_is_told_without_it_on_one_line():
    said = record_is_away("PostgreSQL is\ngone", 61.0)
    text = "For 1m: PostgreSQL is gone\n\nAction: none - nothing is restarted until it can be; what is seen is kept"
    assert said == Message(URGENT, "RECORD CANNOT BE WRITTEN", text)


ENGINE = {"engine": "unix:///run/docker.sock", "environments": ["shop", "tour"], "awaySeconds": 62.1}


def test_an_engine_that_stays_away_is_told_with_the_environments_on_it():
    said = render(event("engine_missed", "resilience", **ENGINE, reason="it did not answer within 5 s"))
    text = "Away for 1m: it did not answer within 5 s\nEnvironments on it: shop, tour\n\n"
    text += "Action: none - what fell with it is started when it answers again; a person has to look"
    assert said == Message(URGENT, "DOCKER ENGINE LOST: unix:///run/docker.sock", text)


def test_an_engine_that_is_back_is_told_to_whom_it_was_lost():
    said = render(event("engine_found", "resilience", **ENGINE))
    text = "It answers again, after 1m\nEnvironments on it: shop, tour"
    assert said == Message(IMPORTANT, "DOCKER ENGINE BACK: unix:///run/docker.sock", text)


@pytest.mark.parametrize("type", ["engine_lost", "engine_back"])
def test_an_engine_that_is_only_restarted_is_told_to_nobody(type: str):
    assert render(event(type, "resilience", **ENGINE, runId="run1", reason="gone", fallen=[])) is None


def test_of_many_environments_on_a_lost_engine_some_are_named_and_all_counted():
    many = {**ENGINE, "environments": [f"e{place}" for place in range(50)], "reason": "gone"}
    said = render(event("engine_missed", "resilience", **many))
    assert said is not None
    assert said.body.split("\n")[1].endswith("e29 and 20 more")
