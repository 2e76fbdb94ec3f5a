"""Certificates that end soon: told once for each, while there is still time to renew them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.services import reports
from argus.services.checks.base import Service
from argus.services.model import Health
from argus.store.records import Append, PutSetting, Write

KEY = "services.certificates"
"""Of each service, the end of the certificate that somebody was told of."""
_SOON = 14 * 86400.0


def read(found: Any) -> dict[str, float]:
    return {name: float(expires) for name, expires in found.items()}


def news(
    service: Service, judged: Health, healths: Mapping[str, Health], wall: float
) -> tuple[Health, tuple[Write, ...]]:
    """What follows from the certificate that a reading saw: mostly nothing."""
    expires = judged.last.seen.tls_expires if judged.last else None
    if expires is None or expires == judged.certificate or expires - wall > _SOON:
        return judged, ()
    told = {name: one.certificate for name, one in healths.items() if one.certificate is not None}
    report = reports.certificate_ends(service, expires, expires - wall)
    return judged._replace(certificate=expires), (PutSetting(KEY, {**told, service.name: expires}), Append(report))
