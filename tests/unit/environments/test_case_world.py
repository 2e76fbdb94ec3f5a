"""What test files reach of an environment: its health checks, and its containers by every name."""

from pathlib import Path

import pytest
from tests.unit.environments.rig import load

from argus.environments.e2e import loading
from argus.environments.testing import bounds, real

FILE = """
project: {name: shop}
services:
  - name: web
    build: {dockerfile: Dockerfile, image: web}
    container: {name: shop-web, ports: ["9443:443", "8080:80"], healthcheck: {path: /up, port: 80}}
  - name: api
    build: {dockerfile: Dockerfile, image: api}
    container: {name: shop-api, ports: ["[::1]:7000:70"], healthcheck: {path: live}}
  - name: worker
    build: {dockerfile: Dockerfile, image: worker}
    container: {name: shop-worker, ports: ["6000:60"]}
"""


def test_health_is_asked_where_the_ports_went(tmp_path: Path):
    environment = load(tmp_path, FILE)
    assert real.health_urls(environment.services) == ("http://localhost:8080/up", "http://[::1]:7000/live")
    moved = loading.with_ports(environment, {"web": {8080: 18080}})
    assert real.health_urls(moved.services, "10.0.0.5")[0] == "http://10.0.0.5:18080/up"


def test_containers_are_called_by_their_service_or_their_own_name_and_the_first_comes_first(tmp_path: Path):
    services = load(tmp_path, FILE).services
    found = real.names(services, ["mail"], {"api": "shop-api-r1", "web": "id-of-web", "mail": "mail-r1"})
    assert found == {
        "web": "id-of-web",
        "api": "shop-api-r1",
        "shop-web": "id-of-web",
        "shop-api": "shop-api-r1",
        "mail": "mail-r1",
    }
    assert next(iter(found)) == "web"


@pytest.mark.parametrize("file", ["project/a.yaml", "project/deep/a.py::test_x", "project/../project/a.yaml"])
def test_a_suites_file_is_in_the_project(tmp_path: Path, file: str):
    assert bounds.stray(str(tmp_path / file), [str(tmp_path / "project")]) is None


@pytest.mark.parametrize("file", ["/etc/passwd", "../project2/a.yaml", "../a.py::test_x", "link/a.yaml", "link.yaml"])
def test_a_suites_file_outside_of_the_project_is_refused_also_behind_a_link(tmp_path: Path, file: str):
    project, other = tmp_path / "project", tmp_path / "project2"
    project.mkdir()
    other.mkdir()
    (project / "link").symlink_to(other)
    (project / "link.yaml").symlink_to(other / "a.yaml")
    found = bounds.stray(str(project / file), [str(project)])
    assert found is not None
    assert found.code == "CONFIG_INVALID"
    assert "outside of the project" in found.message
