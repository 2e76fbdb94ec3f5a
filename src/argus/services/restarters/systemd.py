"""systemd: restarts a unit, of the system or of the user."""

from __future__ import annotations

import os
import re
from typing import Annotated

from pydantic import AfterValidator, Field

from argus.core.patterns import SYSTEMD_UNIT
from argus.host.seam import Host, Ran
from argus.schema import PositiveDuration, Section, lasting

_TEMPLATE = re.compile(r"@(\.(service|socket|target|timer|path|mount|automount|swap|slice|scope))?$")


def _is_one_unit(name: str) -> str:
    """A template can be neither looked at nor restarted: what runs is an instance of it."""
    if _TEMPLATE.search(name):
        raise ValueError(f"{name} is a template: name an instance of it, such as {name.replace('@', '@1', 1)}")
    return name


Unit = Annotated[str, Field(pattern=SYSTEMD_UNIT, max_length=255), AfterValidator(_is_one_unit)]


def systemctl(*words: str, user: bool) -> list[str]:
    """The words that ask the system's manager, or the user's own."""
    if not user:
        return ["systemctl", *words]
    # Who was not logged in (a daemon, a job of cron) was not told where the user's own manager is.
    untold = not {"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} & os.environ.keys()
    place = ["env", f"XDG_RUNTIME_DIR=/run/user/{os.getuid()}"] if untold else []
    return [*place, "systemctl", "--user", *words]


class SystemdRestarter(Section):
    systemd: Unit = Field(description="The unit.")
    user: bool = Field(default=False, strict=True, description="It is a unit of the user's own.")
    timeout: PositiveDuration = lasting("2m", "How long it may take; a unit has 90 s to stop unless it says otherwise.")

    def target(self, service: str) -> str:
        return self.systemd

    async def restart(self, host: Host, *, log: str) -> Ran:
        words = systemctl("--no-ask-password", "restart", "--", self.systemd, user=self.user)
        return await host.run(words, timeout=self.timeout, log=log)
