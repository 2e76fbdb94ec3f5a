"""What the real agents show in states that matter: recorded by `python -m tests.recorded_screens`, 120 columns by 40.

The table in tests/unit/typist says what has to be read out of each.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from argus.host.identity import Identity
from argus.host.panes import Look, Place, Process

FOLDER = Path(__file__).parent
AGENT = Process(Identity(1000, "1"), "claude")


@cache
def _recorded(name: str) -> Any:
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def names(recording: str) -> list[str]:
    return list(_recorded(recording))


def screen(recording: str, name: str, agent: Process | None = AGENT) -> Look:
    found = _recorded(recording)[name]
    lines = tuple(found["lines"])
    place = Place("socket", "work", "%0", 1000)
    return Look(place, name, 120, len(lines), (found["cursor"][0], found["cursor"][1]), lines, agent, agent)
