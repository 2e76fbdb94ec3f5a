"""Certificates that end soon: told once for each, while there is still time to renew them."""

from __future__ import annotations

from argus.services import reports
from argus.services.checks.base import Service
from argus.services.model import Health
from argus.services.tools import Tools
from argus.store.records import Append, PutSetting, Write

_KEY = "services.certificates"
SOON = 14 * 86400.0


class Certificates:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._told: dict[str, float] = {}

    async def restore(self) -> None:
        self._told = dict(await self._tools.store.setting(_KEY) or {})

    def news(self, service: Service, judged: Health) -> tuple[Write, ...]:
        """What is recorded with a reading: nothing, unless its certificate ends soon and nobody was told."""
        expires = judged.last.seen.tls_expires if judged.last else None
        if expires is None or self._told.get(service.name) == expires:
            return ()
        left = expires - self._tools.clock.wall()
        if left > SOON:
            return ()
        self._told = {**self._told, service.name: expires}
        return PutSetting(_KEY, self._told), Append(reports.certificate_ends(service, expires, left))
