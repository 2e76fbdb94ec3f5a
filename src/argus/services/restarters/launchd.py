"""launchd: kickstarts a job of the user's own domain."""

from __future__ import annotations

import os

from pydantic import Field

from argus.core.patterns import LAUNCHD_LABEL
from argus.host.seam import Host, Ran
from argus.schema import PositiveDuration, Section, lasting


class LaunchdRestarter(Section):
    launchd: str = Field(pattern=LAUNCHD_LABEL, max_length=255, description="The label of the job.")
    timeout: PositiveDuration = lasting("60s", "How long it may take.")

    def target(self, service: str) -> str:
        return self.launchd

    async def restart(self, host: Host, *, log: str) -> Ran:
        words = ["launchctl", "kickstart", "-kp", f"gui/{os.getuid()}/{self.launchd}"]
        return await host.run(words, timeout=self.timeout, log=log)
