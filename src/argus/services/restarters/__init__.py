"""The ways to restart something. A restarter's settings model is the restarter: adding one is one file and one line."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from argus.services.restarters.command import CommandRestarter
from argus.services.restarters.docker import DockerRestarter
from argus.services.restarters.launchd import LaunchdRestarter
from argus.services.restarters.systemd import SystemdRestarter

_KEYS = {"launchd": ("launchdLabel",), "systemd": ("systemdUnit",), "docker": ("containers", "label")}
"""By which keys of its own a service names what is restarted in that way."""


def _way(value: Any) -> str:
    """Not the bare name of a key: it stands in the place of an error, where names of keys are the file's."""
    said = value if isinstance(value, dict) else getattr(type(value), "model_fields", {})
    return "by " + next((way for way in _KEYS if way in said), "command")


Restarter = CommandRestarter | LaunchdRestarter | SystemdRestarter | DockerRestarter
AnyRestarter = Annotated[
    Annotated[CommandRestarter, Tag("by command")]
    | Annotated[LaunchdRestarter, Tag("by launchd")]
    | Annotated[SystemdRestarter, Tag("by systemd")]
    | Annotated[DockerRestarter, Tag("by docker")],
    Discriminator(_way),
]


def derived(values: dict[str, Any]) -> Any:
    """What `restart` means where the service's own keys say it: by the name of a way, or left out."""
    said = values.get("restart")
    if "restart" in values and not isinstance(said, str):
        return said
    for way, keys in _KEYS.items():
        given = next((values[key] for key in keys if values.get(key) is not None), None)
        if said not in (None, way) or given is None:
            continue
        more: dict[str, Any] = {}
        if way == "systemd":
            more = {"user": values.get("systemdUser", False)}
        elif way == "docker":
            # A check of the containers has seen all there is to see of them; any other may know better.
            more = {"wellToo": values.get("type") != "docker"}
        return {way: given, **more}
    return said


def understood(value: Any) -> Any:
    """What `derived` could not resolve: none, or a mistake."""
    if not isinstance(value, str):
        return value
    if value == "none":
        return None
    if value in _KEYS:
        raise ValueError(f"restart: {value} needs {' or '.join(_KEYS[value])}")
    raise ValueError(f"restart is {', '.join(_KEYS)}, none, or a mapping such as {{command: [program, argument]}}")


__all__ = ["AnyRestarter", "CommandRestarter", "DockerRestarter", "LaunchdRestarter", "Restarter", "SystemdRestarter"]
