"""Where the files of suites may lie: in the project, as a Dockerfile has to."""

from __future__ import annotations

import os
from collections.abc import Iterable

from argus.core.errors import Code
from argus.environments.testing.results import Failure
from argus.environments.testing.showing import clean


def stray(file: str | None, folders: Iterable[str]) -> Failure | None:
    """What is wrong with a file outside of all these, also where only a link leads there. It asks the disk."""
    if file is None:
        return None
    # pytest takes a single test behind its file: tests/test_api.py::test_login
    real = os.path.realpath(file.partition("::")[0].replace("\0", ""))
    if any(_within(real, os.path.realpath(one)) for one in folders):
        return None
    way = "" if real == os.path.normpath(file.partition("::")[0]) else f" (it leads to {real})"
    said = f"{file} is outside of the project{way}: the file of a suite has to be in it"
    return Failure(clean(said), "file", code=Code.CONFIG_INVALID.value)


def _within(path: str, folder: str) -> bool:
    return os.path.commonpath((path, folder)) == folder
