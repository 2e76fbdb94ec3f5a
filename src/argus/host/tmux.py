"""tmux, asked by one short program per question, each with a deadline. Targets are exact: a pane's id, or `=name:`."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from argus.host.children import Children
from argus.host.launching import NONCE

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")
_NOT_PASSED_ON = frozenset(
    # tmux's own, the shell's own, and what a shell would not let itself be told
    [
        "TERM",
        "TMUX",
        "TMUX_PANE",
        "COLUMNS",
        "LINES",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
        "IFS",
        "OPTIND",
        "PPID",
        "UID",
        "EUID",
        "BASHOPTS",
        "SHELLOPTS",
    ]
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
COLUMNS, ROWS = 200, 50


_quiet: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


def quiet(socket: str) -> asyncio.Lock:
    """Of one server, for everything here that asks it: held while a session is begun and while a client attaches.

    A server tells its clients in control mode of every new session, also one that is only half attached; then it
    crashes, with everything in it (seen with tmux 3.3a, every other time where three came together; mended in 2026).
    """
    return _quiet.setdefault(socket, asyncio.Lock())


class TmuxFailed(Exception):
    """In tmux's own words, or for want of an answer."""


@dataclass(frozen=True, slots=True)
class Session:
    socket: str
    name: str
    cwd: str


class Tmux:
    def __init__(self, children: Children) -> None:
        self._children = children

    def program(self) -> str | None:
        return shutil.which("tmux")

    async def start(self, session: Session, command: Sequence[str], *, timeout: float) -> None:
        """A new session of that name whose only pane runs the command, whoever looks at it or does not.

        The options are set for this session alone: whatever a person's own configuration says, it goes away with its
        agent (else its name would stay taken), and does not go away because nobody is attached.
        """
        target = f"={session.name}:"
        try:
            async with asyncio.timeout(timeout), quiet(session.socket):
                await self._ask(
                    session.socket,
                    [
                        *("new-session", "-d", "-s", session.name, "-x", str(COLUMNS), "-y", str(ROWS)),
                        *("-c", session.cwd.replace("#", "##"), *command),
                    ],
                    ["set-option", "-q", "-t", target, "destroy-unattached", "off"],
                    ["set-option", "-q", "-w", "-t", target, "remain-on-exit", "off"],
                    timeout=timeout,
                )
        except TimeoutError:
            raise _silent(timeout) from None

    async def has(self, socket: str, session: str, *, timeout: float) -> None:
        """Returns if there is a session of exactly that name. Raises TmuxFailed, in tmux's words, if there is none."""
        await self._ask(socket, ["has-session", "-t", f"={session}"], timeout=timeout)

    async def capture(self, socket: str, pane: str, lines: int, *, pid: int, timeout: float) -> str | None:
        """What can be seen in a pane, and a little above it; None if the pane is not, or no longer, that process's."""
        try:
            said = await self._ask(
                socket,
                ["display-message", "-p", "-t", pane, "#{pane_pid}"],
                ["capture-pane", "-p", "-J", "-S", f"-{lines}", "-t", pane],
                timeout=timeout,
            )
        except TmuxFailed:
            return None
        first, _, rest = said.partition("\n")
        return rest if first == str(pid) else None

    async def _ask(self, socket: str, *commands: Sequence[str], timeout: float) -> str:
        program = self.program()
        if program is None:
            raise TmuxFailed("tmux is not installed")
        words = [word for command in commands for word in (";", *map(_literal, command))][1:]
        # A server that this starts keeps our environment for all its sessions: it must not look like one agent's.
        env = {name: text for name, text in os.environ.items() if name not in (NONCE, "TMUX", "TMUX_PANE")}
        # A file, not a pipe: a server started here could keep a pipe open, and we would wait for its end.
        with tempfile.TemporaryFile() as output:
            child = self._children.spawn((program, "-L", socket, *words), env, output=output.fileno())
            try:
                async with asyncio.timeout(timeout):
                    status = await asyncio.shield(child.ended)
            except TimeoutError:
                raise _silent(timeout) from None
            finally:
                child.end_group()
            output.seek(0)
            said = output.read().decode("utf-8", "replace")
        if status != 0:
            raise TmuxFailed(said.strip() or f"tmux ended with {status}")
        return said


def _silent(timeout: float) -> TmuxFailed:
    return TmuxFailed(f"tmux did not answer within {timeout:g} s")


def is_name(text: str) -> bool:
    """tmux would change a name with `.` or `:` in it, and read more than a name into others."""
    return _NAME.fullmatch(text) is not None


def _literal(word: str) -> str:
    """tmux takes a `;` at the end of an argument for the end of the command."""
    return f"{word[:-1]}\\;" if word.endswith(";") else word


def given(argv: Sequence[str], env: Mapping[str, str], added: Mapping[str, str]) -> bytes:
    """Arguments and environment as lines for a shell to read.

    Not on tmux's command line: it takes 16 KB, everybody can read it, and the server would keep the environment.
    """
    lines = [
        f"export {name}={shlex.quote(text)}"
        for name, text in env.items()
        if _VARIABLE.fullmatch(name) and (name not in _NOT_PASSED_ON or name in added)
    ]
    lines.append(f"set -- {' '.join(map(shlex.quote, argv))}")
    return os.fsencode("\n".join(lines) + "\n")
