"""What is said beforehand of restarts whose program is not there."""

from pathlib import Path
from typing import Any

import pytest

from argus.services import absent
from argus.services.settings import Health


def said(folder: Path, *restarts: Any) -> list[str]:
    services = [{"name": f"s{n}", "type": "tcp", "port": 1, "restart": one} for n, one in enumerate(restarts)]
    return absent.notices(Health.model_validate({"services": services}).services, str(folder))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of argus.yaml, with a program in it, and another one on the PATH."""
    places = [tmp_path / "here.sh", tmp_path / "bin" / "known"]
    places[1].parent.mkdir()
    for place in places:
        place.write_text("#!/bin/sh\n")
        place.chmod(0o700)
    (tmp_path / "plain.txt").write_text("no program")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return tmp_path


@pytest.mark.parametrize("program", ["{folder}/here.sh", "./here.sh", "bin/known", "known"])
def test_of_what_is_there_nothing_is_said(folder: Path, program: str):
    assert said(folder, {"command": [program.format(folder=folder), "argument"]}) == []


@pytest.mark.parametrize(
    ("program", "why"),
    [
        pytest.param("{folder}/gone.sh", "is not there", id="a-path"),
        pytest.param("./gone.sh", "is not there", id="a-path-from-the-folder-of-the-file"),
        pytest.param("known/gone", "is not there", id="a-path-below-no-folder"),
        pytest.param("{folder}/plain.txt", "cannot be executed", id="no-program"),
        pytest.param("{folder}", "cannot be executed", id="a-folder"),
        pytest.param("here.sh", "is not on the PATH", id="a-name-alone-is-looked-for-on-the-path"),
        pytest.param("gone", "is not on the PATH", id="a-name"),
        pytest.param("x" * 5000, "is not on the PATH", id="longer-than-any-name"),
    ],
)
def test_what_is_not_there_is_named_with_what_it_restarts(folder: Path, program: str, why: str):
    program = program.format(folder=folder)
    (found,) = said(folder, {"command": [program]})
    assert found.startswith(f"health.services: {program[:150]}")
    assert f" {why}: it restarts s0" in found
    assert len(found) < 500


def test_other_ways_to_restart_have_no_program_of_their_own(folder: Path):
    assert said(folder, "none", {"systemd": "api"}, {"docker": ["shop"]}, {"launchd": "com.example.api"}) == []


def test_one_program_of_many_services_is_said_once_and_many_programs_are_counted(folder: Path):
    (found,) = said(folder, *[{"command": ["gone"]}] * 8)
    assert "it restarts s0, s1, s2, s3, s4 and 3 more" in found
    many = said(folder, *[{"command": [f"gone-{n}"]} for n in range(30)])
    assert len(many) == 11
    assert many[-1] == "health.services: programs of 20 more restarts are not there or cannot be executed"
