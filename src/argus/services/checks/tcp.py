"""tcp: it accepts a connection within the timeout."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from argus.host.seam import Host, ProbeFailed
from argus.services.checks.base import Service
from argus.services.model import Seen, Status


class TcpService(Service):
    type: Literal["tcp"] = Field(description="Connects to a port.")
    host: str = Field(default="127.0.0.1", min_length=1, max_length=253, description="Where it listens.")
    port: Annotated[int, Field(ge=1, le=65535, strict=True)] = Field(description="The port it listens on.")

    @property
    def host_name(self) -> str:
        return self.host

    @property
    def port_number(self) -> int:
        return self.port

    @property
    def place(self) -> str:
        return f"Port {self.port}"

    async def probe(self, host: Host) -> Seen:
        try:
            latency = await host.tcp(self.host, self.port, timeout=self.timeout)
        except ProbeFailed as failure:
            return self.failed(failure)
        return Seen(Status.UP, latency, "", "accepts connections")
