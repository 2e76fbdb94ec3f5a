"""Waiting for a service: where it is asked, and what is said when that was in vain."""

import pytest

from argus.environments.waiting import reached


@pytest.mark.parametrize(
    ("bound", "engine", "asked"),
    [
        pytest.param("", "127.0.0.1", "127.0.0.1", id="everywhere"),
        pytest.param("0.0.0.0", "127.0.0.1", "127.0.0.1", id="everywhere-said-so"),
        pytest.param("::", "127.0.0.1", "::1", id="everywhere-of-the-other-family"),
        pytest.param("127.0.0.9", "127.0.0.1", "127.0.0.9", id="another-loopback"),
        pytest.param("::1", "127.0.0.1", "::1", id="the-loopback-of-the-other-family"),
        pytest.param("10.0.0.5", "127.0.0.1", "10.0.0.5", id="an-address-of-this-machine"),
        pytest.param("", "docker.example", "docker.example", id="everywhere-on-another-machine"),
        pytest.param("10.0.0.5", "docker.example", "10.0.0.5", id="an-address-of-another-machine"),
        pytest.param("127.0.0.1", "docker.example", "docker.example", id="the-loopback-of-another-machine"),
    ],
)
def test_a_port_is_asked_where_it_is_bound(bound: str, engine: str, asked: str):
    assert reached(bound, engine) == asked
