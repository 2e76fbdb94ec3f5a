"""What the CLI prints: the object in, text and exit code out."""

import json
import re
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.cli.render import clean, event_line, show


def service(name: str = "api", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "state": "up",
        "latencyMs": 12.5,
        "detail": "HTTP 200",
        "failures": 0,
        "countedAnew": False,
        "flapping": False,
        "gate": None,
        "restartable": True,
        "restarts": 0,
        "waitsFor": None,
        "incident": None,
        "explainedBy": None,
        "repairing": False,
        "pausedUntil": None,
        "uptime": {"24h": None, "7d": None, "30d": None},
        **more,
    }


def state(*services: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "well": all(one["state"] != "down" for one in services),
        "argus": {
            "version": "1.2.3",
            "url": "http://127.0.0.1:7117",
            "config": "argus.yaml",
            "notices": [],
            "store": "ok",
        },
        "autonomy": "observe",
        "budget": {"left": 1, "most": 2},
        "breakers": [],
        "infrastructureEvent": None,
        "services": list(services),
        "agents": [],
        "sessions": [],
        "environments": [],
        "notWell": [],
        "needsYou": [],
        "timestamp": 1_800_000_000_000,
        **more,
    }


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize(
    ("answer", "last", "exit_code"),
    [
        pytest.param(
            state(service()), "all is well; autonomy observe, restarts left this hour 1/2", 0, id="all-is-well"
        ),
        pytest.param(
            state(service("a", state="down"), service("b"), service("c", state="down")),
            "2 of 3 services are down (a, c); autonomy observe, restarts left this hour 1/2",
            1,
            id="what-is-down-is-named",
        ),
        pytest.param(
            state(
                service("a", state="down", incident="i2", explainedBy="i1"),
                service("b", state="down", incident="i1"),
                service("c", state="down", incident="i3", explainedBy="of an event"),
            ),
            "2 of 3 services are down (b, c), and 1 more because of them (a); autonomy observe, "
            "restarts left this hour 1/2",
            1,
            id="what-fell-with-another-is-told-apart",
        ),
        pytest.param(
            state(service("a", state="down"), well=False, needsYou=["agent x", "environment shop"]),
            "1 of 1 services is down (a); needs you: agent x, environment shop; autonomy observe, "
            "restarts left this hour 1/2",
            1,
            id="beside-what-is-down-who-waits-for-somebody-is-named",
        ),
        pytest.param(
            state(service("a", state="pending"), service("b")),
            "not known yet: a; autonomy observe, restarts left this hour 1/2",
            0,
            id="what-nobody-has-seen-yet-is-not-called-well",
        ),
        pytest.param(
            state(service(), well=False, notWell=["infrastructure event"], infrastructureEvent="i1"),
            "not well: infrastructure event; autonomy observe, restarts left this hour 1/2",
            1,
            id="an-event-is-not-well",
        ),
        pytest.param(
            state(
                service("a", state="down"),
                service("b"),
                well=False,
                notWell=["environment shop", "environment lost", "service a", "service b"],
                needsYou=["environment lost"],
            ),
            "1 of 2 services is down (a); not well: environment shop, service b; needs you: environment lost; "
            "autonomy observe, "
            "restarts left this hour 1/2",
            1,
            id="what-is-not-well-is-named-once",
        ),
    ],
)
def test_status_ends_with_the_verdict(answer: dict[str, Any], last: str, exit_code: int):
    shown = show("status", answer)
    assert shown.text.split("\n")[-1] == last
    assert shown.exit_code == exit_code


@pytest.mark.parametrize(
    ("change", "line"),
    [
        pytest.param({}, "Argus 1.2.3 at http://127.0.0.1:7117 (argus.yaml)", id="who-and-where"),
        pytest.param(
            {"config": None},
            "Argus 1.2.3 at http://127.0.0.1:7117 (no configuration; watching what was found listening)",
            id="without-a-configuration",
        ),
        pytest.param({"notices": ["look"]}, "notice: look", id="notices"),
        pytest.param(
            {"store": "disk full"}, "STORE: disk full; nothing is acted on until it can be written", id="a-broken-store"
        ),
    ],
)
def test_status_says(change: dict[str, Any], line: str):
    answer = state(service())
    answer["argus"] |= change
    assert line in show("status", answer).text.split("\n")


