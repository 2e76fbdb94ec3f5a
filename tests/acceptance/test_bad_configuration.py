"""A configuration that is wrong is refused whole, with every place named, and nothing is lost."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest

from tests.acceptance.harness import Argus, WebServer, is_alive
from tests.faults import Injection

_SERVICE = "    - {name: web, type: http, url: 'http://127.0.0.1:1/'"


def services(*lines: str) -> str:
    return "\n".join(["server: {port: 0}", "health:", "  services:", *lines]) + "\n"


_CASES: dict[str, tuple[str, list[tuple[str, int]]]] = {
    "broken-yaml": ("server: {port: 0}\nhealth: ]\nautonomy: observe\n", [("", 2)]),
    "not-a-mapping": ("- one\n- two\n", [("", 1)]),
    "wrong-types": (
        "server: {port: many}\nautonomy: daring\nhealth:\n  enabled: perhaps\n",
        [("server.port", 1), ("autonomy", 2), ("health.enabled", 4)],
    ),
    "unknown-keys": (
        "sever: {port: 0}\nhealth:\n  verifyafter: 1s\n  restartBudget: {maxPerDay: 2}\n",
        [("sever", 1), ("health.verifyafter", 3), ("health.restartBudget.maxPerDay", 4)],
    ),
    "a-key-twice": ("autonomy: observe\nautonomy: full\n", [("autonomy", 2)]),
    "duplicate-names": (services(_SERVICE + "}", _SERVICE + "}"), [("health.services[1].name", 5)]),
    "a-circle": (
        services(
            "    - {name: a, type: tcp, port: 1, dependsOn: [b]}",
            "    - {name: b, type: tcp, port: 2, dependsOn: [a]}",
        ),
        [("health.services[0].dependsOn", 4)],
    ),
    "an-unknown-dependency": (services(_SERVICE + ", dependsOn: [wev]}"), [("health.services[0].dependsOn", 4)]),
    "no-unit": (services(_SERVICE + ", interval: 60}"), [("health.services[0].interval", 4)]),
    "no-unit-in-text": (services(_SERVICE + ", timeout: '5'}"), [("health.services[0].timeout", 4)]),
    "interval-0": (services(_SERVICE + ", interval: 0s}"), [("health.services[0].interval", 4)]),
    "negative-interval": (services(_SERVICE + ", interval: -5s}"), [("health.services[0].interval", 4)]),
    "handoffs-out-of-the-project": (
        "sessions:\n  projects:\n    a: {path: /work/a, handoffs: ../out}\n    b: {path: /work/b, handoffs: /etc}\n"
        '    c: {path: /work/c, handoffs: ~/x}\n    d: {path: /work/d, handoffs: "a\\nb"}\n',
        [(f"sessions.projects.{name}.handoffs", line) for line, name in enumerate("abcd", 3)],
    ),
    "no-type": (services("    - {name: web}"), [("health.services[0]", 4)]),
    "unknown-type": (services("    - {name: web, type: gopher}"), [("health.services[0]", 4)]),
    "an-option-as-a-name": (services("    - {name: -f, type: tcp, port: 1}"), [("health.services[0].name", 4)]),
    "a-path-as-a-name": (services("    - {name: ../x, type: tcp, port: 1}"), [("health.services[0].name", 4)]),
    "shell-as-a-name": (services("    - {name: $(x), type: tcp, port: 1}"), [("health.services[0].name", 4)]),
    "port-out-of-range": (services("    - {name: db, type: tcp, port: 70000}"), [("health.services[0].port", 4)]),
    "a-command-as-text": (
        services(_SERVICE + ", restart: {command: reboot now}}"),
        [("health.services[0].restart.command", 4)],
    ),
    "a-command-that-is-asked-too-often": (
        services("    - name: job", "      type: command", '      command: ["true"]', "      interval: 0s"),
        [("health.services[0].interval", 7)],
    ),
    "a-negative-budget": ("health:\n  restartBudget: {maxPerHour: -1}\n", [("health.restartBudget.maxPerHour", 2)]),
    "a-channel-nobody-knows": ("notify:\n  channels:\n    - {url: nonsense}\n", [("notify.channels[0].url", 3)]),
    "channels-that-apprise-does-not-know": (
        "notify:\n  channels:\n    - url: json://h/\n    - tiers: [1]\n      url: gopher://h/\n"
        "    - {url: 'slack://x'}\n",
        [("notify.channels[1].url", 5), ("notify.channels[2].url", 6)],
    ),
}


@pytest.mark.parametrize(("text", "expected"), _CASES.values(), ids=_CASES.keys())
def test_a_wrong_file_is_refused_with_every_place(argus: Argus, text: str, expected: list[tuple[str, int]]) -> None:
    argus.write(text)
    checked = argus.cli("check", "--json")
    assert checked.code == 2
    error = checked.error
    assert error["code"] == "CONFIG_INVALID"
    found = [(one["path"], one["line"]) for one in error["details"]["errors"]]
    for place in expected:
        assert place in found
    assert all(one["message"] for one in error["details"]["errors"])
    assert not argus.home.exists(), "checking leaves nothing behind"


def test_a_daemon_does_not_start_on_a_wrong_file_and_says_why_in_every_form(argus: Argus) -> None:
    argus.write("autonomy: daring\nhealth: {verifyAfter: 0s}\n")
    for arguments in (("up", "--detach", "--json"), ("up", "--json"), ("status", "--json")):
        ran = argus.cli(*arguments)
        assert ran.code == 2, arguments
        assert ran.error["code"] == "CONFIG_INVALID"
        assert [one["path"] for one in ran.error["details"]["errors"]] == ["autonomy", "health.verifyAfter"]
    plain = argus.cli("up", "--detach")
    assert (plain.code, plain.stdout) == (2, "")
    assert "CONFIG_INVALID" in plain.stderr
    assert argus.find() is None


@pytest.mark.parametrize("command", [("up", "--detach"), ("check",), ("status",)], ids=lambda one: one[0])
def test_a_file_that_was_named_and_is_not_there_is_an_error_not_a_default(
    argus: Argus, command: tuple[str, ...]
) -> None:
    missing = str(argus.folder / "nowhere.yaml")
    for ran in (
        argus.cli("--config", missing, *command, "--json"),
        argus.cli(*command, "--json", env={"ARGUS_CONFIG": missing}),
    ):
        assert (ran.code, ran.error["code"]) == (2, "CONFIG_NOT_FOUND")
        assert ran.error["details"]["file"] == missing


@pytest.mark.parametrize("command", [("status",), ("services", "list"), ("events",), ("reload",)], ids=" ".join)
def test_a_file_that_is_named_and_not_there_is_an_error_also_where_a_daemon_runs(
    argus: Argus, command: tuple[str, ...]
) -> None:
    argus.configure()
    argus.up()
    missing = str(argus.folder / "nowhere.yaml")
    ran = argus.cli("--config", missing, *command, "--json")
    assert (ran.code, ran.error["code"]) == (2, "CONFIG_NOT_FOUND")
    assert ran.error["details"]["file"] == missing
    assert argus.cli("--config", str(argus.config), *command).code == 0
    # A variable may outlive the file; who asks a daemon that runs has named nothing in that command.
    assert argus.cli("status", env={"ARGUS_CONFIG": missing}).code == 0
    assert argus.cli("--config", missing, "down").code == 0


def test_a_port_in_use_names_its_holder_and_nothing_is_left(argus: Argus) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        argus.write(f"server: {{port: {port}}}\n")
        refused = argus.cli("up", "--detach", "--json")
    assert (refused.code, refused.error["code"]) == (1, "PORT_CONFLICT")
    assert (refused.error["details"]["port"], refused.error["details"]["pid"]) == (port, os.getpid())
    assert argus.find() is None


@pytest.mark.fault("ST5")
def test_a_second_daemon_on_the_same_state_folder_is_refused_and_the_first_goes_on(
    argus: Argus, web: WebServer, injected: Injection
) -> None:
    argus.configure([web.service("repair")])
    argus.up()
    for arguments in (("up", "--detach", "--json"), ("up", "--json")):
        with injected:
            refused = argus.cli(*arguments)
        assert (refused.code, refused.error["code"]) == (1, "ALREADY_RUNNING")
        assert refused.error["details"]["pid"] == argus.pid
    assert is_alive(argus.pid)
    argus.wait_until("web", "up")
    assert argus.cli("status").code == 0
    web.kill()
    argus.wait_for("service_recovered", "web")
    assert len(argus.journal("argus_started")) == 1


def test_a_state_that_was_kept_survives_a_start_with_a_wrong_file(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("repair")])
    argus.up()
    argus.cli("services", "pause", "web", "--for", "1h")
    before = argus.journal()
    argus.down()
    argus.write("health: nonsense\n")
    assert argus.cli("up", "--detach").code == 2
    argus.configure([web.service("repair")])
    argus.up()
    assert argus.journal()[: len(before)] == before
    assert argus.service("web")["pausedUntil"] is not None


def test_several_mistakes_are_told_at_once_to_people_too(argus: Argus) -> None:
    argus.write("sever: {}\nautonomy: daring\n")
    plain = argus.cli("check")
    assert (plain.code, plain.stdout) == (2, "")
    for place in ("1:sever", "2:autonomy"):
        assert place in plain.stderr


def test_an_empty_file_is_a_working_configuration(argus: Argus) -> None:
    argus.write("")
    good: dict[str, Any] = argus.cli("check", "--json").json
    assert (good["valid"], good["services"]) == (True, [])
