"""Listening ports: taking one of our own, and seeing who has the others."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass

from argus.core.errors import ArgusError, Code

_ANY = frozenset({"0.0.0.0", "::", "*"})  # noqa: S104 - what listeners on every address show


@dataclass(frozen=True, slots=True)
class Listener:
    host: str
    port: int
    pid: int | None
    program: str

    @property
    def address(self) -> str:
        """Where it is reached from this machine."""
        return "127.0.0.1" if self.host in _ANY else self.host

    @property
    def netloc(self) -> str:
        """The same with its port, as a URL has it."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, or PORT_CONFLICT with the occupant's name."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        # A daemon that was just stopped leaves connections in TIME_WAIT, which are nobody's.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(1024)
        made.setblocking(False)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            holder = occupant(port)
            by = f" by {holder.program} (pid {holder.pid})" if holder and holder.pid else ""
            raise ArgusError(
                Code.PORT_CONFLICT,
                f"port {port} on {host} is taken{by}",
                host=host,
                port=port,
                pid=holder.pid if holder else None,
                program=holder.program if holder else None,
            ) from None
        raise ArgusError(
            Code.CONFIG_INVALID,
            f"cannot listen on {host} port {port}: {error.strerror or error}",
            errors=[{"path": "server", "message": f"{host}:{port}: {error.strerror or error}"}],
        ) from None
    return made


def occupant(port: int) -> Listener | None:
    return next((listener for listener in listeners() if listener.port == port), None)


def listeners() -> list[Listener]:
    """Every TCP port somebody listens on, once each, as far as this user may see."""
    import psutil

    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return []  # some systems show this to root only; then nothing is known, which is not an error
    found: dict[int, Listener] = {}
    for connection in connections:
        if connection.status != psutil.CONN_LISTEN or not connection.laddr:
            continue
        port = connection.laddr.port
        if port not in found or (found[port].pid is None and connection.pid):
            found[port] = Listener(connection.laddr.ip, port, connection.pid, _program(connection.pid))
    return [found[port] for port in sorted(found)]


def _program(pid: int | None) -> str:
    import psutil

    try:
        return psutil.Process(pid).name() if pid else ""
    except psutil.Error:
        return ""
