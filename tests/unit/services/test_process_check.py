"""What launchctl and systemctl print, and what it means. Recorded output: neither runs on every machine.

systemctl's was recorded from real systemds (tests/recorded_systemd); launchctl's has the form that macOS prints, and
was not recorded by these tests: there is no launchd on Linux.
"""

from __future__ import annotations

import os

import pytest
from pydantic import ValidationError
from tests.recorded_systemd import CASES, Case, recorded, without_pid

from argus.host.seam import Ran
from argus.services.checks import ProcessService
from argus.services.checks.process import launchd, systemd
from argus.services.model import Status
from argus.services.settings import Health
from argus.testing import FakeHost

RUNNING = """{
	"LimitLoadToSessionType" = "Aqua";
	"Label" = "com.site-monitor";
	"OnDemand" = false;
	"LastExitStatus" = -15;
	"PID" = 41412;
	"Program" = "/usr/bin/node";
};
"""
STOPPED = """{
	"Label" = "com.xmr-miner";
	"LastExitStatus" = 256;
	"OnDemand" = true;
};
"""
TERMINATED = STOPPED.replace("256", "-15")


@pytest.mark.req("INFRA-01.4")
@pytest.mark.parametrize(
    ("ran", "status", "detail"),
    [
        pytest.param(Ran(0, RUNNING, 0.0), Status.UP, "PID 41412, last exit status -15", id="with-a-pid"),
        pytest.param(
            Ran(0, STOPPED, 0.0), Status.DOWN, "launchd has no PID for it, last exit status 256", id="without-a-pid"
        ),
        pytest.param(
            Ran(0, TERMINATED, 0.0), Status.DOWN, "launchd has no PID for it, last exit status -15", id="terminated"
        ),
        pytest.param(
            Ran(113, 'Could not find service "com.no" in domain for port\n', 0.0),
            Status.DOWN,
            "launchd does not know this label",
            id="an-unknown-label",
        ),
        pytest.param(
            Ran(None, "", 0.0, "cannot start launchctl: No such file or directory"),
            Status.UNKNOWN,
            "launchctl: cannot start launchctl: No such file or directory",
            id="no-launchd-here",
        ),
        pytest.param(
            Ran(None, "", 3.0, "not finished within 3 s"), Status.UNKNOWN, "launchctl: not finished within 3 s",
            id="no-answer",
        ),
    ],
)  # fmt: skip
def test_what_launchd_says(ran: Ran, status: Status, detail: str):
    seen = launchd(ran)
    assert (seen.status, seen.detail) == (status, detail)


def shown(active: str, sub: str, pid: int = 0, result: str = "success", load: str = "loaded") -> Ran:
    text = f"MainPID={pid}\nResult={result}\nLoadState={load}\nActiveState={active}\nSubState={sub}\n"
    return Ran(0, text, 0.0)


@pytest.mark.req("INFRA-01.4")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("version", recorded())
def test_what_a_real_systemd_said(version: str, case: Case):
    said = recorded()[version][case.name]
    seen = systemd(said["show"])
    assert (seen.status, without_pid(seen.detail)[: len(case.detail)]) == (case.status, case.detail)
    # Where it is at work, the PID is told; a unit that is no process has none.
    assert (", PID " in seen.detail) == ("(running)" in case.detail and case.name != "a-socket")
    if case.restarts is not None:
        assert (said["restart"].exit_code == 0) is case.restarts
        # What ends ill says why, which is what people are told.
        assert case.restarts == (not said["restart"].output)


@pytest.mark.req("INFRA-01.4")
@pytest.mark.parametrize(
    ("ran", "status", "detail"),
    [
        pytest.param(shown("reloading", "reload", 42), Status.UP, "reloading (reload), PID 42", id="reloading"),
        pytest.param(shown("refreshing", "refresh", 42), Status.UP, "refreshing (refresh), PID 42", id="refreshing"),
        pytest.param(
            shown("activating", "auto-restart-queued", 0, "exit-code"), Status.DOWN,
            "activating (auto-restart-queued), exit-code", id="about-to-be-started-again",
        ),
        pytest.param(
            shown("failed", "failed", 0, "oom-kill"), Status.DOWN, "failed (failed), oom-kill", id="out-of-memory"
        ),
        pytest.param(
            Ran(1, "System has not been booted with systemd as init system (PID 1). Can't operate.\n", 0.0),
            Status.UNKNOWN,
            "systemctl: System has not been booted with systemd as init system (PID 1). Can't operate.",
            id="no-systemd-here",
        ),
        pytest.param(Ran(0, "", 0.0), Status.UNKNOWN, "systemctl: exit status 0", id="says-nothing"),
    ],
)  # fmt: skip
def test_what_systemd_says_as_its_manual_has_it(ran: Ran, status: Status, detail: str):
    seen = systemd(ran)
    assert (seen.status, seen.detail) == (status, detail)


