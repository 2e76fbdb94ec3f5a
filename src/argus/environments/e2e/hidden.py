"""Which values of a file are secrets: those of variables that are named like one. Containers and builds print them."""

from __future__ import annotations

from collections.abc import Iterator

from argus.core.redact import is_named_like_one, passwords_in
from argus.environments.e2e.environment import Environment

_SHORTEST_LINE = 12
_ONLY_ABOUT_ONE = ("FILE", "PATH", "DIR", "NAME", "TTL")
"""`DB_PASSWORD_FILE: /run/secrets/db` says where a secret is."""


def secrets(environment: Environment) -> frozenset[str]:
    """A value that is also a name of this environment is none: nothing could be said of it any more."""
    found = {line for value in _values(environment) for line in _lines(value)}
    return frozenset(found - _names(environment))


def _values(environment: Environment) -> Iterator[str]:
    for service in environment.services:
        for named in (service.environment, service.build.args, service.vars):
            yield from (value for name, value in named.items() if _is_one(name))
            # `DATABASE_URL: postgres://shop:...@db/shop` is named like none.
            yield from (found for value in named.values() for found in passwords_in(value))
    variables = environment.variables
    for name in environment.origins:
        # Used under whatever name: `DSN: "shop:{{env.DB_PASSWORD}}@db"`.
        if _is_one(name):
            yield variables.look_up(name) or ""


def _is_one(name: str) -> bool:
    return is_named_like_one(name) and not name.upper().endswith(_ONLY_ABOUT_ONE)


def _lines(value: str) -> Iterator[str]:
    """What is printed comes line by line, a key of many lines too."""
    yield value
    if "\n" in value:
        yield from (line for line in value.splitlines() if len(line) >= _SHORTEST_LINE)


def _names(environment: Environment) -> set[str]:
    names = {environment.config.project.name, environment.network, *environment.mocks}
    for service in environment.services:
        names |= {service.name, service.container, service.build.image}
    return names
