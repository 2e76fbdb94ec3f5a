"""Restart commands that talk too much, and services that die together without being looked at together."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.acceptance.harness import Argus, Hook, WebServer, eventually, watched
from tests.acceptance.test_secrets import everything
from tests.faults import Injection

_CANARY = "canary-4Zr8mQe1"
_MEBIBYTE = 1024 * 1024


def with_script(web: WebServer, argus: Argus, text: str, *steps: str) -> dict[str, Any]:
    """A service whose restart command does this before its steps."""
    (rest,) = web.script(*steps)
    script = argus.folder / f"{web.name}.talks.sh"
    script.write_text(f"#!/bin/sh\n{text}\nexec {shlex.quote(rest)}\n")
    script.chmod(0o700)
    return web.service(restart={"command": [str(script)]})


@pytest.mark.fault("AP4")
def test_a_secret_that_a_restart_command_says_appears_nowhere(
    argus: Argus, web: WebServer, hook: Hook, injected: Injection
) -> None:
    argus.env["DB_PASSWORD"] = f"{_CANARY}-environment"
    text = (
        'echo "cannot log in as app/$DB_PASSWORD at db"\n'
        f"echo 'token: {_CANARY}-token'\n"
        f"echo 'DB_PASSWORD: {_CANARY}-password'\n"
        f"echo 'api_key = {_CANARY}-key' >&2"
    )
    argus.configure([with_script(web, argus, text, "fail")], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    with injected:
        web.kill()
        incident = argus.wait_for("service_escalated", "web").data["incident"]
    (finished,) = argus.journal("restart_finished")
    assert "cannot log in as app/" in finished.data["output"], "what is no secret is told"
    hook.wait_for("SERVICE STILL DOWN: web")
    sinks = {**everything(argus, incident), "hook": str(hook.messages)}
    # What the command wrote itself, into a file for its owner only, is the command's.
    sinks.pop("restart-web.log")
    argus.down()
    sinks["argus.log"] = (argus.home / "logs" / "argus.log").read_text()
    assert {name for name, said in sinks.items() if _CANARY in said} == set()


def test_a_restart_command_that_floods_its_output_works_and_leaves_a_short_log(argus: Argus, web: WebServer) -> None:
    flood = "head -c 20000000 /dev/zero | tr '\\0' 'x'\necho the end"
    argus.configure([with_script(web, argus, flood, "repair")])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("service_recovered", "web")
    (finished,) = argus.journal("restart_finished")
    assert finished.data["outcome"] == "recovered"
    log = argus.home / "logs" / "restart-web.log"
    eventually(lambda: log.stat().st_size <= _MEBIBYTE, f"the log is short; it has {log.stat().st_size} bytes")
    assert web.answers
    assert web.runs == 1


def test_what_restarts_of_services_of_similar_names_say_stands_with_each_of_them(argus: Argus, web: WebServer) -> None:
    go, logs = argus.folder / "go", argus.home / "logs"
    waits = f"echo of-the-blank; until [ -e {go} ]; do sleep 0.02; done; echo and-its-end; exit 3"
    commands = {"my api": waits, "my_api": "echo of-the-line; exit 4"}
    argus.configure(
        watched(name, f"http://127.0.0.1:{web.port}/", interval="1h", restart={"command": ["sh", "-c", command]})
        for name, command in commands.items()
    )
    argus.up()
    for name in commands:
        argus.wait_until(quote(name), "up")
    assert argus.cli("services", "restart", "my api").code == 0
    eventually(lambda: any(one.read_text() for one in logs.glob("restart-*.log")), "the first one is under way")
    assert argus.cli("services", "restart", "my_api").code == 0
    argus.wait_for("restart_finished", "my_api")
    go.touch()
    argus.wait_for("restart_finished", "my api")
    said = {event.data["service"]: event.data["output"] for event in argus.journal("restart_finished")}
    assert said == {"my api": "of-the-blank\nand-its-end\n", "my_api": "of-the-line\n"}
    assert sorted(one.read_text() for one in logs.glob("restart-*.log")) == sorted(said.values())
    assert (logs / "restart-my_api.log").read_text() == said["my_api"]


@pytest.mark.req("INFRA-02.3")
@pytest.mark.fault("SV5")
def test_services_of_different_intervals_that_die_together_are_one_event_and_the_survivor_is_handled_afterwards(
    argus: Argus, servers: Callable[..., list[WebServer]], injected: Injection
) -> None:
    three = _, middle, slow = servers("fast", "middle", "slow")
    intervals = ("1s", "2s", "5s") if injected.in_campaign else ("200ms", "400ms", "1s")
    argus.configure(
        [one.service("repair", interval=interval) for one, interval in zip(three, intervals, strict=True)],
        failuresBeforeAction=3,
        restartBudget={"maxPerHour": 10},
    )
    argus.up()
    for one in three:
        argus.wait_until(one.name, "up")
    with injected:
        for one in three:
            os.kill(one.pid, signal.SIGKILL)
        event = argus.wait_for("infrastructure_event")
        assert event.data["services"] == ["fast", "middle", "slow"]
        argus.wait_for("service_down", "fast")
        failures = argus.service("fast")["failures"]
        eventually(lambda: argus.service("fast")["failures"] >= failures + 1, "it goes on failing")
        assert argus.journal("restart_started") == []
        middle.start()
        slow.start()
        argus.wait_for("service_recovered", "fast")
    order = [one.type for one in argus.journal("infrastructure_event", "infrastructure_event_ended", "restart_started")]
    assert order == ["infrastructure_event", "infrastructure_event_ended", "restart_started"]
    assert [one.runs for one in three] == [1, 0, 0]