@pytest.mark.parametrize(
    ("one", "row"),
    [
        pytest.param(service(), "api      up     12.5 ms            HTTP 200", id="up"),
        pytest.param(
            service(state="down", failures=3, latencyMs=None, detail="connection refused", gate="budget"),
            "api      down            3         connection refused; held back: budget",
            id="down-and-what-holds-back",
        ),
        pytest.param(
            service(state="down", failures=3, latencyMs=None, detail="timeout", gate="budget", repairing=True),
            "api      down            3         timeout; restarting",
            id="a-restart-under-way",
        ),
        pytest.param(
            service(latencyMs=None, detail="x", pausedUntil="2026-01-01T00:00:00.000Z"),
            "api      up                        x; paused until 2026-01-01T00:00:00.000Z",
            id="paused",
        ),
        pytest.param(
            service(uptime={"24h": 1.0, "7d": 0.5, "30d": None}), "api up 12.5 ms 100 % HTTP 200", id="always-up"
        ),
        pytest.param(
            service(uptime={"24h": 0.999999, "7d": 1.0, "30d": 1.0}),
            "api up 12.5 ms 99.99 % HTTP 200",
            id="one-failure-is-never-rounded-away",
        ),
        pytest.param(
            service(uptime={"24h": 0.902, "7d": 1.0, "30d": 1.0}), "api up 12.5 ms 90.20 % HTTP 200", id="as-the-page"
        ),
        pytest.param(
            service(uptime={"24h": 0.0, "7d": 1.0, "30d": 1.0}), "api up 12.5 ms 0.00 % HTTP 200", id="never-up"
        ),
        pytest.param(service(failures=9), "api up 12.5 ms 9 HTTP 200", id="failing"),
        pytest.param(service(failures=9, countedAnew=True), "api up 12.5 ms 9+ HTTP 200", id="failing-for-longer"),
        pytest.param(service(countedAnew=True), "api up 12.5 ms HTTP 200", id="nothing-counted-yet"),
    ],
)
def test_a_row_of_the_table_of_services(one: dict[str, Any], row: str):
    lines = plain(show("services list", {"services": [one]}).text).split("\n")
    assert lines[0].split() == ["SERVICE", "STATE", "LATENCY", "UPTIME", "24H", "FAILURES", "SEEN"]
    assert lines[1].split() == row.split()


@pytest.mark.parametrize(
    ("autonomy", "more", "note"),
    [
        pytest.param("cautious", {}, "proposed: restart; argus services restart api approves it", id="proposed"),
        pytest.param("observe", {}, "held back: autonomy", id="nothing-is-proposed-there"),
        pytest.param("cautious", {"restarts": 1}, "held back: autonomy", id="only-the-first"),
        pytest.param("cautious", {"restartable": False}, "held back: autonomy", id="nothing-to-propose"),
        pytest.param("cautious", {"gate": "budget"}, "held back: budget", id="another-gate"),
    ],
)
def test_a_restart_that_only_lacks_a_persons_word_is_shown_as_proposed(autonomy: str, more: dict[str, Any], note: str):
    down = service(**{"state": "down", "gate": "autonomy", **more})
    assert show("status", state(down, autonomy=autonomy)).text.split("\n")[3].endswith(f"; {note}")


