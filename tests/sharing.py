"""A pytest plugin: which tests stay together when several workers run them.

`--dist loadfile` keeps the tests of a file on one worker: to start what they share takes longer than most of them. Of
the many files that share nothing that only made the last file last: one worker ran it while the others had nothing to
do. So only the files that share something stay whole, and come first; the tests of all others go wherever a worker is
free.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

SIGNS = ('scope="module"', "systemd: Machine")
"""A fixture of the whole file; or the machine with a systemd, which every other worker would have to make anew."""


@cache
def _shares(file: Path) -> bool:
    text = file.read_text(encoding="utf-8")
    return any(sign in text for sign in SIGNS)


def unit(root: Path, test: str) -> str:
    """What has to run on one worker: the file of this test, or the test alone."""
    file = test.split("::", 1)[0]
    return file if _shares(root / file) else test


# Optional: without pytest-xdist nothing is shared out.
@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Sharing(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(config.rootpath, nodeid)

    return Sharing(config, log)
