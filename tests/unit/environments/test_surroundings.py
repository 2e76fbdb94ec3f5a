"""What suites are given of the environment that they run against."""

from pathlib import Path

import pytest
from tests.unit.environments.rig import load, project, service

from argus.environments.e2e.loading import with_ports
from argus.environments.ports import PortMapping
from argus.environments.testing.surroundings import exported, moved, of_suite, standing


def mapped(service: str, original: int, actual: int) -> PortMapping:
    return PortMapping(service, original, actual)


def test_ports_that_went_elsewhere_are_known_by_the_first_that_wanted_them():
    recorded = [mapped("web", 80, 8080), mapped("web", 443, 443), mapped("db", 5432, 5432), mapped("db", 5432, 5433)]
    assert moved(recorded) == {"web": {80: 8080}}


@pytest.mark.parametrize(
    ("caller", "stands"),
    [("/p", "/p"), ("/p/sub", "/p/sub"), ("/", "/p"), ("/p2", "/p"), ("/elsewhere", "/p")],
)
def test_commands_run_where_the_caller_stands_inside_of_the_project(caller: str, stands: str):
    assert standing("/p", caller) == stands


def test_commands_are_given_the_environments_variables_over_the_callers(tmp_path: Path):
    (tmp_path / ".env").write_text("FROM_FILE=dot\nHOME=other\n")
    api = {**service("api"), "name": "API server", "vars": {"api": "http://localhost:8080/v1", "with-dash": "x"}}
    db = {**service("db"), "name": "db", "container": {"name": "db", "ports": ["5432:5432/udp", "127.0.0.9:5433:5433"]}}
    said = project(services=[api, db], mocks={"pay": {"port": 9081, "routes": []}})
    found = load(tmp_path, said, {"HOME": "/home/me", "DB_PORT": "1", "BASE_URL": "mine"})
    given = exported(with_ports(found, {"API server": {8080: 18080}}), engine="127.0.0.1", run="r1")
    assert given == {
        "HOME": "/home/me",
        "FROM_FILE": "dot",
        "BASE_URL": "http://localhost:18080",
        "base_url": "http://localhost:18080",
        "api": "http://localhost:18080/v1",
        "API_SERVER_PORT": "18080",
        "API_SERVER_URL": "http://127.0.0.1:18080",
        "DB_PORT": "5433",
        "DB_URL": "http://127.0.0.9:5433",
        "PAY_PORT": "9081",
        "PAY_URL": "http://127.0.0.1:9081",
        "ARGUS_PROJECT": "shop",
        "ARGUS_RUN": "r1",
    }
    assert of_suite(given, "s")["ARGUS_SUITE"] == "s"


def test_a_project_without_services_gives_what_the_caller_has(tmp_path: Path):
    found = load(tmp_path, project(tests={"suites": []}), {"A": "1"})
    assert exported(found, engine="127.0.0.1", run=None) == {"A": "1", "ARGUS_PROJECT": "shop"}
