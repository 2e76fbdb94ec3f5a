"""What is told of environments that are not well, wherever the whole is shown: whose, why, and nothing secret."""

from __future__ import annotations

import os
import signal

import pytest

from tests.acceptance.harness import eventually, is_alive
from tests.acceptance.yard import COMMANDS, NOTHING, STAYS, Yard, ended, ours, service, stays, web
from tests.docker_engine import Engine

SECRET = "HuntEr2SecretPw99xyz"
SAYS = f"test -f /sick || exit 0; echo $(seq 40) cannot connect: postgres://app:{SECRET}@db.internal/shop; exit 1"


def test_what_a_health_check_prints_is_seen_and_kept_without_its_secrets(yard: Yard, docker: Engine) -> None:
    docker.image("sickly:1", *COMMANDS[STAYS], health=SAYS)
    resilience = {"container": {"restartDelay": "50ms", "maxRestarts": 1}}
    shop = yard.project(services=[service("db", "sickly:1")], resilience=resilience)
    shop.up()
    docker.execute("db", "touch", "/sick")
    yard.wait_for("restart_exhausted")
    (part,) = shop.status["services"]
    assert "cannot connect: postgres://" in part["guard"]["reason"]
    seen = [str(shop.status), yard.cli("context").stdout, str(yard.get("/api/state")), str(yard.journal())]
    assert all("health check" in one for one in seen[:2])
    assert yard.cli("down").code == 0  # what is written is then all in its files
    kept = [one.read_bytes().decode("latin-1") for one in yard.home.rglob("*") if one.is_file()]
    assert any("restart_exhausted" in one for one in kept)
    for at in range(len(SECRET) - 5):
        assert not [one for one in (*seen, *kept) if SECRET[at : at + 6] in one]


@pytest.mark.req("INFRA-01.8")
def test_one_that_was_interrupted_needs_somebody_and_two_of_one_name_are_told_apart(yard: Yard, docker: Engine) -> None:
    left = yard.project(folder="left", services=[stays("db"), stays("api")])
    right = yard.project(folder="right", services=[stays("cache")])
    left.up()
    right.up()
    docker.stop("db")
    yard.wait_for("container_left_alone")
    slow = web("slow")
    slow["container"]["healthcheck"] |= {"path": "/nothing"}
    third = yard.project("third", "third", services=[slow])
    setup = third.begin("setup")
    eventually(lambda: "slow" in ours(docker, "third")["containers"], "it is waited for")
    os.kill(yard.pid, signal.SIGKILL)
    eventually(lambda: not is_alive(yard.pid), "Argus is gone")
    ended(setup)
    yard.up()

    status = yard.cli("status")
    assert status.code == 1
    assert "needs you: environment third;" in status.stdout
    lines = [one for one in yard.cli("context").stdout.splitlines() if one.startswith("- environment")]
    assert lines[0].startswith("- environment third: INTERRUPTED (")
    assert lines[1:] == [
        f"- environment shop ({left.folder}): UP (1/2 containers well; db left alone: somebody stopped it)",
        f"- environment shop ({right.folder}): UP (1/1 containers well)",
    ]
    assert third.env("clean").code == 0
    assert yard.cli("status").code == 0


def test_a_setup_that_failed_leaves_nothing_and_says_why(yard: Yard, docker: Engine) -> None:
    docker.image("ends:1", "sh", "-c", "exit 3")
    shop = yard.project(services=[service("db", "ends:1")])
    shop.refused("setup")
    assert "- environment shop: FAILED (db ended with exit status 3)" in yard.cli("context").stdout.splitlines()
    status = yard.cli("status")
    assert (status.code, yard.get("/api/state")["needsYou"]) == (0, [])
    assert ours(docker) == NOTHING
