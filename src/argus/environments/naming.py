"""Names on the engine: what the file says, unless a live run of the same project holds it; never a stranger's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.core.errors import ArgusError, Code
from argus.environments.labels import MANAGED, PROJECT


def choose(name: str, project: str, run: str, holder: Mapping[str, str] | None, *, kind: str) -> str:
    """`holder`: the labels of what has that name now; None when nothing has."""
    if holder is None:
        return name
    if holder.get(MANAGED) == "true" and holder.get(PROJECT) == project:
        return f"{name[:100]}-{run}"
    raise taken(name, kind, holder)


def taken(name: str, kind: str, holder: Mapping[str, str]) -> ArgusError:
    details: dict[str, Any] = {"name": name, "type": kind, "labels": dict(holder)}
    message = f"a {kind} called {name} is there already and is not this project's; it is left alone"
    return ArgusError(Code.NAME_CONFLICT, message, **details)
