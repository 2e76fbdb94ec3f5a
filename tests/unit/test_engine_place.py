"""Where the engine is looked for."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from argus.host.engine.seam import EngineUnavailable
from argus.host.engine.where import Place, find, for_commands, leading


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("unix:///run/engine.sock", Place(path="/run/engine.sock")),
        ("tcp://10.0.0.1:99", Place(host="10.0.0.1", port=99)),
        ("tcp://engine", Place(host="engine", port=2375)),
        ("tcp://[::1]:2375", Place(host="::1", port=2375)),
        ("http://engine:80", Place(host="engine", port=80)),
    ],
)
def test_docker_host_says_it(said: str, place: Place, tmp_path: Path):
    assert find({"DOCKER_HOST": said, "HOME": str(tmp_path), "DOCKER_CONTEXT": "other"}) == place


@pytest.mark.parametrize(
    "environ",
    [
        {"DOCKER_HOST": "unix:///run/engine.sock", "PASSWORD": "x"},
        {"DOCKER_HOST": "tcp://[::1]:99"},
        {"DOCKER_HOST": "https://engine", "DOCKER_CERT_PATH": "/certificates"},
        {"HOME": "/nobody"},
    ],
)
def test_the_fewest_variables_lead_to_the_same_engine_and_tell_nothing_else(environ: dict[str, str]):
    assert find(leading(environ)) == find(environ)
    assert leading(environ).keys() <= {"DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"}


def test_tls_is_spoken_with_the_certificates_of_the_folder(tmp_path: Path):
    environ = {"DOCKER_HOST": "tcp://engine", "DOCKER_TLS_VERIFY": "1", "HOME": str(tmp_path)}
    assert find(environ) == Place(host="engine", port=2376, certificates=str(tmp_path / ".docker"))
    assert find({**environ, "DOCKER_CERT_PATH": "/certs"}).certificates == "/certs"


def test_ssh_is_said_to_need_a_socket(tmp_path: Path):
    with pytest.raises(EngineUnavailable, match="forward its socket"):
        find({"DOCKER_HOST": "ssh://me@engine", "HOME": str(tmp_path)})


@pytest.mark.parametrize("said", ["npipe:////./pipe/docker", "engine:2375", "unix://relative", "tcp://"])
def test_what_is_not_understood_is_said(said: str, tmp_path: Path):
    with pytest.raises(EngineUnavailable, match="not understood"):
        find({"DOCKER_HOST": said, "HOME": str(tmp_path)})


def context(home: Path, name: str, host: str) -> None:
    folder = home / ".docker" / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps({"Name": name, "Endpoints": {"docker": {"Host": host}}}))


def test_a_context_says_it_by_the_environment_or_by_the_users_choice(tmp_path: Path):
    context(tmp_path, "desktop", "unix:///desktop.sock")
    context(tmp_path, "far", "tcp://far:1")
    environ = {"HOME": str(tmp_path)}
    (tmp_path / ".docker" / "config.json").write_text('{"currentContext": "desktop"}')
    assert find(environ) == Place(path="/desktop.sock")
    assert find({**environ, "DOCKER_CONTEXT": "far"}) == Place(host="far", port=1)
    assert for_commands({**environ, "DOCKER_CONTEXT": "far"}) == {**environ, "DOCKER_CONTEXT": "far"}


def test_a_context_with_certificates_speaks_tls_with_its_own(tmp_path: Path):
    context(tmp_path, "far", "tcp://far")
    key = hashlib.sha256(b"far").hexdigest()
    certificates = tmp_path / ".docker" / "contexts" / "tls" / key / "docker"
    certificates.mkdir(parents=True)
    environ = {"HOME": str(tmp_path), "DOCKER_CONTEXT": "far", "DOCKER_CERT_PATH": "/others"}
    assert find(environ) == Place(host="far", port=2376, certificates=str(certificates))


def test_a_context_that_does_not_exist_is_not_replaced_by_another_engine(tmp_path: Path):
    with pytest.raises(EngineUnavailable, match="'gone' names no engine"):
        find({"HOME": str(tmp_path), "DOCKER_CONTEXT": "gone"})


@pytest.mark.parametrize("config", ["", "{", "[]", '{"currentContext": 7}', '{"currentContext": "default"}'])
def test_a_configuration_that_chooses_nothing_means_the_usual_sockets(config: str, tmp_path: Path):
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker" / "config.json").write_text(config)
    if os.path.exists("/var/run/docker.sock"):
        pytest.skip("this machine has an engine of its own, which goes first")
    environ = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    assert find(environ) == Place(path="/var/run/docker.sock")
    desktop = tmp_path / ".docker" / "run" / "docker.sock"
    desktop.parent.mkdir()
    desktop.touch()
    assert find(environ) == Place(path=str(desktop))
    assert for_commands(environ) == {**environ, "DOCKER_HOST": f"unix://{desktop}"}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "docker.sock").touch()
    assert find(environ) == Place(path=str(tmp_path / "run" / "docker.sock"))
