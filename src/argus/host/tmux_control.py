"""A tmux client in control mode: questions by the pipe of one program that stays, not by a program each.

It is a guest in a person's session. It takes no part in sizes, wants no output, leaves the session's environment alone,
and starts no server. What it cannot help: a program that asked for focus events hears of it coming and going.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from argus.host.children import Child, Children
from argus.host.launching import NONCE
from argus.host.tmux import TmuxFailed

_MOST = 8 * 1024 * 1024
"""Bytes of one answer. A screen of 500 columns and 200 rows, every character in another colour, is half of it."""
_MOST_SAID = 4096
_BEGIN = re.compile(rb"%begin (\d+ \d+) (\d+)")
_ARGUS_ONLY = (NONCE, "TMUX", "TMUX_PANE")


@dataclass(frozen=True, slots=True)
class Reply:
    """What one command answered; what it said instead if it is not `ok`."""

    ok: bool
    lines: tuple[str, ...]


class NoAnswer(TmuxFailed):
    """Nobody can say whether what was asked was done."""


class ControlClient:
    def __init__(self, child: Child, wire: _Wire) -> None:
        self._child = child
        self._wire = wire

    @classmethod
    async def open(cls, children: Children, program: str, server: str, session: str) -> ControlClient:
        """Attached to the session of exactly that name. Raises TmuxFailed, also when there is none. No own deadline."""
        ours, theirs = socket.socketpair()
        try:
            env = {name: text for name, text in os.environ.items() if name not in _ARGUS_ONLY}
            # -N: no server is started for a question. -E: our environment is not the session's.
            argv = [program, "-u", "-N", "-L", server, "-C", "attach-session", "-E"]
            argv += ["-f", "ignore-size,no-output", "-t", f"={session}"]
            child = children.spawn(argv, env, output=theirs.fileno(), input=theirs.fileno())
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        loop = asyncio.get_running_loop()
        try:
            _, wire = await loop.create_connection(_Wire, sock=ours)
        except BaseException:
            ours.close()
            child.end_group()
            raise
        try:
            # Not before it is attached: tmux reads what it is told as soon as it can, and would run it elsewhere.
            await wire.attached
        except BaseException:
            # Only hung up, never killed: a server that was stopped and goes on with clients that died while they
            # attached crashes, with everything in it (seen with tmux 3.3a). It ends by itself once it is answered.
            wire.close()
            raise
        return cls(child, wire)

    @property
    def is_open(self) -> bool:
        return not self._wire.is_over

    async def ask(self, *lines: str, last: str) -> list[Reply]:
        """What the commands replied, in order, up to the one that begins with `last`, or that failed.

        Not to be called twice at once. No deadline of its own. Who gives up waiting, or was told of a failure, closes
        the client: what comes later would be taken for the next one's.
        """
        return await self._wire.ask(lines, last)

    def close(self) -> None:
        self._wire.close()
        self._child.end_group()


class _Wire(asyncio.Protocol):
    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.attached: asyncio.Future[None] = loop.create_future()
        self.is_over = False
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self._taken = 0
        self._said: list[bytes] = []
        self._key = b""
        """Of the block that is being read: its time and number, which its end repeats."""
        self._replies: list[Reply] = []
        self._last = ""
        self._ours = False
        self._answer: asyncio.Future[list[Reply]] | None = None

    async def ask(self, lines: Sequence[str], last: str) -> list[Reply]:
        if self.is_over or self._transport is None:
            raise TmuxFailed("tmux has hung up")
        assert self._answer is None, "one question at a time"
        self._last, self._replies, self._taken = last, [], 0
        self._answer = asyncio.get_running_loop().create_future()
        try:
            self._transport.write("\n".join((*lines, "")).encode("utf-8", "replace"))
            return await self._answer
        finally:
            self._answer = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's do not inherit

    def data_received(self, data: bytes) -> None:
        self._taken += len(data)
        if self._taken > _MOST:
            self._end("tmux said too much")
            return
        self._rest = self._rest + data if self._rest else data
        # A whole answer at once: to take a screen line by line would cost more than asking for it.
        while self._take_block() if self._key else self._take_line():
            pass

    def _take_line(self) -> bool:
        line, found, rest = self._rest.partition(b"\n")
        if not found:
            return False
        self._rest = rest
        if begin := _BEGIN.match(line):
            # What a hook of the person's runs is told to us as well.
            self._key, self._ours = begin[1] + b" ", begin[2] == b"1"
        elif line.startswith(b"%"):
            # News of the server (a window was added, ...): nobody here asked.
            if line.startswith(b"%session-changed ") and not self.attached.done():
                self.attached.set_result(None)
            if self._answer is None:
                self._taken = 0
        elif len(self._said) < 10:
            self._said.append(line[:400])
        return True

    def _take_block(self) -> bool:
        for word in (b"%end ", b"%error "):
            end = word + self._key
            at = 0 if self._rest.startswith(end) else self._rest.find(b"\n" + end) + 1
            if at == 0 and not self._rest.startswith(end):
                continue
            _, found, rest = self._rest[at:].partition(b"\n")
            if not found:
                return False
            text = self._rest[: max(0, at - 1)].decode("utf-8", "replace") if at else None
            self._rest, self._key = rest, b""
            self._finish(Reply(word == b"%end ", () if text is None else tuple(text.split("\n"))))
            return True
        return False

    def _finish(self, reply: Reply) -> None:
        if self._answer is None or not self._ours:
            if not reply.ok:
                self._said.extend(line.encode() for line in reply.lines[:10])
            return
        self._replies.append(reply)
        if not self._answer.done() and (not reply.ok or (reply.lines and reply.lines[0].startswith(self._last))):
            self._answer.set_result(self._replies)

    def connection_lost(self, error: Exception | None) -> None:
        self._end("")

    def close(self) -> None:
        self._end("closed")

    def _end(self, why: str) -> None:
        if self.is_over:
            return
        self.is_over = True
        said = b"\n".join(self._said).decode("utf-8", "replace").strip()[:_MOST_SAID]
        if not self.attached.done():
            self.attached.set_exception(TmuxFailed(why or said or "tmux has hung up"))
            self.attached.exception()  # also when nobody waits for it
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(NoAnswer(why or said or "tmux has hung up"))
        if self._transport is not None:
            self._transport.abort()
