"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib import metadata

_PACKAGES = ("argusd", "uvicorn", "starlette", "pydantic", "uvloop", "httptools", "mcp", "click")


def facts() -> dict[str, str]:
    versions = {name: metadata.version(name) for name in _PACKAGES}
    load = f"{os.getloadavg()[0]:.1f}"
    cores = str(len(os.sched_getaffinity(0)))
    own = {"cores": cores, "load": load, "kernel": platform.release(), "python": platform.python_version()}
    return {**own, "sqlite": sqlite3.sqlite_version, **versions}


def line() -> str:
    return ", ".join(f"{name} {value}" for name, value in facts().items())
