"""Git worktrees: a folder and a branch of its own for each task, so that agents in one project do not meet.

A worktree belongs to a lineage: whoever goes on with the task goes on in it. It is made beside its place and moved
there when it is whole, so a folder in its place is never half a checkout, whatever was killed meanwhile. It is never
removed by Argus: the work of an agent is in it.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from argus.core.cutting import ending
from argus.host.seam import Ran

_BRANCHES = "argus"
_GIT = ("env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "LC_ALL=C", "git")
"""Of the repository at the path, and not of the one in whose hook Argus may have been started."""
_CHECKOUT = 600.0
"""Seconds for a large repository on a slow disk."""
_QUICK = 30.0
_SAID = 300

Run = Callable[..., Awaitable[Ran]]
Outlast = Callable[..., Awaitable[bool]]


class WorktreeFailed(Exception):
    """Said in words a person can act on."""


class Worktrees(Protocol):
    def place(self, project: str, lineage: str) -> str:
        """Where an agent of that lineage will work, in a worktree of the project; empty: no git repository."""
        ...

    async def make(self, project: str, lineage: str) -> None:
        """Makes it, unless it is there. Raises WorktreeFailed."""
        ...


class GitWorktrees:
    def __init__(self, folder: Path, run: Run, outlast: Outlast) -> None:
        self._folder = folder
        self._run = run
        self._outlast = outlast

    def place(self, project: str, lineage: str) -> str:
        path = Path(os.path.realpath(project))
        for above in (path, *path.parents):
            if (above / ".git").exists():
                return str(self._root(lineage) / path.relative_to(above))
        return ""

    async def make(self, project: str, lineage: str) -> None:
        root, branch = self._root(lineage), f"{_BRANCHES}/{lineage}"
        log = str(root.with_name(f"{root.name}.log"))
        # One that an Argus that was killed meanwhile began: it is waited for, so that there are never two at it.
        await self._outlast(log, timeout=_CHECKOUT)
        if root.exists():
            return
        part = root.with_name(f"{root.name}.part")
        if part.exists():  # nobody has worked in it yet
            await self._git(project, log, "worktree", "remove", "--force", "--force", str(part))
        known = await self._ran(project, log, _QUICK, "rev-parse", "--quiet", "--verify", f"refs/heads/{branch}")
        new: tuple[str, ...] = ("-b", branch, str(part))
        if known.exit_code == 0:
            # Somebody removed the folder alone: git forgets it, and its commits are gone on with.
            await self._ran(project, log, _QUICK, "worktree", "remove", "--force", str(root))
            new = (str(part), branch)
        await self._git(project, log, "worktree", "add", *new)
        await self._git(project, log, "worktree", "move", str(part), str(root))

    def _root(self, lineage: str) -> Path:
        return self._folder / lineage

    async def _git(self, project: str, log: str, *arguments: str) -> None:
        ran = await self._ran(project, log, _CHECKOUT, *arguments)
        if ran.exit_code != 0:
            said = ran.problem or ending(ran.output.strip(), _SAID)
            raise WorktreeFailed(f"git {' '.join(arguments[:2])} in {project}: {said}")

    async def _ran(self, project: str, log: str, timeout: float, *arguments: str) -> Ran:
        return await self._run([*_GIT, "-C", project, *arguments], timeout=timeout, log=log)
