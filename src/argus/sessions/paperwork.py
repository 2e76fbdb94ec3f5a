"""Handoff documents and spawns' outputs, as the sessions think of them."""

from __future__ import annotations

import os
from dataclasses import replace

from argus.core.errors import ArgusError, Code
from argus.host.papers import Hangs, Papers, Unusable, shared_folders
from argus.sessions.outputs import Reach
from argus.sessions.session import Place
from argus.sessions.spawns import LINES, Mark, Output
from argus.sessions.tools import Leaf


class Paperwork:
    def __init__(self, papers: Papers) -> None:
        self._papers = papers

    async def choose(self, place: Place, wall: float) -> str:
        try:
            return await self._papers.choose(place.folder, place.handoff_folder, wall)
        except Unusable as unusable:
            message = f"no handoff can be written for {place.project}: {unusable}"
            raise ArgusError(Code.INVALID_STATE, message, project=place.project, folder=place.handoff_folder) from None

    async def leaf(self, place: Place, path: str) -> Leaf | None:
        try:
            found = await self._papers.sheet(place.folder, path)
        except Unusable:
            return None  # a disk that hangs: it is waited for, as long as anything is
        return Leaf(found.inode, found.size, found.modified, found.problem) if found else None

    async def output(self, path: str, reach: Reach) -> Output:
        try:
            found = await self._papers.tail(path, LINES, self._shared(reach).problem)
        except Unusable as unusable:
            return Output(None, problem=str(unusable), is_passing=isinstance(unusable, Hangs))
        return Output(Mark(found.inode, found.size, found.modified), found.lines) if found else Output(None)

    async def settle(self, path: str, reach: Reach) -> str:
        try:
            settled, real = await self._papers.real(path)
        except Unusable as unusable:
            raise ArgusError(Code.INVALID_REQUEST, f"{path} cannot be used: {unusable}", output_file=path) from None
        problem = self._shared(reach).problem(real)
        if problem:
            raise ArgusError(Code.INVALID_REQUEST, f"output_file {path} is not taken: {problem}", output_file=path)
        return settled

    def _shared(self, reach: Reach) -> Reach:
        return replace(reach, shared=(*shared_folders(os.environ), *map(os.path.realpath, reach.shared)))
