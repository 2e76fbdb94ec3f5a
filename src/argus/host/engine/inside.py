"""The engine's API: what is looked at inside of a container. Commands, processes, and files without any command."""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
import json
import stat
import tarfile
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from argus.host.commands import Output
from argus.host.engine.attending import while_it_answers
from argus.host.engine.dock import ContainerCalls, made_id
from argus.host.engine.names import is_name
from argus.host.engine.refusals import decoded, missing, refusal, said
from argus.host.engine.resources import Executed, FileFound, Process
from argus.host.engine.seam import EngineRefused, EngineUnavailable

_AGAIN = 0.05
_RESERVE = 2.0
"""Seconds after a deadline, to find out whether the engine or the command was late."""
_HEADER = 64 * 1024
"""Bytes of an archive that come before the first file's content: a long name takes some."""
_LINKS = 20
_A_LINK = 1 << 27
"""Of the modes that the engine tells."""
_FRAME = 8


class InsideCalls(ContainerCalls):
    async def execute(
        self, id: str, argv: Sequence[str], environment: Mapping[str, str], *, timeout: float
    ) -> Executed:
        if not is_name(id):
            raise missing(id)
        outputs = (Output(), Output())
        try:
            async with asyncio.timeout(timeout):
                made = await self._exec(id, argv, environment)
                await while_it_answers(self._answers, self._attached(made, id, outputs))
                code = await self._exit_code(made)
        except TimeoutError:
            await self._lives()
            problem = f"not finished within {timeout:g} s; it may go on in the container"
            return _executed(None, outputs, problem)
        return _executed(code, outputs)

    async def _exec(self, id: str, argv: Sequence[str], environment: Mapping[str, str]) -> str:
        body = {"AttachStdout": True, "AttachStderr": True, "Cmd": list(argv)}
        if environment:
            body["Env"] = [f"{name}={value}" for name, value in environment.items()]
        answer = await self._order("POST", f"/containers/{id}/exec", body)
        if answer.status != 201:
            raise refusal(answer, container=id)
        return made_id(answer)

    async def _attached(self, made: str, id: str, outputs: tuple[Output, Output]) -> None:
        body = json.dumps({"Detach": False, "Tty": False}).encode()
        frames = _Frames(outputs)
        # Without asking for another protocol the engine just writes, and closes when the command has ended.
        async with self._line.listen("POST", f"/exec/{made}/start", body, until_closed=True) as coming:
            if coming.status != 200:
                raise refusal(await coming.whole(), container=id)
            while piece := await coming.piece():
                frames.take(piece)

    async def _exit_code(self, made: str) -> int:
        while True:
            told = decoded(await self._line.ask("GET", f"/exec/{made}/json"))
            if not told.get("Running") and told.get("ExitCode") is not None:
                return int(told["ExitCode"])
            # Its output has ended, and it is about to.
            await asyncio.sleep(_AGAIN)

    async def _answers(self) -> None:
        answer = await self._line.ask("GET", "/_ping")
        if answer.status != 200:
            raise EngineUnavailable(f"the Docker engine answers {answer.status} to a ping")

    async def _lives(self) -> None:
        """Raises where it was the engine that was late."""
        try:
            async with asyncio.timeout(_RESERVE):
                await self._answers()
        except TimeoutError:
            raise EngineUnavailable(f"the Docker engine did not answer within {_RESERVE:g} s") from None

    async def processes(self, id: str) -> list[Process]:
        if not is_name(id):
            raise missing(id)
        # ww: the engine's ps would cut commands at the width of a terminal that its starter had.
        wanted = urlencode({"ps_args": "-ww -eo pid,uid,stat,args"})
        answer = await self._line.ask("GET", f"/containers/{id}/top?{wanted}")
        if answer.status == 500 and b"ps" in answer.body:
            # Not every machine's ps knows these words; this one tells the user's name there.
            answer = await self._line.ask("GET", f"/containers/{id}/top")
        if answer.status != 200:
            raise refusal(answer, container=id)
        return _processes(decoded(answer))

    async def file(self, id: str, path: str, most: int) -> FileFound | None:
        if not is_name(id):
            raise missing(id)
        for _ in range(_LINKS):
            found = await self._archived(id, path, most)
            if not isinstance(found, str):
                return found
            path = found
        raise EngineRefused(f"{path[:200]}: too many links", 400)

    async def _archived(self, id: str, path: str, most: int) -> FileFound | str | None:
        """Or where the link leads to."""
        target = f"/containers/{id}/archive?{urlencode({'path': path})}"
        async with self._line.listen("GET", target) as coming:
            if coming.status != 200:
                answer = await coming.whole()
                if answer.status == 404 and "no such container" not in said(answer).lower():
                    return None
                raise refusal(answer, container=id)
            told = _told(coming.headers.get("x-docker-container-path-stat", ""))
            if int(told.get("mode") or 0) & _A_LINK and told.get("linkTarget"):
                return str(told["linkTarget"])
            data = bytearray()
            while len(data) < _HEADER + most and (piece := await coming.piece()):
                data += piece
        return _unpacked(path, bytes(data), most) or _only_told(path, told)


