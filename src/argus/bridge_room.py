"""Putting the bridge together: what it is given of the machine and the house."""

from __future__ import annotations

import os

from argus.breakers import Breakers
from argus.bridge import circuits
from argus.bridge.calling import Calling
from argus.bridge.circuits import Circuits
from argus.bridge.definitions import Definitions
from argus.bridge.keeper import Bridge, Parts
from argus.bridge.pool import Pool
from argus.host.machine import MachineHost
from argus.host.mcp_opener import McpOpener
from argus.startup import Ground


def bridge(ground: Ground, host: MachineHost, breakers: Breakers) -> Bridge:
    configured, file, now = ground.config.bridge, ground.options.config, ground.clock.monotonic
    ways = Circuits(configured, now, breakers.circuits, breakers.add)
    breakers.makes(circuits.PREFIX, ways.make)
    pool = Pool(McpOpener(host.pipes), now)
    own = dict(os.environ)
    parts = Parts(
        definitions=Definitions(configured, str(file) if file else None, own, ground.redactor.learn),
        circuits=ways,
        pool=pool,
        calling=Calling(pool, now, ground.redactor.text),
        now=now,
        environ=own,
    )
    return Bridge(configured, parts)
