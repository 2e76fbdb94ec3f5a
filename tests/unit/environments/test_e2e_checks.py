"""What no single value can show: names that stand twice, dependencies, and where a Dockerfile is."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.environments.rig import load, places, project, refused, service

from argus.environments.e2e import checks


def suite(name: str) -> dict[str, str]:
    return {"name": name, "id": name}


@pytest.mark.parametrize(
    ("sections", "found"),
    [
        pytest.param(
            {"services": [service("a", name="x"), service("b", name="x")]}, ["services[1].name"], id="a-service-twice"
        ),
        pytest.param(
            {"services": {"a": service("a", name="b"), "b": service("b")}}, ["services.b"], id="a-name-and-a-key"
        ),
        pytest.param(
            {"services": {"a": service("x"), "b": service("x")}}, ["services.b.container.name"], id="containers"
        ),
        pytest.param({"services": {"a\tb": service("a")}}, ["services.a\tb"], id="a-key-that-is-no-name"),
        pytest.param({"mocks": {"a/b": {"port": 1}}}, ["mocks.a/b"], id="a-mock-whose-key-is-no-name"),
        pytest.param({"tests": {"suites": [suite("a"), suite("b"), suite("a")]}}, ["tests.suites[2].id"], id="suites"),
        pytest.param(
            {"services": {"a": service("b")}, "mocks": {"a": {"port": 1}}}, ["mocks.a"], id="mock-and-service"
        ),
        pytest.param(
            {"services": {"a": service("b")}, "mocks": {"b-e2e": {"port": 1}}}, ["mocks.b-e2e"], id="mock-and-container"
        ),
        pytest.param({"mocks": {"a": {"port": 1, "mode": "record"}}}, ["mocks.a.target"], id="recording-nobody"),
        pytest.param({"isolation": {"portRange": [9999, 9000]}}, ["isolation.portRange"], id="a-range-backwards"),
        pytest.param({"isolation": {"portRange": ["9999", "9000"]}}, ["isolation.portRange"], id="backwards-in-text"),
        pytest.param({"isolation": {"portRange": [9000]}}, ["isolation.portRange[1]"], id="half-a-range"),
        pytest.param(
            {"services": {"a": service("a", dependsOn=["b", "nobody"]), "b": service("b")}},
            ["services.a.dependsOn[1]"],
            id="a-dependency-that-is-nobody",
        ),
        pytest.param({"services": {"a": service("a", dependsOn=["a"])}}, ["services.a.dependsOn"], id="on-itself"),
    ],
)
def test_it_is_refused(tmp_path: Path, sections: dict[str, Any], found: list[str]):
    assert [path for path, _ in places(refused(tmp_path, project(**sections)))] == found


def test_a_circle_is_named_whole(tmp_path: Path):
    depends = {"a": ["b"], "b": ["c"], "c": ["d", "b"], "d": [], "x": ["y"], "y": ["x"]}
    error = refused(tmp_path, project(services={key: service(key, dependsOn=on) for key, on in depends.items()}))
    messages = {one["path"]: one["message"] for one in error.details["errors"]}
    assert set(messages) == {"services.b.dependsOn", "services.x.dependsOn"}
    assert messages["services.b.dependsOn"].endswith("b -> c -> b")
    assert messages["services.x.dependsOn"].endswith("x -> y -> x")


def test_services_that_wait_for_each_other_in_a_diamond_are_no_circle(tmp_path: Path):
    depends = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}
    loaded = load(tmp_path, project(services={key: service(key, dependsOn=on) for key, on in depends.items()}))
    assert [one.depends_on for one in loaded.services] == [("b", "c"), ("d",), ("d",), ()]


def test_a_chain_of_thousands_is_followed_without_recursion():
    chain = {str(one): (str(one + 1),) for one in range(5000)}
    assert checks.circles(chain) == []
    assert len(checks.circles({**chain, "5000": ("0",)})[0]) == 5001


def test_a_file_that_is_wrong_everywhere_is_judged_in_bounds(tmp_path: Path):
    names = [f"s{one}" for one in range(3000)]
    services = {
        name: {"dependsOn": [names[(place + 1) % 3000], *names[:5], f"t{place}"]} for place, name in enumerate(names)
    }
    error = refused(tmp_path, {"services": services, **{f"servic{one}": 1 for one in range(2000)}})
    assert len(error.details["errors"]) == len(error.details["warnings"]) == 100
    assert len(str(error.details)) < 100_000
    many = project(service=service(), repos=[{"name": "{{env.NONE}}"}] * 2000)
    assert len(load(tmp_path, many).warnings) == 501
    many["service"]["container"]["ports"] = ["1-100:1-100"] * 1001
    assert [path for path, _ in places(refused(tmp_path, many))] == ["service.container.ports"]


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3).map(tuple)))
def test_there_is_a_circle_exactly_where_no_order_exists(depends: dict[str, tuple[str, ...]]):
    left = dict(depends)
    while ready := [name for name, others in left.items() if not any(other in left for other in others)]:
        for name in ready:
            del left[name]
    found = checks.circles(depends)
    assert bool(found) is bool(left)
    for ring in found:
        assert all(after in depends[before] for before, after in zip(ring, [*ring[1:], ring[0]], strict=True))


def built(**build: str) -> dict[str, Any]:
    one = service()
    return project(service={**one, "build": {"image": "web", "dockerfile": "Dockerfile", **build}})


def test_the_first_dockerfile_that_exists_is_taken(tmp_path: Path):
    folder, context, working = tmp_path / "project", tmp_path / "project" / "sub", tmp_path / "elsewhere"
    for one in (context, working):
        one.mkdir(parents=True)

    def taken() -> Path | None:
        return load(folder, built(context="sub"), working=working).services[0].build.dockerfile

    assert taken() is None
    for place in (working, context, folder):
        (place / "Dockerfile").write_text("FROM scratch\n")
        assert taken() == place / "Dockerfile"


def test_where_there_is_no_dockerfile_or_no_context_that_is_a_warning_with_the_places(tmp_path: Path):
    (warning,) = load(tmp_path, built()).warnings
    assert (warning.path, warning.line) == (("service", "build", "dockerfile"), 1)
    assert str(tmp_path / "Dockerfile") in warning.message
    (warning,) = load(tmp_path, built(context="gone")).warnings
    assert warning.path == ("service", "build", "context")


def test_a_dockerfile_outside_the_project_and_outside_its_context_is_refused(tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    (folder / "linked").symlink_to(tmp_path / "Dockerfile")
    for dockerfile in ("../Dockerfile", str(tmp_path / "Dockerfile"), "linked", "a/../../Dockerfile"):
        assert places(refused(folder, built(dockerfile=dockerfile))) == [("service.build.dockerfile", 1)]


def test_a_dockerfile_in_a_context_above_the_project_is_taken(tmp_path: Path):
    folder = tmp_path / "deep" / "project"
    folder.mkdir(parents=True)
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    loaded = load(folder, built(context="../.."))
    assert loaded.services[0].build.dockerfile == tmp_path / "Dockerfile"
    assert loaded.services[0].build.context == tmp_path
    assert loaded.warnings == ()