def test_the_columns_of_the_table_stand_under_each_other():
    services = [service("a"), service("a-long-name", state="degraded", latencyMs=1234.5, failures=12)]
    lines = plain(show("services list", {"services": services}).text).split("\n")
    for column in ("STATE", "LATENCY", "UPTIME", "FAILURES", "SEEN"):
        place = lines[0].index(column)
        assert all(line[place - 2 : place] == "  " for line in lines)
    assert len({line.index("HTTP 200") for line in lines[1:]}) == 1


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        pytest.param("日本語", 6, id="wide"),
        pytest.param("ｆｕｌｌ", 8, id="full-width"),
        pytest.param("🚀 up", 5, id="a-picture"),
        pytest.param("e\u0301te\u0301", 3, id="accents-that-stand-over-a-letter"),
        pytest.param("Ünïcödé", 7, id="accents-that-are-part-of-one"),
    ],
)
def test_the_columns_stand_under_each_other_with_letters_of_any_width(name: str, cells: int):
    lines = plain(show("services list", {"services": [service("x" * 12), service(name)]}).text).split("\n")
    assert lines[2] == lines[1].replace("x" * 12, name + " " * (12 - cells))


def test_environments_stand_worst_first():
    def one(project: str, state: str = "up", **guards: str) -> dict[str, Any]:
        return {"name": project, "state": state, "since": "2027-01-15T07:58:00Z", "guards": guards}

    found = [
        one("fine", db="well"),
        one("waits", db="waiting"),
        one("cut", "interrupted"),
        one("broken", "failed"),
        one("left", db="left alone"),
        one("given-up", db="well", web="exhausted"),
        one("given-up-too", db="failed"),
    ]
    lines = plain(show("status", state(service(), environments=found)).text).split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("ENVIRONMENT"))
    ordered = ["given-up", "given-up-too", "cut", "broken", "waits", "fine", "left"]
    assert [line.split()[0] for line in lines[first + 1 : first + 8]] == ordered


def test_nothing_watched_is_said():
    shown = show("services list", {"services": []})
    assert (shown.text, shown.exit_code) == ("nothing is watched", 0)


@pytest.mark.parametrize(
    ("one", "exit_code"),
    [
        pytest.param(service(), 0, id="up"),
        pytest.param(service(state="degraded"), 0, id="degraded-is-alive"),
        pytest.param(service(state="up", failures=1), 1, id="failing-and-not-yet-down"),
        pytest.param(service(state="down", failures=0), 1, id="down"),
    ],
)
def test_a_check_answers_by_exit_code(one: dict[str, Any], exit_code: int):
    assert show("services check", one).exit_code == exit_code


@pytest.mark.parametrize("verb", ["services list", "status"])
def test_a_list_with_something_down_is_not_well(verb: str):
    down = service(state="down")
    assert show(verb, state(down)).exit_code == 1


@pytest.mark.parametrize(
    ("verb", "answer", "text"),
    [
        pytest.param("autonomy", {"level": "full"}, "full", id="the-level-alone"),
        pytest.param("open", {"url": "http://x"}, "http://x", id="the-link-alone"),
        pytest.param("context", {"text": "a\nb\n"}, "a\nb", id="the-block-as-it-is"),
        pytest.param("incidents", {"incidents": []}, "no incidents", id="no-incidents"),
        pytest.param("nobody knows", {"a": 1}, '{\n  "a": 1\n}', id="a-verb-without-a-text-is-json"),
        pytest.param(
            "services resume", {"service": "a", "pausedUntil": None}, "a: watched as usual", id="a-pause-that-ended"
        ),
    ],
)
def test_short_answers(verb: str, answer: Any, text: str):
    assert show(verb, answer).text == text


def test_a_line_of_the_journal_says_when_what_and_about_whom():
    line = event_line("services", {"type": "service_down", "service": "api", "timestamp": 1500, "cause": "refused"})
    assert line == "1970-01-01T00:00:01.500Z  services:service_down  api  cause refused"


_NOTHING = {"added": [], "removed": [], "changed": [], "counts": [0, 0, 0], "unchanged": 1}


