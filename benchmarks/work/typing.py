"""A line sent into a tmux pane and seen there: wall time for one, with everything that has to be certain before.

Argus finds the pane of exactly that session, sees whose it is (the foreground process, by /proc), that it is not in
copy mode and that nobody has begun to type, pastes only if all that still holds, and looks until exactly its text
stands there. The floor is a bare client in control mode that sends the keys and looks until they show, without any
question. Beside it, two programs for each line: `tmux send-keys`, `tmux capture-pane`; and libtmux, which starts
them too. In the pane runs a program that
draws what it is typed, as agents do.
The pause before Enter, 150 ms, is part of neither: it is there for the agent's sake.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable
from statistics import median

import uvloop

from argus.host.children import Children
from argus.host.panes import Key, Who
from argus.host.tmux import Tmux
from argus.host.tmux_panes import TmuxPanes
from argus.typist import PLAIN, Message, Typist, Wanted
from argus.typist.kinds import Line
from benchmarks.measure import ROOT, in_child, interleave
from benchmarks.plan import Plan, Skipped
from benchmarks.rows import Goal, Row

_SESSION = "typing"
_TIMEOUT = 10.0


def measure(plan: Plan) -> Iterable[Row]:
    if not shutil.which("tmux"):
        raise Skipped("tmux is missing (Debian: apt-get install tmux)")
    count = plan.size(200, 5)

    def turn(contender: Callable[..., dict[str, float]]) -> Callable[[], float]:
        def take() -> float:
            socket = f"argus-bench-{uuid.uuid4().hex[:12]}"
            size = ("-x", "80", "-y", "24")
            agent = (sys.executable, str(ROOT / "tests/line_agent.py"), os.devnull)
            _tmux(socket, "-f", os.devnull, "new-session", "-d", "-s", _SESSION, *size, *agent)
            while not _tmux(socket, "capture-pane", "-p", "-t", f"={_SESSION}:").startswith(">"):
                pass
            try:
                return in_child(contender, socket=socket, count=count)["ms"]
            finally:
                _tmux(socket, "kill-server")

        return take

    contenders = {"argus": turn(ours), "control mode": turn(bare), "two programs": turn(programs)}
    if importlib.util.find_spec("libtmux"):
        contenders["libtmux"] = turn(library)
    found = interleave(contenders, plan.rounds)
    yield Row(
        "tmux, a line sent and seen",
        "ms",
        found["argus"],
        floor=("control mode", found["control mode"]),
        peers={name: found[name] for name in ("two programs", "libtmux") if name in found},
        goal=Goal(2.0, of="control mode"),
        note="with the verification, without the pause before Enter",
    )


def ours(socket: str, count: int) -> dict[str, float]:
    async def main() -> dict[str, float]:
        children = Children()
        panes = TmuxPanes(children, Tmux(children))
        typist = Typist(panes)
        took = []
        for number in range(count):
            began = time.perf_counter()
            held = await typist.place(socket, _SESSION, Message(_text(number)), Wanted(PLAIN))
            took.append(time.perf_counter() - began)
            if held is not None:
                raise RuntimeError(f"line {number} is not there: {held}")
            # What is not measured: the line is ended, so that the next one finds an empty row.
            (look,) = await panes.find(socket, _SESSION, Who(), timeout=_TIMEOUT)
            await panes.press(look, Key.ENTER, timeout=_TIMEOUT)
            while PLAIN.read(look) != Line(""):
                (look,) = await panes.find(socket, _SESSION, Who(), timeout=_TIMEOUT)
        panes.close()
        return {"ms": 1000 * median(took)}

    return uvloop.run(main())


def bare(socket: str, count: int) -> dict[str, float]:
    async def main() -> dict[str, float]:
        client = await asyncio.create_subprocess_exec(
            *("tmux", "-L", socket, "-C", "attach-session", "-f", "no-output,ignore-size", "-t", f"={_SESSION}"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert client.stdin is not None
        assert client.stdout is not None
        reader, writer = client.stdout, client.stdin

        async def ask(command: str) -> list[bytes]:
            writer.write(command.encode())
            said: list[bytes] = []
            while not (said and said[-1].startswith(b"%end ")):
                said.append(await reader.readline())
            return said

        while not (await reader.readline()).startswith(b"%session-changed"):
            pass
        took = []
        for number in range(count):
            text = f"> {_text(number)}"
            began = time.perf_counter()
            await ask(f"send-keys -t ={_SESSION}: -l '{_text(number)}'\n")
            while f"{text}\n".encode() not in await ask(f"capture-pane -p -t ={_SESSION}:\n"):
                pass
            took.append(time.perf_counter() - began)
            await ask(f"send-keys -t ={_SESSION}: Enter\n")
            while b">\n" not in await ask(f"capture-pane -p -t ={_SESSION}:\n"):
                pass
        writer.close()
        await client.wait()
        return {"ms": 1000 * median(took)}

    return uvloop.run(main())


def programs(socket: str, count: int) -> dict[str, float]:
    took = []
    for number in range(max(5, count // 10)):
        text = _text(number)
        began = time.perf_counter()
        _tmux(socket, "send-keys", "-t", f"={_SESSION}:", "-l", text)
        while text not in _tmux(socket, "capture-pane", "-p", "-t", f"={_SESSION}:"):
            pass
        took.append(time.perf_counter() - began)
        _tmux(socket, "send-keys", "-t", f"={_SESSION}:", "Enter")
        while "\n>\n" not in _tmux(socket, "capture-pane", "-p", "-t", f"={_SESSION}:"):
            pass
    return {"ms": 1000 * median(took)}


def library(socket: str, count: int) -> dict[str, float]:
    (session,) = importlib.import_module("libtmux").Server(socket_name=socket).sessions
    pane = session.active_pane
    took = []
    for number in range(max(5, count // 10)):
        text = _text(number)
        began = time.perf_counter()
        pane.send_keys(text, enter=False, literal=True)
        while not any(text in line for line in pane.capture_pane()):
            pass
        took.append(time.perf_counter() - began)
        pane.enter()
        while pane.capture_pane()[-1] != ">":
            pass
    return {"ms": 1000 * median(took)}


def _text(number: int) -> str:
    return f"line {number} of those that are sent"


def _tmux(socket: str, *words: str) -> str:
    done = subprocess.run(["tmux", "-L", socket, *words], capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    return done.stdout
