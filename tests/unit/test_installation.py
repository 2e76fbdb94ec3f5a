from __future__ import annotations

from pathlib import Path

import pytest

from argus.installation import Installation, here, origin

WHEEL = "/w/argusd-0.1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("installed", "command"),
    [
        pytest.param(Installation("uv", "/p", WHEEL), f"uv tool install --force {WHEEL}", id="uv-tool"),
        pytest.param(Installation("pipx", "/p", WHEEL), f"pipx install --force {WHEEL}", id="pipx"),
        pytest.param(Installation("pip", "/p", WHEEL), f"/p -m pip install --force-reinstall {WHEEL}", id="pip"),
        pytest.param(
            Installation("uv pip", "/p", WHEEL), f"uv pip install --python /p --reinstall {WHEEL}", id="without-pip"
        ),
        pytest.param(Installation("pip", "/p", "/my clone", True), "/p -m pip install -e '/my clone'", id="a-clone"),
        pytest.param(
            Installation("uv", "/p"),
            "uv tool install --force build/wheel/*.whl; make wheel, in a clone, makes that file",
            id="the-wheel-is-gone",
        ),
    ],
)
def test_it_is_installed_again_by_what_installed_it(installed: Installation, command: str) -> None:
    assert installed.again() == command


def test_it_can_be_another_python() -> None:
    assert Installation("uv", "/p", WHEEL).again("--python 3.13 ") == f"uv tool install --force --python 3.13 {WHEEL}"


def test_the_origin_is_what_the_installer_would_take_again(tmp_path: Path) -> None:
    wheel = tmp_path / "a b.whl"
    url = wheel.as_uri()
    assert origin({"url": url, "archive_info": {}}) == ("", False), "it is gone"
    wheel.touch()
    assert origin({"url": url, "archive_info": {}}) == (str(wheel), False)
    assert origin({"url": tmp_path.as_uri(), "dir_info": {"editable": True}}) == (str(tmp_path), True)
    cloned = {"url": "https://h/argus.git", "vcs_info": {"vcs": "git", "commit_id": "1f"}}
    assert origin(cloned) == ("git+https://h/argus.git@1f", False)


@pytest.mark.parametrize(
    "said", [None, [], {}, {"url": "file:///", "vcs_info": {"vcs": "git"}}, {"url": "file://[", "dir_info": {}}]
)
def test_an_origin_that_cannot_be_read_is_unknown(said: object) -> None:
    assert origin(said) == ("", False)


def test_this_one_knows_its_clone() -> None:
    assert here().editable
    assert Path(here().source, "pyproject.toml").exists()
