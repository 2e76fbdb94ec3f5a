"""The record in PostgreSQL: the slice, a restart of Argus, and a server that cannot be used."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.acceptance.harness import Argus, WebServer, eventually, free_port, never
from tests.faults import Injection
from tests.postgresql import PASSWORD, Server


def use_store(argus: Argus, url: str) -> None:
    argus.write(argus.config.read_text(encoding="utf-8") + f"store:\n  url: '{url}'\n")


def everything_written(argus: Argus) -> str:
    return "".join(path.read_text(errors="replace") for path in argus.home.rglob("*") if path.is_file())


def test_the_slice_and_its_record_survive_a_restart_of_argus(argus: Argus, web: WebServer, database: str) -> None:
    argus.configure([web.service("repair")])
    use_store(argus, database)
    argus.up()
    argus.wait_until("web", "up")
    with argus.events() as stream:
        web.kill()
        seen = stream.until(lambda event: event.type == "service_recovered", "the recovery")
    story = ("service_down", "restart_started", "restart_finished", "service_recovered")
    assert [event.type for event in seen if event.type in story] == list(story)
    assert web.runs == 1
    argus.cli("services", "pause", "web", "--for", "1h")
    before = argus.journal()
    argus.down()

    argus.up()
    assert argus.journal()[: len(before)] == before
    assert argus.get("/api/state")["budget"]["left"] == 1
    assert argus.service("web")["pausedUntil"] is not None
    assert len(argus.get("/api/incidents")["incidents"]) == 1
    with argus.events(after=before[-1].id, follow="false") as stream:
        assert [event.type for event in stream if event.type == "reset"] == []
    argus.down()
    assert not (argus.home / "argus.db").exists()
    assert PASSWORD not in everything_written(argus)


def test_killed_in_the_middle_of_an_act_the_record_has_its_one_outcome(
    argus: Argus, web: WebServer, database: str
) -> None:
    argus.configure([web.service("repair", "block")])
    use_store(argus, database)
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("restart_started", "web")
    eventually(web.blocked.exists, "the command has repaired and goes on")
    argus.kill()
    argus.up()
    web.let_go()
    argus.wait_for("service_recovered", "web")
    assert len(argus.journal("restart_finished")) == 1
    assert web.runs == 1


@pytest.mark.fault("ST2")
async def test_the_server_goes_and_comes_and_argus_stays(
    argus: Argus, web: WebServer, postgres: Server, database: str, injected: Injection
) -> None:
    argus.configure([web.service("repair")])
    use_store(argus, database)
    argus.up()
    argus.wait_until("web", "up")
    following = argus.events(last="10000")
    with injected:
        await asyncio.to_thread(postgres.stop)
        web.kill()
        refused = argus.rest("PUT", "/api/autonomy", {"level": "full"})
        assert (refused.status, refused.error["code"]) == (503, "STORE_UNAVAILABLE")
        assert argus.get("/api/autonomy")["level"] == "moderate"
        await never(lambda: web.runs, "something was done that could not be recorded", seconds=1.5)
        await asyncio.to_thread(postgres.start)
        with following as stream:
            seen = stream.until(lambda event: event.type == "service_recovered", "the recovery, on the old connection")
    assert [event.id for event in seen] == [event.id for event in argus.journal()][: len(seen)]
    assert web.runs == 1
    assert len(argus.journal("restart_started")) == 1


async def test_an_outage_that_comes_and_goes_while_the_server_is_away_is_on_record_afterwards(
    argus: Argus, web: WebServer, postgres: Server, database: str
) -> None:
    argus.configure([web.service("repair")])
    use_store(argus, database)
    argus.up()
    argus.wait_until("web", "up")
    await asyncio.to_thread(postgres.stop)
    web.kill()
    down = argus.wait_until("web", "down")
    assert down["gate"] == "record"
    state = argus.get("/api/state")
    assert (state["well"], state["cursor"]) == (False, None)
    assert "wait to be written" in state["argus"]["store"]
    assert "PostgreSQL" in state["argus"]["store"]
    assert "Errno" not in state["argus"]["store"]
    web.start()
    argus.wait_until("web", "up")
    await asyncio.to_thread(postgres.start)

    recovered = argus.wait_for("service_recovered", "web")
    (outage,) = argus.journal("service_down")
    assert outage.data["incident"] == recovered.data["incident"]
    assert outage.data["timestamp"] < recovered.data["timestamp"]
    eventually(lambda: argus.get("/api/state")["argus"]["store"] == "ok", "the store is well")
    assert web.runs == 0


@pytest.mark.fault("ST5")
def test_two_on_one_database_are_refused_like_two_on_one_file(
    argus: Argus, database: str, tmp_path: Path, injected: Injection
) -> None:
    argus.configure()
    use_store(argus, database)
    argus.up()
    second = Argus(tmp_path / "second")
    second.configure()
    use_store(second, database)
    with injected:
        refused = second.cli("up", "--detach", "--json")
    assert (refused.code, refused.error["code"]) == (1, "ALREADY_RUNNING")
    assert refused.error["details"]["pid"] == argus.pid, "it says who holds it"
    assert refused.error["suggestedActions"] == ["end_other", "use_other_store"], "what this folder's own would mend"
    argus.kill()
    second.up()
    second.down()


def test_a_store_of_a_newer_argus_is_refused_and_left_as_it_is(argus: Argus, postgres: Server, database: str) -> None:
    argus.configure()
    use_store(argus, database)
    argus.up()
    argus.down()
    postgres.execute(database, "UPDATE argus.version SET version = 99")
    refused = argus.cli("up", "--detach", "--json")
    assert (refused.code, refused.error["code"]) == (1, "STORE_UNAVAILABLE")
    assert refused.error["details"]["storeVersion"] == 99


@pytest.mark.parametrize("place", ["file", "environment"])
@pytest.mark.parametrize("wrong", ["password", "port"])
def test_a_server_that_cannot_be_used_is_said_at_the_start_without_the_secret(
    argus: Argus, postgres: Server, database: str, wrong: str, place: str
) -> None:
    name = database.rpartition("?")[0].rpartition("/")[2]
    url = postgres.url(name, password="canary-wrong")
    if wrong == "port":
        url = f"postgresql://argus:canary-wrong@127.0.0.1:{free_port()}/{name}"
    argus.configure()
    if place == "file":
        use_store(argus, url)
    for form in (("--json",), ()):
        ran = argus.cli("up", "--detach", *form, env={"ARGUS_STORE": url} if place == "environment" else None)
        assert ran.code == 1
        assert "canary" not in ran.stdout + ran.stderr
        if form:
            assert ran.error["code"] == "STORE_UNAVAILABLE"
    assert argus.find() is None
    assert "canary" not in everything_written(argus)


def test_a_store_of_an_unknown_kind_is_refused_with_what_there_is(argus: Argus) -> None:
    argus.configure()
    use_store(argus, "mysql://user:canary-mysql@host/db")
    ran = argus.cli("up", "--detach", "--json")
    assert (ran.code, ran.error["code"]) == (2, "CONFIG_INVALID")
    assert [one["path"] for one in ran.error["details"]["errors"]] == ["store.url"]
    assert "canary" not in ran.stdout + ran.stderr


def test_without_asyncpg_it_is_said_how_this_one_is_installed_again(argus: Argus, database: str) -> None:
    argus.configure()
    use_store(argus, database)
    # A Python that cannot find it: the name is taken by a module that says what a missing one says.
    hidden = argus.folder / "hidden"
    hidden.mkdir()
    (hidden / "asyncpg.py").write_text("raise ModuleNotFoundError(\"No module named 'asyncpg'\", name='asyncpg')\n")
    ran = argus.cli("up", "--detach", "--json", env={"PYTHONPATH": str(hidden)})
    assert (ran.code, ran.error["code"]) == (2, "CONFIG_INVALID")
    assert f"{sys.executable} -m pip install -e " in ran.error["details"]["errors"][0]["message"]
