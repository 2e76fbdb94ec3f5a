"""Argus as a service of a real systemd, which is PID 1 of a Debian of the tests' own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.harness import Argus, eventually, is_alive
from tests.systemd_machine import Machine

UNIT = "argus.service"


class Root(Argus):
    """Root of that Debian, with a home there; the state folder is one that is seen from outside too."""

    def __init__(self, folder: Path, machine: Machine) -> None:
        super().__init__(folder)
        self.machine = machine
        for told in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XDG_CONFIG_HOME"):
            self.env.pop(told, None)
        self.env["HOME"] = "/root"
        self.system = False

    def words(self, *arguments: str) -> list[str]:
        return self.machine.words(self.folder, *super().words(*arguments))

    def service(self, *words: str, code: int = 0) -> dict[str, object]:  # type: ignore[override]
        ran = self.cli("service", *words, *(["--system"] if self.system else []), "--json", timeout=150)
        assert ran.code == code, ran
        said: dict[str, object] = ran.json
        return said

    @property
    def file(self) -> Path:
        return self.machine.path(f"{'etc/systemd/system' if self.system else 'root/.config/systemd/user'}/{UNIT}")

    @property
    def main(self) -> int:
        """The unit's process, as seen from inside."""
        return int(self.machine.show(UNIT, "MainPID", user=not self.system))

    def kill_inside(self) -> None:
        self.machine.do("sh", "-c", f"kill -KILL {self.main}")


@pytest.fixture(params=[False, True], ids=["of-the-user", "of-the-system"])
def root(request: pytest.FixtureRequest, tmp_path: Path, systemd: Machine) -> Iterator[Root]:
    one = Root(tmp_path / "argus", systemd)
    one.system = request.param
    if not one.system:
        systemd.user_manager()
    yield one
    # By systemd itself, and first: it would start again what is only killed.
    manager = "systemctl" if one.system else "systemctl --user"
    files = f"/root/.config/systemd /etc/systemd/system/{UNIT} /etc/systemd/system/*.wants/{UNIT}"
    systemd.run("sh", "-c", f"{manager} stop {UNIT}; rm -rf {files}; {manager} daemon-reload; {manager} reset-failed")
    one.end()


def units(root: Root) -> set[str]:
    folders = "/root/.config /etc/systemd"
    return set(root.machine.do("sh", "-c", f"find {folders} -name '*argus*' 2> /dev/null || true").split())


def examined(root: Root) -> dict[str, object]:
    """What the doctor says of it."""
    found: dict[str, object] = next(
        one for one in root.cli("doctor", "--json").json["checks"] if one["name"] == "SERVICE"
    )
    return found


def test_it_is_installed_comes_back_when_killed_and_leaves_nothing(root: Root) -> None:
    root.configure([])
    before = units(root)
    said = root.service("install")
    assert (said["enabled"], said["active"], said["why"]) == (True, True, "")
    assert root.find(), "it is ready when install returns"
    first = root.main
    assert said["pid"] == first

    root.kill_inside()
    eventually(lambda: root.main not in (0, first), "systemd has started it again", 60)
    eventually(lambda: root.machine.show(UNIT, "ActiveState", user=not root.system) == "active", "it is ready", 60)
    assert root.service("status")["pid"] == root.main
    assert root.cli("status", "--json").code == 0
    assert examined(root)["state"] == "ok"

    gone = root.main
    assert root.service("uninstall")["removed"] is True
    assert units(root) == before
    assert root.machine.run("sh", "-c", f"kill -0 {gone}").returncode != 0
    assert root.machine.show(UNIT, "LoadState", user=not root.system) == "not-found"
    assert (root.home / "argus.db").exists(), "the record stays"
    assert root.service("status", code=1)["installed"] == "none"


def test_what_a_person_stopped_stays_stopped_and_what_argus_started_goes_on(root: Root) -> None:
    configs = "{Long: {command: [sleep, '600'], cwd: /tmp}}"
    root.write(f"server: {{port: 0}}\nagents: {{configs: {configs}}}\n")
    root.service("install")
    root.find()
    spawned = root.cli("agents", "spawn", "Long", "--task", "t", "--json")
    assert spawned.code == 0, spawned
    agent = eventually(
        lambda: next((one["pid"] for one in root.get("/api/agents")["agents"] if one["pid"]), None), "the agent runs"
    )
    assert root.cli("down").code == 0
    eventually(lambda: root.machine.show(UNIT, "ActiveState", user=not root.system) == "inactive", "it is down", 60)
    assert root.machine.run("sh", "-c", f"kill -0 {agent}").returncode == 0, "the agent goes on"
    assert root.service("status", code=1)["state"] == "inactive (dead)"
    assert examined(root)["state"] == "warn"


