"""What a container is made of, as the engine wants to be told."""

from __future__ import annotations

from typing import Any

from argus.host.engine.resources import HealthCheck, Making, Mount


def body(making: Making) -> dict[str, Any]:
    bindings: dict[str, list[dict[str, str]]] = {}
    for port in making.ports:
        host = str(port.host_port) if port.host_port else ""
        bindings.setdefault(f"{port.container_port}/{port.protocol}", []).append(
            {"HostIp": port.host, "HostPort": host}
        )
    said: dict[str, Any] = {
        "Image": making.image,
        "Labels": dict(making.labels),
        "Env": [f"{name}={value}" for name, value in making.environment.items()],
        "ExposedPorts": {port: {} for port in bindings},
        "HostConfig": {
            "PortBindings": bindings,
            "Binds": [_bind(one) for one in making.mounts if not _is_spelt_out(one)],
            "Mounts": [_mount(one, making) for one in making.mounts if _is_spelt_out(one)],
            "ExtraHosts": list(making.extra_hosts),
            "AutoRemove": making.auto_remove,
        },
    }
    if making.network:
        said["HostConfig"]["NetworkMode"] = making.network
        if making.aliases:
            said["NetworkingConfig"] = {"EndpointsConfig": {making.network: {"Aliases": list(making.aliases)}}}
    if making.command is not None:
        said["Cmd"] = list(making.command)
    if making.entrypoint is not None:
        # An empty list would mean the image's own.
        said["Entrypoint"] = list(making.entrypoint) or [""]
    if making.memory:
        said["HostConfig"] |= {"Memory": making.memory, "MemorySwap": making.memory}
    if making.health is not None:
        said["Healthcheck"] = _health(making.health)
    return said


def _is_spelt_out(mount: Mount) -> bool:
    """A bind in the short form makes its folder where there is none, as `docker run -v` does."""
    return mount.kind == "volume" or ":" in mount.source + mount.target


def _bind(mount: Mount) -> str:
    return f"{mount.source}:{mount.target}" + (":ro" if mount.read_only else "")


def _mount(mount: Mount, making: Making) -> dict[str, Any]:
    said = {"Type": mount.kind, "Source": mount.source, "Target": mount.target, "ReadOnly": mount.read_only}
    if mount.kind == "volume":
        # A volume that is not there yet is made with it: it must not be without labels.
        said["VolumeOptions"] = {"Labels": dict(making.labels)}
    return said


def _health(check: HealthCheck) -> dict[str, Any]:
    said: dict[str, Any] = {"Test": list(check.test)}
    times = {"Interval": check.interval, "Timeout": check.timeout, "StartPeriod": check.start_period}
    said |= {name: int(seconds * 1e9) for name, seconds in times.items() if seconds is not None}
    if check.retries is not None:
        said["Retries"] = check.retries
    return said
