"""What launchctl and systemctl print, and what it means. Recorded output: neither runs on every machine."""

from __future__ import annotations

import os

import pytest
from pydantic import ValidationError

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


@pytest.mark.req("INFRA-01.4")
@pytest.mark.parametrize(
    ("ran", "status", "detail"),
    [
        pytest.param(Ran(0, RUNNING, 0.0), Status.UP, "PID 41412, last exit status -15", id="with-a-pid"),
        pytest.param(
            Ran(0, STOPPED, 0.0), Status.DOWN, "launchd has no PID for it, last exit status 256", id="without-a-pid"
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
@pytest.mark.parametrize(
    ("ran", "status", "detail"),
    [
        pytest.param(shown("active", "running", 42), Status.UP, "active (running), PID 42", id="running"),
        pytest.param(shown("active", "exited"), Status.UP, "active (exited)", id="a-oneshot-that-is-done"),
        pytest.param(shown("reloading", "reload", 42), Status.UP, "reloading (reload), PID 42", id="reloading"),
        pytest.param(shown("activating", "start", 42), Status.PENDING, "activating (start)", id="starting"),
        pytest.param(
            shown("activating", "auto-restart", 0, "exit-code"), Status.DOWN,
            "activating (auto-restart), exit-code", id="crashing-again-and-again",
        ),
        pytest.param(
            shown("failed", "failed", 0, "oom-kill"), Status.DOWN, "failed (failed), oom-kill", id="failed"
        ),
        pytest.param(shown("inactive", "dead"), Status.DOWN, "inactive (dead)", id="stopped"),
        pytest.param(
            shown("inactive", "dead", load="not-found"), Status.DOWN, "systemd says not-found", id="no-such-unit"
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
def test_what_systemd_says(ran: Ran, status: Status, detail: str):
    seen = systemd(ran)
    assert (seen.status, seen.detail) == (status, detail)


def service(**keys: object) -> ProcessService:
    (one,) = Health.model_validate({"services": [{"name": "miner", "type": "process", **keys}]}).services
    assert isinstance(one, ProcessService)
    return one


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
async def test_a_systemd_unit_is_restarted(keys: dict[str, object], argv: list[str]):
    host, one = FakeHost(), service(systemdUnit="miner.service", **keys)
    assert one.restart is not None
    await one.restart.restart(host, log="")
    assert host.started == [argv]


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
