"""Services that are units of a real systemd, which is PID 1 of a Debian of the tests' own; Argus runs beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.harness import PROGRAM, Argus, eventually, free_port
from tests.recorded_systemd import CASES, bring_about, record, recorded, without_pid
from tests.systemd_machine import Machine

RUNS = ("[Service]", "ExecStart=/bin/sleep infinity")
QUICK: dict[str, Any] = {"type": "process", "interval": "300ms", "timeout": "30s", "failuresBeforeAction": 1}


class ArgusInside(Argus):
    """Its processes are beside systemd; its files, and what it listens to, are where they always are."""

    def __init__(self, folder: Path, machine: Machine) -> None:
        super().__init__(folder)
        self._machine = machine

    def words(self, *arguments: str) -> list[str]:
        return self._machine.words(self.folder, *super().words(*arguments))


@pytest.fixture
def argus(tmp_path: Path, systemd: Machine) -> Iterator[Argus]:
    one = ArgusInside(tmp_path / "argus", systemd)
    # As where nobody has logged in.
    for told in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
        one.env.pop(told, None)
    yield one
    one.end()


def watch(argus: Argus, unit: str, **more: Any) -> None:
    health = {key: more.pop(key) for key in ("autonomy",) if key in more}
    argus.configure([{"name": "one", "systemdUnit": unit, **QUICK, **more}], **health)
    argus.up()


def finished(argus: Argus) -> dict[str, Any]:
    """The only restart."""
    (one,) = argus.journal("restart_finished")
    return one.data


@pytest.mark.req("INFRA-01.4", "INFRA-02.1")
@pytest.mark.parametrize(
    ("file", "unit"),
    [
        pytest.param("keeper.service", "keeper.service", id="a-unit"),
        pytest.param("keeper.service", "keeper", id="without-its-suffix"),
        pytest.param("worker@.service", "worker@1.service", id="an-instance"),
        pytest.param("worker@.service", r"worker@a\x20b-c.service", id="an-instance-with-spaces"),
    ],
)
def test_a_unit_whose_process_is_killed_is_restarted_once_and_verified(
    systemd: Machine, argus: Argus, file: str, unit: str
) -> None:
    systemd.write(file, *RUNS)
    systemd.do("systemctl", "start", "--", unit)
    first = systemd.show(unit, "MainPID")
    watch(argus, unit)
    assert argus.wait_until("one", "up")["detail"] == f"active (running), PID {first}"
    systemd.kill(unit)
    down = argus.wait_for("service_down").data
    assert (down["code"], down["cause"], down["detail"]) == ("SERVICE_DOWN", "not running", "failed (failed), signal")
    argus.wait_for("service_recovered")
    one = finished(argus)
    assert (one["outcome"], one["exitCode"]) == ("recovered", 0)
    second = systemd.show(unit, "MainPID")
    assert second not in ("0", first)
    assert argus.wait_until("one", "up")["detail"] == f"active (running), PID {second}"
    types = [event.type for event in argus.journal()]
    order = ["service_down", "restart_started", "restart_finished", "service_recovered"]
    assert [one for one in types if one in order] == order


@pytest.mark.req("INFRA-02.1")
def test_a_unit_of_the_users_own_is_restarted_though_nobody_has_logged_in(systemd: Machine, argus: Argus) -> None:
    systemd.user_manager()
    systemd.write("own.service", *RUNS, user=True)
    systemd.do("systemctl", "--user", "start", "own.service")
    watch(argus, "own.service", systemdUser=True)
    argus.wait_until("one", "up")
    systemd.kill("own.service", user=True)
    argus.wait_for("service_recovered")
    assert finished(argus)["outcome"] == "recovered"
    assert systemd.show("own.service", "ActiveState", user=True) == "active"


@pytest.mark.parametrize(
    ("file", "steps", "exit_code", "said"),
    [
        pytest.param(
            ["[Service]", "Type=oneshot", "ExecStart=/bin/false"], [], 1,
            "Job for keeper.service failed because the control process exited with error code.", id="cannot-start",
        ),
        pytest.param(["[Service]", "ExecStart=/bin/false"], [], 0, "", id="ends-at-once"),
        pytest.param([], [], 5, "Unit keeper.service not found.", id="unknown"),
        pytest.param([], ["mask"], 1, "Unit keeper.service is masked.", id="masked"),
    ],
)  # fmt: skip
def test_a_unit_that_cannot_be_brought_up_is_escalated_with_what_systemctl_said(
    systemd: Machine, argus: Argus, file: list[str], steps: list[str], exit_code: int, said: str
) -> None:
    if file:
        systemd.write("keeper.service", *file)
    for step in steps:
        systemd.do("systemctl", step, "keeper.service")
    watch(argus, "keeper.service")
    argus.wait_for("service_escalated")
    one = finished(argus)
    assert (one["outcome"], one["exitCode"]) == ("failed" if exit_code else "still_down", exit_code)
    assert said in one["output"]
    assert not argus.journal("service_recovered")


@pytest.mark.req("INFRA-01.4")
def test_every_state_of_a_unit_is_seen_as_it_is(systemd: Machine, argus: Argus) -> None:
    cases = {case.name: case for case in CASES if case.name != "a-template"}
    for case in cases.values():
        bring_about(systemd, case)
    services = [{"name": case.name, "systemdUnit": case.unit, "type": "process"} for case in cases.values()]
    argus.configure(services, autonomy="observe")
    argus.up()
    for case in cases.values():
        argus.rest("POST", f"/api/services/{case.name}/check", {})
    seen = {name: argus.service(name) for name in cases}
    assert {name: without_pid(one["detail"]) for name, one in seen.items()} == {
        name: case.detail for name, case in cases.items()
    }
    # A first failure is not the end of it: what was seen is told, and not yet believed.
    ill = {name for name, one in seen.items() if one["failures"]}
    assert ill == {name for name, case in cases.items() if case.status.value == "down"}


def test_this_systemd_says_what_is_on_record(systemd: Machine) -> None:
    """Whatever version it is: what Argus reads of it has not changed since."""
    live = record(systemd)
    for version, said in recorded().items():
        for name, both in said.items():
            for question, ran in both.items():
                now = live[name][question]
                assert now.exit_code == ran.exit_code, (version, name, question)
                if question == "show":
                    assert _properties(now.output) == _properties(ran.output), (version, name)


def _properties(text: str) -> dict[str, str]:
    pairs = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {name: "some" if name == "MainPID" and value != "0" else value for name, value in pairs.items()}


def test_a_systemd_that_does_not_answer_makes_its_units_unknown_and_nothing_is_restarted(
    systemd: Machine, argus: Argus
) -> None:
    systemd.write("keeper.service", *RUNS)
    systemd.do("systemctl", "start", "keeper.service")
    watch(argus, "keeper.service", timeout="1s")
    argus.wait_until("one", "up")
    systemd.freeze()
    said = argus.wait_until("one", "unknown")
    assert said["detail"] == "systemctl: not finished within 1 s"
    systemd.thaw()
    argus.wait_until("one", "up")
    assert not argus.journal("service_down", "restart_started")


def test_an_argus_that_is_a_unit_repairs_others_and_refuses_to_watch_itself(systemd: Machine, argus: Argus) -> None:
    environ = [f'Environment="{name}={value}"' for name, value in argus.env.items() if name in ("ARGUS_HOME", "HOME")]
    start = f"ExecStart={PROGRAM} up --config {argus.config}"
    systemd.write("keeper.service", *RUNS)
    systemd.do("systemctl", "start", "keeper.service")
    systemd.write("guard.service", "[Service]", *environ, f"WorkingDirectory={argus.folder}", start)
    argus.configure([{"name": "one", "systemdUnit": "guard", **QUICK}])
    systemd.do("systemctl", "start", "guard.service")
    eventually(lambda: systemd.show("guard.service", "ActiveState") == "failed", "it refuses to run")
    words = ("journalctl", "--unit=guard.service", "--output=cat")
    eventually(lambda: '"one" is Argus itself' in systemd.do(*words), "it says why")
    argus.configure([{"name": "one", "systemdUnit": "keeper.service", **QUICK}])
    systemd.do("systemctl", "restart", "guard.service")
    eventually(argus.find, "it is up")
    argus.wait_until("one", "up")
    systemd.kill("keeper.service")
    argus.wait_for("service_recovered")
    # A unit's own group: nothing of Argus's moved over to what it restarted, nor the other way round.
    inside = systemd.do("cat", "/sys/fs/cgroup/system.slice/keeper.service/cgroup.procs")
    assert inside == systemd.show("keeper.service", "MainPID")


def test_init_finds_units_that_listen_and_says_whose_they_are(systemd: Machine, argus: Argus) -> None:
    systemd.user_manager()
    ports = {"front.service": free_port(), "own.service": free_port()}
    for unit, port in ports.items():
        server = f"ExecStart={sys.executable} -m http.server --bind 127.0.0.1 {port}"
        user = unit == "own.service"
        systemd.write(unit, "[Service]", server, user=user)
        systemd.do("systemctl", *(["--user"] if user else []), "start", unit)
    written = argus.folder / "found.yaml"

    def found() -> dict[str, dict[str, Any]]:
        ran = argus.cli("init", "--restartable", "--force", str(written))
        assert ran.code == 0, ran
        services = yaml.safe_load(written.read_text())["health"]["services"]
        by_unit = {one.get("systemdUnit"): one for one in services}
        return by_unit if set(ports) <= set(by_unit) else {}

    services = eventually(found, "both listen")
    assert "systemdUser" not in services["front.service"]
    assert services["own.service"]["systemdUser"] is True
    assert [services[unit]["url"] for unit in ports] == [f"http://127.0.0.1:{port}/" for port in ports.values()]
