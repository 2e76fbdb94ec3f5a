"""The disk that holds Docker's data is small: seen before, and told as what it is when it runs full."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import docker_engine
from tests.acceptance.yard import COMMANDS, NOTHING, STAYS, Project, Yard, ours, service, stays
from tests.docker_engine import IMAGE, Engine

MB = 1 << 20


@pytest.fixture
def small() -> Iterator[Engine]:
    """Of the test's own: an engine whose disk ran full keeps half of what it could not make."""
    reason = docker_engine.missing()
    if reason:
        pytest.skip(reason)
    engine = Engine(room="96m")
    for image, command in COMMANDS.items():
        engine.image(image, *command)
    yield engine
    engine.end()


@pytest.fixture
def shop(small: Engine, tmp_path: Path) -> Iterator[Project]:
    yard = Yard(tmp_path / "argus", small)
    yard.configure([])
    yard.up()
    yield yard.project(services=[stays("db", "15432:5432")])
    yard.end()


def need(project: Project, threshold: int, **more: Any) -> None:
    settings = {"preflight": {"diskSpaceThreshold": f"{threshold}B"}}
    services = more.pop("services", [stays("db", "15432:5432")])
    project.write(project={"name": "shop"}, services=services, resilience=settings, **more)


def disk(project: Project) -> dict[str, Any]:
    report = project.env("preflight").json["healthReport"]
    return next(one for one in report["checks"] if one["name"] == "disk_space")


@pytest.mark.req("US2.3", "US1.2", "FR-R03", "FR-R05", "US2.5")
def test_room_is_judged_around_the_threshold_and_too_little_blocks(shop: Project, small: Engine) -> None:
    need(shop, MB)
    free = disk(shop)["details"]["availableBytes"]
    assert 0 < free < 96 * MB
    for threshold, status, code, severity in (
        (free // 2 - MB, "pass", None, None),
        (free // 2 + MB, "warn", "DISK_SPACE_LOW", "warning"),
        (free + MB, "fail", "DISK_SPACE_LOW", "fatal"),
    ):
        need(shop, threshold)
        found = disk(shop)
        assert (found["status"], found["code"], found["severity"]) == (status, code, severity), found
        assert bool(found["suggestedActions"]) == bool(code)
        assert found["details"]["requiredBytes"] == threshold
        assert abs(found["details"]["availableBytes"] - free) < MB
    for operation in ("build", "setup"):
        error = shop.refused(operation)
        assert (error["code"], error["category"], error["severity"]) == ("DISK_SPACE_LOW", "infrastructure", "fatal")
        assert error["details"]["requiredBytes"] == free + MB
        assert error["details"]["healthReport"]["overall"] == "unhealthy"
    assert ours(small) == NOTHING
    skipping = shop.env("preflight", "--skip-disk-check").json["healthReport"]
    assert (skipping["overall"], "disk_space" in {one["name"] for one in skipping["checks"]}) == ("healthy", False)
    shop.write(
        project={"name": "shop"}, services=[stays("db", "15432:5432")], resilience={"preflight": {"enabled": False}}
    )
    assert shop.up()["preflight"] is None


@pytest.mark.req("EC-R02", "EC-R08")
def test_a_build_that_runs_the_disk_full_says_so_with_what_is_left(shop: Project, small: Engine) -> None:
    need(shop, MB, services=[service("api", "big:1", "13080:1")])
    (shop.folder / "Dockerfile").write_text(f"FROM {IMAGE}\nRUN dd if=/dev/zero of=/big bs=1M count=200\n")
    error = shop.refused("build")
    assert (error["code"], error["severity"]) == ("DISK_SPACE_LOW", "fatal")
    assert isinstance(error["details"]["availableBytes"], int)
    assert {"free_disk_space", "prune_images"} <= set(error["suggestedActions"])
    assert shop.status["circuitBreaker"]["failureCount"] == 0


@pytest.mark.req("EC-R02", "EC-R08")
def test_a_setup_that_runs_the_disk_full_says_so_and_takes_back_what_it_made(shop: Project, small: Engine) -> None:
    # Every container is a copy of its image here, and for six of them there is no room.
    (shop.folder / "Dockerfile").write_text(f"FROM {STAYS}\nRUN dd if=/dev/zero of=/big bs=1M count=15\n")
    services = [service(f"s{n}", "heavy:1", f"1500{n}:1") for n in range(6)]
    need(shop, MB, services=services)
    assert shop.env("build", "--service", "s0").code == 0
    error = shop.refused("setup")
    assert (error["code"], error["severity"]) == ("DISK_SPACE_LOW", "fatal")
    assert isinstance(error["details"]["availableBytes"], int)
    assert ours(small) == NOTHING
