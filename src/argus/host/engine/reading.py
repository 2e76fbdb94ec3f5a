"""What the engine says, as our values. What cannot be understood is an engine that cannot be asked."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from argus.core.cutting import ending
from argus.host.engine.resources import Binding, Happening, Info, Made, Network, Usage, Volume
from argus.host.engine.seam import Container, EngineUnavailable

T = TypeVar("T")
_HEALTHS = ("starting", "healthy", "unhealthy")
_OUTPUT = 4096
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
_NOT_LABELS = frozenset(
    ("image", "name", "exitCode", "signal", "execID", "oldName", "container", "comment", "execDuration")
)
"""What the engine says of a container's event beside the labels, in the same place."""


def _understood(what: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    def wrap(read: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(read)
        def reading(*said: Any) -> T:
            try:
                return read(*said)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError):
                message = f"the Docker engine describes {what} in a way that is not understood"
                raise EngineUnavailable(message) from None

        return reading

    return wrap


@_understood("a container")
def container(said: Any) -> Container:
    """As much of it as services need."""
    state = said["State"]
    return Container(
        id=str(said["Id"]),
        name=str(said["Name"]).removeprefix("/"),
        state=str(state["Status"]),
        health=_health(state)[0],
        exit_code=int(state.get("ExitCode") or 0),
        oom_killed=bool(state.get("OOMKilled")),
    )


@_understood("a container")
def made(said: Any) -> Made:
    seen = container(said)
    state, config, settings = said["State"], said.get("Config") or {}, said.get("NetworkSettings") or {}
    health, output = _health(state)
    return Made(
        id=seen.id,
        name=seen.name,
        # The name it was made of; `Image` beside it is the id.
        image=str(config.get("Image") or said.get("Image") or ""),
        state=seen.state,
        health=health,
        health_output=output,
        exit_code=seen.exit_code,
        oom_killed=seen.oom_killed,
        error=str(state.get("Error") or ""),
        labels=_texts(config.get("Labels")),
        created=moment(said.get("Created")),
        started=moment(state.get("StartedAt")),
        finished=moment(state.get("FinishedAt")),
        ports=_bindings(settings.get("Ports") or {}),
        networks={
            str(name): str((one or {}).get("IPAddress") or "") for name, one in (settings.get("Networks") or {}).items()
        },
        memory_limit=int((said.get("HostConfig") or {}).get("Memory") or 0) or None,
        volumes=tuple(sorted(str(one["Name"]) for one in said.get("Mounts") or () if one.get("Type") == "volume")),
    )


def _health(state: Any) -> tuple[str | None, str]:
    """Some engines say "none" or nothing where there is no check."""
    health = state.get("Health") or {}
    log = health.get("Log") or []
    output = _printed(str(log[-1].get("Output") or "")) if log else ""
    status = health.get("Status")
    return (status if status in _HEALTHS else None), output


def _printed(output: str) -> str:
    """By a health check. The engine itself cuts it, and says so by dots: half a word may be half of a secret."""
    if output.endswith("...") and len(output.encode("utf-8", "replace")) > _OUTPUT:
        output = output.rsplit(None, 1)[0]
    return ending(output, _OUTPUT)


def _bindings(ports: Any) -> tuple[Binding, ...]:
    found = set()
    for port, bound in ports.items():
        number, _, protocol = str(port).partition("/")
        for one in bound or ():
            # Bound to all addresses it is told twice, once for each family.
            host = "" if one.get("HostIp") in _EVERYWHERE else str(one.get("HostIp") or "")
            found.add(Binding(int(number), int(one["HostPort"]), host, protocol or "tcp"))
    return tuple(sorted(found, key=lambda one: (one.container_port, one.protocol, one.host, one.host_port)))


@_understood("a network")
def network(said: Any) -> Network:
    pools = (said.get("IPAM") or {}).get("Config") or []
    return Network(
        id=str(said["Id"]),
        name=str(said["Name"]),
        labels=_texts(said.get("Labels")),
        created=moment(said.get("Created")),
        gateway=next((str(one["Gateway"]) for one in pools if one.get("Gateway")), ""),
        containers={str(id): str(one.get("Name") or "") for id, one in (said.get("Containers") or {}).items()},
    )


@_understood("a volume")
def volume(said: Any) -> Volume:
    return Volume(str(said["Name"]), _texts(said.get("Labels")), moment(said.get("CreatedAt")))


@_understood("itself")
def info(about: Any) -> Info:
    return Info(
        version=str(about.get("ServerVersion") or ""),
        data_root=str(about.get("DockerRootDir") or ""),
        name=str(about.get("Name") or ""),
        storage_driver=str(about.get("Driver") or ""),
        memory=int(about.get("MemTotal") or 0),
        architecture=str(about.get("Architecture") or ""),
    )


@_understood("what a container uses")
def usage(said: Any) -> Usage:
    memory = said.get("memory_stats") or {}
    if not memory.get("usage"):
        return Usage()
    details = memory.get("stats") or {}
    # What was read from files and can be given up at once is not counted, as by `docker stats`.
    spare = int(details.get("total_inactive_file", details.get("inactive_file", 0)) or 0)
    used = int(memory["usage"])
    return Usage(
        memory=used - spare if spare < used else used,
        limit=int(memory["limit"]) if memory.get("limit") else None,
        peak=int(memory["max_usage"]) if memory.get("max_usage") else None,
    )


@_understood("an event")
def happening(said: Any) -> Happening:
    actor = said["Actor"]
    attributes = _texts(actor.get("Attributes"))
    kind = said["Type"]
    code = attributes.get("exitCode", "")
    return Happening(
        kind=kind,
        action=str(said["Action"]),
        id=str(actor["ID"]),
        # A volume has nothing but its name.
        name=attributes.get("name") or (str(actor["ID"]) if kind == "volume" else ""),
        labels={key: one for key, one in attributes.items() if key not in _NOT_LABELS} if kind == "container" else {},
        at=int(said["timeNano"]) / 1e9 if said.get("timeNano") else float(said["time"]),
        exit_code=int(code) if code else None,
        attributes=attributes,
    )


def moment(said: Any) -> float | None:
    """The engine says the year 1 for what has not happened."""
    if not said or str(said).startswith("0001-"):
        return None
    return datetime.fromisoformat(str(said)).timestamp()


def _texts(said: Any) -> Mapping[str, str]:
    return {str(key): str(value) for key, value in (said or {}).items()}
