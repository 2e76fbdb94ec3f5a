"""Looking around when there is no configuration: what listens on this machine is watched, and nothing is touched."""

from __future__ import annotations

from collections.abc import Iterable

from argus.core import names
from argus.host.ports import Listener
from argus.services.checks import TcpService

_MOST = 200


def services(listeners: Iterable[Listener], *, own_port: int) -> tuple[TcpService, ...]:
    """A connection is the least that tells that something lives; no protocol is guessed, nothing is restartable."""
    found = [one for one in listeners if one.port != own_port][:_MOST]
    return tuple(
        TcpService.model_validate({"name": _name(one), "type": "tcp", "host": one.address, "port": one.port})
        for one in found
    )


def _name(one: Listener) -> str:
    return names.made_of(one.program[:60], str(one.port), otherwise="port")
