"""`make demo`, as a newcomer runs it: to its end, with nothing left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.acceptance.harness import eventually
from tests.acceptance.yard import NOTHING, Project, Yard, ours
from tests.docker_engine import Engine, Refused

ROOT = Path(__file__).resolve().parents[2]
CLAUDE = ("session shop: waited until it was back", "the document: ", "its context: from 88 % to 2 %")
"""What only Claude Code does, which npm brings."""
MOMENTS = (
    "port 18080 of api was taken",
    "-db: back after restart 1",
    "the database answers for four seconds: tried again: a container failed meanwhile",
    "orders: passed, 8 passed",
    "payments: POST /charges -> 402",
    "Agent team-worker001 died, respawned as team-worker002 to continue task",
    "I was told: [argus] service accounts is down",
    "all is well; autonomy moderate",
    "at the end nothing is left behind",
)


@pytest.mark.req("US3.5", "US4.1")
def test_the_demo_breaks_a_shop_and_shows_it_repaired(docker: Engine, tmp_path: Path) -> None:
    # Somebody has brought the shop up by themselves, under the names it has in examples/.
    mine = docker.run("shop-db", "sleep", "600")
    docker.image("argus-demo-db:1")
    before = _images(docker)
    done = _demo(docker, tmp_path).communicate(timeout=300)[0]
    assert "Traceback" not in done
    assert "DEPRECATED" not in done
    assert "Enter tidies up" not in done, "nobody sits there"
    brought = any((ROOT / ".venv" / "agents").glob("claude-*"))
    moments = (*MOMENTS, *(CLAUDE if brought else ["Without Claude Code"]))
    assert [one for one in moments if one not in done] == [], done[-3000:]
    assert (docker.state("shop-db")["Running"], docker.starts("shop-db")) == (True, 1), "nothing of theirs is touched"
    assert docker.ask("GET", "/images/argus-demo-db:1/json")["Id"]
    assert [one["Id"] for one in docker.ask("GET", "/containers/json?all=1")] == [mine]
    assert _images(docker) == before
    _nothing_is_left(docker, tmp_path)


def test_whoever_interrupts_the_tour_and_again_while_it_tidies_up_finds_nothing_left(
    docker: Engine, tmp_path: Path
) -> None:
    before = _images(docker)
    demo = _demo(docker, tmp_path)
    assert demo.stdout is not None
    said = next(line for line in demo.stdout if line.startswith("$ argus env setup"))
    time.sleep(1.0)
    os.killpg(demo.pid, signal.SIGINT)
    for _ in range(3):
        time.sleep(0.5)
        os.killpg(demo.pid, signal.SIGINT)
    said += demo.communicate(timeout=120)[0]
    assert demo.returncode == 130, said
    assert "Tidying up" in said
    assert "Traceback" not in said
    assert docker.ask("GET", "/containers/json?all=1") == []
    assert _images(docker) == before
    _nothing_is_left(docker, tmp_path)


def test_the_example_comes_up_as_its_own_file_says(yard: Yard) -> None:
    made = Project(yard, yard.folder / "example", {})
    shutil.copytree(
        ROOT / "examples" / "shop", made.folder, ignore=shutil.ignore_patterns(".busybox"), dirs_exist_ok=True
    )
    (line,) = [one[1:] for one in (made.folder / "e2e.yaml").read_text().splitlines() if one.startswith("#     ")]
    documents = (ROOT / "docs" / "environments.md").read_text()
    assert f"    {line.strip()} && argus env build && argus env setup && argus env run\n" in documents
    assert made.refused("build")["code"] == "BUILD_FAILED", "without it"
    subprocess.run(["sh", "-ec", line], cwd=made.folder, check=True)
    try:
        assert made.env("build").code == 0
        made.up()
        ran = made.env("run")
        assert (ran.code, ran.json["totals"]["passed"]) == (0, 8), ran
        assert made.env("clean").code == 0
    finally:
        for image in ("argus-demo-api:1", "argus-demo-db:1"):
            with contextlib.suppress(Refused):
                yard.engine.ask("DELETE", f"/images/{image}")


def _demo(docker: Engine, folder: Path) -> subprocess.Popen[str]:
    words = [*docker.entering, sys.executable, str(ROOT / "scripts" / "demo.py"), "--fast"]
    environ = {"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    environ |= {"DOCKER_HOST": docker.url, "HOME": str(folder), "TMPDIR": str(folder)}
    out, err = subprocess.PIPE, subprocess.STDOUT
    return subprocess.Popen(words, env=environ, stdout=out, stderr=err, text=True, start_new_session=True)


def _images(docker: Engine) -> set[str]:
    return {tag for one in docker.ask("GET", "/images/json") for tag in one["RepoTags"] or ["<none>"]}


def _nothing_is_left(docker: Engine, folder: Path) -> None:
    assert ours(docker) == NOTHING
    assert list(folder.glob("argus-demo-*")) == []
    assert eventually(lambda: not _left(folder) and "nothing", f"no process is left: {_left(folder)}")


def _left(folder: Path) -> list[str]:
    """Programs that know the folder: services, agents, tmux, Argus."""
    everybody = psutil.process_iter(["cmdline", "environ"])
    named = ([*(one.info["cmdline"] or ()), *(one.info["environ"] or {}).values()] for one in everybody)
    return [" ".join(words)[:100] for words in named if any(str(folder) in word for word in words)]
