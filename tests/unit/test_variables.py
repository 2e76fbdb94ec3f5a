"""The variables that a person may set are named where a person looks for them."""

from __future__ import annotations

import re
from pathlib import Path

import argus

_READ = re.compile(r'environ(?:\.get\(|\[)\s*"(ARGUS_[A-Z_]+)"')
_OURS = {"ARGUS_AGENT_PID", "ARGUS_FAILPOINT"}
"""Set by a hook of Argus for Argus, and by its tests."""


def test_every_variable_that_is_read_is_in_the_table_of_the_docs():
    source = Path(argus.__file__).parent
    read = {name for file in source.rglob("*.py") for name in _READ.findall(file.read_text(encoding="utf-8"))}
    assert "ARGUS_HOME" in read, "the search finds them"
    page = (Path(__file__).parents[2] / "docs" / "installing.md").read_text(encoding="utf-8")
    table = set(re.findall(r"^\| `(ARGUS_[A-Z_]+)` \|", page, re.MULTILINE))
    assert table == read - _OURS
