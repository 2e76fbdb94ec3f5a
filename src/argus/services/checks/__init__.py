"""The kinds of checks. A check's settings model is the check: adding one is one file and one line here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from argus.services.checks.base import Service as BaseService
from argus.services.checks.command import CommandService
from argus.services.checks.docker import DockerService
from argus.services.checks.http import HttpService
from argus.services.checks.process import ProcessService
from argus.services.checks.tcp import TcpService

Service = Annotated[
    HttpService | TcpService | ProcessService | DockerService | CommandService, Field(discriminator="type")
]

__all__ = ["BaseService", "CommandService", "DockerService", "HttpService", "ProcessService", "Service", "TcpService"]
