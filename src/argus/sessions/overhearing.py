"""What agents that are no sessions say in their transcripts: those that tell nothing by hooks are in a turn all the
same. Only of agents whose turns somebody may have to wait for; only what was appended; in memory, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from argus.core.clock import Clock, stamp
from argus.host.transcripts import Position, Transcripts
from argus.sessions import claude, codex
from argus.sessions.fusing import shortened
from argus.sessions.signals import Sign

_SIGNS = 120
"""Of one conversation."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """An agent, as its own program knows it."""

    kind: str
    conversation: str
    folder: str
    """Where it works."""
    env: Mapping[str, str]
    """What is added to ours."""


@dataclass(slots=True)
class _Read:
    position: Position | None = None
    signs: list[Sign] = field(default_factory=list)


class Overhearing:
    def __init__(self, transcripts: Transcripts, clock: Clock, speakers: Callable[[], Iterable[Speaker]]) -> None:
        self._transcripts = transcripts
        self._clock = clock
        self._speakers = speakers
        self._read: dict[tuple[str, str], _Read] = {}

    def signs(self, kind: str, conversation: str) -> Sequence[Sign]:
        read = self._read.get((kind, conversation))
        return read.signs if read is not None else ()

    async def look(self) -> list[Speaker]:
        """Returns who has said something since the last look. Who is gone is forgotten."""
        here = {(one.kind, one.conversation): one for one in self._speakers()}
        self._read = {key: self._read.get(key) or _Read() for key in here}
        return [one for key, one in here.items() if await self._said(one, self._read[key])]

    async def _said(self, one: Speaker, read: _Read) -> bool:
        path = await self._transcripts.find(one.kind, one.folder, one.env, one.conversation)
        # Before its own is there, the newest of the same folder is found: that is another's.
        if path is None or not path.endswith(f"{one.conversation}.jsonl"):
            return False
        reads = codex if one.kind == "codex" else claude
        look = await self._transcripts.look(path, read.position, reads.speaks)
        if look is None:
            return False
        read.position, now = look.position, stamp(self._clock)
        if one.kind == "codex":
            signs = codex.transcript(look.rows, now, one.conversation)
        else:
            signs = claude.transcript(look.rows, now)
        read.signs = shortened([*([] if look.is_new else read.signs), *signs], _SIGNS)
        return bool(signs)