@pytest.mark.parametrize(
    ("channel", "data", "said"),
    [
        pytest.param(
            "system", {"type": "config_reloaded", "services": _NOTHING, "by": "cli"}, "services as before, by cli",
            id="nothing-changed",
        ),
        pytest.param(
            "system",
            {"type": "config_reloaded", "services": {**_NOTHING, "added": ["a", "b"], "removed": ["c"]}},
            "services added: a, b; removed: c",
            id="what-changed",
        ),
        pytest.param(
            "system", {"type": "reload_refused", "by": "cli", "reason": "argus.yaml:4: no"},
            "reason argus.yaml:4: no, by cli", id="why-not",
        ),
        pytest.param("agents", {"type": "dependency_lost", "dependency": "db"}, "dependency db", id="of-what"),
        pytest.param(
            "agents", {"type": "dependency_back", "dependency": "db", "still_waits_for": ["mq"]},
            "dependency db, still waits for mq", id="of-what-and-what-else",
        ),
        pytest.param("agents", {"type": "spawn_waits", "dependencies": ["db", "mq"]}, "dependencies db mq", id="for"),
        pytest.param(
            "services",
            {"type": "restart_finished", "outcome": "failed", "exitCode": None, "output": "",
             "problem": "cannot start /opt/api/restart.sh: No such file or directory", "detail": "connection refused"},
            "outcome failed, problem cannot start /opt/api/restart.sh: No such file or directory, "
            "detail connection refused",
            id="why-a-restart-could-not-begin",
        ),
        pytest.param(
            "services",
            {"type": "restart_finished", "outcome": "failed", "exitCode": 3, "problem": "", "detail": "refused",
             "output": "begins\nno  such database\n \n"},
            'outcome failed, problem exit status 3 ("no such database"), detail refused', id="why-a-restart-failed",
        ),
        pytest.param(
            "services",
            {"type": "restart_finished", "outcome": "failed", "exitCode": 3, "problem": "", "output": ""},
            "outcome failed, problem exit status 3", id="a-restart-that-failed-without-a-word",
        ),
        pytest.param(
            "services",
            {"type": "restart_finished", "outcome": "recovered", "exitCode": 0, "problem": "", "output": "done\n",
             "detail": "HTTP 200"},
            "outcome recovered, detail HTTP 200", id="a-restart-that-helped",
        ),
        pytest.param("new", {"type": "thing", "detail": {"a": ["b"], "c": []}}, "detail a: b", id="an-object"),
    ],
)  # fmt: skip
def test_a_line_of_an_event_is_in_words(channel: str, data: dict[str, Any], said: str):
    line = event_line(channel, {"timestamp": 0, **data})
    assert line == f"1970-01-01T00:00:00.000Z  {channel}:{data['type']}    {said}"


@pytest.mark.parametrize("said", [{"problem": "word " * 400}, {"exitCode": 1, "output": "word " * 400}])
def test_what_a_restart_says_of_its_failure_leaves_room_for_the_rest(said: dict[str, Any]):
    data = {"type": "restart_finished", "timestamp": 0, "outcome": "failed", "detail": "refused", **said}
    line = event_line("services", data)
    assert "word word" in line
    assert line.endswith(", detail refused")
    assert len(line) < 400


# Hostile texts: what services and agents say is data.

