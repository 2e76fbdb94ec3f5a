"""Who is asking, and what they may do. A guard rail, not a wall: the same user can read the root token."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from argus.core.errors import ArgusError, Code


class Scope(StrEnum):
    """What an operation needs."""

    READ = "read"
    REPORT = "report"
    ASK = "ask"
    """To have something looked at, or restarted through the gates."""
    ENVIRONMENT = "environment"
    """To bring the environment of a project up and take it away; an agent's own alone."""
    MANAGE = "manage"


class Role(StrEnum):
    ROOT = "root"
    AGENT = "agent"
    """A launched agent: reads, speaks for itself, and asks for what the gates allow."""
    REPORT = "report"
    """What an agent's own hooks carry: it can only report."""


_MAY = {
    Role.ROOT: frozenset(Scope),
    Role.AGENT: frozenset({Scope.READ, Scope.REPORT, Scope.ASK, Scope.ENVIRONMENT}),
    Role.REPORT: frozenset({Scope.REPORT}),
}


@dataclass(frozen=True, slots=True)
class Caller:
    by: str
    """For the record."""
    role: Role = Role.ROOT
    agent: str | None = None
    project: str | None = None
    is_person: bool = False
    """As far as anybody can tell: the root token, and not through the door that is made for agents."""

    def require(self, scope: Scope) -> None:
        if scope not in _MAY[self.role]:
            raise ArgusError(
                Code.FORBIDDEN,
                f"this needs a token that may {scope.value}; this one is of the kind {self.role.value}",
                needs=scope.value,
                role=self.role.value,
            )


ARGUS = Caller("argus")
