"""Listening ports: taking one of our own, and seeing who has the others."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from argus.core.errors import ArgusError, Code
from argus.host import socket_table

_KINDS = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}
_ANY = frozenset({"0.0.0.0", "::", "*"})  # noqa: S104 - what listeners on every address show
_FIRST = 32
"""Handles of a process. Who listens began with that, mostly; one server with thousands of connections would take longer
to look through than everything else on the machine."""


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


def bound(host: str, port: int) -> socket.socket:
    """A listening socket, or what the machine says."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        # A daemon that was just stopped leaves connections in TIME_WAIT, which are nobody's.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(1024)
        made.setblocking(False)
    except (OSError, ValueError):
        made.close()
        raise
    return made


def barred(host: str) -> str:
    """Why nothing can listen there, whatever the port; empty where something can. Bound for an instant, and heard by
    nobody."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as trial:
            trial.bind((host, 0))
    except OSError as error:
        return error.strerror or str(error)
    except ValueError as error:
        return str(error)  # no name at all, such as one with an empty part
    return ""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, or PORT_CONFLICT with the occupant's name."""
    try:
        return bound(host, port)
    except (OSError, ValueError) as error:  # ValueError: a host that can be no name
        if getattr(error, "errno", None) == errno.EADDRINUSE:
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
        why = getattr(error, "strerror", None) or error
        raise ArgusError(
            Code.CONFIG_INVALID,
            f"cannot listen on {host} port {port}: {why}",
            errors=[{"path": "server", "message": f"{host}:{port}: {why}"}],
        ) from None


def is_free(port: int, protocol: str = "tcp") -> bool:
    """Whether every address of this machine could be bound to it just now, as an engine that publishes it would."""
    kind = _KINDS.get(protocol)
    if kind is None:
        return True  # nobody is seen in the way: the engine will say
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):  # noqa: S104 - bound and let go
        try:
            with socket.socket(family, kind) as trial:
                if kind is socket.SOCK_STREAM:  # which for UDP would be bound beside another
                    trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family is socket.AF_INET6:
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trial.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            # Without IPv6, or without the right to a low port, nobody is seen in the way: the engine will say.
    return True


def occupants(ports: Iterable[int], protocol: str = "tcp") -> dict[int, Listener]:
    """Who listens on these. By the kernel's own table: looking at every connection of every process takes a hundred
    times as long."""
    wanted = set(ports)
    try:
        sockets = {one.inode: one for one in socket_table.listening(protocol) if one.port in wanted}
    except OSError:
        return {one.port: one for one in listeners() if one.port in wanted} if protocol == "tcp" else {}
    found = {one.port: Listener(one.host, one.port, None, "") for one in sockets.values()}
    missing = set(sockets)
    for pid, held in _holdings() if missing else ():
        for inode in held & missing:
            port = sockets[inode].port
            found[port] = replace(found[port], pid=pid, program=_comm(pid))
            missing.discard(inode)
        if not missing:
            break
    return found


def _comm(pid: int) -> str:
    """Its name alone: arguments may hold secrets."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def _pids() -> list[int]:
    """The oldest first: a socket that is shared is its parent's."""
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def _holdings() -> Iterator[tuple[int, set[int]]]:
    """Processes and sockets of theirs: of each the first handles, and the rest when those of all were looked at.

    Who stands in our network comes first: those in containers stand elsewhere, and can be most of the machine.
    """
    rest = []
    ours = _network("self")
    for pid in sorted(_pids(), key=lambda pid: _network(pid) != ours):
        try:
            handles = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue  # gone meanwhile, or another user's
        yield pid, _sockets(pid, handles[:_FIRST])
        if len(handles) > _FIRST:
            rest.append((pid, handles[_FIRST:]))
    for pid, handles in rest:
        yield pid, _sockets(pid, handles)


def _network(pid: int | str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return ""


def _sockets(pid: int, handles: list[str]) -> set[int]:
    found = set()
    for handle in handles:
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/{pid}/fd/{handle}")
            if target.startswith("socket:["):
                found.add(int(target[8:-1]))
    return found


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