HOSTILE = "x\x1b[2J\x1b]0;title\x07\x9b31m\x85\x7f\rfake\nline\ty"
_TOLD = {"timestamp": 1767261601500, "subject": "api", "text": "down", "evidence": ["| a line"], "event": "e-1"}
INCIDENT = {
    "id": "i",
    "kind": "service_outage",
    "subject": "api",
    "opened": "2026-01-01T10:00:00.000Z",
    "closed": "2026-01-01T10:00:02.500Z",
    "cause": "c",
    "data": {"cause": "c"},
}
EVENT = {
    "id": "e-1",
    "channel": "services",
    "type": "service_down",
    "timestamp": 1500,
    "data": {"detail": "d", "service": "api"},
}
ANSWERS: dict[str, Any] = {
    "status": state(service(gate="budget", pausedUntil="later"), infrastructureEvent="i"),
    "services list": {"services": [service(gate="budget", pausedUntil="later")]},
    "services check": service(),
    "services restart": {"service": "api", "act": "a"},
    "services pause": {"service": "api", "pausedUntil": "later"},
    "incidents": {"incidents": [INCIDENT]},
    "explain": {
        "incident": INCIDENT,
        "explains": [{"kind": "agent", "name": HOSTILE, "incident": None, "what": "waits"}],
        "story": [{**_TOLD, "part": "observation"}, *[{**_TOLD, "part": "explained"}] * 8],
        "events": [EVENT],
    },
    "context": {"text": "Service Health:\n- api: UP"},
    "nobody knows": {"a": "b"},
}
ANSWERS["status"]["argus"] |= {"notices": ["n"], "store": "the disk is full"}
FROM_OUTSIDE = {
    "name",
    "detail",
    "state",
    "cause",
    "subject",
    "text",
    "evidence",
    "service",
    "notices",
    "config",
    "store",
    "channel",
    "type",
}
"""Fields that hold what services, agents, files or people said; ids and moments are Argus's own."""


