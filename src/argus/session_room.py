"""Putting the sessions together: what they are given of the machine, the terminals and the record."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable

from argus.core.autonomy import Level
from argus.core.depending import Broke, Thing
from argus.host.machine import MachineHost
from argus.host.papers import Papers
from argus.host.transcripts import MachineTranscripts
from argus.live import Live
from argus.sessions.eyes import MachineEyes
from argus.sessions.hands import TypistHands
from argus.sessions.keeper import Sessions
from argus.sessions.overhearing import Overhearing, Speaker
from argus.sessions.paperwork import Paperwork
from argus.sessions.tools import Tools
from argus.startup import Ground
from argus.store.notes import Notes
from argus.typist import Typist


def sessions(
    ground: Ground,
    host: MachineHost,
    notes: Notes,
    live: Live,
    autonomy: Callable[[], Level],
    time_is_sound: Callable[[], bool],
    broken: Callable[[tuple[Thing, ...]], Broke],
    speakers: Callable[[], Iterable[Speaker]],
    turned: Callable[[str, str], None],
) -> Sessions:
    made: list[Sessions] = []

    def socket() -> str:
        return made[0].settings.tmux_socket if made else ground.config.sessions.tmux_socket

    panes, transcripts = host.panes(), MachineTranscripts()
    tools = Tools(
        store=ground.store,
        notes=notes,
        clock=ground.clock,
        autonomy=autonomy,
        time_is_sound=time_is_sound,
        new_id=lambda: secrets.token_hex(4),
        eyes=MachineEyes(panes, transcripts, ground.clock, socket),
        hands=TypistHands(Typist(panes), socket),
        files=Paperwork(Papers()),
        show=live.show,
        broken=broken,
        overhearing=Overhearing(transcripts, ground.clock, speakers),
        turned=turned,
    )
    made.append(Sessions(ground.config.sessions, tools))
    return made[0]
