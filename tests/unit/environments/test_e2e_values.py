"""Ports, volumes and names as Docker writes them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.environments.rig import load, places, project, refused, service, warned

from argus.environments.e2e import mounts, names, published
from argus.environments.e2e.mounts import Mount
from argus.environments.e2e.published import Port


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("3000:3001", (Port(3000, 3001),)),
        ("8080", (Port(8080, 8080),)),
        ("127.0.0.1:8080:80/tcp", (Port(8080, 80, "127.0.0.1"),)),
        ("127.0.0.1:80", (Port(80, 80, "127.0.0.1"),)),
        ("[::1]:8080:80", (Port(8080, 80, "::1"),)),
        ("53:53/UDP", (Port(53, 53, "", "udp"),)),
        ("1-2:3-4", (Port(1, 3), Port(2, 4))),
        (" 1:65535 ", (Port(1, 65535),)),
    ],
)
def test_ports_are_read(text: str, ports: tuple[Port, ...]):
    assert published.read(text) == ports
    assert tuple(published.read(str(one))[0] for one in ports) == ports


@pytest.mark.parametrize(
    "text",
    [
        *("", "0:80", "80:0", "65536", "80:70000", "-1:80", "a:b", "80:80/icmp", "1.2.3:80:80", "300.1.1.1:80:80"),
        *("80:80:80", "1-3:1-2", "9-5:9-5", "1-101:1-101", "80/", "[zz]:1:1", "80 80", "٣:٣", "127.0.0.1::80"),
    ],
)
def test_what_is_no_port_is_refused(text: str):
    with pytest.raises(ValueError, match=r"port|address|protocol|range"):
        published.read(text)


@pytest.mark.parametrize(
    ("text", "mount"),
    [
        ("data:/data", Mount("/data", "data")),
        ("./a b:/x:ro", Mount("/x", "./a b", ("ro",))),
        ("/host:/x:rw,z", Mount("/x", "/host", ("rw", "z"))),
        ("../up:/x", Mount("/x", "../up")),
        ("~/.cache:/x", Mount("/x", "~/.cache")),
        ("/x", Mount("/x")),
    ],
)
def test_volumes_are_read(text: str, mount: Mount):
    assert mounts.read(text) == mount
    assert mounts.read(str(mount)) == mount


@pytest.mark.parametrize(
    "text", ["", ":", "a:", ":/x", "a:x", "a/b:/x", "a:/x:rr", "a:/x:ro:ro", "/a:/", "-a:/x", "a:/x\0", "relative"]
)
def test_what_is_no_volume_is_refused(text: str):
    with pytest.raises(ValueError, match=r"volume|path|option"):
        mounts.read(text)


def test_folders_that_are_mounted_are_full_paths_seen_from_the_file(tmp_path: Path):
    written = project(service=service())
    written["service"]["container"]["volumes"] = ["./a/../b:/b", "..:/up", "~/c:/c", "/d:/d", "named:/n", ".:/here"]
    (one,) = load(tmp_path, written, {"HOME": "/home/me"}).services
    sources = [str(tmp_path / "b"), str(tmp_path.parent), "/home/me/c", "/d", "named", str(tmp_path)]
    assert [mount.source for mount in one.mounts] == sources


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        *(("shop", True), ("shop:e2e", True), ("a/b/c:1", True), ("host.example.com:5000/a/b:1.2-x_y", True)),
        *(("localhost/a", True), ("a@sha256:" + "0" * 64, True), ("a__b-c.d", True), ("[::1]:5000/a", True)),
        *(("Shop", False), ("shop:", False), ("shop:a/b", False), ("-a", False), ("a..b", False), ("", False)),
        *(("a b", False), ("a" * 256, False), ("a:" + "x" * 129, False), ("<name>:e2e", False), ("a___b", False)),
    ],
)
def test_the_name_of_an_image_is_legal_or_not(name: str, legal: bool):
    assert names.is_image(name) is legal


@pytest.mark.parametrize(
    ("written", "branch", "made"),
    [
        pytest.param("shop-{{env.B}}", "feature/Login form", "shop-feature-Login-form", id="slashes-and-blanks"),
        pytest.param("{{env.B}}-shop", "-/-", "shop", id="nothing-is-left"),
        pytest.param("shop-{{env.B}}", "测试", "shop", id="no-letter-docker-knows"),
        pytest.param("shop-{{env.B}}", "x" * 300, "shop-" + "x" * 195, id="too-long"),
        pytest.param("shop-{{env.B}}", "legal.Name_1", "shop-legal.Name_1", id="legal-as-it-is"),
    ],
)
def test_a_name_is_legal_whatever_its_variables_were(tmp_path: Path, written: str, branch: str, made: str):
    one = project(service=service())
    one["service"]["container"]["name"] = written
    loaded = load(tmp_path, one, {"B": branch})
    assert loaded.services[0].container == made
    renamed = [("service.container.name", 1)] if made != written.replace("{{env.B}}", branch) else []
    assert warned(loaded) == renamed


@pytest.mark.parametrize(
    ("written", "value", "made"),
    [
        pytest.param("shop:{{env.B}}", "feature/Login", "shop:feature-Login", id="a-tag"),
        pytest.param("{{env.B}}/shop:1", "registry.example.com:5000/team", "registry.example.com:5000/team/shop:1",
                     id="a-registry-that-is-legal-is-not-touched"),
        pytest.param("shop-{{env.B}}:1", "Feature__/x", "shop-feature-x:1", id="a-repository-is-in-lower-case"),
    ],
)  # fmt: skip
def test_the_name_of_an_image_is_legal_whatever_its_variables_were(tmp_path: Path, written: str, value: str, made: str):
    one = project(service=service())
    one["service"]["build"]["image"] = written
    assert load(tmp_path, one, {"B": value}).services[0].build.image == made


@pytest.mark.parametrize("name", ["shop/x", "-shop", "shop-{{env.NONE}}", "{{env.EMPTY}}", "shop x"])
def test_a_name_that_is_illegal_as_it_is_written_is_refused(tmp_path: Path, name: str):
    one = project(service=service())
    one["service"]["container"]["name"] = name
    assert places(refused(tmp_path, one, {"EMPTY": ""})) == [("service.container.name", 1)]


@given(st.text(max_size=30))
def test_any_value_can_stand_in_a_name(value: str):
    assert names.is_container(f"a{names.part(value)}b")
    assert names.is_image(f"a:b{names.part(value)}")
    assert names.is_image(f"a{names.part(value, lower=True)}0")


@pytest.mark.parametrize(
    ("name", "env"),
    [
        pytest.param("evil\n- service db: UP", {}, id="a-line-of-its-own"),
        pytest.param("\x1b[31mred", {}, id="an-escape-sequence"),
        pytest.param("a\u202eb", {}, id="what-turns-the-text-around"),
        pytest.param("x" * 201, {}, id="too-long"),
        pytest.param("shop-{{env.B}}", {"B": "a\nb"}, id="by-a-variable"),
    ],
)
def test_a_projects_name_is_one_line_that_can_be_printed(tmp_path: Path, name: str, env: dict[str, str]):
    error = refused(tmp_path, {"project": {"name": name}, "service": service()}, env)
    assert places(error) == [("project.name", 1)]
    assert "can be printed" in error.details["errors"][0]["message"]


@pytest.mark.parametrize("name", ["My Shop", "feature/login", "测试", "x" * 200])
def test_a_projects_name_is_else_what_people_like(tmp_path: Path, name: str):
    assert load(tmp_path, {"project": {"name": name}, "service": service()}).config.project.name == name
