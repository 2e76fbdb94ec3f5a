"""What a mock answers, as a value: made of the file, kept on record, and read again by the next daemon. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from argus.core.redact import MASK
from argus.environments.e2e import mocks

_SHORTEST_SECRET = 6


@dataclass(frozen=True, slots=True)
class When:
    """What a request has to have, beside its method and path. Deeper and more than that is no harm."""

    body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_anything(self) -> bool:
        return not (self.body or self.headers or self.query)


@dataclass(frozen=True, slots=True)
class Rule:
    method: str
    path: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    delay: float = 0.0
    when: When | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Placed:
    """A mock, and where it is reached."""

    mock: Served
    port: int
    """On the host. Containers reach it at the mock's own, through a relay."""
    gateway: str
    """Where the relay reaches Argus."""

    def written(self, secrets: Iterable[str] = ()) -> dict[str, Any]:
        return {"port": self.port, "gateway": self.gateway, "mock": self.mock.written(secrets)}


@dataclass(frozen=True, slots=True)
class Served:
    """A mock without an image."""

    name: str
    inside: int
    """The port that containers reach it on."""
    overrides: tuple[Rule, ...] = ()
    rules: tuple[Rule, ...] = ()

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        return self.overrides + self.rules

    def written(self, secrets: Iterable[str] = ()) -> dict[str, Any]:
        """For the record. What the caller's environment keeps secret is not written to a disk; what the file itself
        says in plain words is."""
        hidden = sorted((one for one in secrets if len(one) >= _SHORTEST_SECRET), key=len, reverse=True)
        sides = {"overrides": self.overrides, "rules": self.rules}
        written = {side: [_masked(_written(one), hidden) for one in several] for side, several in sides.items()}
        return {"name": self.name, "inside": self.inside, **written}


def of(name: str, mock: mocks.Mock) -> Served:
    return Served(name, mock.inside, tuple(map(_rule, mock.overrides)), tuple(map(_rule, mock.routes)))


def _rule(route: mocks.Route) -> Rule:
    answer, when = route.response, route.when
    wanted = When(when.body, when.headers, when.query) if when else None
    return Rule(
        route.method.upper(), route.path, answer.status, dict(answer.headers), answer.body, answer.delay, wanted
    )


def read(data: Mapping[str, Any]) -> Placed:
    return Placed(_read(data["mock"]), data["port"], data["gateway"])


def _read(data: Mapping[str, Any]) -> Served:
    return Served(data["name"], data["inside"], _read_all(data["overrides"]), _read_all(data["rules"]))


def _read_all(several: Iterable[Mapping[str, Any]]) -> tuple[Rule, ...]:
    return tuple(Rule(**{**one, "when": When(**one["when"]) if one["when"] else None}) for one in several)


def _written(rule: Rule) -> dict[str, Any]:
    when = rule.when and {
        "body": dict(rule.when.body),
        "headers": dict(rule.when.headers),
        "query": dict(rule.when.query),
    }
    return {
        "method": rule.method,
        "path": rule.path,
        "status": rule.status,
        "headers": dict(rule.headers),
        "body": rule.body,
        "delay": rule.delay,
        "when": when,
    }


def _masked(value: Any, hidden: list[str]) -> Any:
    if isinstance(value, str):
        for secret in hidden:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, Mapping):
        return {key: _masked(one, hidden) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(one, hidden) for one in value]
    return value
