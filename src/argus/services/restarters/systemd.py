"""systemd: restarts a unit, of the system or of the user."""

from __future__ import annotations

from pydantic import Field

from argus.host.seam import Host, Ran
from argus.schema import PositiveDuration, Section, lasting

UNIT = r"^[A-Za-z0-9:_.@\\][A-Za-z0-9:_.@\\-]*$"


class SystemdRestarter(Section):
    systemd: str = Field(pattern=UNIT, max_length=255, description="The unit.")
    user: bool = Field(default=False, strict=True, description="It is a unit of the user's own.")
    timeout: PositiveDuration = lasting("60s", "How long it may take.")

    def target(self, service: str) -> str:
        return self.systemd

    async def restart(self, host: Host, *, log: str) -> Ran:
        user = ["--user"] if self.user else []
        words = ["systemctl", *user, "--no-ask-password", "restart", "--", self.systemd]
        return await host.run(words, timeout=self.timeout, log=log)
