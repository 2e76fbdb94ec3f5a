"""Ports that others have: found, named, and replaced; also those that are lost at the last moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.harness import eventually
from tests.acceptance.yard import NOTHING, STAYS, WEB, Yard, ended, ours, service, stays, web
from tests.docker_engine import Engine
from tests.faults import Injection

Take = Callable[..., int]


def actual(done: dict[str, Any]) -> dict[str, int]:
    return {one["service"]: one["actualPort"] for one in done["portMappings"]}


def held(docker: Engine) -> dict[str, list[int]]:
    """Which host ports each container really has."""
    return {
        one["Names"][0].lstrip("/"): sorted({port["PublicPort"] for port in one["Ports"] if port.get("PublicPort")})
        for one in docker.ask("GET", "/containers/json")
    }


@pytest.mark.fault("EN1")
@pytest.mark.req("SC-R04", "NFR-R03", "FR-R12", "FR-R13")
def test_ten_taken_ports_are_mapped_and_their_holder_is_named(
    yard: Yard, docker: Engine, stranger: Take, injected: Injection
) -> None:
    wanted = range(13000, 13010)
    # Two services with five ports each: ten containers would only take longer.
    services = [stays(name, *(f"{port}:{port}" for port in wanted[n::2])) for n, name in enumerate(("one", "two"))]
    shop = yard.project(services=services)
    with injected:
        pid = stranger(*wanted)
        done = shop.up()
    assert [(one["originalPort"], one["reassigned"]) for one in sorted_by_port(done)] == [(one, True) for one in wanted]
    got = [one["actualPort"] for one in done["portMappings"]]
    assert len({*got, *wanted}) == 20
    assert sorted(port for several in held(docker).values() for port in several) == sorted(got)
    conflicts = yard.journal("port_conflict")
    assert sorted(one.data["port"] for one in conflicts) == list(wanted)
    assert {(one.data["pid"], one.data["command"]) for one in conflicts} == {(pid, "python")}
    assert len(yard.journal("port_reassigned")) == 10
    (check,) = [one for one in done["preflight"]["checks"] if one["name"] == "ports"]
    assert (check["status"], check["code"], len(check["details"]["taken"])) == ("warn", "PORT_CONFLICT", 10)


def sorted_by_port(done: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(done["portMappings"], key=lambda one: one["originalPort"])


@pytest.mark.req("EC-R07", "EC-R08")
def test_a_port_that_is_taken_after_it_was_chosen_begins_the_setup_anew_on_another(
    yard: Yard, docker: Engine, stranger: Take
) -> None:
    gate = yard.folder / "gate"
    gate.mkdir()
    first = web("first", "13080:8080")
    first["container"] |= {"volumes": [f"{gate}:/www/gate"]}
    first["container"]["healthcheck"] |= {"path": "/gate/open"}
    second = stays("second", "13090:1", dependsOn=["first"], vars={"second": "http://localhost:13090"})
    third = stays("third", "13100:1", container={"environment": {"SECOND": "{{config.second}}"}})
    shop = yard.project(services=[first, second, third])
    with yard.events(live="true") as stream:
        setting_up = shop.begin("setup")
        # All ports are chosen by now; that of the second is bound when the first is ready.
        stream.until(lambda one: one.type == "service_waiting", "the first is waited for")
        pid = stranger(13090)
        (gate / "open").touch()
        done = ended(setting_up).json
    moved = actual(done)["second"]
    assert moved != 13090
    assert held(docker)["second"] == [moved]
    assert f"SECOND=http://localhost:{moved}" in docker.ask("GET", "/containers/third/json")["Config"]["Env"]
    assert (actual(done)["first"], actual(done)["third"]) == (13080, 13100)
    (moving,) = yard.journal("port_reassigned")
    assert (moving.data["service"], moving.data["original"], moving.data["actual"]) == ("second", 13090, moved)
    (lost,) = yard.journal("port_conflict")
    assert (lost.data["service"], lost.data["port"], lost.data["pid"]) == ("second", 13090, pid)
    assert ours(docker)["containers"] == ["first", "second", "third"]


def test_where_ports_may_not_move_one_that_is_lost_at_the_last_moment_is_a_conflict(
    yard: Yard, docker: Engine, stranger: Take
) -> None:
    gate = yard.folder / "gate"
    gate.mkdir()
    first = web("first", "13080:8080")
    first["container"] |= {"volumes": [f"{gate}:/www/gate"]}
    first["container"]["healthcheck"] |= {"path": "/gate/open"}
    settings = {"network": {"portConflictStrategy": "fail"}}
    shop = yard.project(services=[first, stays("second", "13090:1", dependsOn=["first"])], resilience=settings)
    with yard.events(live="true") as stream:
        setting_up = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "the first is waited for")
        pid = stranger(13090)
        (gate / "open").touch()
        error = ended(setting_up).error
    assert (error["code"], error["details"]["port"]) == ("PORT_CONFLICT", 13090)
    assert (error["details"]["service"], error["details"]["pid"]) == ("second", pid)
    assert ours(docker) == NOTHING


@pytest.mark.req("US4.3")
def test_the_port_of_a_mock_moves_like_that_of_a_service(yard: Yard, docker: Engine, stranger: Take) -> None:
    stranger(14000)
    api = stays("api", "13080:1", vars={"pay": "http://localhost:14000/pay"})
    api["container"]["environment"] = {"PAY": "{{config.pay}}"}
    shop = yard.project(services=[api], mocks={"pay": {"port": 14000, "containerPort": 8080, "image": WEB}})
    done = shop.up()
    moved = actual(done)["pay"]
    assert moved != 14000
    (mock,) = done["mocks"]
    assert (mock["name"], [one["hostPort"] for one in mock["ports"]]) == ("pay", [moved])
    assert f"PAY=http://localhost:{moved}/pay" in docker.ask("GET", "/containers/api/json")["Config"]["Env"]
    assert [one["state"] for one in shop.status["mocks"]] == ["running"]


@pytest.mark.req("EC-R04")
def test_when_no_port_of_the_range_is_left_that_is_told_with_how_many_were_tried(
    yard: Yard, docker: Engine, stranger: Take
) -> None:
    stranger(13080, *range(20000, 20005))
    shop = yard.project(services=[stays("api", "13080:1")], isolation={"portRange": [20000, 20004]})
    error = shop.refused("setup")
    assert (error["code"], error["category"], error["severity"]) == ("PORT_EXHAUSTION", "network", "fatal")
    assert (error["details"]["attempts"], error["details"]["range"]) == (5, [20000, 20004])
    assert ours(docker) == NOTHING
    shop.write(project={"name": "shop"}, services=[stays("api", "13080:1")], isolation={"portRange": [20000, 20005]})
    assert actual(shop.up()) == {"api": 20005}


def test_a_privileged_port_is_never_chosen(yard: Yard, stranger: Take) -> None:
    stranger(81, 1023)
    shop = yard.project(services=[stays("one", "81:1"), stays("two", "1023:1"), stays("three", "65535:1")])
    stranger(65535)
    assert all(one >= 1024 for one in actual(shop.up()).values())


@pytest.mark.req("EC-R07")
def test_a_port_that_was_given_up_is_taken_again_once_it_is_free(yard: Yard, docker: Engine) -> None:
    taker = docker.run("taker", "httpd", "-f", "-p", "13080", host={"NetworkMode": "host"})
    shop = yard.project(services=[stays("api", "13080:1")])
    eventually(lambda: taken(shop.env("preflight").json), "the port is seen to be taken")
    assert actual(shop.up())["api"] != 13080
    docker.ask("DELETE", f"/containers/{taker}?force=1")
    assert actual(shop.up()) == {"api": 13080}


def taken(preflight: dict[str, Any]) -> list[Any]:
    (check,) = [one for one in preflight["healthReport"]["checks"] if one["name"] == "ports"]
    return list(check["details"]["taken"])


def test_both_protocols_of_one_port_stay_on_one_port(yard: Yard, docker: Engine, stranger: Take) -> None:
    shop = yard.project(services=[stays("dns", "13053:53/tcp", "13053:53/udp")])
    assert actual(shop.up()) == {"dns": 13053}
    shop.env("clean")
    stranger(13053)
    done = shop.up()
    assert held(docker)["dns"] == [actual(done)["dns"]]
    assert len(done["portMappings"]) == 1


@pytest.mark.req("US4.5", "EC-R05")
def test_environments_that_are_set_up_at_once_never_share_a_port(yard: Yard, docker: Engine) -> None:
    shops = [
        yard.project(name=f"shop{n}", folder=f"p{n}", services=[stays(f"a{n}", "13080:1"), stays(f"b{n}", "13081:1")])
        for n in range(4)
    ]
    begun = [shop.begin("setup") for shop in shops]
    done = [ended(one) for one in begun]
    assert [one.code for one in done] == [0] * 4, done
    ports = [port for one in done for port in actual(one.json).values()]
    assert len(set(ports)) == 8, ports
    assert sorted(port for several in held(docker).values() for port in several) == sorted(ports)


@pytest.mark.req("EC-R05")
def test_a_second_setup_of_one_environment_waits_for_the_first_and_replaces_it(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[web("api", "13080:8080"), service("db", STAYS, "15432:1")])
    begun = [shop.begin("setup") for _ in range(2)]
    done = [ended(one) for one in begun]
    assert [one.code for one in done] == [0, 0], done
    status = shop.status
    assert status["runId"] in {one.json["runId"] for one in done}
    assert all(one["state"] == "running" for one in status["services"])
    assert ours(docker)["containers"] == ["api", "db"]
    assert len(ours(docker)["networks"]) == 1
    assert {tuple(actual(one.json).values()) for one in done} == {(13080, 15432)}
    assert len(yard.journal("waiting_for_turn")) == 1


def test_ports_that_are_wanted_twice_or_in_the_way_of_each_other_move_as_little_as_they_can(
    yard: Yard, docker: Engine, stranger: Take
) -> None:
    stranger(13080)
    with docker.held(15402, "udp"):
        twice = stays("twice", "15000:80", "15000:81", "15100:1", "15100:1")
        services = [stays("api", "13080:1", "13081:2"), stays("bus", "13082:1"), stays("dns", "15402:53/udp"), twice]
        shop = yard.project(services=services)
        assert "twice publishes 15100:1/tcp more than once" in "".join(shop.env("init").json["warnings"])
        report = shop.env("preflight").json
        assert [one["port"] for one in taken(report)] == [13080, 15402]
        assert all(one["pid"] for one in taken(report))
        done = shop.up()
    moved = [(one["service"], one["originalPort"], one["actualPort"]) for one in done["portMappings"]]
    assert moved == [
        ("api", 13080, 13083),
        ("api", 13081, 13081),
        ("bus", 13082, 13082),
        ("dns", 15402, 15403),
        ("twice", 15000, 15000),
        ("twice", 15000, 15001),
        ("twice", 15100, 15100),
    ]
    assert sorted(held(docker)["twice"]) == [15000, 15001, 15100]
