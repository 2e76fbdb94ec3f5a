"""Asking a running container over HTTP whether it is well, and whether it answers at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from argus.environments.blueprint import HealthWish, Part
from argus.environments.waiting import Waiter
from argus.host.engine.resources import Made
from argus.host.seam import Failure, HttpRequest, ProbeFailed

if TYPE_CHECKING:
    from argus.environments.guarding.ward import Ward

_SHORT = 2.0
_SILENT = (Failure.REFUSED, Failure.TIMEOUT, Failure.UNREACHABLE, Failure.CLOSED, Failure.DNS)


async def ask(waiter: Waiter, part: Part, health: HealthWish, made: Made) -> tuple[str, bool]:
    """What is wrong, empty where nothing is; and whether it answered."""
    host, port = waiter.where(part, health, made)
    host = f"[{host}]" if ":" in host else host
    try:
        answer = await waiter.http(HttpRequest(f"http://{host}:{port}{health.path}"), timeout=health.timeout)
    except ProbeFailed as failed:
        if failed.failure is Failure.OURS:
            return "", True  # says nothing about the container
        return waiter.clean(f"{health.path} on {host}:{port}: {failed.detail}"), failed.failure not in _SILENT
    return ("" if answer.status < 400 else waiter.clean(f"{health.path} answers {answer.status}")), True


async def answers(waiter: Waiter, part: Part, made: Made) -> bool:
    """Anything at all, where it is reached; one that publishes nothing is taken to."""
    port = next((one.container_port for one in made.ports if one.protocol == "tcp"), None)
    if part.health is not None:
        port = part.health.port
    if port is None:
        return True
    return (await ask(waiter, part, HealthWish("/", port, timeout=_SHORT), made))[1]


async def poll(ward: Ward, waiter: Waiter, is_sound: Callable[[], bool]) -> None:
    """At the interval that the file says; so many failures in a row as it says, and it counts as unhealthy."""
    health = ward.part.health
    if health is None:
        return
    failures = life = 0
    while True:
        await asyncio.sleep(health.interval)
        made = ward.made
        # Also while its restart is waited for: one that heals by itself meanwhile needs none.
        watched = ward.charge.state.is_well or ward.charge.state.is_given_up or bool(ward.ailing)
        if not watched or made is None or made.state != "running":
            failures = 0
            continue
        if ward.lives != life:
            failures, life = 0, ward.lives
        said, is_answer = await ask(waiter, ward.part, health, made)
        if ward.lives != life:
            continue  # it was started meanwhile, and nobody has asked that one yet
        # After a sleep or a stall of ours what timed out meanwhile says nothing.
        failures = failures + 1 if said and is_sound() else 0
        if failures >= max(1, health.retries):
            failures = 0
            ward.ail(said, answers=is_answer)
        elif not said and ward.ailing:
            ward.recover()
