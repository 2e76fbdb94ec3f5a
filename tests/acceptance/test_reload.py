"""A changed argus.yaml is taken up whole or not at all, without a restart, and what did not change goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.acceptance.harness import Argus, Hook, WebServer, eventually, free_port, never, watched

Servers = Callable[..., list[WebServer]]


def change(argus: Argus, alter: Callable[[dict[str, Any]], object]) -> None:
    """Edits the file as a person would: what it does not touch stays."""
    settings = yaml.safe_load(argus.config.read_text(encoding="utf-8"))
    alter(settings)
    argus.write(yaml.safe_dump(settings, sort_keys=False))


def names(argus: Argus) -> list[str]:
    return [one["name"] for one in argus.get("/api/services")["services"]]


def services_of(settings: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = settings["health"]["services"]
    return found


@pytest.mark.parametrize("way", ["command", "signal", "rest"])
def test_services_come_and_go_with_the_file(argus: Argus, servers: Servers, way: str) -> None:
    web, api = servers("web", "api")
    argus.configure([watched("web", web.url)])
    argus.up()
    argus.wait_until("web", "up")

    change(argus, lambda s: s["health"].update(services=[watched("api", api.url)]))
    match way:
        case "command":
            said = argus.cli("reload", "--json")
            assert said.code == 0
            assert said.json["services"] == {"added": ["api"], "removed": ["web"], "changed": [], "unchanged": 0}
        case "rest":
            assert argus.rest("POST", "/api/reload").json["services"]["added"] == ["api"]
        case "signal":
            os.kill(argus.pid, signal.SIGHUP)

    event = argus.wait_for("config_reloaded")
    assert event.data["services"]["removed"] == ["web"]
    assert event.data["by"] == {"command": "cli", "signal": "signal", "rest": "token"}[way]
    assert names(argus) == ["api"]
    argus.wait_until("api", "up")
    assert argus.rest("GET", "/api/services/web").error["code"] == "SERVICE_NOT_FOUND"


def test_a_broken_file_is_refused_with_all_its_errors_and_the_old_one_stays_in_force(
    argus: Argus, web: WebServer
) -> None:
    argus.configure([watched("web", web.url)])
    argus.up()
    argus.wait_until("web", "up")
    before = argus.config.read_text(encoding="utf-8")

    argus.write("autonomy: full\nhealth:\n  services:\n    - {name: a, type: http}\n    - {name: b, type: smoke}\n")
    refused = argus.cli("reload", "--json")
    assert refused.code == 2
    assert refused.error["code"] == "CONFIG_INVALID"
    assert {one["line"] for one in refused.error["details"]["errors"]} == {4, 5}
    assert argus.rest("POST", "/api/reload").status == 400
    os.kill(argus.pid, signal.SIGHUP)
    event = argus.wait_for("reload_refused", count=3)
    assert (event.data["code"], event.data["by"]) == ("CONFIG_INVALID", "signal")

    assert names(argus) == ["web"]
    assert argus.get("/api/autonomy")["level"] == "moderate"
    web.kill()
    argus.wait_until("web", "down")

    argus.write(before)
    assert argus.cli("reload").code == 0


def test_a_file_that_is_gone_is_refused(argus: Argus, web: WebServer) -> None:
    argus.configure([watched("web", web.url)])
    argus.up()
    argus.config.unlink()
    refused = argus.cli("--config", str(argus.config), "reload", "--json")
    assert refused.error["code"] == "CONFIG_NOT_FOUND"
    assert names(argus) == ["web"]


def test_an_unchanged_service_keeps_its_outage_and_is_not_restarted_or_told_again(
    argus: Argus, servers: Servers, hook: Hook
) -> None:
    web, api = servers("web", "api")
    argus.configure([web.service("fail"), watched("api", api.url)], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("service_escalated", "web")
    before = argus.service("web")

    change(argus, lambda s: services_of(s)[1].update(interval="300ms"))
    said = argus.cli("reload", "--json").json
    assert said["services"] == {"added": [], "removed": [], "changed": ["api"], "unchanged": 1}
    after = argus.service("web")
    assert (after["state"], after["since"], after["incident"]) == ("down", before["since"], before["incident"])
    assert after["restarts"] == 1
    eventually(lambda: argus.service("web")["failures"] >= before["failures"] + 3, "it goes on being checked")
    assert (web.runs, len(argus.journal("service_down"))) == (1, 1)


def test_a_changed_service_is_judged_afresh_and_keeps_its_outage_until_it_is_well(
    argus: Argus, servers: Servers
) -> None:
    web, other = servers("web", "other")
    argus.configure([web.service("fail")])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("service_escalated", "web")
    incident = argus.service("web")["incident"]

    change(argus, lambda s: services_of(s)[0].update(url=other.url))
    assert argus.cli("reload", "--json").json["services"]["changed"] == ["web"]
    argus.wait_until("web", "up")
    assert argus.wait_for("service_recovered", "web").data["incident"] == incident
    assert web.runs == 1


async def test_changing_a_service_does_not_give_it_a_second_restart_in_its_outage(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("fail")], restartBudget={"maxPerHour": 5})
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("service_escalated", "web")
    change(argus, lambda s: services_of(s)[0].update(timeout="1s"))
    assert argus.cli("reload").code == 0
    eventually(lambda: argus.service("web")["failures"] >= 3, "it is judged again")
    await never(lambda: web.runs > 1, "a second restart", 1.0)


def test_a_service_that_is_taken_out_during_its_restart_still_gets_one_outcome(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("block", "repair")], verifyAfter="200ms")
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    eventually(web.blocked.exists, "the restart runs")
    kept = services_of(yaml.safe_load(argus.config.read_text(encoding="utf-8")))
    change(argus, lambda s: s["health"].update(services=[]))
    assert argus.cli("reload", "--json").json["services"]["removed"] == ["web"]
    (over,) = argus.get("/api/incidents")["incidents"]
    assert over["closed"] is not None
    web.gate.touch()
    finished = argus.wait_for("restart_finished")
    assert finished.data["outcome"] == "recovered"

    change(argus, lambda s: s["health"].update(services=kept))
    argus.cli("reload")
    argus.wait_until("web", "up")
    assert len(argus.journal("restart_finished")) == 1


def test_a_service_that_comes_back_while_its_restart_runs_is_not_restarted_beside_it(
    argus: Argus, web: WebServer
) -> None:
    argus.configure([web.service("block", "repair")], verifyAfter="200ms", restartBudget={"maxPerHour": 5})
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    eventually(web.blocked.exists, "the restart runs")
    kept = services_of(yaml.safe_load(argus.config.read_text(encoding="utf-8")))
    change(argus, lambda s: s["health"].update(services=[]))
    argus.cli("reload")
    change(argus, lambda s: s["health"].update(services=kept))
    argus.cli("reload")
    assert argus.service("web")["repairing"] is True
    assert argus.rest("POST", "/api/services/web/restart").error["code"] == "INVALID_STATE"
    web.gate.touch()
    argus.wait_until("web", "up")
    assert (web.runs, len(argus.journal("restart_finished"))) == (1, 1)


def test_a_changed_server_or_store_is_restart_needed_and_the_rest_is_taken_up(argus: Argus, servers: Servers) -> None:
    web, api = servers("web", "api")
    argus.configure([watched("web", web.url)])
    argus.up()
    url = argus.url
    elsewhere = free_port()

    def alter(settings: dict[str, Any]) -> None:
        settings["server"] = {"port": elsewhere}
        settings["store"] = {"url": f"sqlite://{argus.folder}/other.db"}
        services_of(settings).append(watched("api", api.url))

    change(argus, alter)
    shown = argus.cli("reload")
    assert shown.code == 0
    for name in ("server", "store"):
        assert (
            f"notice: the section `{name}` has changed: it is taken up when Argus is started again "
            "(argus down, then argus up --detach)"
        ) in shown.stdout
    said = argus.rest("POST", "/api/reload").json
    assert said["restartNeeded"] == ["server", "store"]
    assert names(argus) == ["api", "web"]
    assert argus.get("/api/state")["argus"]["url"] == url
    assert any("server" in notice for notice in argus.get("/api/state")["argus"]["notices"])

    change(argus, lambda s: s.pop("store"))
    assert argus.cli("reload", "--json").json["restartNeeded"] == ["server"]


def test_a_file_or_an_environment_that_is_not_there_is_said_by_the_reload(argus: Argus) -> None:
    argus.configure()
    argus.up()
    needing = {"command": ["sleep", "600"], "dependsOn": ["environment:shoop"]}

    def alter(settings: dict[str, Any]) -> None:
        settings["environments"] = ["nowhere/e2e.yaml"]
        settings["agents"] = {"configs": {"worker": needing}}

    change(argus, alter)
    shown = argus.cli("reload")
    assert shown.code == 0
    for said in (shown.stdout, argus.cli("reload").stdout):
        assert f"notice: environments[0]: there is no file {argus.folder}/nowhere/e2e.yaml" in said
        assert 'notice: agents.configs.worker.dependsOn: no file under `environments` is called "shoop"' in said
    assert len(argus.rest("POST", "/api/reload").json["notices"]) == 2


def test_autonomy_set_at_run_time_holds_until_the_files_value_changes(argus: Argus, web: WebServer) -> None:
    argus.configure([watched("web", web.url)], autonomy="observe")
    argus.up()
    assert argus.cli("autonomy", "full").code == 0
    change(argus, lambda s: s["health"].update(verifyAfter="1s"))
    argus.cli("reload")
    assert argus.get("/api/autonomy")["level"] == "full"

    change(argus, lambda s: s.update(autonomy="cautious"))
    assert argus.cli("reload", "--json").json["changed"] == ["autonomy"]
    assert argus.get("/api/autonomy")["level"] == "cautious"
    last = argus.journal("autonomy_changed")[-1].data
    assert (last["from"], last["to"], last["by"]) == ("full", "cautious", "cli")

    change(argus, lambda s: s.update(autonomy="observe"))
    argus.cli("reload")
    assert argus.get("/api/autonomy")["level"] == "observe"
    argus.down()
    argus.up()
    assert argus.get("/api/autonomy")["level"] == "observe"


def test_a_reload_that_cannot_be_recorded_changes_nothing(argus: Argus, servers: Servers) -> None:
    web, api = servers("web", "api")
    argus.configure([watched("web", web.url)])
    argus.up()
    argus.wait_until("web", "up")
    (argus.home / "argus.db").rename(argus.home / "elsewhere.db")
    change(argus, lambda s: s.update(autonomy="full"))
    change(argus, lambda s: services_of(s).append(watched("api", api.url)))
    refused = argus.cli("reload", "--json")
    assert refused.error["code"] == "STORE_UNAVAILABLE"
    assert (names(argus), argus.get("/api/autonomy")["level"]) == (["web"], "moderate")
    (argus.home / "elsewhere.db").rename(argus.home / "argus.db")
    eventually(lambda: argus.cli("reload").code == 0, "the reload is taken")
    assert (names(argus), argus.get("/api/autonomy")["level"]) == (["api", "web"], "full")


def test_a_new_channel_hears_what_comes_and_a_removed_one_nothing_more(argus: Argus, web: WebServer) -> None:
    first, second = Hook(), Hook()
    try:
        argus.configure([watched("web", web.url)], channels=[first.url])
        argus.up()
        argus.wait_until("web", "up")
        change(argus, lambda s: s["notify"].update(channels=[{"url": second.url}]))
        assert "notify" in argus.cli("reload", "--json").json["changed"]
        web.kill()
        second.wait_for("SERVICE DOWN: web")
        assert first.messages == []
    finally:
        first.close()
        second.close()


def test_without_a_file_the_first_one_that_appears_is_taken_up(argus: Argus, web: WebServer) -> None:
    argus.up("--port", "0")
    assert argus.get("/api/state")["argus"]["discovered"] is True
    argus.configure([watched("web", web.url)])
    said = argus.cli("reload", "--json").json
    assert said["file"] == str(argus.config)
    assert names(argus) == ["web"]
    state = argus.get("/api/state")["argus"]
    assert (state["discovered"], state["config"]) == (False, str(argus.config))


def test_nothing_changed_is_said_and_records_nothing(argus: Argus, web: WebServer) -> None:
    argus.configure([watched("web", web.url)])
    argus.up()
    before = len(argus.journal("config_reloaded"))
    said = argus.cli("reload", "--json").json
    assert (said["changed"], said["restartNeeded"]) == ([], [])
    assert len(argus.journal("config_reloaded")) == before


def test_a_command_that_outlives_argus_and_its_service_is_not_run_beside_itself(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("block", "repair")], verifyAfter="200ms", restartBudget={"maxPerHour": 5})
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    eventually(web.blocked.exists, "the restart runs")
    argus.kill()
    kept = services_of(yaml.safe_load(argus.config.read_text(encoding="utf-8")))
    change(argus, lambda s: s["health"].update(services=[]))
    argus.up()
    change(argus, lambda s: s["health"].update(services=kept))
    argus.cli("reload")
    assert argus.service("web")["repairing"] is True
    web.gate.touch()
    argus.wait_until("web", "up")
    assert (web.runs, len(argus.journal("restart_finished"))) == (1, 1)


def test_what_is_no_file_is_refused_at_once_and_the_next_reload_works(argus: Argus, web: WebServer) -> None:
    argus.configure([watched("web", web.url)])
    argus.up()
    good = argus.config.read_text(encoding="utf-8")
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/null", path)):
        argus.config.unlink()
        make(argus.config)
        assert argus.rest("POST", "/api/reload").error["code"] == "CONFIG_NOT_FOUND"
        argus.config.rmdir() if argus.config.is_dir() else argus.config.unlink()
        argus.write(good)
    with argus.config.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    assert argus.rest("POST", "/api/reload").error["code"] == "CONFIG_INVALID"
    argus.write(good)
    assert argus.cli("reload").code == 0
    assert names(argus) == ["web"]


def test_a_server_section_that_is_put_back_needs_no_restart_any_more(argus: Argus) -> None:
    argus.configure()
    argus.up()
    change(argus, lambda s: s.update(server={"port": free_port()}))
    assert argus.cli("reload", "--json").json["restartNeeded"] == ["server"]
    change(argus, lambda s: s.update(server={"port": 0}))
    said = argus.cli("reload", "--json").json
    assert (said["restartNeeded"], said["changed"]) == ([], [])
    assert argus.get("/api/state")["argus"]["notices"] == []
