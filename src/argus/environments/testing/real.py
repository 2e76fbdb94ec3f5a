"""The world as it is: this machine for the caller, and the containers of its environment."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argus.core.errors import ArgusError, Code
from argus.environments.e2e.environment import Service
from argus.environments.labels import RUN
from argus.environments.testing.world import FileSeen, Host, Running, World
from argus.environments.tools import Shell
from argus.environments.waiting import reached
from argus.host import netspace, processes
from argus.host.commands import Commands, Printed
from argus.host.engine.refusals import missing
from argus.host.engine.resources import Dock, Executed, FileFound
from argus.host.engine.seam import EngineRefused
from argus.host.matching import Matcher

LOOK = 10.0
"""Seconds for a look into a container."""
_PASSWD = 1024 * 1024


def world(
    host: Host,
    dock: Dock,
    shell: Shell,
    *,
    base_url: str | None,
    health_urls: tuple[str, ...] = (),
    names: Mapping[str, str] | None = None,
    run: str = "",
) -> World:
    """`names`: what test files may call the containers, and what they are called, the first service's first.
    `run`: what they belong to, as their labels say it."""
    return World(
        web=host.web,
        machine=Machine(host.commands, shell),
        connect=host.tcp,
        container=lambda name: Inside(dock, name, run),
        matching=Matcher,
        base_url=base_url,
        health_urls=health_urls,
        names=names or {},
    )


@dataclass(frozen=True, slots=True)
class Machine:
    """Commands run in the caller's folder, with its environment."""

    commands: Commands
    shell: Shell

    async def run(self, argv: Sequence[str], *, timeout: float) -> Printed:
        return await self.commands.run(argv, folder=self.shell.folder, environ=self.shell.environ, timeout=timeout)

    async def file(self, path: str, most: int) -> FileSeen | None:
        return await asyncio.to_thread(_file, os.path.join(self.shell.folder, path), most)

    async def processes(self) -> list[Running]:
        found = await asyncio.to_thread(processes.listed)
        return [Running((one.user,), one.command) for one in found]


def _file(path: str, most: int) -> FileSeen | None:
    try:
        found = os.stat(path)
        content = b""
        if stat.S_ISREG(found.st_mode):
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
                content = opened.read(most)
        passwd = _text("/etc/passwd")
    except (FileNotFoundError, NotADirectoryError):
        return None
    seen = FileFound(path, found.st_mode, found.st_uid, found.st_gid, found.st_size, content)
    return FileSeen(seen, _names(passwd, found.st_uid))


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as opened:
            return opened.read(_PASSWD)
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Inside:
    dock: Dock
    name: str
    of: str
    """The run that it belongs to."""

    async def run(self, argv: Sequence[str], *, timeout: float) -> Executed:
        return await self.dock.execute(await self._id(), argv, timeout=timeout)

    async def file(self, path: str, most: int) -> FileSeen | None:
        id = await self._id()
        found = await self.dock.file(id, path, most, timeout=LOOK)
        return None if found is None else FileSeen(found, _names(await self._passwd(id), found.uid))

    async def processes(self) -> list[Running]:
        """The engine tells numbers, which its machine would call otherwise than the container does."""
        id = await self._id()
        found = await self.dock.processes(id, timeout=LOOK)
        passwd = await self._passwd(id) if found else ""
        return [Running(_names(passwd, one.user), one.command) for one in found]

    async def _id(self) -> str:
        """A name is whoever's has it now: where the own container is gone, a stranger's may."""
        made = await self.dock.container(self.name, timeout=LOOK)
        if made is None:
            raise missing(self.name)
        if made.labels.get(RUN) != self.of:
            message = f"the container {self.name} of this environment is gone, and another has its name"
            raise ArgusError(Code.CONTAINER_NOT_FOUND, message, container=self.name)
        return made.id

    async def _passwd(self, id: str) -> str:
        found = await self.dock.file(id, "/etc/passwd", _PASSWD, timeout=LOOK)
        return found.content.decode("utf-8", "replace") if found else ""

    async def listening(self) -> frozenset[int] | str:
        """From the kernel's table of one of its processes, where that is on this machine; and else by a command."""
        id = await self._id()
        for one in (await self.dock.processes(id, timeout=LOOK))[:3]:
            ports = await asyncio.to_thread(netspace.of_container, one.pid, id)
            if ports is not None:
                return ports
        try:
            ran = await self.dock.execute(id, ("cat", "/proc/net/tcp", "/proc/net/tcp6"), timeout=LOOK)
        except (ArgusError, EngineRefused) as error:
            return f"its ports cannot be seen: {error}"
        # One of the two may be missing, where there is no IPv6.
        return (
            netspace.listening(ran.stdout)
            if "local_address" in ran.stdout
            else ("its ports cannot be seen: its processes are not on this machine, and the image has no `cat`")
        )


def _names(passwd: str, user: int | str | None) -> tuple[str, ...]:
    if user is None:
        return ("unknown",)
    for line in passwd.splitlines():
        words = line.split(":")
        if len(words) > 2 and words[2] == str(user):
            return words[0], str(user)
    return ("root", "0") if str(user) == "0" else (str(user),)


def health_urls(services: Sequence[Service], engine: str = "localhost") -> tuple[str, ...]:
    """Where the health checks of the configuration look, from here. `engine`: where published ports are."""
    found = []
    for one in services:
        bound = next((port for port in one.ports if port.container == one.health_port and port.protocol == "tcp"), None)
        if one.healthcheck is not None and bound is not None:
            host = reached(bound.address, engine)
            host = f"[{host}]" if ":" in host else host
            found.append(f"http://{host}:{bound.host}{one.healthcheck.path}")
    return tuple(found)


def names(services: Sequence[Service], mocks: Sequence[str], containers: Mapping[str, str]) -> dict[str, str]:
    """What test files may call the containers: a service or a mock by its name, and a container by the name that the
    file gives it. `containers`: what those of services and mocks are called, or their ids."""
    there = [one for one in services if one.name in containers]
    found = {one.name: containers[one.name] for one in there}
    for one in there:
        found.setdefault(one.container, containers[one.name])
    return found | {name: containers[name] for name in mocks if name in containers and name not in found}