def service(**keys: object) -> ProcessService:
    (one,) = Health.model_validate({"services": [{"name": "miner", "type": "process", **keys}]}).services
    assert isinstance(one, ProcessService)
    return one


@pytest.mark.req("INFRA-01.4")
async def test_launchd_is_asked_about_that_label_alone():
    host = FakeHost()
    seen = await service(launchdLabel="com.xmr-miner").probe(host)
    assert seen.status is Status.UNKNOWN  # the fake host has no launchd
    assert host.started == [["launchctl", "list", "com.xmr-miner"]]


@pytest.mark.req("INFRA-02.1")
async def test_a_launchd_job_is_kickstarted_in_the_users_own_domain():
    host, one = FakeHost(), service(launchdLabel="com.xmr-miner")
    assert one.restart is not None
    await one.restart.restart(host, log="")
    assert host.started == [["launchctl", "kickstart", "-kp", f"gui/{os.getuid()}/com.xmr-miner"]]
    assert one.restart.target("miner") == "com.xmr-miner"


@pytest.mark.parametrize(
    ("keys", "argv"),
    [
        ({}, ["systemctl", "--no-ask-password", "restart", "--", "miner.service"]),
        ({"systemdUser": True}, ["systemctl", "--user", "--no-ask-password", "restart", "--", "miner.service"]),
    ],
    ids=["of-the-system", "of-the-user"],
)
async def test_a_systemd_unit_is_restarted(keys: dict[str, object], argv: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    host, one = FakeHost(), service(systemdUnit="miner.service", **keys)
    assert one.restart is not None
    await one.restart.restart(host, log="")
    assert host.started == [argv]


async def test_who_was_not_logged_in_finds_the_users_own_systemd_all_the_same(monkeypatch: pytest.MonkeyPatch):
    for told in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
        monkeypatch.delenv(told, raising=False)
    host, one = FakeHost(), service(systemdUnit="miner.service", systemdUser=True)
    assert one.restart is not None
    await one.restart.restart(host, log="")
    (argv,) = host.started
    assert argv[:4] == ["env", f"XDG_RUNTIME_DIR=/run/user/{os.getuid()}", "systemctl", "--user"]


def test_what_is_restarted_follows_from_the_keys_unless_it_is_said():
    assert service(systemdUnit="a.service", restart="none").restart is None
    assert service(pidFile="/run/a.pid").restart is None
    assert service(systemdUnit="a.service", restart="systemd").restart == service(systemdUnit="a.service").restart
    http = {"name": "api", "type": "http", "url": "http://localhost:1/", "launchdLabel": "com.api"}
    (one,) = Health.model_validate({"services": [http]}).services
    assert one.restart is not None
    assert one.restart.target("api") == "com.api"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        pytest.param({}, "give one of", id="found-in-no-way"),
        pytest.param({"pidFile": "/a", "processName": "a"}, "give one of", id="found-in-two-ways"),
        pytest.param({"systemdUnit": "-f"}, "pattern", id="a-unit-that-is-an-option"),
        pytest.param({"systemdUnit": "a b.service"}, "pattern", id="a-unit-with-a-space"),
        pytest.param({"systemdUnit": "a*.service"}, "pattern", id="a-unit-that-is-a-pattern"),
        pytest.param({"systemdUnit": "a" * 256}, "255", id="a-unit-that-is-too-long"),
        pytest.param({"systemdUnit": "worker@.service"}, "template", id="a-template"),
        pytest.param({"systemdUnit": "worker@"}, "template", id="a-template-without-its-suffix"),
        pytest.param({"pidFile": "/a", "restart": {"systemd": "b@.service"}}, "template", id="a-template-to-restart"),
        pytest.param({"launchdLabel": "a;b"}, "pattern", id="a-label-with-shell-text"),
        pytest.param({"pidFile": "/a", "restart": "systemd"}, "needs systemdUnit", id="a-way-without-its-key"),
        pytest.param({"pidFile": "/a", "restart": "reboot"}, "restart is launchd", id="an-unknown-way"),
    ],
)
def test_what_cannot_be_meant_is_refused(keys: dict[str, object], message: str):
    with pytest.raises(ValidationError, match=message):
        service(**keys)


def test_defaults_are_those_of_its_kind():
    one = service(processName="miner")
    assert (one.interval, one.timeout) == (120.0, 3.0)
