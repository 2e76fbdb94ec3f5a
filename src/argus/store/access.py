"""Whether a file or a folder of ours can be written, by looking alone: to try it would leave a trace."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from shlex import quote


@dataclass(frozen=True, slots=True)
class Obstacle:
    why: str
    remedy: str


def obstacle(path: Path) -> Obstacle | None:
    """What keeps us from writing there; None where nothing does, or where nothing is."""
    try:
        mode = path.stat().st_mode & 0o777
        place = os.statvfs(path)
    except OSError:
        return None
    folder = path.is_dir()
    if place.f_flag & os.ST_RDONLY:
        return Obstacle(f"{path} lies on a file system that is mounted read-only", "mount it so that it can be written")
    if os.access(path, os.R_OK | os.W_OK | (os.X_OK if folder else 0)):
        return None
    rights = "rwx" if folder else "rw"
    return Obstacle(f"{path} cannot be written (mode {mode:o})", f"chmod u+{rights} {quote(str(path))}")
