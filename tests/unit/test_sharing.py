"""Which tests stay together on one worker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import sharing

ROOT = Path(__file__).resolve().parents[2]
MODULE = '@pytest.fixture(scope="module")\ndef world(): ...\n'


@pytest.mark.parametrize(
    ("text", "test", "unit"),
    [
        pytest.param("", "test_a.py::test_one", "test_a.py::test_one", id="alone-when-nothing-is-shared"),
        pytest.param("", "test_a.py::test_one[a::b]", "test_a.py::test_one[a::b]", id="each-case-by-itself"),
        pytest.param(MODULE, "test_a.py::test_one", "test_a.py", id="with-its-file-when-a-fixture-is-shared"),
        pytest.param(MODULE, "test_a.py::Group::test_one", "test_a.py", id="also-from-a-class"),
        pytest.param(
            "def test_one(systemd: Machine): ...", "test_a.py::test_one", "test_a.py", id="with-the-machine-of-systemd"
        ),
    ],
)
def test_what_stays_together(tmp_path: Path, text: str, test: str, unit: str):
    (tmp_path / "test_a.py").write_text(text, encoding="utf-8")
    assert sharing.unit(tmp_path, test) == unit


PLAIN = """
import pytest

@pytest.mark.parametrize("one", range(6))
def test_it(one): ...

"""


@pytest.mark.parametrize(("text", "workers"), [(PLAIN, 2), (PLAIN + MODULE, 1)], ids=["spread", "whole"])
def test_workers_get_them_so(tmp_path: Path, text: str, workers: int):
    (tmp_path / "test_a.py").write_text(text, encoding="utf-8")
    words = [
        "-m",
        "pytest",
        "-v",
        "-n",
        "2",
        "--dist",
        "loadfile",
        "-p",
        "tests.sharing",
        "--rootdir",
        tmp_path,
        tmp_path,
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, *words], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    passed = [line.split()[0] for line in ran.stdout.splitlines() if " PASSED " in line]
    assert len(passed) == 6, ran.stdout
    assert len(set(passed)) == workers
