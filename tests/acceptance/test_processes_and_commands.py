"""Services that are processes, and services that a command looks at."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import psutil
import pytest

from tests.acceptance.harness import Argus, WebServer, eventually

QUICK: dict[str, Any] = {"interval": "200ms", "timeout": "5s"}


@pytest.mark.req("INFRA-01.4")
def test_a_killed_process_is_found_by_its_pid_file_and_restarted(argus: Argus, web: WebServer) -> None:
    entry = {"name": "web", "type": "process", "pidFile": str(argus.folder / "web.pid"), **QUICK}
    argus.configure([{**entry, "restart": {"command": web.script("repair")}}])
    argus.up()
    assert argus.wait_until("web", "up")["detail"] == f"PID {web.pid}"
    assert f"\n- web: UP (pid {web.pid})\n" in argus.cli("context").stdout
    web.kill()
    down = argus.wait_for("service_down").data
    assert (down["cause"], down["place"]) == ("not running", f"Process {argus.folder / 'web.pid'}")
    argus.wait_for("service_recovered")
    assert web.runs == 1


@pytest.mark.parametrize("detached", [True, False])
def test_what_argus_restarts_does_not_belong_to_the_agent_that_started_argus(
    argus: Argus, web: WebServer, detached: bool
) -> None:
    """The mark by which an agent's processes are known, and ended with it."""
    argus.env["ARGUS_NONCE"] = "of-an-agent"
    argus.configure([web.service("repair")])
    web.kill()
    if detached:
        argus.up()
        restarted(argus, web)
    else:
        with argus.background("up") as foreground:
            try:
                eventually(argus.find, "it runs")
                restarted(argus, web)
            finally:
                foreground.terminate()


def restarted(argus: Argus, web: WebServer) -> None:
    argus.wait_for("service_recovered")
    assert "ARGUS_NONCE" not in psutil.Process(web.pid).environ()


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


def test_what_a_check_starts_ends_with_it_also_when_it_left_the_session(argus: Argus) -> None:
    enough = argus.folder / "enough"
    look = ["sh", "-c", f"test -e {enough} && exit; trap '' TERM; setsid sleep 402.5 & sleep 403.5"]
    argus.configure([{"name": "job", "type": "command", "command": look, **QUICK, "timeout": "300ms"}])
    argus.up()
    eventually(lambda: argus.service("job")["failures"] >= 5, "it was asked again and again")
    enough.touch()
    argus.wait_until("job", "up")
    eventually(lambda: not [one for one in argus.marked() if one.name() == "sleep"], "nothing is left running")


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


FIRST_FORMAT = """{
  "health": {
    "enabled": true,
    "services": [
      {
        "name": "income-dashboard",
        "type": "http",
        "url": "http://localhost:8060/",
        "intervalMs": 60000,
        "timeoutMs": 5000,
        "launchdLabel": "com.income-dashboard"
      },
      {
        "name": "site-monitor",
        "type": "http",
        "url": "http://localhost:8070/",
        "intervalMs": 60000,
        "timeoutMs": 5000,
        "launchdLabel": "com.site-monitor"
      },
      {
        "name": "mlx-api",
        "type": "http",
        "url": "http://localhost:8100/",
        "intervalMs": 60000,
        "timeoutMs": 5000,
        "launchdLabel": "com.mlx-inference-api"
      },
      {
        "name": "scraping-api",
        "type": "http",
        "url": "http://localhost:8002/",
        "intervalMs": 60000,
        "timeoutMs": 5000,
        "launchdLabel": "com.scraping.api"
      },
      {
        "name": "ssh-terminal",
        "type": "http",
        "url": "http://localhost:7681/",
        "intervalMs": 60000,
        "timeoutMs": 5000,
        "launchdLabel": "com.ttyd.ssh-terminal"
      },
      {
        "name": "cloudflare-tunnel",
        "type": "process",
        "launchdLabel": "com.cloudflare.scraping-api",
        "intervalMs": 120000
      },
      {
        "name": "xmr-miner",
        "type": "process",
        "launchdLabel": "com.xmr-miner",
        "intervalMs": 300000
      },
      {
        "name": "bandwidth-sharing",
        "type": "docker",
        "containers": ["mac-mini-m4pro_honeygain", "mac-mini-m4pro_earnapp", "mac-mini-m4pro_pawns", "mac-mini-m4pro_packetstream", "mac-mini-m4pro_proxyrack", "mac-mini-m4pro_repocket", "mac-mini-m4pro_mysterium", "mac-mini-m4pro_traffmonetizer", "mac-mini-m4pro_theta"],
        "intervalMs": 300000,
        "timeoutMs": 10000
      }
    ],
    "consecutiveFailsBeforeAlert": 3,
    "restartBudget": { "maxPerHour": 2 },
    "correlatedFailureThreshold": 3
  }
}
"""  # noqa: E501 - as it is


@pytest.mark.req("INFRA-01.1")
def test_the_first_format_loads_as_it_is(argus: Argus) -> None:
    """Its `health` block, pasted with all its braces, watches its eight services."""
    block = FIRST_FORMAT.partition('"health":')[2].rpartition("}")[0]
    argus.write(f"server: {{port: 0}}\nhealth:\n{block}")
    argus.env["DOCKER_HOST"] = f"unix://{argus.folder}/no-engine.sock"
    argus.up()
    listed = {one["name"]: one for one in argus.get("/api/services")["services"]}
    http, process, docker = ("http", 60.0, True), ("process", 120.0, True), ("docker", 300.0, True)
    assert {name: (one["type"], one["interval"], one["restartable"]) for name, one in listed.items()} == {
        "income-dashboard": http,
        "site-monitor": http,
        "mlx-api": http,
        "scraping-api": http,
        "ssh-terminal": http,
        "cloudflare-tunnel": process,
        "xmr-miner": ("process", 300.0, True),
        "bandwidth-sharing": docker,
    }
    # No launchd and no engine here: both cannot be asked, which is no reason to call anything down.
    for name in ("xmr-miner", "bandwidth-sharing"):
        assert argus.rest("POST", f"/api/services/{name}/check", {}).json["state"] == "unknown"
    assert argus.service("bandwidth-sharing")["code"] == "DOCKER_UNAVAILABLE"
    assert argus.service("bandwidth-sharing")["place"] == "9 containers"
    assert argus.rest("POST", "/api/services/mlx-api/check", {}).json["failures"] in (
        1,
        2,
    )  # its first check may be due
