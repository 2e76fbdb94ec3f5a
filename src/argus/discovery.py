"""Looking around when there is no configuration: what listens on this machine is watched, and nothing is touched."""

from __future__ import annotations

import re
from collections.abc import Iterable

from argus.host.ports import Listener
from argus.services.checks import TcpService

_MOST = 200
_ANY = {"0.0.0.0", "::", "*"}  # noqa: S104 - what listeners on every address show


def services(listeners: Iterable[Listener], *, own_port: int) -> tuple[TcpService, ...]:
    """A connection is the least that tells that something lives; no protocol is guessed, nothing is restartable."""
    found = [one for one in listeners if one.port != own_port][:_MOST]
    return tuple(
        TcpService.model_validate(
            {"name": _name(one), "type": "tcp", "host": "127.0.0.1" if one.host in _ANY else one.host, "port": one.port}
        )
        for one in found
    )


def _name(one: Listener) -> str:
    program = re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9_.-]+", "-", one.program)).strip("-.")[:60] or "port"
    return f"{program}-{one.port}"
