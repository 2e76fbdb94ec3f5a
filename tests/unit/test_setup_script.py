"""Which Python scripts/setup.sh makes the environment with, among stand-ins that say of themselves what they are."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "setup.sh"
STAND_IN = """#!/bin/sh
case "$*" in
    *version_info*) {runs} ;;
    *ensurepip*) {venv} ;;
    *CONFIG_ARGS*) {fast} ;;
    "-m venv"*) echo "$0" >made ;;
    -V) echo Python ;;
    *) exit 1 ;;
esac
"""
GOOD, SLOW = "runs venv fast", "runs venv"


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        pytest.param({"a/python3.13": GOOD, "b/python3.13": GOOD}, "a/python3.13", id="the-first"),
        pytest.param({"a/python3.13": SLOW, "b/python3.13": GOOD}, "b/python3.13", id="a-fast-one"),
        pytest.param({"a/python3.13": SLOW, "b/python3.13": SLOW}, "a/python3.13", id="a-slow-one-if-need-be"),
        pytest.param({"a/python3.13": SLOW, "b/python3.12": GOOD}, "a/python3.13", id="a-newer-one-though-slow"),
        pytest.param({"a/python3.13": "", "b/python3.13": SLOW}, "b/python3.13", id="not-a-name-that-does-not-run"),
        pytest.param({"a/python3.13": "runs fast", "b/python3.12": SLOW}, "b/python3.12", id="one-that-has-venv"),
        pytest.param({"a c/python3.13": GOOD, "b/python3.13": SLOW}, "a c/python3.13", id="in-a-folder-with-a-space"),
    ],
)
def test_the_python_of_the_environment(tmp_path: Path, there: dict[str, str], taken: str):
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    for place, what in there.items():
        file = tmp_path / place
        file.parent.mkdir(exist_ok=True)
        answers = {one: "exit 0" if one in what.split() else "exit 1" for one in ("runs", "venv", "fast")}
        file.write_text(STAND_IN.format(**answers), encoding="utf-8")
        file.chmod(0o755)
    folders = dict.fromkeys(str((tmp_path / place).parent) for place in there)
    env = {"PATH": os.pathsep.join([*folders, "/usr/bin", "/bin"]), "TMPDIR": str(tmp_path)}
    ran = subprocess.run(
        ["sh", "scripts/setup.sh", "--venv-only"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=30
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "made").read_text(encoding="utf-8").strip() == str(tmp_path / taken)
