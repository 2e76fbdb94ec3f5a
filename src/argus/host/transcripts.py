"""The transcripts that agents keep of their conversations, read as they grow."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from argus.host import rows, transcript_places
from argus.host.rows import Look, Position, Row

__all__ = ["Look", "MachineTranscripts", "Position", "Row", "Transcripts"]

T = TypeVar("T")

_DEADLINE = 2.0
_THREADS = 2
_WAITING = 1000


class Transcripts(Protocol):
    async def homes(self, pid: int) -> Mapping[str, str]:
        """The variables of an agent's process that say where its files are. Whose process it is, the caller knows."""
        ...

    async def find(
        self, kind: str, project: str, env: Mapping[str, str], session: str = "", hint: str = ""
    ) -> str | None:
        """The transcript of this conversation, or else of the newest in the project. `env`: what is added to ours;
        `hint`: where the agent says that it is."""
        ...

    async def look(self, path: str, position: Position | None, until: Callable[[Row], bool]) -> Look | None:
        """What was appended since that position. Without one: the rows from the last of which `until` is true."""
        ...


class MachineTranscripts:
    """In threads, with a deadline: a home folder can be on a disk that hangs. What cannot be read is not there."""

    def __init__(self) -> None:
        self._reader = concurrent.futures.ThreadPoolExecutor(_THREADS, "argus-transcripts")
        self._busy = 0

    async def homes(self, pid: int) -> Mapping[str, str]:
        return await self._read(lambda: transcript_places.homes(pid), {})

    async def find(
        self, kind: str, project: str, env: Mapping[str, str], session: str = "", hint: str = ""
    ) -> str | None:
        where = {**os.environ, **env}
        return await self._read(lambda: transcript_places.find(kind, project, where, session, hint), None)

    async def look(self, path: str, position: Position | None, until: Callable[[Row], bool]) -> Look | None:
        return await self._read(lambda: rows.look(path, position, until), None)

    async def _read(self, look: Callable[[], T], otherwise: T) -> T:
        if self._busy >= _WAITING:
            return otherwise  # the disk hangs: nothing more is put behind what hangs already
        reading = asyncio.get_running_loop().run_in_executor(self._reader, look)
        self._busy += 1
        reading.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(reading), _DEADLINE)
        except (TimeoutError, OSError, ValueError):
            return otherwise

    def _done(self, reading: asyncio.Future[T]) -> None:
        self._busy -= 1
        if not reading.cancelled():
            reading.exception()  # nobody may be waiting for it any more
