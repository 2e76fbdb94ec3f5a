"""`make demo`, as a newcomer runs it: to its end, with nothing left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.acceptance.harness import eventually
from tests.acceptance.yard import NOTHING, ours
from tests.docker_engine import Engine

ROOT = Path(__file__).resolve().parents[2]
MOMENTS = (
    "port 18080 of api was taken",
    "shop-db: back after restart 1",
    "orders: passed, 8 passed",
    "payments: POST /charges -> 402",
    "Agent team-worker001 died, respawned as team-worker002 to continue task",
    "I was told: [argus] service payments is down",
    "session shop: waits until it is back",
    "the document: ",
    "all is well; autonomy moderate",
    "At the end nothing is left behind",
)


@pytest.mark.req("US3.5", "US4.1")
def test_the_demo_breaks_a_shop_and_shows_it_repaired(docker: Engine, tmp_path: Path) -> None:
    words = [*docker.entering, sys.executable, str(ROOT / "scripts" / "demo.py"), "--fast"]
    environ = {"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    environ |= {"DOCKER_HOST": docker.url, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert [one for one in MOMENTS if one not in done.stdout] == []
    assert ours(docker) == NOTHING
    assert docker.ask("GET", "/containers/json?all=1") == []
    assert list(tmp_path.glob("argus-demo-*")) == []
    assert eventually(lambda: not _left() and "nothing", f"no process is left: {_left()}")


def _left() -> list[str]:
    """Programs that were given something there: services, agents, tmux, Argus."""
    everybody = psutil.process_iter(["cmdline", "environ"])
    named = ([*(one.info["cmdline"] or ()), *(one.info["environ"] or {}).values()] for one in everybody)
    return [" ".join(words)[:100] for words in named if any("argus-demo-" in word for word in words)]