def test_a_unit_of_somebody_else_is_neither_replaced_nor_removed(root: Root) -> None:
    root.file.parent.mkdir(parents=True, exist_ok=True)
    root.file.write_text("[Service]\nExecStart=/bin/true\n", encoding="utf-8")
    for verb in ("install", "uninstall"):
        ran = root.cli("service", verb, *(["--system"] if root.system else []), "--json")
        assert (ran.code, ran.error["code"]) == (1, "CONFLICT")
    assert root.file.read_text(encoding="utf-8") == "[Service]\nExecStart=/bin/true\n"


def test_one_that_was_changed_by_hand_is_kept(root: Root) -> None:
    root.configure([])
    root.service("install")
    root.file.write_text(root.file.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    ran = root.cli("service", "install", *(["--system"] if root.system else []), "--json")
    assert (ran.code, ran.error["code"]) == (1, "CONFLICT")
    assert root.file.read_text(encoding="utf-8").endswith("# mine\n")
    root.file.unlink()


def test_an_argus_that_was_started_by_hand_is_not_pushed_aside(root: Root) -> None:
    root.configure([])
    by_hand = root.up()["pid"]
    said = root.service("install")
    assert (said["enabled"], said["active"]) == (True, False)
    assert said["next"][0] == "argus down"  # type: ignore[index]
    assert root.find() == {**(root.find() or {}), "pid": by_hand}


def test_a_configuration_that_cannot_be_read_installs_nothing(root: Root) -> None:
    root.write("nonsense: 1\n")
    ran = root.cli("service", "install", *(["--system"] if root.system else []), "--json")
    assert (ran.code, ran.error["code"]) == (2, "CONFIG_INVALID")
    assert not root.file.exists()


def test_one_that_breaks_later_is_not_started_for_ever(root: Root) -> None:
    root.configure([])
    root.service("install")
    root.write("nonsense: 1\n")
    root.kill_inside()
    user = not root.system
    eventually(lambda: root.machine.show(UNIT, "ActiveState", user=user) == "failed", "systemd has given it up", 60)
    assert root.machine.show(UNIT, "ExecMainStatus", user=user) == "2"


# --- without a manager


def test_without_a_manager_it_is_written_and_the_next_commands_are_said(argus: Argus) -> None:
    argus.configure([])
    argus.env["PATH"] = str(argus.folder)  # no systemctl
    ran = argus.cli("service", "install", "--json")
    assert ran.code == 0, ran
    assert ran.json["active"] is False
    assert ran.json["next"][:2] == ["systemctl --user daemon-reload", "systemctl --user enable --now argus.service"]
    file = Path(ran.json["file"])
    assert file == Path(argus.env["HOME"]) / ".config/systemd/user/argus.service"
    again = argus.cli("service", "install", "--json")
    assert again.code == 0, "what argus wrote it may write again"
    assert argus.cli("service", "uninstall", "--json").json["removed"] is True
    assert not file.exists()
    assert argus.cli("service", "uninstall", "--json").json["removed"] is False


def test_without_a_manager_an_argus_that_runs_is_to_be_ended_first(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    argus.env["PATH"] = str(argus.folder)  # no systemctl
    enable = "systemctl --user enable --now argus.service"
    follows = ["argus down", "systemctl --user daemon-reload", enable]
    assert argus.cli("service", "install", "--json").json["next"][:3] == follows
    assert argus.cli("service", "status", "--json").json["next"] == follows
    found = next(one for one in argus.cli("doctor", "--json").json["checks"] if one["name"] == "SERVICE")
    assert found["next"] == "; ".join(follows)
    argus.down()
    assert argus.cli("service", "status", "--json").json["next"] == follows[1:]


def test_taken_back_without_a_manager_no_link_is_left_and_the_next_commands_are_said(argus: Argus) -> None:
    argus.configure([])
    argus.env["PATH"] = str(argus.folder)  # no systemctl
    file = Path(argus.cli("service", "install", "--json").json["file"])
    wanted = file.parent / "default.target.wants"
    wanted.mkdir()
    (wanted / file.name).symlink_to(file)
    (wanted / "other.service").symlink_to(file.parent / "other.service")
    (file.parent / "own.target.wants").mkdir()
    masked = file.parent / "own.target.wants" / file.name
    masked.symlink_to("/dev/null")
    said = argus.cli("service", "uninstall", "--json").json
    assert said["removed"] is True
    assert said["next"] == ["systemctl --user stop argus.service", "systemctl --user daemon-reload"]
    assert not file.exists()
    assert [one.name for one in wanted.iterdir()] == ["other.service"]
    assert masked.is_symlink(), "a link that leads elsewhere is somebody's"


def test_beside_an_argus_that_runs_the_daemon_of_a_service_is_not_started_for_ever(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    words = [sys.executable, "-m", "argus.daemon", "--folder", str(argus.folder), "--config", str(argus.config)]
    ran = subprocess.run(words, env=argus.env, capture_output=True, text=True, timeout=60)
    assert ran.stderr.startswith("argus: ALREADY_RUNNING:")
    unit = argus.cli("service", "install", "--dry-run").stdout
    assert f"RestartPreventExitStatus={ran.returncode}" in unit.splitlines()


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_who_finds_a_changed_unit_is_told_to_move_it_away(argus: Argus, verb: str) -> None:
    argus.configure([])
    argus.env["PATH"] = str(argus.folder)  # no systemctl
    file = Path(argus.cli("service", "install", "--json").json["file"])
    file.write_text(file.read_text() + "# mine\n")
    refused = argus.cli("service", verb, "--json").error
    assert (refused["code"], refused["suggestedActions"]) == ("CONFLICT", ["move_away"])


def test_a_dry_run_prints_the_unit_and_touches_nothing(argus: Argus) -> None:
    argus.configure([])
    ran = argus.cli("service", "install", "--dry-run")
    assert ran.code == 0
    words = (sys.executable, "-m", "argus.daemon", "--folder", argus.env["HOME"], "--config", argus.config)
    for line in (
        "ExecStart=" + " ".join(f'"{word}"' for word in words),
        f'Environment="ARGUS_HOME={argus.home}"',
        "KillMode=process",
        "Restart=on-failure",
        "WantedBy=default.target",
    ):
        assert line in ran.stdout.splitlines()
    assert not argus.home.exists()
    assert not (Path(argus.env["HOME"]) / ".config").exists()


def test_an_agent_does_not_install_or_remove_argus(argus: Argus) -> None:
    for verb in ("install", "uninstall"):
        ran = argus.cli("service", verb, "--json", env={"ARGUS_TOKEN": "argus.agent.x"})
        assert ran.error["code"] == "FORBIDDEN"


def test_the_secret_of_a_store_is_not_written_into_the_unit(argus: Argus) -> None:
    argus.configure([])
    url = "postgresql://argus:hunter2@127.0.0.1/argus"
    ran = argus.cli("service", "install", "--dry-run", env={"ARGUS_STORE": url})
    assert "hunter2" not in ran.stdout
    assert "ARGUS_STORE" in ran.stderr, "it is said before it is done"
    tried = argus.cli("service", "install", "--dry-run", "--json", env={"ARGUS_STORE": url}).json
    assert "ARGUS_STORE" in tried["notices"][0]
    said = argus.cli("service", "install", "--json", env={"ARGUS_STORE": url, "PATH": "/nonexistent"}).json
    assert "ARGUS_STORE" in said["notices"][0]


def test_the_daemon_alone_says_what_is_wrong_and_ends_with_a_code_that_tells(argus: Argus, tmp_path: Path) -> None:
    argus.write("nonsense: 1\n")
    words = [sys.executable, "-m", "argus.daemon", "--folder", str(tmp_path), "--config", str(argus.config)]
    ran = subprocess.run(words, env=argus.env, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert ran.stderr.startswith("argus: CONFIG_INVALID:")
    argus.configure([])
    one = subprocess.Popen(words, env=argus.env)
    try:
        eventually(argus.find, "it is up")
        os.kill(argus.pid, signal.SIGTERM)
        assert one.wait(60) == 0
        assert not is_alive(argus.pid)
    finally:
        one.kill()
        one.wait()
