"""Putting the environments together: what they are given of the machine, the store and the house."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from argus.breakers import Breakers
from argus.core import names
from argus.core.breaker import Limits
from argus.core.circuit import Circuit
from argus.core.clock import Clock
from argus.core.errors import ArgusError, Code
from argus.environments import circuits
from argus.environments.blueprint import Blueprint
from argus.environments.e2e import hidden
from argus.environments.e2e.environment import Environment
from argus.environments.e2e.loading import load, with_ports
from argus.environments.helper.image import HelperImage
from argus.environments.keeper import Environments
from argus.environments.labels import Owner
from argus.environments.planning import plan, repeated
from argus.environments.ports import Occupant, Ports
from argus.environments.tools import Asked, Loaded, Shell, Tools
from argus.host import disk, identity, ports
from argus.host.cgroups import Cgroups
from argus.host.doors import Door
from argus.host.engine import guard, where
from argus.host.engine.birth import birth
from argus.host.engine.seam import EngineUnavailable
from argus.host.locked import is_held
from argus.host.machine import MachineHost
from argus.host.readers import Readers
from argus.live import Live
from argus.startup import Ground
from argus.store.notes import Notes
from argus.yaml_lines import Problem, dotted

_READ = 10.0
"""Seconds in which a project's files have to be read: they may lie on a disk that hangs."""
_NEVER = 1_000_000_000
_BREAKERS = "docker:"
"""One for each project's way to an engine. What a project's file says about it is known when that is read."""


def environments(
    ground: Ground,
    host: MachineHost,
    breakers: Breakers,
    notes: Notes,
    live: Live,
    is_sound: Callable[[], bool],
    explained: Callable[[str], str],
) -> Environments:
    reader = Reader(ground)
    home = str(ground.options.home.resolve())

    def circuit(blueprint: Blueprint, shell: Shell) -> Circuit:
        name = breaker_name(blueprint.project, shell.environ, os.environ)
        failures = blueprint.breaker_failures if blueprint.breaker else _NEVER
        limits = Limits(failures=failures, reset_after=blueprint.breaker_reset)
        known = breakers.circuits.get(name)
        if known is not None:
            if not blueprint.is_recorded:
                known.configure(limits)
            return known
        return breakers.add(Circuit(name, ground.clock.monotonic, guard.judge, limits))

    breakers.makes(_BREAKERS, lambda name: Circuit(name, ground.clock.monotonic, guard.judge))
    breakers.tells(_BREAKERS, circuits.events)
    return Environments(
        Tools(
            store=ground.store,
            notes=notes,
            clock=ground.clock,
            load=reader.load,
            circuit=circuit,
            dock=lambda shell, circuit: host.dock(shell.environ, circuit),
            published=_published,
            ports=Ports(ports.is_free, occupants),
            listen=Door.open,
            helper=HelperImage(),
            http=host.http,
            machine=host,
            disk_free=disk.free,
            me=_me(home, ground.clock),
            lives=_lives,
            new_id=lambda: secrets.token_hex(4),
            show=live.show,
            engine=_leading,
            birth=birth,
            memory_peak=Cgroups().peak,
            clean=ground.redactor.text,
            is_sound=is_sound,
            explained=explained,
        )
    )


def breaker_name(project: str, theirs: Mapping[str, str], own: Mapping[str, str]) -> str:
    """With the engine behind it where the caller uses another than the daemon itself would: an address that was
    mistyped once must not close the way to the right one."""
    name = f"{_BREAKERS}{names.apart(project, 50)}"
    engine = _engine(theirs)
    return name if engine in ("", _engine(own)) else f"{name}@{names.apart(engine, 42, strictly=True)}"


def _engine(environ: Mapping[str, str]) -> str:
    try:
        return str(where.find(environ))
    except EngineUnavailable:
        return ""  # no engine, so none can fail


def own_shell() -> Shell:
    """For who does not say where it works: the daemon's own."""
    return Shell(os.getcwd(), dict(os.environ))


class Reader:
    """Reads the files of projects, in a thread of its own."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._readers = Readers("e2e")
        self._chances: dict[tuple[str, str | None], tuple[float, str]] = {}
        """Of each environment, what `{{timestamp}}` and `{{uuid}}` mean: the same for build, setup and status, or a
        name with one of them would be another each time."""

    async def load(self, asked: Asked) -> Loaded:
        try:
            found = await self._readers.run(asked.project_path, lambda: self._read(asked), timeout=_READ)
        except TimeoutError:
            message = f"{asked.project_path} could not be read within {_READ:g} s"
            raise ArgusError(Code.CONFIG_NOT_FOUND, message, projectPath=asked.project_path) from None
        concealed = hidden.secrets(found)
        for secret in concealed:
            self._ground.redactor.learn(secret)
        # Test suites and their commands see all of it, and may print it.
        self._ground.redactor.learn_environment(found.source.env)
        return Loaded(
            blueprint=plan(found),
            moved_to=lambda moved: plan(with_ports(found, moved)),
            file=str(found.file),
            read=lambda moved: with_ports(found, moved),
            suites=found.suites,
            warnings=(*found.notices, *(_told(one) for one in found.warnings), *repeated(found)),
            secrets=concealed,
        )

    def _read(self, asked: Asked) -> Environment:
        shell = asked.shell
        which = asked.project_path, asked.config_file
        now, seed = self._chances.setdefault(which, (self._ground.clock.wall(), secrets.token_hex(8)))
        return load(
            Path(asked.project_path),
            environ=shell.environ,
            working=Path(shell.folder),
            now=now,
            seed=seed,
            file=asked.config_file,
        )


def _told(one: Problem) -> str:
    at = f" (line {one.line})" if one.line else ""
    return f"{dotted(one.path)}{at}: {one.message}" if one.path else one.message


def _me(home: str, clock: Clock) -> Owner:
    own = identity.identify(os.getpid())
    return Owner(os.uname().nodename, clock.boot_id, os.getpid(), own.started if own else "", home)


def _lives(owner: Owner) -> bool:
    """Its process, or one that has taken its state folder over."""
    if identity.is_alive(identity.Identity(owner.pid, owner.started)):
        return True
    return os.path.isabs(owner.home) and is_held(Path(owner.home) / "argus.lock")


def _leading(shell: Shell) -> Mapping[str, str]:
    try:
        return where.leading(shell.environ)
    except EngineUnavailable:
        return {}


def _published(shell: Shell) -> str:
    try:
        return where.find(shell.environ).host or "127.0.0.1"
    except EngineUnavailable:
        return "127.0.0.1"


def occupants(wanted: Iterable[int], protocol: str = "tcp") -> Mapping[int, Occupant]:
    return {port: Occupant(one.pid, one.program) for port, one in ports.occupants(wanted, protocol).items()}
