"""What a command costs from its start to its end: CPU of the child, beside Python doing nothing and bare click."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from functools import partial

from tests.acceptance.harness import PROGRAM, Argus

from benchmarks.measure import cpu_of_program, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

_CLICK = "import click; click.Group(commands=[click.Command(name, help=name) for name in ('up', 'down')])(['--help'])"


def measure(plan: Plan) -> Iterable[Row]:
    argus = Argus(plan.folder / "argus")
    argus.configure()
    with contextlib.ExitStack() as stack:
        stack.callback(argus.end)
        argus.up()
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "bare click --help": [sys.executable, "-c", _CLICK],
            "help": [PROGRAM, "--help"],
            "status": [PROGRAM, "status"],
        }
        turns = {name: partial(cpu_of_program, command, argus.env) for name, command in commands.items()}
        # A start is short and its time spreads: many rounds cost little.
        turned = interleave(turns, plan.rounds * plan.size(6, 1))
        found = {name: [one * 1000 for one in series] for name, series in turned.items()}
        argus.down()
    nothing, click = found["python -c pass"], found["bare click --help"]
    for name, title, most in (("help", "argus --help", 6.0), ("status", "argus status", 9.0)):
        yield Row(
            title,
            "CPU ms",
            found[name],
            floor=("python -c pass", nothing),
            peers={"bare click --help": click},
            goal=Goal(most, of="python -c pass"),
        )
