"""Reading the configuration again while Argus runs: taken up whole or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

from argus import config, config_file
from argus.agents.crew import Crew
from argus.autonomy import Autonomy
from argus.bridge.keeper import Bridge
from argus.config import Config
from argus.core.errors import ArgusError
from argus.core.events import Draft
from argus.loops import log
from argus.notify.deliver import Deliveries
from argus.ops.house import Reloaded
from argus.services import registry
from argus.services.checks.base import Service
from argus.services.watch import Watch
from argus.sessions.keeper import Sessions
from argus.startup import Ground, check, exposed, stand_in_folder_of, to_watch
from argus.store.records import Append

_AT_START = ("server", "store")
"""Sections that are only taken up by a restart of Argus."""
_NOT_YET = "it is taken up when Argus is started again (argus down, then argus up --detach)"


class Reloader:
    def __init__(
        self,
        ground: Ground,
        watch: Watch,
        crew: Crew,
        sessions: Sessions,
        bridge: Bridge,
        autonomy: Autonomy,
        deliveries: Deliveries,
    ) -> None:
        self._ground = ground
        self._watch = watch
        self._crew = crew
        self._sessions = sessions
        self._bridge = bridge
        self._autonomy = autonomy
        self._deliveries = deliveries
        self._file = ground.options.config
        self.in_force = ground.config
        self._needs: tuple[str, ...] = ()
        self._one_at_a_time = asyncio.Lock()

    async def reload(self, by: str) -> Reloaded:
        async with self._one_at_a_time:
            try:
                return await self._reload(by)
            except ArgusError as error:
                log.error("the configuration was not taken up: %s", error.message)
                refused = {"by": by, "code": error.code.value, "reason": error.message, **error.details}
                with contextlib.suppress(ArgusError):  # the store may be the very reason
                    await self._ground.store.commit(Append(Draft("system", "reload_refused", "", refused)))
                raise

    async def _reload(self, by: str) -> Reloaded:
        ground = self._ground
        port = ground.own_address[1]
        # A named file that is gone is an error; without one, the usual places are looked at again.
        file = self._file or config_file.find(None, os.environ, ground.options.folder)
        # Thousands of services take seconds to read; the loop must not stall meanwhile.
        new = await asyncio.to_thread(self._read, file, port)
        services = await to_watch(new, file, port)
        change = registry.change(self._watch.services, {service.name: service for service in services})
        now = [name for name in Config.model_fields if name not in _AT_START]
        changed = tuple(name for name in now if getattr(new, name) != getattr(self.in_force, name))
        needs = tuple(name for name in _AT_START if getattr(new, name) != getattr(ground.config, name))
        done = Reloaded(change, changed, needs)
        if change or changed or needs != self._needs or file != self._file:
            await self._take_up(new, file, services, done, by)
        notices = [f"the section `{name}` has changed: {_NOT_YET}" for name in needs]
        found = await asyncio.to_thread(new.notices, file)
        ground.setup.notices = (*ground.setup.lasting, *found, *exposed(ground.host), *notices)
        return done

    def _read(self, file: Path | None, port: int) -> Config:
        read = config.load(file, port=port)
        check(read, file, self._ground.redactor)
        return read

    async def _take_up(
        self, new: Config, file: Path | None, services: tuple[Service, ...], done: Reloaded, by: str
    ) -> None:
        level_writes, take_level = self._autonomy.reread(new.autonomy, by)
        told = {
            "by": by,
            "file": str(file) if file else None,
            "changed": list(done.changed),
            "services": done.services.data(),
            "restartNeeded": list(done.restart_needed),
        }
        writes = (Append(Draft("system", "config_reloaded", "", told)), *level_writes)

        def take_over() -> None:
            take_level()
            self._deliveries.configure(new.notify.resolved())
            self._crew.configure(new.agents)
            self._sessions.configure(new.sessions)
            self._bridge.configure(new.bridge, str(file) if file else None)
            self.in_force, self._file, self._needs = new, file, done.restart_needed
            with contextlib.suppress(OSError):  # it was there a moment ago, when the file was read
                stand_in_folder_of(file, self._ground.options.home)
            setup = self._ground.setup
            setup.config, setup.discovered = (str(file), False) if file else (None, True)

        await self._watch.reconfigure(new.health, services, writes, take_over)
