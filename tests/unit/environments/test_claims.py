"""Which ports of a service can share a number on the host, and which need two."""

from __future__ import annotations

import pytest

from argus.environments import claims
from argus.environments.blueprint import Blueprint, Part, PortWish
from argus.environments.ports import Wanted

TCP = PortWish(80, 8000)
UDP = PortWish(80, 8000, protocol="udp")
OTHER = PortWish(81, 8000)


def part(*ports: PortWish) -> Part:
    return Part("api", "api", "image:1", ports=ports)


@pytest.mark.parametrize(
    ("ports", "nths"),
    [
        pytest.param((TCP, UDP), [0, 0], id="tcp-and-udp-stay-together"),
        pytest.param((TCP, OTHER), [0, 1], id="two-of-the-inside-need-two-outside"),
        pytest.param((TCP, OTHER, UDP), [0, 1, 0], id="what-fits-goes-to-the-first"),
        pytest.param((PortWish(80, 8000, "127.0.0.1"), PortWish(81, 8000, "127.0.0.2")), [0, 0], id="two-addresses"),
        pytest.param((PortWish(80, 8000, "127.0.0.1"), OTHER), [0, 1], id="one-address-and-all-of-them"),
        pytest.param((TCP, PortWish(81, 8001)), [0, 0], id="two-numbers"),
    ],
)
def test_which_claims_a_services_ports_make(ports: tuple[PortWish, ...], nths: list[int]):
    made = claims.of_part(part(*ports))
    assert [(one.port, one.nth) for one in made] == [
        (wish.host_port, nth) for wish, nth in zip(ports, nths, strict=True)
    ]


def test_a_claim_knows_all_of_its_protocols_and_is_made_once():
    assert claims.of([part(TCP, UDP), part(PortWish(1, 0))]) == [Wanted("api", 8000, ("tcp", "udp"))]


def test_every_port_is_given_what_its_claim_got():
    meant = Blueprint("shop", "/shop", "net", (part(TCP, OTHER, UDP),))
    first, second = claims.of(meant.parts)
    given = claims.given(meant, meant, {first: 8000, second: 8001})
    assert [one.host_port for one in given.parts[0].ports] == [8000, 8001, 8000]
