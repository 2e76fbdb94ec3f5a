"""Before any test runs, every service is seen reaching the others and the mocks; and what is in the way is named."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.acceptance.harness import eventually
from tests.acceptance.yard import NOTHING, Project, Yard, ended, ours, service, stays, web
from tests.docker_engine import Engine
from tests.faults import Injection

PAY = {"port": 19081, "routes": [{"method": "GET", "path": "/", "response": {"body": "paid"}}]}
NETWORK = "argusai-shop-network"


def probes(docker: Engine) -> list[str]:
    query = urlencode({"all": 1, "filters": json.dumps({"label": ["argusai.role=probe"]})})
    return [one["Names"][0] for one in docker.ask("GET", f"/containers/json?{query}")]


@pytest.mark.req("US7.1")
@pytest.mark.req("US7.4")
@pytest.mark.req("FR-R23")
def test_every_service_is_seen_to_reach_every_other_and_every_mock(yard: Yard, docker: Engine) -> None:
    names = stays("names", "15353:5353/udp")
    shop = yard.project(services=[web("api", "13080:8080"), stays("db", "15432:5432"), names], mocks={"pay": PAY})
    found = shop.up()["networkVerification"]
    assert found["allReachable"] is True
    assert found["networkTopology"]["networkName"] == NETWORK
    assert sorted(found["networkTopology"]["containers"]) == ["api", "db", "names", "shop-pay"]
    pairs = {(one["from"], one["service"]): one for one in found["results"]}
    services = ("api", "db", "names")
    assert set(pairs) == {(one, other) for one in services for other in (*services, "pay") if one != other}
    assert all(one["dnsResolved"] and one["addresses"] for one in found["results"])
    for source in services:
        mock = pairs[source, "pay"]
        assert (mock["hostname"], mock["port"], mock["listening"], mock["error"]) == ("pay", 19081, True, None)
        assert mock["latencyMs"] > 0
    assert pairs["db", "api"]["listening"] is True
    # Nobody listens there: that is the service's own business, and the network is well.
    assert (pairs["api", "db"]["listening"], pairs["api", "db"]["reachable"]) == (False, True)
    # Nothing that could be connected to: its name alone.
    assert (pairs["api", "names"]["port"], pairs["api", "names"]["reachable"]) == (None, True)
    checks = {one.data["service"]: one.data["reachable"] for one in yard.journal("network_check")}
    assert checks == dict.fromkeys(("api", "db", "names", "pay"), True)
    (verified,) = yard.journal("network_verified")
    assert verified.data["allReachable"] is True
    assert probes(docker) == []
    # Where it is not wanted, nobody looks.
    shop.write(
        project={"name": "shop"},
        services=[stays("db", "15432:5432"), names],
        resilience={"network": {"verifyConnectivity": False}},
    )
    assert shop.up()["networkVerification"] is None


class Waiting:
    """A setup that waits with everything started, until it may go on to look at the network."""

    def __init__(self, yard: Yard, **mocks: Any) -> None:
        slow = web("slow", "13081:8080")
        slow["container"]["healthcheck"] |= {"path": "/go/on"}
        slow["container"]["volumes"] = ["./go:/www/go"]
        self.shop: Project = yard.project(services=[stays("db", "15432:5432"), slow], mocks=mocks)
        (self.shop.folder / "go").mkdir()
        self._process = self.shop.begin("setup")
        ready = ("db", *mocks)
        eventually(
            lambda: {one.data["service"] for one in yard.journal("service_ready")} >= set(ready), "the others are ready"
        )

    def go_on(self) -> dict[str, Any]:
        """What it fails with."""
        (self.shop.folder / "go" / "on").touch()
        ran = ended(self._process)
        assert ran.code != 0, ran
        return ran.error


@pytest.mark.fault("EN8")
@pytest.mark.req("US7.2")
@pytest.mark.req("FR-R23")
def test_a_mock_on_the_wrong_network_is_not_reachable_and_it_is_told_who_is_where(
    yard: Yard, docker: Engine, injected: Injection
) -> None:
    setup = Waiting(yard, pay=PAY)
    docker.ask("POST", "/networks/create", {"Name": "elsewhere"})
    with injected:
        docker.ask("POST", f"/networks/{NETWORK}/disconnect", {"Container": "shop-pay", "Force": True})
        docker.ask("POST", "/networks/elsewhere/connect", {"Container": "shop-pay"})
        error = setup.go_on()
    assert (error["code"], error["category"]) == ("NETWORK_UNREACHABLE", "network")
    assert {"check_network", "read_topology"} <= set(error["suggestedActions"])
    details = error["details"]
    assert (details["service"], details["hostname"]) == ("pay", "pay")
    assert details["dns"] in ("NXDOMAIN", "SERVFAIL", "no answer")  # as whoever the engine asks for other names says
    assert (details["expectedNetwork"], details["containersOnNetwork"]) == (NETWORK, ["db", "slow"])
    assert details["networkTopology"]["networks"] == {NETWORK: ["db", "slow"], "elsewhere": ["shop-pay"]}
    # All pairs were looked at, also those that are well.
    reached = {(one["from"], one["service"]): one["reachable"] for one in details["results"]}
    assert reached == {
        ("db", "slow"): True,
        ("db", "pay"): False,
        ("slow", "db"): True,
        ("slow", "pay"): False,
    }
    (verified,) = yard.journal("network_verified")
    assert verified.data["allReachable"] is False
    assert ours(docker) == NOTHING


@pytest.mark.req("US7.5")
@pytest.mark.req("FR-R23")
def test_a_name_that_is_not_resolved_outranks_a_port_that_is_not_reached(yard: Yard, docker: Engine) -> None:
    setup = Waiting(yard, pay=PAY)
    pid = docker.state("db")["Pid"]
    # Of `db` the name server is cut off; and to `slow` nobody gets through.
    docker.inside("nsenter", f"--target={pid}", "--net", "iptables", "-A", "OUTPUT", "-d", "127.0.0.11", "-j", "DROP")
    slow = docker.state("slow")["Pid"]
    drop = ("-A", "INPUT", "-p", "tcp", "--dport", "8080", "!", "-i", "lo", "-s", _address(docker, "db"), "-j", "DROP")
    docker.inside("nsenter", f"--target={slow}", "--net", "iptables", *drop)
    error = setup.go_on()
    assert (error["code"], error["category"]) == ("DNS_RESOLUTION_FAILED", "network")
    details = error["details"]
    assert (details["source"], details["hostname"], details["dns"]) == ("db", "slow", "no answer")
    assert (details["expectedNetwork"], details["containersOnNetwork"]) == (NETWORK, ["db", "shop-pay", "slow"])
    assert all(one["reachable"] for one in details["results"] if one["from"] == "slow")
    assert ours(docker) == NOTHING


def _address(docker: Engine, container: str) -> str:
    settings = docker.ask("GET", f"/containers/{container}/json")["NetworkSettings"]
    return str(settings["Networks"][NETWORK]["IPAddress"])


@pytest.mark.req("US7.3")
@pytest.mark.req("FR-R24")
def test_a_health_check_that_times_out_tells_what_it_said_and_what_is_reached_from_inside(
    yard: Yard, docker: Engine
) -> None:
    docker.image("says:1", "sh", "-c", "echo hello from inside; mkdir /www; exec httpd -f -p 127.0.0.1:8080 -h /www")
    health = {"path": "/health", "port": 8080, "interval": "1s", "timeout": "1s", "retries": 1, "startPeriod": "1s"}
    api = service("api", "says:1", "13080:8080", container={"healthcheck": health}, dependsOn=["db"])
    shop = yard.project(services=[api, stays("db", "15432:5432")], mocks={"pay": PAY})
    error = shop.refused("setup")
    assert error["code"] == "HEALTH_CHECK_TIMEOUT"
    details = error["details"]
    assert details["service"] == "api"
    assert "/health" in details["healthOutput"]
    assert details["logs"] == ["hello from inside"]
    told = {(one["service"], one["hostname"]): one for one in details["connectivity"]}
    # It listens, and only to itself: that is what is wrong with it.
    assert told["api", "127.0.0.1"]["listening"] is True
    assert told["pay", "pay"]["listening"] is True
    assert (told["db", "db"]["reachable"], told["db", "db"]["listening"]) == (True, False)
    assert {one["hostname"]: one["resolved"] for one in details["dns"]} == {"db": True, "pay": True}

    # The same when the time of the whole setup is over.
    health |= {"retries": 100}
    shop.write(project={"name": "shop"}, services=[api, stays("db", "15432:5432")])
    error = shop.refused("setup", "--timeout", "3s")
    assert error["code"] == "HEALTH_CHECK_TIMEOUT"
    found = error["details"]["diagnostics"]["api"]
    assert "/health" in found["healthOutput"]
    assert [(one["hostname"], one["resolved"]) for one in found["dns"]] == [("db", True)]
    assert ours(docker) == NOTHING
