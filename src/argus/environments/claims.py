"""Which host ports an environment's parts ask for: one claim for all that can share a number. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from argus.environments.blueprint import Blueprint, Part, PortWish
from argus.environments.ports import Wanted

_EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound


def of(parts: Iterable[Part]) -> list[Wanted]:
    """Every claim once."""
    return list(dict.fromkeys(one for part in parts for one in of_part(part) if one.port))


def of_part(part: Part) -> list[Wanted]:
    """For each of its ports the claim that it stands in. TCP and UDP of one number stay together, and so do two
    addresses; two that want the very same are two claims."""
    claims: list[list[PortWish]] = []
    where: list[int] = []
    for wish in part.ports:
        fitting = (n for n, group in enumerate(claims) if not any(_clash(wish, one) for one in group))
        n = next((n for n in fitting if claims[n][0].host_port == wish.host_port), len(claims))
        claims[n:n] = [[]] if n == len(claims) else []
        claims[n].append(wish)
        where.append(n)
    made = [_claim(part.name, claims, n) for n in range(len(claims))]
    return [made[n] for n in where]


def _claim(service: str, claims: list[list[PortWish]], n: int) -> Wanted:
    port = claims[n][0].host_port
    earlier = sum(one[0].host_port == port for one in claims[:n])
    return Wanted(service, port, tuple(sorted({one.protocol for one in claims[n]})), earlier)


def _clash(one: PortWish, other: PortWish) -> bool:
    alike = one.host == other.host or one.host in _EVERYWHERE or other.host in _EVERYWHERE
    return one.host_port == other.host_port and one.protocol == other.protocol and alike


def given(plan: Blueprint, meant: Blueprint, actual: Mapping[Wanted, int]) -> Blueprint:
    """The plan with the ports that were given to the claims of what was meant."""
    parts = []
    for part, before in zip(plan.parts, meant.parts, strict=True):
        pairs = zip(part.ports, of_part(before), strict=True)
        ports = tuple(replace(port, host_port=actual.get(claim, port.host_port)) for port, claim in pairs)
        parts.append(replace(part, ports=ports))
    return replace(plan, parts=tuple(parts))
