"""Who reaches whom: what is looked at, what counts as reached, and which failure is told first."""

import json

import pytest

from argus.core.errors import ArgusError, Code
from argus.environments.blueprint import Part, PortWish
from argus.environments.mocking.definition import Served
from argus.environments.networking import targets
from argus.environments.networking.matrix import Pair, Report, Topology
from argus.environments.networking.probing import Heard, heard
from argus.environments.networking.targets import Stands, Target

OK = Heard("ok", ("172.18.0.2",), True, 0.4)
REFUSED = Heard("ok", ("172.18.0.2",), error="refused")
TIMEOUT = Heard("ok", ("172.18.0.2",), error="timeout")
NAMELESS = Heard("NXDOMAIN", error="the name is not known")


def pair(target: str, said: Heard | None, *, mock: bool = False, port: int | None = 80) -> Pair:
    return Pair("api", "shop-api", Target(target, f"shop-{target}", target, port, mock), said)


def report(*pairs: Pair, topology: Topology | None = None) -> Report:
    everyone = ["shop-api", *(one.target.container for one in pairs)]
    return Report("net", pairs, topology or {"net": everyone}, 0, places={"shop-pay": ["other"]})


def failure(*pairs: Pair, topology: Topology | None = None) -> ArgusError:
    found = report(*pairs, topology=topology).failure()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "reachable", "listening"),
    [
        pytest.param(pair("db", OK), True, True, id="connected"),
        pytest.param(pair("db", REFUSED), True, False, id="a-refusal-is-an-answer"),
        pytest.param(pair("pay", REFUSED, mock=True), False, False, id="a-mock-must-listen"),
        pytest.param(pair("db", TIMEOUT), False, False, id="silence-is-none"),
        pytest.param(pair("db", NAMELESS), False, False, id="no-name-no-way"),
        pytest.param(pair("db", Heard("ok", ("10.0.0.1",)), port=None), True, None, id="its-name-is-all-it-has"),
        pytest.param(pair("db", NAMELESS, port=None), False, None, id="and-not-even-that"),
        pytest.param(pair("db", None), False, None, id="nobody-found-out"),
    ],
)
def test_what_counts_as_reached(one: Pair, reachable: bool, listening: bool | None) -> None:
    assert (one.is_reachable, one.is_listening) == (reachable, listening)


def test_where_all_is_reached_nothing_is_wrong() -> None:
    found = report(pair("db", OK), pair("pay", OK, mock=True))
    assert found.failure() is None
    public = found.public()
    assert public["allReachable"] is True
    assert public["networkTopology"]["containers"] == ["shop-api", "shop-db", "shop-pay"]


def test_a_name_outranks_a_port() -> None:
    error = failure(pair("db", TIMEOUT), pair("pay", NAMELESS))
    assert error.code is Code.DNS_RESOLUTION_FAILED
    assert (error.details["hostname"], error.details["expectedNetwork"]) == ("pay", "net")
    assert error.details["containersOnNetwork"] == ["shop-api", "shop-db", "shop-pay"]
    assert len(error.details["results"]) == 2


def test_one_that_is_on_another_network_is_not_a_failure_of_dns() -> None:
    error = failure(
        pair("db", OK), pair("pay", NAMELESS), topology={"net": ["shop-api", "shop-db"], "other": ["shop-pay"]}
    )
    assert error.code is Code.NETWORK_UNREACHABLE
    assert (error.details["service"], error.details["dns"]) == ("pay", "NXDOMAIN")
    assert error.details["networkTopology"]["networks"]["other"] == ["shop-pay"]


def test_a_service_that_is_itself_on_another_network_is_not_a_failure_of_dns() -> None:
    error = failure(pair("db", NAMELESS), topology={"net": ["shop-db"]})
    assert error.code is Code.NETWORK_UNREACHABLE
    assert "shop-api" in error.message


def test_every_other_is_looked_at_by_its_name_and_ports() -> None:
    web = Part(
        "API Server", "web", "web:1", ports=(PortWish(80, 8080), PortWish(80, 8081), PortWish(53, 53, "", "udp"))
    )
    parts = [
        Stands(Part("api", "api", "api:1", ports=(PortWish(1, 1),)), "api", "1"),
        Stands(Part(web.name, web.container, web.image, ports=web.ports, alias="API-Server"), "web", "2"),
        Stands(Part("dns", "dns", "dns:1", ports=(PortWish(53, 53, "", "udp"),), alias="dns"), "dns", "3"),
        Stands(Part("x" * 100, "y" * 100, "long:1", alias="x" * 100), "y" * 100, "4"),
        Stands(Part("long", "short", "long:1", alias="x" * 100), "short", "5"),
        Stands(
            Part(
                "pay", "shop-pay", "", ports=(PortWish(80, 9081),), is_mock=True, alias="pay", serves=Served("pay", 80)
            ),
            "shop-pay",
            "6",
        ),
    ]
    assert [one.word for one in targets.of("api", parts)] == ["API-Server:80", "dns", "short", "pay:80!"]


def test_what_the_helper_says_is_found_again_by_what_was_asked() -> None:
    said = {
        "name": "pay",
        "port": 80,
        "dns": "ok",
        "addresses": ["1.2.3.4"],
        "reachable": True,
        "ms": 0.2,
        "error": None,
    }
    alone = {
        "name": "db",
        "port": None,
        "dns": "NXDOMAIN",
        "addresses": [],
        "reachable": None,
        "ms": None,
        "error": "x",
    }
    lines = [
        json.dumps(said),
        "argus-helper: nonsense",
        "{}",
        "[]",
        json.dumps(alone),
        json.dumps({**said, "port": 81}),
    ]
    found = heard(lines, ["pay:80!", "db", "api:1"])
    assert found == {"pay:80!": Heard("ok", ("1.2.3.4",), True, 0.2), "db": Heard("NXDOMAIN", error="x")}
