"""Starting a bare program, and ending it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import ROOT


@dataclass(frozen=True, slots=True)
class Program:
    pid: int
    said: Any
    """Its first line, which it prints once it listens."""


@contextlib.contextmanager
def running(module: str, *arguments: str) -> Iterator[Program]:
    command = [sys.executable, "-m", f"benchmarks.floors.{module}", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"{module} did not start")
            yield Program(process.pid, json.loads(line))
        finally:
            process.kill()
