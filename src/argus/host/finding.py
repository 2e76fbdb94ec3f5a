"""Where a program is, as somebody else's shell would find it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finder:
    folder: str
    environ: Mapping[str, str]

    def on_path(self, name: str) -> str | None:
        """In the virtual environment that is in use goes first: whoever activates one has it on the PATH as well."""
        active = self.environ.get("VIRTUAL_ENV")
        places = [*([os.path.join(active, "bin")] if active else []), *self._path()]
        return shutil.which(name, path=os.pathsep.join(places))

    def of_project(self, name: str) -> str | None:
        """Where npm installs programs of a project, here or above; else on the path."""
        above = self.folder
        while True:
            found = shutil.which(name, path=os.path.join(above, "node_modules", ".bin"))
            if found:
                return found
            above, below = os.path.dirname(above), above
            if above == below:
                return self.on_path(name)

    def _path(self) -> list[str]:
        # An empty place is the folder itself, and a relative one is seen from there.
        return [os.path.join(self.folder, one) for one in self.environ.get("PATH", os.defpath).split(os.pathsep)]
