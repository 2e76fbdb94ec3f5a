"""Where the engine is: DOCKER_HOST, else the chosen context, else the usual sockets."""

from __future__ import annotations

import hashlib
import json
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from argus.host.engine.seam import EngineUnavailable


@dataclass(frozen=True, slots=True)
class Place:
    """A socket's path, or a host and a port."""

    path: str = ""
    host: str = ""
    port: int = 0
    certificates: str = ""
    """The folder of ca.pem, cert.pem and key.pem, where TLS is spoken."""

    def __str__(self) -> str:
        return self.path or f"{self.host}:{self.port}"


def find(environ: Mapping[str, str]) -> Place:
    """Asked before every question: an engine may come up later, and elsewhere. Raises EngineUnavailable."""
    home = Path(environ.get("HOME") or "/")
    named = environ.get("DOCKER_HOST")
    if named:
        is_tls = bool(environ.get("DOCKER_TLS_VERIFY"))
        folder = environ.get("DOCKER_CERT_PATH") or str(home / ".docker")
        return _read(named, folder, is_tls=is_tls)
    chosen = _of_context(environ, home)
    if chosen is not None:
        return chosen
    usual = _usual(environ, home)
    # The first is named also when there is none: that is where people look.
    return Place(path=next((path for path in usual if os.path.exists(path)), usual[0]))


def leading(environ: Mapping[str, str]) -> dict[str, str]:
    """The fewest variables by which the same engine is found. Raises EngineUnavailable."""
    place = find(environ)
    if place.path:
        return {"DOCKER_HOST": f"unix://{place.path}"}
    host = f"[{place.host}]" if ":" in place.host else place.host
    tls = {"DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": place.certificates} if place.certificates else {}
    return {"DOCKER_HOST": f"tcp://{host}:{place.port}", **tls}


def for_commands(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The docker command by itself knows only the first of the usual sockets; it must not look elsewhere than we."""
    home = Path(environ.get("HOME") or "/")
    if environ.get("DOCKER_HOST") or _of_context(environ, home) is not None:
        return environ
    return {**environ, "DOCKER_HOST": f"unix://{find(environ).path}"}


def _usual(environ: Mapping[str, str], home: Path) -> list[str]:
    runtime = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return [
        "/var/run/docker.sock",
        f"{runtime}/docker.sock",  # rootless
        str(home / ".docker" / "run" / "docker.sock"),  # Docker Desktop on macOS
        str(home / ".docker" / "desktop" / "docker.sock"),  # Docker Desktop on Linux
        str(home / ".colima" / "default" / "docker.sock"),
        str(home / ".orbstack" / "run" / "docker.sock"),
    ]


def _of_context(environ: Mapping[str, str], home: Path) -> Place | None:
    """As `docker context use` or DOCKER_CONTEXT say. What cannot be read says nothing."""
    folder = Path(environ.get("DOCKER_CONFIG") or home / ".docker")
    name = environ.get("DOCKER_CONTEXT") or _text(_json(folder / "config.json"), "currentContext")
    if not name or name == "default":
        return None
    key = hashlib.sha256(name.encode()).hexdigest()
    host = _text(_json(folder / "contexts" / "meta" / key / "meta.json"), "Endpoints", "docker", "Host")
    if not host:
        # Another engine than the one that was chosen would have other containers of the same names.
        raise EngineUnavailable(f"the Docker context {name!r} names no engine", is_the_engines=False)
    certificates = folder / "contexts" / "tls" / key / "docker"
    return _read(host, str(certificates), is_tls=certificates.is_dir())


def _json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _text(value: object, *keys: str) -> str:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def _read(named: str, certificates: str, *, is_tls: bool) -> Place:
    parts = urlsplit(named)
    if parts.scheme == "unix" and parts.path.startswith("/"):
        return Place(path=parts.path)
    if parts.scheme in ("tcp", "http", "https") and parts.hostname:
        is_tls = is_tls or parts.scheme == "https"
        port = parts.port or (2376 if is_tls else 2375)
        return Place(host=parts.hostname, port=port, certificates=certificates if is_tls else "")
    if parts.scheme == "ssh":
        # The docker command starts a program on the other machine for each question; Argus asks sockets.
        raise EngineUnavailable(
            f"the Docker engine's address {named[:200]!r} is reached by ssh, which Argus does not do by itself: "
            "forward its socket (ssh -NL /run/user/1000/there.sock:/var/run/docker.sock USER@HOST) and set "
            "DOCKER_HOST=unix:///run/user/1000/there.sock",
            is_the_engines=False,
        )
    raise EngineUnavailable(
        f"the Docker engine's address {named[:200]!r} is not understood: unix:///path or tcp://host:port",
        is_the_engines=False,
    )


def context(certificates: str) -> ssl.SSLContext:
    """As the docker command does it: both sides show a certificate of the folder's authority."""
    folder = Path(certificates)
    try:
        made = ssl.create_default_context(cafile=str(folder / "ca.pem"))
        made.load_cert_chain(str(folder / "cert.pem"), str(folder / "key.pem"))
    except (OSError, ssl.SSLError) as error:
        raise EngineUnavailable(f"the certificates in {folder} cannot be used: {error}", is_the_engines=False) from None
    return made
