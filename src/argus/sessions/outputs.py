"""Where the output of a project's spawns may lie. Pure.

A line of it can become a reason on record and words in a terminal, so not every file of the user's is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reach:
    own: str = ""
    """The project's folder. Empty: nobody knows it, so nothing is out of it."""
    others: Sequence[str] = ()
    """The folders of other projects."""
    shared: Sequence[str] = ()
    """Where programs keep logs for everybody: folders for temporary files, agents' transcripts, those of argus.yaml."""

    def problem(self, path: str) -> str:
        """Why this file is not read; empty if it may be. All links in it are followed already, in the folders too."""
        projects = [one for one in (self.own, *self.others) if one and is_inside(path, one)]
        nearest = max(projects, key=len, default="")
        if nearest and nearest == self.own:
            return ""
        if nearest and not (self.own and is_inside(self.own, nearest)):
            return "it lies in the folder of another project"
        if not self.own or any(is_inside(path, one) for one in self.shared):
            return ""
        return "it lies outside of the project's folder, of those for temporary files and of sessions.spawns.outputs"


def is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
