"""Lines into agents' own terminals which an Argus that was killed had pasted, and not submitted yet. Nobody looks at
those terminals as at the sessions': and as long as such a line stands at a prompt, no other can be typed there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from argus.core.backoff import Backoff
from argus.core.errors import ArgusError
from argus.loops import log
from argus.sessions.session import Place
from argus.store.records import Act

_PATIENCE = Backoff(base=0.5, cap=60.0)


class Finisher(Protocol):
    async def finish_unseen(self, place: Place | None, act: Act) -> bool: ...


class Leftovers:
    def __init__(self) -> None:
        self._acts: list[Act] = []

    def take(self, act: Act) -> None:
        self._acts.append(act)

    async def finish(
        self, place_of: Callable[[str], Place | None], prompting: Finisher, may: Callable[[], bool]
    ) -> None:
        """Returns when none is left. A terminal that cannot be typed into just now is tried again, less and less often;
        one that is gone has no place any more. `may`: whether anything may be typed, as the autonomy is now."""
        tries = 0
        while self._acts:
            if tries:
                await asyncio.sleep(_PATIENCE.delay(tries))
            for act in [*self._acts] if may() else ():
                try:
                    if await prompting.finish_unseen(place_of(act.subject), act):
                        self._acts.remove(act)
                except ArgusError as error:
                    log.warning("%s: a line that was left there cannot be finished: %s", act.subject, error.message)
            tries += 1
