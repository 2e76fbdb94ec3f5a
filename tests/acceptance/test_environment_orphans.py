"""What dead runs left is removed, and nothing else: not the living, not other projects', not strangers'."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.yard import NOTHING, SHOP, Project, Yard, leave, ours, service, stays
from tests.docker_engine import Engine
from tests.faults import Injection


@pytest.fixture
def shop(yard: Yard) -> Project:
    return yard.project(services=[stays("db", "15432:5432")])


@pytest.fixture
def second(docker: Engine, tmp_path: Path) -> Iterator[Yard]:
    """Another Argus on the same machine, with a state folder of its own."""
    made = Yard(tmp_path / "second", docker)
    made.configure([])
    made.up()
    yield made
    made.end()


def found(project: Project) -> list[str]:
    report = project.env("preflight").json["healthReport"]
    (check,) = [one for one in report["checks"] if one["name"] == "orphan_resources"]
    return sorted(one["name"] for one in check["details"]["orphans"])


@pytest.mark.fault("EN3")
@pytest.mark.fault("EN4")
@pytest.mark.req("US5.1", "US5.2", "US5.6", "US2.6", "NFR-R02", "FR-R15", "FR-R16", "US8.5")
def test_all_that_a_dead_run_left_goes_and_what_is_others_stays(
    yard: Yard, docker: Engine, shop: Project, injected: Injection
) -> None:
    docker.run("strange")
    docker.run("half", Labels={"argusai.managed": "true"})
    docker.run("unmanaged", Labels={"argusai.project": "shop"})
    docker.run("longer", Labels={**SHOP, "argusai.project": "shop2"})
    docker.ask("POST", "/networks/create", {"Name": "others", "Labels": {**SHOP, "argusai.project": "other"}})
    docker.ask("POST", "/volumes/create", {"Name": "others", "Labels": {**SHOP, "argusai.project": "other"}})
    leave(docker, containers=20, networks=5, volumes=5)
    with injected:
        done = shop.up()
        fixed = shop.env("preflight", "--auto-fix").json
    assert len(done["orphanCleanup"]["removed"]) == 25
    assert {len(one["id"]) for one in done["orphanCleanup"]["removed"]} == {64}
    assert 0 < done["orphanCleanup"]["duration"] <= done["totalDuration"]
    assert done["preflight"]["overall"] == "degraded", "volumes are reported, and kept"
    assert len(fixed["fixed"]["removed"]) == 5
    assert (fixed["healthReport"]["overall"], fixed["found"]["overall"]) == ("healthy", "degraded")
    assert ours(docker) == {"containers": ["db", "unmanaged"], "networks": [done["network"]], "volumes": []}
    for name in ("strange", "half", "unmanaged", "longer"):
        assert docker.state(name)["Running"], name
    assert ours(docker, "other") == {"containers": [], "networks": ["others"], "volumes": ["others"]}
    told = yard.journal("cleanup_resource")
    assert len([one for one in told if one.data["action"] == "removed"]) == 30
    assert {one.data["resourceType"] for one in told} == {"container", "network", "volume"}


@pytest.mark.fault("EN6")
@pytest.mark.req("US5.3", "FR-R17")
def test_one_removal_that_is_refused_is_told_once_and_stops_nothing(
    yard: Yard, docker: Engine, shop: Project, injected: Injection
) -> None:
    leave(docker, containers=3, networks=2)
    docker.run("strange", host={"NetworkMode": "left-net1"})
    with injected:
        done = shop.up()
    cleanup = done["orphanCleanup"]
    assert sorted(one["name"] for one in cleanup["removed"]) == ["left-net0", "left0", "left1", "left2"]
    (failed,) = cleanup["failed"]
    assert (failed["type"], failed["name"], "endpoints" in failed["error"]) == ("network", "left-net1", True)
    told = [one for one in yard.journal("cleanup_resource") if one.data["name"] == "left-net1"]
    assert len(told) == 1
    assert docker.state("strange")["Running"]
    error = shop.refused("clean", "--force")
    assert (error["code"], error["category"], error["severity"]) == ("CLEANUP_FAILED", "container", "warning")
    assert [one["name"] for one in error["details"]["failed"]] == ["left-net1"]
    assert ours(docker) == {"containers": [], "networks": ["left-net1"], "volumes": []}
    assert docker.state("strange")["Running"]


@pytest.mark.req("FR-R17")
def test_a_network_of_its_own_with_a_stranger_on_it_is_left_and_the_next_setup_uses_another(
    yard: Yard, docker: Engine, shop: Project
) -> None:
    first = shop.up()
    docker.run("strange", host={"NetworkMode": first["network"]})
    error = shop.refused("clean")
    assert (error["code"], [one["name"] for one in error["details"]["removed"]]) == ("CLEANUP_FAILED", ["db"])
    assert shop.status["state"] == "interrupted"
    done = shop.up()
    assert done["network"] != first["network"]
    docker.ask("DELETE", "/containers/strange?force=1")
    shop.env("clean", "--force")
    assert ours(docker) == NOTHING


@pytest.mark.req("US5.4", "US2.4")
def test_where_leftovers_are_not_to_be_cleaned_they_are_told_and_kept(yard: Yard, docker: Engine) -> None:
    leave(docker, containers=1, networks=1)
    shop = yard.project(services=[stays("db", "15432:5432")], resilience={"preflight": {"cleanOrphans": False}})
    done = shop.up()
    assert [done["orphanCleanup"][key] for key in ("found", "removed", "failed")] == [[], [], []]
    (check,) = [one for one in done["preflight"]["checks"] if one["name"] == "orphan_resources"]
    assert (check["status"], check["code"]) == ("warn", "ORPHAN_DETECTED")
    for one in check["details"]["orphans"]:
        assert (one["project"], one["runId"], bool(one["createdAt"])) == ("shop", "gone", True)
    again = shop.up()
    assert [one["name"] for one in again["orphanCleanup"]["removed"]] == ["db", done["network"]], "its own are replaced"
    assert ours(docker) == {
        "containers": ["db", "left0"],
        "networks": ["argusai-shop-network", "left-net0"],
        "volumes": [],
    }


@pytest.mark.req("US5.5", "US2.1")
def test_where_nothing_was_left_cleaning_is_done_at_once(yard: Yard, shop: Project) -> None:
    done = shop.up()
    assert [done["orphanCleanup"][key] for key in ("found", "removed", "failed")] == [[], [], []]
    assert done["preflight"]["overall"] == "healthy"
    for words in ((), ("--force",)):
        shop.env("clean", *words)
        again = shop.env("clean", *words)
        assert (again.code, again.json["removed"]) == (0, []), again


@pytest.mark.req("EC-R05")
def test_what_another_argus_runs_stays_while_it_lives_or_is_taken_over_and_goes_when_it_is_dead(
    yard: Yard, second: Yard, docker: Engine, shop: Project
) -> None:
    theirs = second.project(services=[stays("theirs", "15001:1")])
    run = theirs.up()["runId"]
    assert found(shop) == []
    shop.up()
    second.kill()
    second.up()
    assert found(shop) == [], "its successor on the same state folder has taken it over"
    shop.up()
    assert (theirs.status["state"], theirs.status["runId"]) == ("up", run)
    second.kill()
    assert [one for one in found(shop) if one.startswith("theirs")] == ["theirs"]
    done = shop.up()
    assert "theirs" in {one["name"] for one in done["orphanCleanup"]["removed"]}
    assert ours(docker) == {"containers": ["db"], "networks": [done["network"]], "volumes": []}


@pytest.mark.req("EC-R05")
def test_an_owner_that_cannot_be_looked_at_counts_as_alive(yard: Yard, docker: Engine, shop: Project) -> None:
    elsewhere = {"host": "elsewhere", "boot": "b", "pid": 1, "started": "1"}
    shop.up()
    owner = json.loads(docker.ask("GET", "/containers/db/json")["Config"]["Labels"]["argusai.owner"])
    homeless = {name: owner[name] for name in ("host", "boot", "pid", "started")}
    said = {
        "away": json.dumps({**elsewhere, "home": "/state"}),
        "homeless": json.dumps(elsewhere),
        "lives": json.dumps(homeless),
        "odd": "elsewhere:b:1:1",
        "deep": "[" * 3000,
        "nul": json.dumps({**homeless, "pid": 1, "started": "none", "home": "/\0"}),
    }
    for name, text in said.items():
        docker.run(name, Labels={**SHOP, "argusai.owner": text})
    docker.run("dead", Labels={**SHOP, "argusai.owner": json.dumps({**homeless, "started": "none"})})
    assert found(shop) == ["dead"]
    shop.up()
    shop.env("clean", "--force")
    assert ours(docker) == {"containers": sorted(said), "networks": [], "volumes": []}


def test_of_another_boot_of_this_machine_nothing_is_alive(yard: Yard, docker: Engine, shop: Project) -> None:
    shop.up()
    labels = docker.ask("GET", "/containers/db/json")["Config"]["Labels"]
    owner = {**json.loads(labels["argusai.owner"]), "boot": "another", "home": "/another"}
    leave(docker, containers=1, **{"argusai.owner": json.dumps(owner)})
    assert found(shop) == ["left0"]


def test_a_volume_that_a_live_run_uses_is_no_leftover(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[stays("db", "15432:5432", container={"volumes": ["data:/data"]})])
    shop.up()
    shop.up()
    assert found(shop) == [], "made by the run before, and used by this one"
    fixed = shop.env("preflight", "--auto-fix").json
    assert (fixed["healthReport"]["overall"], fixed["fixed"]["failed"]) == ("healthy", [])
    assert ours(docker)["volumes"] == ["data"]
    shop.env("clean", "--force")
    assert ours(docker) == NOTHING


def test_leftovers_are_removed_on_demand_also_where_the_look_at_them_is_skipped(
    yard: Yard, docker: Engine, shop: Project
) -> None:
    leave(docker, containers=1, networks=1, volumes=1)
    fixed = shop.env("preflight", "--auto-fix", "--skip-orphan-check").json
    assert {one["name"] for one in fixed["healthReport"]["checks"]}.isdisjoint({"orphan_resources"})
    assert sorted(one["name"] for one in fixed["fixed"]["removed"]) == ["left-data0", "left-net0", "left0"]
    assert ours(docker) == NOTHING


def test_volumes_without_a_name_go_with_their_container_and_are_told_so(yard: Yard, docker: Engine) -> None:
    docker.image("keeps:1", "sh", "-c", "trap exit TERM; while :; do sleep 600 & wait; done", volume="/kept")
    shop = yard.project(services=[service("db", "keeps:1", "15432:1", container={"volumes": ["/more", "data:/data"]})])
    shop.up()
    mounted = {one["Name"] for one in docker.ask("GET", "/containers/db/json")["Mounts"]}
    assert len(mounted) == 3
    for words, kept in (((), {"data"}), (("--force",), set())):
        gone = shop.env("clean", *words).json
        removed = {one["name"] for one in gone["removed"] if one["type"] == "volume"}
        assert removed == (mounted - {"data"} if not words else {"data"})
        assert {one["name"] for one in gone["found"] if one not in gone["removed"]} == kept
        assert {one["Name"] for one in docker.ask("GET", "/volumes")["Volumes"] or ()} == kept
