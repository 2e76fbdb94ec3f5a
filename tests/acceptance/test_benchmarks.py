"""`make bench` runs: one quick round of some of its rows. What it measures then means nothing."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests import docker_engine
from tests.acceptance.browser import CHROMIUM

ROOT = Path(__file__).resolve().parents[2]


def bench(*settings: str) -> subprocess.CompletedProcess[str]:
    # A make that runs the tests hands its own settings down.
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    command = ["make", "bench", *settings]
    return subprocess.run(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )


def test_a_quick_round_prints_the_table_and_writes_every_figure(tmp_path: Path):
    out = tmp_path / "figures.json"
    done = bench("QUICK=1", "ROUNDS=1", "ONLY=journal checks commands", f"OUT={out}")
    assert done.returncode == 0, done
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if "|" in line]
    assert lines[0] == ["work", "floor", "peers", "Argus", "ratio", "goal", "verdict"]
    said = json.loads(out.read_text())
    checks = ["http check, saturated", "tcp check, saturated"]
    wanted = ["journal, SQLite", "journal, SQLite", *checks, "argus --help", "argus status"]
    assert [row["work"] for row in said["rows"]] == wanted
    assert [line[0] for line in lines[2:]] == [f"{row['work']}, {row['unit']}" for row in said["rows"]]
    assert all(len(row["argus"]) == len(row["ratios"]) >= 1 for row in said["rows"])
    assert {"cores", "python", "argusd"} <= set(said["machine"])


@pytest.mark.skipif(bool(docker_engine.missing()), reason=docker_engine.missing())
def test_a_quick_round_of_the_rows_on_environments_finds_everything_as_it_should_be(tmp_path: Path):
    # Each of them fails when the engine was asked, a holder is not named, or anything is left.
    out = tmp_path / "figures.json"
    done = bench("QUICK=1", "ROUNDS=1", "ONLY=refusal ports removal guardian", f"OUT={out}")
    assert done.returncode == 0, done
    *rows, back, decision = json.loads(out.read_text())["rows"]
    works = [row["work"].split(",")[0] for row in rows]
    assert works == ["CIRCUIT_OPEN over REST"] * 2 + ["10 taken ports"] * 2 + ["2 containers"] * 2
    assert len(back["argus"]) == len(back["ratios"]) == len(decision["argus"]) == 2
    assert all(len(row["argus"]) == len(row["ratios"]) == 1 for row in rows)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_quick_round_of_the_rows_on_the_page_shows_what_happens_in_a_browser(tmp_path: Path):
    out = tmp_path / "figures.json"
    done = bench("QUICK=1", "ROUNDS=1", "ONLY=page", f"OUT={out}")
    assert done.returncode == 0, done
    *timed, size = json.loads(out.read_text())["rows"]
    assert [row["work"].partition(": ")[2] for row in timed] == ["first data", "a service's event", "an agent's event"]
    assert all(len(row["argus"]) == len(row["ratios"]) == 1 for row in timed)
    assert 10 < size["argus"][0] < 150


def test_a_row_that_is_not_there_is_named_with_those_that_are():
    done = bench("ONLY=nonsense")
    assert done.returncode != 0
    assert "nonsense" in done.stderr
    assert "journal" in done.stderr
