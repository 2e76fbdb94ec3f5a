"""The panes of tmux, by one client in control mode per server, which stays for a while after the last question."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager

from argus.host.children import Children
from argus.host.foreground import foreground
from argus.host.panes import MOST, Key, Look, PanesFailed, PanesUncertain, Place, Who
from argus.host.tmux import Tmux, TmuxFailed, quiet
from argus.host.tmux_control import ControlClient, NoAnswer, Reply

_IDLE = 600.0
"""Seconds after which a client leaves: a guest in a person's session should not stay for ever. Nor come and go between
one look and the next: whatever happens in a server while a client attaches may crash it (see `quiet`), and a person
does much in it."""
_STATE = (
    "#{pane_id} #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{pane_synchronized} #{alternate_on} "
    "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y}"
)
_ONLY = "#{session_windows} #{window_panes} #{session_name}"
_SHELL = "#{m:*sh,#{pane_current_command}}"
"""Most of them. All of them as a pattern would cost tmux more than the rest of the act."""
_DONE, _CHANGED = "done", "changed"
_GONE = (
    *("can't find ", "no server running", "error connecting", "no sessions", "no current session"),
    *("no current target", "server exited"),
)
_LONGEST_NAME = 200
_SURELY = 30.0
"""Seconds after which a question whether a session is there is asked anew, if anybody still wants to know."""


class TmuxPanes:
    def __init__(self, children: Children, tmux: Tmux) -> None:
        self._children = children
        self._tmux = tmux
        self._lines: dict[str, _Line] = {}

    async def find(self, socket: str, session: str, who: Who, *, timeout: float) -> list[Look]:
        if not _is_name(session):
            return []
        active = quote(f"={session}:")
        try:
            replies = await self._ask(socket, session, lambda last: [_looking(active, last)], timeout=timeout)
            windows, panes, name = replies[-1].lines[0].split(" ", 14)[-3:]
            looks = [_read(socket, session, replies, who)]
            if name != session:
                return []
            if (windows, panes) != ("1", "1"):
                looks += await self._others(looks[0].place, who, timeout)
        except _Gone:
            return []
        return looks

    async def _others(self, active: Place, who: Who, timeout: float) -> list[Look]:
        form = quote("#{session_name} #{pane_id}")
        target = quote(f"={active.session}")
        replies = await self._ask(
            active.socket,
            active.session,
            lambda last: [f"list-panes -s -t {target} -F {form}", f"display-message -p {last}"],
            timeout=timeout,
        )
        panes = [line.rsplit(" ", 1)[1] for line in replies[0].lines if line.rsplit(" ", 1)[0] == active.session]
        if len(panes) > MOST:
            raise PanesFailed(f"the session has {len(panes)} panes")
        return [
            _read(active.socket, active.session, await self._look(active, pane, timeout), who)
            for pane in panes
            if pane != active.pane
        ]

    async def look(self, place: Place, who: Who, *, timeout: float) -> Look | None:
        try:
            look = _read(place.socket, place.session, await self._look(place, place.pane, timeout), who)
        except _Gone:
            return None
        return look if look.place == place else None

    async def _look(self, at: Place, pane: str, timeout: float) -> list[Reply]:
        target = quote(pane)
        return await self._ask(at.socket, at.session, lambda last: [_looking(target, last)], timeout=timeout)

    async def paste(self, seen: Look, text: str, *, timeout: float) -> bool:
        name = f"argus-{secrets.token_hex(8)}"
        # By a buffer of its own: send-keys reads names of keys, and a `;` at the end, out of a text.
        # -r: a line break stays one; tmux would make it an Enter.
        act = f"paste-buffer -p -r -d -b {name} -t {seen.place.pane}"
        first = f"set-buffer -b {name} -- {quote(text)}"
        return await self._act(seen, act, f"delete-buffer -b {name} ; ", first=[first], timeout=timeout)

    async def press(self, seen: Look, key: Key, *, timeout: float, shows: Sequence[str] = ()) -> bool:
        return await self._act(seen, f"send-keys -t {seen.place.pane} {key.value}", shows=shows, timeout=timeout)

    async def _act(
        self,
        seen: Look,
        act: str,
        otherwise: str = "",
        *,
        first: Sequence[str] = (),
        shows: Sequence[str] = (),
        timeout: float,
    ) -> bool:
        """tmux itself compares and acts in one go: between a look of ours and an act, anything can happen."""
        condition = f"#{{==:{_STATE},{seen.mark}}}"
        if seen.leader is not None and not seen.leader.name.endswith("sh"):
            # The agent may have died just now. One behind a shell's wrapper cannot be told from a shell in this way.
            condition = f"#{{&&:{condition},#{{!=:1,{_SHELL}}}}}"
        for row in shows:
            condition = f"#{{&&:{condition},#{{C:{pattern(row)}}}}}"

        def lines(last: str) -> list[str]:
            then = quote(f"{act} ; display-message -p '{last} {_DONE}'")
            other = quote(f"{otherwise}display-message -p '{last} {_CHANGED}'")
            return [*first, f"if-shell -F -t {quote(seen.place.pane)} {quote(condition)} {then} {other}"]

        try:
            replies = await self._ask(seen.place.socket, seen.place.session, lines, timeout=timeout, acts=True)
        except _Gone:
            return False
        return replies[-1].lines[0].endswith(_DONE)

    def close(self) -> None:
        for line in self._lines.values():
            line.leave()
            line.give_up()
        self._lines.clear()

    async def _ask(
        self, socket: str, session: str, lines: Callable[[str], list[str]], *, timeout: float, acts: bool = False
    ) -> list[Reply]:
        line = self._lines.setdefault(socket, _Line())
        # What a pane shows can look like an answer of tmux, but cannot know this.
        last = secrets.token_hex(8)
        asked = False
        try:
            async with asyncio.timeout(timeout), line.held():
                if line.client is None or not line.client.is_open:
                    line.client = await line.opened(session, lambda: self._open(socket, session))
                asked = True
                try:
                    replies = await line.client.ask(*lines(last), last=last)
                except NoAnswer:
                    if acts:
                        raise
                    # Its session ended, or its server. Others may be there, and a question may be asked twice.
                    line.leave()
                    line.client = await line.opened(session, lambda: self._open(socket, session))
                    replies = await line.client.ask(*lines(last), last=last)
                if not replies[-1].ok:
                    line.leave()
        except TimeoutError:
            kind = PanesUncertain if acts and asked else PanesFailed
            raise kind(f"tmux did not answer within {timeout:g} s") from None
        except TmuxFailed as error:
            if acts and isinstance(error, NoAnswer):
                raise PanesUncertain(str(error)) from None
            if str(error).startswith(_GONE) or not await self._is_there(socket, session, timeout):
                raise _Gone from None
            raise PanesFailed(str(error)) from None
        if not replies[-1].ok:
            said = " ".join(replies[-1].lines) or "tmux refused"
            raise _Gone if said.startswith(_GONE) else PanesFailed(said)
        return replies

    async def _is_there(self, socket: str, session: str, timeout: float) -> bool:
        """Asked when tmux has hung up: it does so without a word also where the session, or the server, just ended."""
        try:
            await self._tmux.has(socket, session, timeout=timeout)
        except TmuxFailed as error:
            return not str(error).startswith(_GONE)
        return True

    async def _open(self, socket: str, session: str) -> ControlClient:
        program = self._tmux.program()
        if program is None:
            raise TmuxFailed("tmux is not installed")
        # A server crashes, with the session somebody is about to begin in it, when a client attaches before its first
        # session is there (seen with tmux 3.3a, two times in three). A plain question does it no harm.
        await self._tmux.has(socket, session, timeout=_SURELY)
        async with quiet(socket):
            opening = asyncio.ensure_future(ControlClient.open(self._children, program, socket, session))
            try:
                # An attaching that comes to no end must not keep agents from being started for ever.
                await asyncio.wait([opening], timeout=_SURELY)
            except BaseException:
                opening.cancel()
                raise
        try:
            return await opening
        finally:
            opening.cancel()


def pattern(row: str) -> str:
    """A row for tmux to find on the screen: letters and digits as they are, any one character for any other in ASCII
    (tmux would read a meaning into many), and anything for all the rest, which may be wider than one."""
    known = "".join(one if one.isascii() and one.isalnum() else "?" if one.isascii() else "*" for one in row.strip())
    return re.sub(r"\*[*?]*", "*", known)


class _Gone(Exception):
    """There is no such server, session or pane."""


class _Line:
    """The way to one server: its client, one question at a time, and when the client leaves."""

    def __init__(self) -> None:
        self.client: ControlClient | None = None
        self._lock = asyncio.Lock()
        self._used = 0.0
        self._leaving: asyncio.TimerHandle | None = None
        self._opening: tuple[str, asyncio.Task[ControlClient]] | None = None

    async def opened(self, session: str, open: Callable[[], Coroutine[None, None, ControlClient]]) -> ControlClient:
        """One at a time, and never given up: whoever does not want to wait any longer leaves it to the next. A server
        that does not answer would else have as many clients as there were questions."""
        if self._opening is None or _has_failed(self._opening[1]):
            self._opening = session, asyncio.ensure_future(open())
        by, opening = self._opening
        try:
            client = await asyncio.shield(opening)
        except TmuxFailed:
            self._opening = None
            if by == session:
                raise
            return await self.opened(session, open)  # another's session is gone; that says nothing of this one
        finally:
            if opening.done():
                self._opening = None
        return client

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        async with self._lock:
            try:
                yield
            except BaseException:
                # Its answer may still come, and would be taken for the next one's.
                self.leave()
                raise
            loop = asyncio.get_running_loop()
            self._used = loop.time()
            if self._leaving is None:
                self._leaving = loop.call_later(_IDLE, self._leave_if_idle)

    def _leave_if_idle(self) -> None:
        loop = asyncio.get_running_loop()
        left = self._used + _IDLE - loop.time()
        if left > 0 or self._lock.locked():
            self._leaving = loop.call_later(max(left, 1.0), self._leave_if_idle)
        else:
            self.leave()

    def give_up(self) -> None:
        if self._opening is not None:
            self._opening[1].cancel()
            self._opening = None

    def leave(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        if self.client is not None:
            self.client.close()
            self.client = None
        if self._opening is not None and self._opening[1].done():
            self._opening = None


def _has_failed(opening: asyncio.Task[ControlClient]) -> bool:
    """While nobody waited for it: that was then."""
    return opening.done() and (opening.cancelled() or opening.exception() is not None)


def _looking(target: str, last: str) -> str:
    return f'capture-pane -p -e -t {target} ; display-message -p -t {target} "{last} {_STATE} {_ONLY}"'


def _read(socket: str, session: str, replies: Sequence[Reply], who: Who) -> Look:
    _, *state = replies[-1].lines[0].split(" ", 12)
    pane, *rest = state[:11]
    pid, dead, mode, off, together, _, columns, rows, x, y = (int(one or 0) for one in rest)
    # tmux does not mark what it shows of a pane as such: a text that plays the end of an answer makes it too short.
    if len(replies) != 2 or len(replies[0].lines) != rows:
        raise PanesFailed("tmux answered something else than was asked")
    leader, agent = foreground(pid, who)
    return Look(
        Place(socket, session, pane, pid),
        " ".join(state[:11]),
        columns,
        rows,
        (x, y),
        replies[0].lines,
        leader,
        agent,
        dead=bool(dead),
        in_mode=bool(mode),
        input_off=bool(off),
        synchronized=bool(together),
    )


def _is_name(session: str) -> bool:
    return bool(session) and len(session) <= _LONGEST_NAME and session.isprintable() and not set(session) & set(":.")


_PLAIN = {ord(letter): f"\\{letter}" for letter in '\\"$~'} | {
    # tmux reads a line at a time, and a control character could end one, or be lost.
    number: f"\\{number:03o}"
    for number in (*range(32), 127)
}


def quote(text: str) -> str:
    """One argument for tmux's own parser, byte for byte."""
    return f'"{text.translate(_PLAIN)}"'
