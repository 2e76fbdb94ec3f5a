"""Who Argus is to this machine. What would restart Argus itself is refused when the configuration is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_UNIT = re.compile(r"([^/]+\.service)(?:/|$)")
_CONTAINER = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Oneself:
    pid: int = 0
    names: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()
    label: str = ""
    containers: tuple[str, ...] = field(default=())
    """Ids and the host name, by which a container knows itself."""

    def is_container(self, name: str) -> bool:
        return any(one == name or (len(name) >= 12 and one.startswith(name)) for one in self.containers)


def find(environ: Mapping[str, str] = os.environ) -> Oneself:
    groups = _read("/proc/self/cgroup") + _read("/proc/self/mountinfo")
    ids = tuple(dict.fromkeys(_CONTAINER.findall(groups)))
    inside = Path("/.dockerenv").exists() or bool(ids)
    return Oneself(
        pid=os.getpid(),
        names=frozenset({"argus", "argusd"}),
        units=frozenset(_UNIT.findall(_read("/proc/self/cgroup"))),
        label=environ.get("XPC_SERVICE_NAME", ""),
        containers=(*ids, os.uname().nodename) if inside else (),
    )


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
