"""Whether an installation is whole, asked of every Python that is here: they read a package's record differently."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import argus

_SOURCE = Path(argus.__file__).parent.parent
_LOOK = """
import dataclasses, json, sys
sys.path[:0] = sys.argv[1:]
from argus.cli.doctoring import needed, program
print(json.dumps([list(needed.lacking()), dataclasses.asdict(program.package(None))]))
"""


def pythons() -> Iterator[str]:
    found = {tuple(sys.version_info[:2]): sys.executable}
    for minor in (11, 12, 13):
        candidates = [shutil.which(f"python3.{minor}"), *Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")]
        for one in filter(None, candidates):
            ran = subprocess.run([one, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
            if ran.returncode == 0:
                found.setdefault((3, minor), ran.stdout.strip())
    yield from found.values()


@pytest.fixture(params=[pytest.param(one, id=Path(one).resolve().name) for one in pythons()])
def python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _installed(folder: Path, name: str, *files: str, needs: str = "") -> None:
    info = folder / f"{name}-{argus.__version__}.dist-info"
    info.mkdir(parents=True)
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {argus.__version__}\n{requires}"
    (info / "METADATA").write_text(about)
    (info / "RECORD").write_text("".join(f"{one},sha256=x,1\n" for one in files) + f"{info.name}/METADATA,,\n")


def _look(python: str, folder: Path) -> tuple[list[str], dict[str, Any]]:
    words = [python, "-I", "-S", "-c", _LOOK, str(folder), str(_SOURCE)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    lacking, package = json.loads(ran.stdout)
    return lacking, package


def test_a_file_that_is_gone_is_missed(python: str, tmp_path: Path) -> None:
    _installed(tmp_path, "argusd", "argus/gone.py", needs="hollow>=1")
    _installed(tmp_path, "hollow", "hollow/__init__.py")
    lacking, package = _look(python, tmp_path)
    assert lacking == ["hollow"]
    assert package["state"] == "bad"
    assert "argus/gone.py" in package["detail"]


@pytest.mark.parametrize("record", [None, b"", b"\xff\x00"], ids=["gone", "empty", "no-text"])
def test_without_a_record_nobody_says_that_it_is_whole(python: str, tmp_path: Path, record: bytes | None) -> None:
    _installed(tmp_path, "argusd")
    (kept,) = tmp_path.glob("*/RECORD")
    kept.unlink() if record is None else kept.write_bytes(record)
    assert _look(python, tmp_path)[1]["state"] == "bad"