def _executed(code: int | None, outputs: tuple[Output, Output], problem: str = "") -> Executed:
    return Executed(code, outputs[0].text, outputs[1].text, problem, any(one.is_cut for one in outputs))


class _Frames:
    """Both outputs out of one stream: 8 bytes before each piece, which of them and how long."""

    def __init__(self, outputs: tuple[Output, Output]) -> None:
        self._outputs = outputs
        self._head = bytearray()
        self._left = 0

    def take(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            if not self._left:
                more = data[at : at + _FRAME - len(self._head)]
                self._head += more
                at += len(more)
                if len(self._head) == _FRAME:
                    self._left = int.from_bytes(self._head[4:], "big")
                    self._to = self._outputs[self._head[0] == 2]
                    self._head.clear()
                continue
            piece = data[at : at + self._left]
            self._left -= len(piece)
            at += len(piece)
            self._to.take(piece)


def _processes(told: Any) -> list[Process]:
    titles = [str(one).upper() for one in told.get("Titles") or []]
    try:
        pid, user = titles.index("PID"), next(titles.index(one) for one in ("UID", "USER") if one in titles)
    except (ValueError, StopIteration):
        raise EngineUnavailable("the Docker engine tells processes in a way that is not understood") from None
    states = titles.index("STAT") if "STAT" in titles else None
    found = []
    for row in told.get("Processes") or []:
        has_ended = "<defunct>" in row[-1] if states is None else str(row[states]).startswith("Z")
        if not has_ended:
            found.append(Process(int(row[pid]), str(row[user]), str(row[-1])))
    return found


def _told(header: str) -> dict[str, Any]:
    try:
        found = json.loads(base64.b64decode(header))
    except (ValueError, binascii.Error):
        return {}
    return found if isinstance(found, dict) else {}


_KINDS = {
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.FIFOTYPE: stat.S_IFIFO,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
}


def _unpacked(path: str, data: bytes, most: int) -> FileFound | None:
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            first = archive.next()
    except tarfile.TarError:
        first = None
    if first is None:
        return None
    mode = _KINDS.get(first.type, stat.S_IFREG) | first.mode
    content = data[first.offset_data : first.offset_data + min(first.size, most)] if first.isreg() else b""
    return FileFound(path, mode, first.uid, first.gid, first.size, content)


_TOLD_KINDS = {1 << 31: stat.S_IFDIR, 1 << 24: stat.S_IFSOCK, 1 << 25: stat.S_IFIFO, 1 << 26: stat.S_IFBLK}


def _only_told(path: str, told: dict[str, Any]) -> FileFound:
    """Of what no archive can hold, a socket, the engine still says that it is there."""
    if "mode" not in told:
        raise EngineUnavailable("the Docker engine's archive of a file is not understood")
    mode = int(told["mode"])
    kind = next((kind for bit, kind in _TOLD_KINDS.items() if mode & bit), stat.S_IFREG)
    return FileFound(path, kind | mode & 0o777, None, None, int(told.get("size") or 0), b"")
