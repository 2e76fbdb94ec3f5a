"""Taking back what we typed ourselves, where nothing else stands at the prompt."""

from __future__ import annotations

import asyncio

from argus.host.panes import Key, Panes, Place, Who
from argus.typist.kinds import Line
from argus.typist.model import Wanted
from argus.typist.policy import is_beginning, not_the_agents

_ROWS = 20
"""Presses at most: one for each row of a text that was wrapped."""


async def erase(panes: Panes, place: Place, wanted: Wanted, text: str, *, timeout: float, rest: float) -> bool:
    """Erases this text. It must be one line, and each time all that stands there must be its beginning.

    Every press is on what was just seen, so that a letter of somebody else ends it. False: not all of it is gone.
    """
    if "\n" in text:
        return False
    before = ""
    for _ in range(_ROWS):
        look = await panes.look(place, Who(agent=wanted.agent), timeout=timeout)
        if look is None or not_the_agents(look, wanted) is not None:
            return False
        line = wanted.kind.read(look)
        if not isinstance(line, Line) or (line.text and not is_beginning(line, text)):
            return False
        if not line.text:
            return True
        if line.text != before:
            before = line.text
            await panes.press(look, Key.ERASE_LINE, timeout=timeout)
        await asyncio.sleep(rest)
    return False
