"""What is watched when there is no configuration."""

import pytest

from argus import discovery
from argus.host.ports import Listener


def found(*listeners: Listener, own_port: int = 7117) -> list[tuple[str, str, int]]:
    return [(one.name, one.host, one.port) for one in discovery.services(listeners, own_port=own_port)]


@pytest.mark.parametrize(
    ("listener", "service"),
    [
        pytest.param(Listener("127.0.0.1", 80, 1, "nginx"), ("nginx-80", "127.0.0.1", 80), id="a-program-on-loopback"),
        pytest.param(Listener("0.0.0.0", 80, 1, "nginx"), ("nginx-80", "127.0.0.1", 80), id="on-every-address"),
        pytest.param(Listener("::", 80, 1, "nginx"), ("nginx-80", "127.0.0.1", 80), id="on-every-address-of-ipv6"),
        pytest.param(Listener("10.1.2.3", 80, 1, "nginx"), ("nginx-80", "10.1.2.3", 80), id="on-one-address"),
        pytest.param(Listener("127.0.0.1", 80, None, ""), ("port-80", "127.0.0.1", 80), id="a-program-nobody-may-see"),
        pytest.param(Listener("127.0.0.1", 80, 1, "-rf /"), ("rf-80", "127.0.0.1", 80), id="a-name-like-an-option"),
        pytest.param(Listener("127.0.0.1", 80, 1, "$(x)"), ("x-80", "127.0.0.1", 80), id="a-name-like-shell-text"),
        pytest.param(Listener("127.0.0.1", 80, 1, "\x1b[1m"), ("1m-80", "127.0.0.1", 80), id="a-name-like-a-colour"),
        pytest.param(Listener("127.0.0.1", 80, 1, "日本"), ("port-80", "127.0.0.1", 80), id="a-name-of-other-letters"),
    ],
)
def test_a_listener_becomes_a_service(listener: Listener, service: tuple[str, str, int]):
    assert found(listener) == [service]


def test_argus_itself_is_left_out():
    assert found(Listener("127.0.0.1", 7117, 1, "argus"), Listener("127.0.0.1", 80, 1, "x"), own_port=7117) == [
        ("x-80", "127.0.0.1", 80)
    ]


def test_nothing_that_was_found_is_restartable():
    assert [one.restart for one in discovery.services([Listener("127.0.0.1", 80, 1, "x")], own_port=1)] == [None]


def test_a_machine_full_of_listeners_is_watched_up_to_a_bound():
    listeners = [Listener("127.0.0.1", 1000 + place, 1, "x") for place in range(5000)]
    assert len(found(*listeners)) == 200


@pytest.mark.parametrize("program", ["a..b", "x...y"])
def test_no_name_of_a_program_keeps_argus_from_starting(program: str):
    assert len(found(Listener("127.0.0.1", 80, 1, program))) == 1
