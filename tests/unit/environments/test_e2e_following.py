"""A port that had to be another one is followed wherever it was meant."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.environments.rig import load, project, service

from argus.environments.e2e import loading
from argus.environments.e2e.following import Owner, follow
from argus.environments.e2e.published import Port

OWNERS = (
    Owner("web", frozenset({8080, 9090}), frozenset({80, 9090})),
    Owner("api", frozenset({8080, 8081}), frozenset({3000})),
    Owner("mail", frozenset({9082}), frozenset({9082})),
)


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("http://localhost:8080/x", "http://localhost:18080/x"),
        ("127.0.0.1:8080,0.0.0.0:8080", "127.0.0.1:18080,0.0.0.0:18080"),
        ("http://[::1]:8080", "http://[::1]:18080"),
        ("http://user:pw@localhost:8080", "http://user:pw@localhost:18080"),
        ("http://web:8080", "http://web:18080"),
        ("http://web:80 http://web:9090", "http://web:80 http://web:9090"),
        ("http://localhost:9090", "http://localhost:19090"),
        ("http://localhost:9082", "http://localhost:19082"),
        ("http://mail:9082", "http://mail:9082"),
        ("http://localhost:80800", "http://localhost:80800"),
        (
            "http://mylocalhost:8080 my-web:8080 1.127.0.0.1:8080",
            "http://mylocalhost:8080 my-web:8080 1.127.0.0.1:8080",
        ),
        ("postgres://web:8080@elsewhere/x", "postgres://web:8080@elsewhere/x"),
        ("8080 :8080 example.com:8080", "8080 :8080 example.com:8080"),
        ("localhost:8081", "localhost:8081"),
        ("localhost:8080.5", "localhost:8080.5"),
    ],
)
def test_an_address_is_followed(text: str, becomes: str):
    moved = {"web": {8080: 18080, 9090: 19090}, "mail": {9082: 19082}}
    assert follow({"x": text}, "web", OWNERS, moved) == {"x": becomes}


@pytest.mark.parametrize(
    ("of", "moved", "port"),
    [
        pytest.param("web", {"web": {8080: 1}}, 1, id="its-own"),
        pytest.param("api", {"web": {8080: 1}}, 8080, id="another-had-to-move-and-this-one-did-not"),
        pytest.param("api", {"web": {8080: 1}, "api": {8080: 2}}, 2, id="both-had-to-move"),
        pytest.param("mail", {"web": {8080: 1}}, 8080, id="a-third-means-the-one-that-stayed"),
        pytest.param("mail", {"web": {8080: 1}, "api": {8080: 2}}, 1, id="a-third-means-the-first-when-none-stayed"),
        pytest.param("web", {"api": {8080: 2}}, 8080, id="its-own-stayed"),
    ],
)
def test_a_port_that_two_wanted_is_in_its_own_vars_its_own(of: str, moved: dict[str, dict[int, int]], port: int):
    assert follow({"x": "localhost:8080"}, of, OWNERS, moved) == {"x": f"localhost:{port}"}


def test_two_ports_that_changed_places_are_followed_once():
    owners = (Owner("web", frozenset({1000, 2000})),)
    found = follow({"x": "localhost:1000 localhost:2000"}, "web", owners, {"web": {1000: 2000, 2000: 1000}})
    assert found == {"x": "localhost:2000 localhost:1000"}


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=40)))
def test_nothing_else_is_changed(values: dict[str, str]):
    moved = {"web": {8080: 18080}}
    found = follow(values, "web", OWNERS, moved)
    assert all(found[key] == value or "8080" in value for key, value in values.items())


def test_a_moved_port_reaches_the_service_its_vars_config_the_base_url_and_the_mocks(tmp_path: Path):
    web = service("web", vars={"base_url": "http://localhost:8080", "api": "{{config.base_url}}/api"})
    api = service("api", dependsOn=["web"])
    api["container"] = {
        "name": "api",
        "ports": ["8081:3000"],
        "environment": {"WEB": "{{config.api}}", "ID": "{{uuid}}"},
    }
    written = project(services={"web": web, "api": api}, mocks={"mail": {"port": 9082}})
    before = load(tmp_path, written)
    after = loading.with_ports(before, {"web": {8080: 9000}, "mail": {9082: 9001}})
    assert (before.base_url, after.base_url) == ("http://localhost:8080", "http://localhost:9000")
    assert after.services[0].ports == (Port(9000, 80),)
    assert after.services[0].vars == {"base_url": "http://localhost:9000", "api": "http://localhost:9000/api"}
    assert after.services[1].environment["WEB"] == "http://localhost:9000/api"
    assert after.services[1].environment["ID"] == before.services[1].environment["ID"]
    assert after.services[1].ports == (Port(8081, 3000),)
    assert (after.mocks["mail"].port, after.mocks["mail"].inside) == (9001, 9082)
    assert (before.services[0].ports, before.mocks["mail"].port) == ((Port(8080, 80),), 9082)
    assert loading.with_ports(after, {}) == before


def test_the_base_url_is_the_first_services_first_port_unless_it_is_said(tmp_path: Path):
    written = project(service=service(), repos=[{"name": "{{config.base_url}}"}])
    written["service"]["container"]["ports"] = ["{{env.P}}:80", "9000:90"]
    loaded = load(tmp_path, written, {"P": "8888"})
    assert (loaded.base_url, loaded.config.repos[0].name) == ("http://localhost:8888",) * 2
    moved = loading.with_ports(loaded, {"web-e2e": {8888: 7777}})
    assert (moved.base_url, moved.config.repos[0].name) == ("http://localhost:7777",) * 2


def test_moving_nothing_of_a_project_without_services_changes_nothing(tmp_path: Path):
    loaded = load(tmp_path, project(mocks={"mail": {"port": 9082}}))
    assert loading.with_ports(loaded, {"mail": {9082: 1}}).mocks["mail"].port == 1
