"""One import, measured. By itself, because it must not load anything that could be what is measured."""

import importlib
import os
import time
from pathlib import Path

_PAGE = os.sysconf("SC_PAGESIZE") / 1024 / 1024


def turn(before: list[str], wanted: list[str]) -> dict[str, float]:
    for name in before:
        importlib.import_module(name)
    cpu, memory = time.process_time(), _resident()
    for name in wanted:
        importlib.import_module(name)
    return {"ms": (time.process_time() - cpu) * 1000, "mb": _resident() - memory}


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
