"""Services that are processes, and services that a command looks at."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest

from tests.acceptance.harness import Argus, WebServer, eventually

QUICK: dict[str, Any] = {"interval": "200ms", "timeout": "5s"}


@pytest.mark.req("INFRA-01.4")
def test_a_killed_process_is_found_by_its_pid_file_and_restarted(argus: Argus, web: WebServer) -> None:
    entry = {"name": "web", "type": "process", "pidFile": str(argus.folder / "web.pid"), **QUICK}
    argus.configure([{**entry, "restart": {"command": web.script("repair")}}])
    argus.up()
    assert argus.wait_until("web", "up")["detail"] == f"PID {web.pid}"
    web.kill()
    down = argus.wait_for("service_down").data
    assert (down["cause"], down["place"]) == ("not running", f"Process {argus.folder / 'web.pid'}")
    argus.wait_for("service_recovered")
    assert web.runs == 1


def test_a_process_is_found_by_its_name(argus: Argus) -> None:
    program = argus.folder / "a-miner-of-this-test"
    sleep = shutil.which("sleep")
    assert sleep is not None
    program.symlink_to(sleep)
    argus.configure([{"name": "miner", "type": "process", "processName": program.name, **QUICK}])
    argus.up()
    assert argus.wait_until("miner", "down")["detail"] == f"no process is called {program.name}"
    with subprocess.Popen([str(program), "600"], env=argus.env) as process:
        argus.wait_until("miner", "up")
        process.kill()


def test_a_command_that_ends_with_0_means_up(argus: Argus) -> None:
    flag = argus.folder / "flag"
    look = ["sh", "-c", f"test -e {flag} && echo it is there || {{ echo gone; exit 3; }}"]
    hangs = {"name": "hangs", "type": "command", "command": ["sleep", "600"], **QUICK, "timeout": "300ms"}
    missing = {"name": "missing", "type": "command", "command": ["/no/such"], **QUICK}
    argus.configure([{"name": "job", "type": "command", "command": look, **QUICK}, hangs, missing])
    argus.up()
    down = argus.wait_until("job", "down")
    assert (down["detail"], down["code"]) == ("exit status 3: gone", "SERVICE_DOWN")
    flag.touch()
    assert argus.wait_until("job", "up")["detail"] == "it is there"
    assert argus.wait_until("hangs", "down")["code"] == "HEALTH_CHECK_TIMEOUT"
    unknown = argus.wait_until("missing", "unknown")
    assert unknown["detail"] == "cannot start /no/such: No such file or directory"
    argus.cli("down")
    eventually(lambda: not [one for one in argus.marked() if one.name() == "sleep"], "no check is left running")


@pytest.mark.req("INFRA-02.5")
@pytest.mark.parametrize("key", ["pidFile", "processName"])
def test_argus_itself_is_refused(argus: Argus, key: str) -> None:
    own = argus.folder / "own.pid"
    entry = {"name": "me", "type": "process", key: str(own) if key == "pidFile" else "argus"}
    argus.configure([])
    own.write_text(str(argus.up()["pid"]))
    argus.configure([entry])
    refused = argus.rest("POST", "/api/reload", {})
    assert (refused.status, refused.error["code"]) == (400, "CONFIG_INVALID")
    assert "is Argus itself" in refused.error["message"]


def test_the_first_format_loads_as_it_is(argus: Argus) -> None:
    """Its services of type http and process; containers follow with docker checks."""
    services: list[dict[str, Any]] = [
        {
            "name": name,
            "type": "http",
            "url": f"http://localhost:{port}/",
            "intervalMs": 60000,
            "timeoutMs": 5000,
            "launchdLabel": label,
        }
        for name, port, label in [
            ("income-dashboard", 8060, "com.income-dashboard"),
            ("site-monitor", 8070, "com.site-monitor"),
            ("mlx-api", 8100, "com.mlx-inference-api"),
        ]
    ]
    services.append({"name": "xmr-miner", "type": "process", "launchdLabel": "com.xmr-miner", "intervalMs": 300000})
    argus.configure(
        services, consecutiveFailsBeforeAlert=3, restartBudget={"maxPerHour": 2}, correlatedFailureThreshold=3
    )
    argus.up()
    listed = {one["name"]: one for one in argus.get("/api/services")["services"]}
    assert {name: (one["interval"], one["restartable"]) for name, one in listed.items()} == {
        "income-dashboard": (60.0, True),
        "site-monitor": (60.0, True),
        "mlx-api": (60.0, True),
        "xmr-miner": (300.0, True),
    }
