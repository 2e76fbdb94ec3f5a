"""Ports: what is wanted when it is free, another when it is not, never one twice and never a privileged one."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from argus.core.errors import ArgusError, Code
from argus.environments.ports import ATTEMPTS, Occupant, PortMapping, Ports, Wanted


def machine(*taken: int) -> Ports:
    def occupants(ports: Iterable[int], protocol: str) -> dict[int, Occupant]:
        return {port: Occupant(42, "nginx") for port in ports if port in taken and protocol == "tcp"}

    return Ports(lambda port, protocol: port not in taken or protocol != "tcp", occupants)


def take(ports: Ports, *wanted: int, within: tuple[int, int] | None = None) -> list[int]:
    asked = [Wanted(f"s{place}", port) for place, port in enumerate(wanted)]
    return [one.actual for one in ports.take(asked, reassign=True, within=within)]


def test_a_free_port_is_kept_and_said_not_to_be_reassigned():
    (mapping,) = machine().take([Wanted("api", 3000)], reassign=True)
    assert (mapping, mapping.reassigned) == (PortMapping("api", 3000, 3000), False)


@pytest.mark.req("FR-R12")
def test_a_taken_port_becomes_the_next_free_one():
    assert take(machine(3000, 3001), 3000) == [3002]


def test_taken_ports_that_lie_together_are_tried_once_each_and_anew_the_next_time():
    tried: list[int] = []
    ports = Ports(lambda port, _: tried.append(port) or port >= 3010, lambda *_: {})
    assert take(ports, *range(3000, 3010)) == [*range(3010, 3020)]
    assert sorted(tried) == [*range(3000, 3020)]
    assert take(ports, 3000) == [3020]
    assert tried[20:] == [3000, *range(3001, 3010), 3020], "what is promised is not tried"


@pytest.mark.req("US4.5")
def test_who_wants_the_same_free_port_gets_different_ones():
    assert take(machine(), 3000, 3000, 3000) == [3000, 3001, 3002]


def test_a_port_that_another_of_them_wants_is_never_chosen_for_one_that_has_to_move():
    assert take(machine(9651), 9651, 9652, 9653) == [9654, 9652, 9653]
    assert take(machine(9651, 9653), 9651, 9652, 9653) == [9654, 9652, 9655]
    assert take(machine(3000), *range(3000, 3200))[:2] == [3200, 3001], "beyond all of them"


def test_only_the_protocols_that_are_wanted_are_in_the_way():
    udp, both = Wanted("dns", 53, ("udp",)), Wanted("dns", 53, ("tcp", "udp"))
    assert machine(53).take([udp], reassign=True) == [PortMapping("dns", 53, 53)]
    assert machine(53).taken([udp]) == {}
    assert machine(53).taken([both]) == {53: Occupant(42, "nginx")}


def test_environments_set_up_at_once_never_pick_the_same():
    ports = machine(3000)
    assert (take(ports, 3000), take(ports, 3000)) == ([3001], [3002])


def test_a_port_given_back_may_be_taken_again():
    ports = machine()
    mappings = ports.take([Wanted("api", 3000)], reassign=True)
    ports.give_back(mappings)
    assert take(ports, 3000) == [3000]


@pytest.mark.req("FR-R14")
def test_without_reassigning_a_taken_port_is_a_conflict_that_names_its_holder_and_nothing_is_promised():
    ports = machine(4000)
    with pytest.raises(ArgusError) as caught:
        ports.take([Wanted("api", 3000), Wanted("db", 4000)], reassign=False)
    assert caught.value.code is Code.PORT_CONFLICT
    assert caught.value.details == {"service": "db", "port": 4000, "pid": 42, "command": "nginx"}
    assert take(ports, 3000) == [3000]


def test_a_port_lost_before_it_was_bound_is_replaced():
    ports = machine()
    (mapping,) = ports.take([Wanted("api", 3000)], reassign=True)
    wanted = Wanted("api", 3000)
    assert ports.another(mapping, wanted) == PortMapping("api", 3000, 3001)
    assert ports.another(mapping, wanted, but=(3000, 3002)).actual == 3003


def test_a_range_is_honoured_and_its_end_is_said_with_the_number_tried():
    ports = machine(3000, 5000, 5001)
    assert take(ports, 3000, within=(5000, 5002)) == [5002]
    with pytest.raises(ArgusError) as caught:
        take(ports, 3000, within=(5000, 5002))
    assert (caught.value.code, caught.value.details["attempts"]) == (Code.PORT_EXHAUSTION, 3)


@pytest.mark.req("EC-R04")
def test_after_a_hundred_attempts_it_gives_up():
    with pytest.raises(ArgusError) as caught:
        take(machine(*range(1, 65536)), 3000)
    assert (caught.value.code, caught.value.details["attempts"]) == (Code.PORT_EXHAUSTION, ATTEMPTS)


def test_what_is_taken_is_named():
    found = machine(80, 3000).taken([Wanted("a", 80), Wanted("b", 3000), Wanted("c", 4000), Wanted("d", 3000)])
    assert found == {80: Occupant(42, "nginx"), 3000: Occupant(42, "nginx")}


_PORT = st.integers(1, 65535)
_RANGE = st.none() | st.tuples(st.integers(1024, 65000), st.integers(0, 500)).map(lambda two: (two[0], two[0] + two[1]))


@given(st.lists(_PORT, max_size=20), st.sets(_PORT, max_size=50), _RANGE)
def test_no_port_twice_none_that_is_taken_and_no_privileged_one(
    wanted: list[int], taken: set[int], within: tuple[int, int] | None
):
    # A narrow range runs out, which is another test's matter.
    assume(within is None or within[1] - within[0] >= len(wanted) + len(taken))
    actual = take(machine(*taken), *wanted, within=within)
    assert len(set(actual)) == len(wanted)
    assert not taken & set(actual)
    for asked, got in zip(wanted, actual, strict=True):
        low, high = within or (1024, 65535)
        assert got == asked or low <= got <= high
