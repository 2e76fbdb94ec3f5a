"""What was brought up can be seen and taken away also when its file is gone, wrong, or says another name by now."""

from __future__ import annotations

import shutil

import yaml

from tests.acceptance.yard import NOTHING, Yard, ours, stays
from tests.docker_engine import Engine

DB = stays("db", "15432:5432", container={"volumes": ["data:/data"]})


def test_an_environment_whose_file_is_broken_or_gone_is_still_seen_and_cleaned(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[DB])
    run = shop.up()["runId"]
    (shop.folder / "e2e.yaml").write_text("project: [")
    yard.kill()
    yard.up()
    status = shop.status
    assert (status["state"], status["runId"], status["configProblem"]["code"]) == ("up", run, "CONFIG_INVALID")
    assert [(one["name"], one["state"]) for one in status["services"]] == [("db", "running")]
    assert shop.env("logs", "db").code == 0
    assert shop.refused("setup")["code"] == "CONFIG_INVALID"
    assert sorted(one["name"] for one in shop.env("clean").json["removed"]) == ["argusai-shop-network", "db"]
    assert shop.refused("status")["code"] == "CONFIG_INVALID", "nothing is on record any more"
    shop.write(project={"name": "shop"}, services=[DB])
    shop.up()
    elsewhere = yard.project(name="other", folder="other", services=[])
    shutil.move(shop.folder, shop.folder.with_name("moved"))
    there = ("--project-path", str(shop.folder))
    assert elsewhere.env("status", *there).json["configProblem"]["code"] == "CONFIG_NOT_FOUND"
    assert elsewhere.env("clean", "--force", *there).code == 0
    assert ours(docker) == NOTHING
    assert elsewhere.refused("clean", *there)["code"] == "CONFIG_NOT_FOUND"


def test_a_project_that_was_renamed_while_up_is_replaced_and_cleaned_as_one(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[DB], network={"name": "backbone"})
    first = shop.up()["runId"]
    beside = yaml.safe_dump({"project": {"name": "beside"}, "services": [stays("side", "15433:1")]})
    (shop.folder / "beside.yaml").write_text(beside)
    assert shop.env("setup", "-f", "beside.yaml").code == 0
    shop.write(project={"name": "store"}, services=[DB], network={"name": "backbone"})
    assert shop.status["runId"] == first
    done = shop.up()
    assert ours(docker, "shop")["containers"] == []
    assert ours(docker, "store") == {"containers": ["db"], "networks": ["backbone"], "volumes": []}
    assert [one["reassigned"] for one in done["portMappings"]] == [False]
    shop.write(project={"name": "shop"}, services=[DB], network={"name": "backbone"})
    shop.env("clean", "--force")
    assert ours(docker, "store") == ours(docker, "shop") == NOTHING
    assert ours(docker, "beside")["containers"] == ["side"], "another file of the folder is another environment"


def test_a_clean_that_could_not_begin_leaves_the_environment_up(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[DB])
    run = shop.up()["runId"]
    docker.freeze()
    try:
        assert shop.refused("clean")["code"] == "DOCKER_UNAVAILABLE"
    finally:
        docker.thaw()
    assert (shop.status["state"], shop.status["runId"]) == ("up", run)
    assert shop.env("preflight").json["healthReport"]["overall"] == "healthy", "it is no leftover either"
    shop.env("clean", "--force")
    assert ours(docker) == NOTHING
