"""Git worktrees on a real git: whole or not there, whatever was killed or removed in between."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from argus.host import process
from argus.host.worktrees import GitWorktrees, WorktreeFailed

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "file").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "begin")
    return folder


@pytest.fixture
def worktrees(tmp_path: Path) -> GitWorktrees:
    return GitWorktrees(tmp_path / "worktrees", process.run, process.outlast)


def make(worktrees: GitWorktrees, project: Path) -> Path:
    asyncio.run(worktrees.make(str(project), "one"))
    return Path(worktrees.place(str(project), "one"))


def test_one_that_is_there_is_left_as_it_is(worktrees: GitWorktrees, repository: Path) -> None:
    folder = make(worktrees, repository)
    (folder / "new").write_text("work")
    assert make(worktrees, repository) == folder
    assert (folder / "new").read_text() == "work"


def test_half_a_checkout_is_made_again(worktrees: GitWorktrees, repository: Path) -> None:
    place = Path(worktrees.place(str(repository), "one"))
    part = place.with_name("one.part")
    git(repository, "worktree", "add", "--quiet", "-b", "argus/one", str(part))
    (part / "file").unlink()  # as if it had been killed before it came so far
    assert make(worktrees, repository) == place
    assert (place / "file").read_text() == "one\n"
    assert not part.exists()


def test_a_folder_that_somebody_removed_comes_back_with_its_commits(worktrees: GitWorktrees, repository: Path) -> None:
    folder = make(worktrees, repository)
    (folder / "done").write_text("work")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "work")
    shutil.rmtree(folder)
    assert (make(worktrees, repository) / "done").read_text() == "work"


def test_a_branch_that_somebody_works_on_elsewhere_is_not_taken(
    worktrees: GitWorktrees, repository: Path, tmp_path: Path
) -> None:
    git(repository, "worktree", "add", "--quiet", "-b", "argus/one", str(tmp_path / "elsewhere"))
    with pytest.raises(WorktreeFailed, match=r"already (checked out|used)"):
        make(worktrees, repository)
    assert (tmp_path / "elsewhere" / "file").exists()


def test_the_repository_is_the_projects_also_inside_a_hook_of_another(
    worktrees: GitWorktrees, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    asyncio.run(worktrees.make(str(repository), "one"))
    monkeypatch.delenv("GIT_DIR")
    assert git(repository, "branch", "--list", "argus/one").strip() == "+ argus/one"
