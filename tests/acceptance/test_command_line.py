"""The command: exit codes, one JSON document, the daemon's life, and the files it leaves."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import time

import pytest

from argus.core.codes import Code
from tests.acceptance.harness import DEADLINE, Argus, Hook, Silent, WebServer, eventually, is_alive, watched

_ALONE = {"ARGUS_NO_AUTOSTART": "1"}
_NO_UTF8 = os.fsdecode(b"a\xff")
_VERBS = [
    ("status",),
    ("services",),
    ("services", "list"),
    ("services", "check", "web"),
    ("autonomy",),
    ("incidents",),
    ("context",),
    ("events",),
    ("open",),
]


@pytest.mark.parametrize("verb", _VERBS, ids=" ".join)
def test_without_a_daemon_and_without_autostart_the_exit_code_is_3(argus: Argus, verb: tuple[str, ...]) -> None:
    ran = argus.cli(*verb, "--json", env=_ALONE)
    assert (ran.code, ran.error["code"]) == (3, "NO_DAEMON")
    assert argus.find() is None


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("status", "--nonsense"),
        ("services", "nonsense"),
        ("services", "check"),
        ("services", "pause", "web"),
        ("autonomy", "daring"),
        ("up", "--port", "99999"),
        ("check", "one", "two"),
        ("schema", "nonsense"),
    ],
    ids=" ".join,
)
def test_wrong_use_is_2_and_one_document_with_json(argus: Argus, words: tuple[str, ...]) -> None:
    with_json = argus.cli(*words, "--json", env=_ALONE)
    assert (with_json.code, with_json.error["code"]) == (2, "INVALID_REQUEST")
    plain = argus.cli(*words, env=_ALONE)
    assert (plain.code, plain.stdout) == (2, "")
    assert plain.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("--config", "x.yaml", "check"),
        ("init",),
        ("up",),
        ("up", "--detach"),
        ("--config", "x.yaml", "reload"),
        ("agent", "run", "builder", "--task", "t"),
        ("service", "install", "--dry-run"),
        ("status",),
        ("env", "status"),
        ("env", "status", "--project-path", "."),
        ("token", "--agent", "a1", "--project", "."),
        ("hooks", "install", "--settings", "settings.json"),
    ],
    ids=" ".join,
)
def test_a_folder_that_is_gone_is_said_where_it_is_needed(argus: Argus, words: tuple[str, ...]) -> None:
    json = () if words[0] == "agent" else ("--json",)
    ran = argus.cli(*words, *json, nowhere=True)
    assert (ran.code, argus.find()) == (2, None)
    if json:
        assert ran.error["code"] == "INVALID_REQUEST"
        assert ran.error["suggestedActions"] == ["go_elsewhere"]
    else:
        assert "INVALID_REQUEST" in ran.stderr
        assert "cd FOLDER" in ran.stderr


def test_a_name_with_a_slash_is_refused_as_any_other_that_is_none(argus: Argus) -> None:
    argus.configure()
    argus.up()

    def said(words: list[str]) -> tuple[str, str, list[str]]:
        error = argus.cli(*words, "--json").error
        return error["code"], error["message"], error["suggestedActions"]

    for before, after in (
        (["services", "pause"], ["--for", "5s"]),
        (["agents", "logs"], []),
        (["sessions", "handoff"], []),
        (["breakers", "reset"], []),
    ):
        for name in ("db/../web", "../../etc/passwd", "../x y", "/", "web%2Fx"):
            assert said([*before, name, *after]) == said([*before, "web?x=1", *after]), (before, name)
    assert argus.rest("GET", "/api/services/db%2f..%2fweb").error["code"] == "INVALID_REQUEST"
    assert argus.rest("GET", "/api%2Fservices").error["code"] == "NOT_FOUND"
    assert argus.rest("GET", "/%2Fapi/services").error["code"] == "NOT_FOUND"


def test_an_empty_name_is_refused_before_anybody_is_asked(argus: Argus) -> None:
    for words in (("services", "check", ""), ("agents", "logs", "")):
        ran = argus.cli(*words, "--json", env=_ALONE)
        assert (ran.code, ran.error["code"]) == (2, "INVALID_REQUEST")
        assert "is empty" in ran.error["message"]


def test_a_folder_that_is_gone_is_not_missed_where_all_is_named_whole(argus: Argus) -> None:
    argus.configure()
    named, file = {"ARGUS_CONFIG": str(argus.config)}, str(argus.config)
    assert argus.cli("check", "--json", env=named, nowhere=True).json["file"] == file
    assert argus.cli("--config", file, "check", "--json", nowhere=True).json["file"] == file
    assert argus.cli("doctor", "--json", env=_ALONE, nowhere=True).json["checks"]
    assert argus.cli("up", "--detach", "--json", env=named, nowhere=True).code == 0
    assert argus.cli("status", nowhere=True).code == 0
    assert argus.cli("reload", nowhere=True).code == 0
    assert argus.cli("context", nowhere=True).code == 0
    assert argus.cli("down", nowhere=True).code == 0


def test_the_exit_code_says_whether_all_is_well(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("repair")], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    well = {words: argus.cli(*words, "--json") for words in _VERBS}
    assert {words: ran.code for words, ran in well.items()} == dict.fromkeys(_VERBS, 0)
    assert all(ran.json is not None and ran.stderr == "" for ran in well.values())

    refused = argus.cli("services", "restart", "web", "--json")
    assert (refused.code, refused.error["code"]) == (4, "GATE_REFUSED")
    assert refused.error["details"]["gate"] == "autonomy"

    web.kill()
    argus.wait_until("web", "down")
    for words in (("status",), ("services",), ("services", "check", "web")):
        unwell = argus.cli(*words, "--json")
        assert unwell.code == 1, words
        assert "error" not in unwell.json
    assert argus.cli("status").code == 1
    assert argus.cli("autonomy").code == 0


def test_the_token_is_printed_and_nothing_else(argus: Argus) -> None:
    never = argus.cli("token", "--json")
    assert (never.code, never.error["code"]) == (3, "NO_DAEMON")
    argus.configure()
    argus.up()
    printed = argus.cli("token")
    assert (printed.code, printed.stderr) == (0, "")
    assert printed.stdout == f"{argus.token}\n"
    assert len(argus.token) >= 32
    first = argus.token
    argus.down()
    argus.up()
    assert argus.token == first, "the token outlives a restart"


def test_a_command_that_finds_no_daemon_starts_one_says_so_and_it_ends_when_idle(argus: Argus) -> None:
    argus.configure()
    ran = argus.cli("status", "--json", env={"ARGUS_IDLE_EXIT": "1"})
    assert ran.code == 0
    assert ran.json["services"] == []
    assert ran.stderr, "starting a daemon is said"
    pid = ran.json["argus"]["pid"]
    eventually(lambda: not is_alive(pid), "it ends by itself")
    assert argus.find() is None
    argus.up()
    assert [event.data["pid"] for event in argus.journal("argus_started", "argus_stopped")] == [pid, pid, argus.pid]


def test_one_that_watches_something_does_not_end_when_idle(argus: Argus, web: WebServer, hook: Hook) -> None:
    argus.configure([web.service()], channels=[hook.url])
    pid = argus.cli("status", "--json", env={"ARGUS_IDLE_EXIT": "0.2"}).json["argus"]["pid"]
    # What it tells shows that it lives, without asking it anything.
    for look, title in ((web.kill, "SERVICE DOWN: web"), (web.start, "SERVICE RECOVERED: web")):
        look()
        hook.wait_for(title)
    assert is_alive(pid)


def test_commands_that_come_at_once_start_one_daemon(argus: Argus) -> None:
    argus.configure()
    crowd = [argus.background("autonomy", "--json") for _ in range(4)]
    try:
        codes = [one.wait(DEADLINE) for one in crowd]
    finally:
        for one in crowd:
            one.stdout.close() if one.stdout else None
    assert codes == [0, 0, 0, 0]
    assert argus.find()
    assert len(argus.journal("argus_started")) == 1


def test_down_ends_it_and_says_so_also_when_there_is_none(argus: Argus) -> None:
    argus.configure()
    assert argus.cli("down", "--json").json == {"stopped": False}
    argus.up()
    assert argus.down().json == {"stopped": True}
    assert argus.find() is None
    with pytest.raises(OSError, match="refused"):
        argus.rest("GET", "/healthz", token=False)
    argus.up()
    assert len(argus.journal("argus_stopped")) == 1


def test_sigterm_ends_it_within_five_seconds_whatever_hangs(argus: Argus, silent: Silent) -> None:
    argus.configure([watched("silent", silent.url, timeout="20s"), watched("other", silent.url, timeout="20s")])
    argus.up()
    parts = argus.url.removeprefix("http://").split(":")
    with argus.events() as stream, socket.create_connection((parts[0], int(parts[1])), timeout=DEADLINE) as dripping:
        dripping.sendall(b"PUT /api/autonomy HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n")
        dripping.sendall(f"Content-Type: application/json\r\nAuthorization: Bearer {argus.token}\r\n\r\n{{".encode())
        argus.cli("services", "pause", "silent", "--for", "1h")
        stream.until(lambda event: event.type == "service_paused", "the stream is open")
        began = time.monotonic()
        os.kill(argus.pid, signal.SIGTERM)
        eventually(lambda: not is_alive(argus.pid), "it has ended")
        assert time.monotonic() - began < 5.0
    assert not (argus.home / "daemon.json").exists()
    argus.up()
    assert len(argus.journal("argus_stopped")) == 1


def modes(argus: Argus) -> dict[str, int]:
    return {str(path.relative_to(argus.home)): stat.S_IMODE(path.stat().st_mode) for path in argus.home.rglob("*")}


def test_the_state_folder_is_for_its_owner_only(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("repair")])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("restart_finished")
    found = modes(argus)
    assert {"token", "argus.db", "argus.lock", "daemon.json", "logs", "logs/argus.log", "logs/restart-web.log"} <= set(
        found
    )
    folders = {name for name in found if (argus.home / name).is_dir()}
    assert {name: mode for name, mode in found.items() if mode != (0o700 if name in folders else 0o600)} == {}
    assert stat.S_IMODE(argus.home.stat().st_mode) == 0o700


def test_an_open_state_folder_is_closed_at_the_start(argus: Argus) -> None:
    argus.home.mkdir(mode=0o755)
    argus.home.chmod(0o755)
    argus.configure()
    argus.up()
    assert stat.S_IMODE(argus.home.stat().st_mode) == 0o700


def test_check_schema_and_help_need_no_daemon_and_leave_nothing(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("repair")])
    checked = argus.cli("check", "--json", env=_ALONE)
    assert (checked.code, checked.json["valid"], checked.json["services"]) == (0, True, ["web"])
    assert argus.cli("check", str(argus.config), env=_ALONE).code == 0
    schema = argus.cli("schema", "argus", env=_ALONE)
    assert schema.code == 0
    assert {"server", "health", "autonomy", "notify"} <= set(schema.json["properties"])
    for words in (("--help",), ("services", "--help"), ("services", "check", "--help"), ("--version",)):
        assert argus.cli(*words, env=_ALONE).code == 0
    assert not argus.home.exists()


def read_until(process: subprocess.Popen[str], text: str) -> str:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if text in line:
            return said
    raise AssertionError(f"{text!r} was not said: {said}")


def test_in_the_foreground_it_says_where_the_page_is_and_what_it_watches_and_ctrl_c_ends_it(
    argus: Argus, web: WebServer
) -> None:
    argus.configure([web.service("repair")])
    with argus.background("up") as process:
        said = read_until(process, "web (")
        assert argus.find()
        assert argus.pid == process.pid
        assert argus.url in said
        assert re.search(r"/login\?code=", said)
        assert "moderate" in said
        argus.wait_until("web", "up")
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(DEADLINE) == 0
    assert argus.find() is None


def test_events_are_one_document_or_a_line_each(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service()])
    argus.up()
    argus.wait_until("web", "up")
    argus.cli("services", "pause", "web", "--for", "1h")
    document = argus.cli("events", "--json").json
    types = [event["data"]["type"] for event in document["events"]]
    assert types == [event.type for event in argus.journal()]
    assert {"argus_started", "state_changed", "service_paused"} <= set(types)
    after = argus.cli("events", "--json", "--after", document["events"][-2]["id"]).json
    assert after["events"] == document["events"][-1:]
    with argus.background("events", "--follow", "--last", "1", "--json") as process:
        try:
            read_until(process, "service_paused")
            argus.cli("services", "resume", "web")
            read_until(process, "service_resumed")
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_an_error_code_is_explained_without_a_daemon(argus: Argus) -> None:
    ran = argus.cli("explain", "PORT_CONFLICT", env=_ALONE)
    assert ran.code == 0
    assert ran.stdout.startswith("PORT_CONFLICT: ")
    said = argus.cli("explain", "PORT_CONFLICT", "--json", env=_ALONE).json
    assert (said["code"], said["status"], said["retry"]) == ("PORT_CONFLICT", 409, "mended")
    unknown = argus.cli("explain", "NO_SUCH_CODE", "--json", env=_ALONE)
    assert (unknown.code, unknown.error["code"]) == (2, "NOT_FOUND")
    assert unknown.error["suggestedActions"] == ["list_incidents", "list_codes"]


@pytest.mark.parametrize("word", ["gate_refused", "Gate-Refused"])
def test_a_code_is_known_however_it_is_written(argus: Argus, word: str) -> None:
    assert argus.cli("explain", word, env=_ALONE).stdout.startswith("GATE_REFUSED: ")


def test_where_nothing_has_happened_there_is_nothing_to_explain(argus: Argus) -> None:
    argus.configure()
    argus.up()
    calm = argus.cli("explain")
    assert (calm.code, calm.stdout) == (0, "Nothing has happened yet.\n")
    asked = argus.cli("explain", "--json")
    assert (asked.code, asked.error["code"]) == (2, "NOT_FOUND")


def test_an_explanation_that_speaks_of_details_says_how_to_see_them(argus: Argus) -> None:
    assert "--json" in argus.cli("explain", "GATE_REFUSED", env=_ALONE).stdout
    assert "--json" not in argus.cli("explain", "SUITE_NOT_FOUND", env=_ALONE).stdout


def test_all_codes_are_listed_without_a_daemon(argus: Argus) -> None:
    assert {line.split()[0] for line in argus.cli("explain", "codes", env=_ALONE).stdout.splitlines()} == set(Code)
    said = argus.cli("explain", "codes", "--json", env=_ALONE).json
    assert [one["code"] for one in said["codes"]] == [*Code]


@pytest.mark.parametrize("word", ["GATE_REFUSE", "gate_refusd"])
def test_a_mistyped_code_is_answered_with_the_one_that_was_meant(argus: Argus, word: str) -> None:
    argus.configure()
    argus.up()
    ran = argus.cli("explain", word)
    assert ran.code == 2
    assert "GATE_REFUSED" in ran.stderr
    assert "argus incidents" in ran.stderr
    assert "openapi" not in ran.stderr


def test_an_incident_is_known_however_its_id_is_written(argus: Argus) -> None:
    argus.configure()
    argus.up()
    for word in ("LAST", "ABCDEF012345"):
        said = argus.cli("explain", word, "--json").error
        assert (said["code"], said["details"]["incident"]) == ("NOT_FOUND", word.lower())
        assert "list_incidents" in said["suggestedActions"]


def test_incidents_before_one_that_is_none_are_refused_and_not_said_to_be_none(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service()], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    for word in ("garbage", "abcdef012345"):
        ran = argus.cli("incidents", "--before", word, "--json")
        assert (ran.code, ran.error["code"]) == (2, "NOT_FOUND")
        assert ran.error["message"].startswith(f"before: there is no incident {word!r}")
        assert ran.error["suggestedActions"] == ["list_incidents"]
    assert argus.rest("GET", "/api/incidents?before=garbage").status == 404
    web.kill()
    newest = argus.wait_for("service_down", "web").data["incident"]
    assert argus.cli("incidents", "--before", newest, "--json").json == {"incidents": [], "next": None}


@pytest.mark.parametrize("words", [("explain",), ("services", "check")])
def test_what_is_too_long_is_called_too_long(argus: Argus, words: tuple[str, ...]) -> None:
    argus.configure()
    argus.up()
    ran = argus.cli(*words, "x" * 100_000)
    assert ran.code == 2
    assert "100000 characters" in ran.stderr
    assert len(ran.stderr) < 1000


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("services", "check", _NO_UTF8), id="a-service"),
        pytest.param(("sessions", "handoff", _NO_UTF8), id="a-session"),
        pytest.param(("breakers", "reset", _NO_UTF8), id="a-breaker"),
        pytest.param(("explain", _NO_UTF8), id="an-incident"),
        pytest.param(("check", "x" * 300), id="a-file-whose-name-is-too-long"),
        pytest.param(("init", "x" * 300), id="one-to-write"),
    ],
)
def test_what_no_name_can_be_is_a_wrong_request(argus: Argus, words: tuple[str, ...]) -> None:
    ran = argus.cli(*words)
    assert ran.code == 2
    assert "INVALID_REQUEST" in ran.stderr
    assert len(ran.stderr) < 1000


@pytest.mark.parametrize("words", [("--help",), ("schema",), ("explain", "codes", "--json")])
def test_an_output_without_room_is_said_in_a_sentence(argus: Argus, words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run(argus.words(*words), env=argus.env, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 1
    assert ran.stderr == "argus: DISK_SPACE_LOW: the output could not be written: No space left on device\n"