def poisoned(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: poisoned(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [poisoned(inner, key) for inner in value]
    return HOSTILE if isinstance(value, str) and key in FROM_OUTSIDE else value


def controls(text: str) -> set[str]:
    return {character for character in plain(text) if ord(character) < 32 or 127 <= ord(character) < 160} - {"\n"}


@pytest.mark.parametrize("verb", [verb for verb in ANSWERS if verb != "context"])
def test_no_control_character_reaches_the_terminal(verb: str):
    answer = poisoned(deepcopy(ANSWERS[verb]))
    before, after = show(verb, ANSWERS[verb]).text, show(verb, answer).text
    assert controls(after) == set()
    assert after.count("\n") == before.count("\n")


def test_no_control_character_reaches_the_terminal_through_the_context():
    assert controls(show("context", {"text": f"- api: DOWN 3x ({HOSTILE})"}).text) == set()


@given(st.text())
def test_clean_text_is_one_line_of_the_same_length_without_controls(text: str):
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    assert controls(cleaned) == set()
    assert "\n" not in cleaned
    assert "\x1b" not in cleaned


@pytest.mark.parametrize("text", ["plain", "Ünïcödé 日本 🚀", "a·b"])
def test_ordinary_text_stays_as_it_is(text: str):
    assert clean(text) == text


@pytest.mark.parametrize(
    "character",
    [
        pytest.param(0x202E, id="text-from-right-to-left-shows-another-order"),
        pytest.param(0x2066, id="an-isolate-shows-another-order"),
        pytest.param(0x200B, id="a-blank-of-no-width-hides"),
        pytest.param(0x2028, id="a-line-separator-makes-a-line"),
        pytest.param(0xD800, id="half-a-character-cannot-be-printed"),
    ],
)
def test_what_moves_or_hides_text_does_not_reach_the_terminal(character: int):
    assert character not in map(ord, clean(f"a{chr(character)}b"))


def test_a_state_nobody_knows_is_data_too():
    shown = show("services check", service(state=HOSTILE))
    assert controls(shown.text) == set()


def test_an_unknown_verb_prints_json_that_can_be_read_back():
    assert json.loads(show("nobody knows", {"a": HOSTILE}).text) == {"a": HOSTILE}


def agent(**more: Any) -> dict[str, Any]:
    return {
        "agent_id": "team-green001",
        "state": "alive",
        "generation": 1,
        "age_seconds": 3.2,
        "pid": 4711,
        "current_task": "SEC-1 - make a key",
        "reason": "",
        "gate": None,
        "waits_for": [],
        **more,
    }


def test_agents_are_a_table_with_the_tasks_first_line_and_what_holds_them_back():
    held = agent(
        agent_id="team-green002",
        state="dead",
        generation=2,
        age_seconds=3725,
        pid=None,
        current_task="x" * 100 + "\nmore",
        reason="exit status 7",
        gate="autonomy",
    )
    waiting = agent(waits_for=["service db"])
    shown = show("agents list", {"agents": [agent(), held, waiting]})
    assert shown.exit_code == 0
    head, first, second, third = plain(shown.text).split("\n")
    assert third.endswith("waits for service db")
    assert head.split() == ["AGENT", "STATE", "GEN", "SEEN", "PID", "TASK", "NOTES"]
    assert " ".join(first.split()) == "team-green001 alive 1 3 s ago 4711 SEC-1 - make a key"
    cut = "x" * 59 + "…"
    assert " ".join(second.split()) == f"team-green002 dead 2 1 h ago {cut} exit status 7; held back: autonomy"
    assert show("agents list", {"agents": []}).text == "no agents"


def test_a_spawn_that_waits_says_for_what():
    assert "waits for service cache" in show("agents spawn", agent(reason="waits for service cache")).text
    assert "waits for service cache" in show("agents spawn", agent(reason="", waits_for=["service cache"])).text
    assert "waits" not in show("agents spawn", agent(reason="", waits_for=[])).text


def test_one_that_was_stopped_is_said_to_be():
    gone = {"agent_id": "a1", "state": "removed", "reason": "shutdown_requested"}
    assert show("agents stop", gone).text == "a1: was stopped"


@pytest.mark.parametrize("verb", ["agents list", "agents spawn", "agents respawn", "agents stop", "agents logs"])
def test_nothing_an_agent_says_can_act_on_the_terminal(verb: str):
    evil = "\x1b[2J\x07\u202edrow\r"
    one = agent(agent_id=evil, state=evil, current_task=evil + "\nmore", reason=evil, gate=evil)
    answer = {"agents list": {"agents": [one]}, "agents logs": {"text": f"a{evil}\nb"}}.get(verb, one)
    text = show(verb, answer).text
    assert "drow" in text
    assert not set("\x1b\x07\u202e\r") & set(plain(text))


def test_the_log_of_an_agent_is_plain_text():
    assert show("agents logs", {"text": "one\ntwo\n"}).text == "one\ntwo"


@pytest.mark.parametrize(
    ("guard", "said"),
    [
        (None, "db: running"),
        ({"state": "well", "restarts": 0}, "db: running"),
        ({"state": "well", "restarts": 2}, "db: running  [well, 2 of 3 restarts]"),
        (
            {"state": "exhausted", "restarts": 3, "crashLoop": True, "reason": "exit status 7"},
            "db: running  [exhausted, 3 of 3 restarts, a crash loop: exit status 7]",
        ),
    ],
)
def test_what_the_guardian_does_is_said_where_there_is_something_to_say(guard: dict[str, Any] | None, said: str):
    whole = {"maxRestarts": 3, "nextAttempt": None, "reason": None, "crashLoop": False, "lastError": None}
    part = {"name": "db", "state": "running", "health": None, "exitCode": None, "ports": []}
    answer = {
        "project": "shop", "state": "up", "runId": "r1", "mocks": [], "portMappings": [], "warnings": [],
        "services": [{**part, "guard": guard and {**whole, **guard}}],
        "circuitBreaker": {"state": "closed"}, "problem": None, "configProblem": None,
    }  # fmt: skip
    shown = show("env status", answer)
    assert plain(shown.text).splitlines()[1] == said


def test_what_was_asked_of_mocks_is_a_line_each_and_cannot_act_on_the_terminal():
    asked = {"mock": "pay", "method": "POST", "path": "/charge", "status": 201, "route": "POST /charge"}
    answer = {
        "requests": [asked, {**asked, "path": HOSTILE, "status": 404, "route": None}],
        "total": 7,
        "mocks": ["pay"],
    }
    shown = show("env mock-requests", answer)
    assert shown.text.splitlines()[0] == "pay: POST /charge -> 201"
    assert shown.text.splitlines()[-1] == "and 5 more"
    assert "(no route)" in shown.text
    assert controls(shown.text) == set()
    assert show("env mock-requests", {"requests": [], "total": 0, "mocks": []}).text.startswith("no mock")


def test_a_story_is_told_from_its_beginning_with_its_evidence_and_who_waits_for_it_counted():
    lines = show("explain", ANSWERS["explain"]).text.splitlines()
    assert lines[:3] == [
        "service_outage api  (i)",
        "c",
        "began 2026-01-01T10:00:00.000Z, over after 2.5 s",
    ]
    assert lines[4:6] == ["      +1.5 s  seen     down", " " * 25 + "| a line"]
    assert sum(line.endswith("waits    down") for line in lines) == 5
    assert lines[16].strip() == "and 3 more"


def test_who_begins_to_wait_is_not_counted_among_those_who_go_on():
    def told(name: str, type: str) -> tuple[dict[str, Any], dict[str, Any]]:
        event = {**EVENT, "id": f"e-{name}-{type}", "type": type, "data": {"still_waits_for": []}}
        return {**_TOLD, "part": "explained", "evidence": [], "event": event["id"], "text": name}, event

    both = [told(f"a{n}", "dependency_back") for n in range(3)] + [told(f"b{n}", "dependency_lost") for n in range(2)]
    answer = {**ANSWERS["explain"], "story": [one for one, _ in both], "events": [one for _, one in both]}
    shown = show("explain", answer).text
    assert [name for name in ("a0", "a1", "a2", "b0", "b1") if f"{name}\n" in f"{shown}\n"] == [
        "a0",
        "a1",
        "a2",
        "b0",
        "b1",
    ]
    assert "  waits    b0" in shown


@pytest.mark.parametrize(
    ("type", "data", "label"),
    [
        pytest.param("dependency_lost", {}, "waits", id="while-it-waits"),
        pytest.param("dependency_back", {"still_waits_for": []}, "goes on", id="it-is-back"),
        pytest.param("dependency_back", {"still_waits_for": ["mq"]}, "waits", id="something-else-is-down"),
        pytest.param("spawn_wait_ended", {"outcome": "started"}, "goes on", id="started"),
        pytest.param("spawn_wait_ended", {"outcome": "failed"}, "outcome", id="not-started"),
        pytest.param("dependency_wait_ended", {"outcome": "cleaned"}, "outcome", id="it-is-gone"),
    ],
)
def test_who_stood_still_because_of_it_waits_only_as_long_as_that(type: str, data: dict[str, Any], label: str):
    told = {**_TOLD, "part": "explained", "evidence": []}
    answer = {**ANSWERS["explain"], "story": [told], "events": [{**EVENT, "type": type, "data": data}]}
    assert f"  {label:<9}down" in show("explain", answer).text


@pytest.mark.parametrize(
    ("attempts", "reason", "said"),
    [
        (1, "played anew: db was restarted\x1b[2J", "  passed it orders (line 3): played anew: db was restarted"),
        (3, "", "  passed it orders (line 3), 3 attempts"),
    ],
    ids=["because-a-container-failed", "because-it-failed-itself"],
)
def test_a_case_that_did_not_pass_at_once_says_so(attempts: int, reason: str, said: str):
    case = {"status": "passed", "failures": [], "output": "", "line": 3, "duration": 5.0, "saved": []}
    suite = {
        "id": "orders", "name": "Orders", "status": "passed", "duration": 1200.0, "error": None, "attempts": 1,
        "warnings": [], "cases": [
            {**case, "name": "it orders", "attempts": attempts, "reason": reason},
            {**case, "name": "it lists", "attempts": 1, "reason": ""},
        ],
    }  # fmt: skip
    totals = {"passed": 2, "failed": 0, "skipped": 0}
    answer = {"status": "passed", "suites": [suite], "totals": totals, "duration": 1300.0, "restarts": []}
    shown = show("env run", {**answer, "warnings": [], "problems": []})
    assert shown.exit_code == 0
    assert shown.text.splitlines()[1].startswith(said)
    assert "it lists" not in shown.text
    assert controls(shown.text) == set()
