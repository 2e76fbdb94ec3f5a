"""What `make up` says at its end, with a stand-in for Argus."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = """#!/bin/sh
[ "$1" = up ] || exit 3
echo "Argus is up"
exit {code}
"""
SAID = "argus is not on your PATH: it is .venv/bin/argus here."


@pytest.mark.parametrize(
    ("is_on_the_path", "code", "said"),
    [
        pytest.param(False, 0, ["Argus is up", SAID], id="says-where-argus-is"),
        pytest.param(True, 0, ["Argus is up"], id="not-to-whoever-has-it-on-the-path"),
        pytest.param(False, 2, ["Argus is up", SAID], id="also-where-it-did-not-come-up-and-says-argus-up"),
    ],
)
def test_make_up_says_where_argus_is(tmp_path: Path, is_on_the_path: bool, code: int, said: list[str]):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "requirements-dev.lock"):
        (tmp_path / name).touch()
    program = tmp_path / ".venv" / "bin" / "argus"
    program.parent.mkdir(parents=True)
    program.write_text(STAND_IN.format(code=code), encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / ".venv" / ".stamp").touch()
    path = [*([str(program.parent)] if is_on_the_path else []), "/usr/bin", "/bin"]
    ran = subprocess.run(
        ["make", "up"], cwd=tmp_path, env={"PATH": ":".join(path)}, capture_output=True, text=True, timeout=30
    )
    assert (ran.returncode, ran.stdout.splitlines()) == (code, said), ran.stderr
