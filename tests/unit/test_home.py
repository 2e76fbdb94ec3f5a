"""Where the state folder is, also for those who have no home."""

import pwd
from pathlib import Path

import pytest

from argus import config_file, home
from argus.core.errors import ArgusError, Code


@pytest.fixture
def unknown_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs under a bare number."""

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        pytest.param({"HOME": "/home/ada"}, "/home/ada/.local/state/argus", id="home"),
        pytest.param({"HOME": "/home/ada", "XDG_STATE_HOME": "/var/ada"}, "/var/ada/argus", id="xdg"),
        pytest.param({"XDG_STATE_HOME": "/var/ada", "ARGUS_HOME": "/srv/argus"}, "/srv/argus", id="its-own-variable"),
    ],
)
def test_the_state_folder_is_where_the_environment_says(environ: dict[str, str], folder: str):
    assert home.folder(environ) == Path(folder)


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}], ids=["no-home", "an-empty-home"])
@pytest.mark.usefixtures("unknown_user")
def test_a_user_whom_the_machine_does_not_know_gets_a_folder_that_cannot_be_made(environ: dict[str, str], tmp_path):
    assert home.folder(environ).is_relative_to("/nonexistent")
    assert config_file.find(None, environ, tmp_path) is None


@pytest.mark.usefixtures("unknown_user")
def test_such_a_user_can_still_name_a_folder():
    assert home.folder({"ARGUS_HOME": "/srv/argus"}) == Path("/srv/argus")


def test_a_home_of_someone_else_is_said_and_not_taken_for_one_without_a_configuration(monkeypatch, tmp_path):
    """As su and sudo may leave it. Root may look anywhere, so the refusal is made by hand."""

    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(ArgusError) as caught:
        config_file.find(None, {"HOME": "/root"}, tmp_path)
    assert caught.value.code is Code.CONFIG_NOT_FOUND
