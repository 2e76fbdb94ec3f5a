"""Putting the bridge together: what it is given of the machine and the house."""

from __future__ import annotations

import os
from collections.abc import Mapping

from argus.breakers import Breakers
from argus.bridge import circuits
from argus.bridge.calling import Calling
from argus.bridge.circuits import Circuits
from argus.bridge.definition import Definition
from argus.bridge.definitions import Definitions
from argus.bridge.keeper import Bridge, Parts
from argus.bridge.pool import Pool
from argus.bridge.querying import Querying
from argus.bridge.whence import Whence
from argus.host.machine import MachineHost
from argus.host.mcp_opener import McpOpener
from argus.startup import Ground
from argus.store.notes import Notes
from argus.store.records import Append


def bridge(ground: Ground, host: MachineHost, breakers: Breakers, notes: Notes) -> Bridge:
    configured, file, now = ground.config.bridge, ground.options.config, ground.clock.monotonic
    ways = Circuits(configured, now, breakers.circuits, breakers.add)
    breakers.makes(circuits.PREFIX, ways.make)
    pool = Pool(McpOpener(host.pipes), now)
    own = dict(os.environ)
    definitions = Definitions(configured, str(file) if file else None, own, ground.redactor.learn)

    async def known(whence: Whence) -> Mapping[str, Definition]:
        return (await definitions.find(whence.folder, whence.environ, whence.within)).servers

    parts = Parts(
        definitions=definitions,
        circuits=ways,
        pool=pool,
        calling=Calling(pool, now, ground.redactor.text),
        querying=Querying(configured, ways, host.pipes, known),
        now=now,
        environ=own,
        tell=lambda draft: notes.note(Append(draft)),
    )
    return Bridge(configured, parts)
