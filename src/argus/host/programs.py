"""Whether a program could be started, asked before it is: afterwards a shell can only say 126 or 127."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST = 128 * 1024 - 1
"""Bytes of one argument, and of one variable with its name, on Linux."""
_SPARE = 16 * 1024
"""Of the room for arguments and environment, for what the shim adds."""


def problem(argv: Sequence[str], cwd: str, env: Mapping[str, str], added: Mapping[str, str]) -> str:
    """Why it cannot be started, in words; empty: it can."""
    if not argv or not argv[0]:
        return "there is no program to start"
    if argv[0].startswith("-"):
        return f"a program's name cannot begin with -: {argv[0]}"
    if any("\0" in text for text in (*argv, cwd, *added, *added.values())):
        return "arguments and environment cannot hold a NUL character"
    for name in added:
        if not _VARIABLE.fullmatch(name):
            return f"not the name of an environment variable: {name}"
    if not os.path.isabs(cwd):
        return f"the folder to work in must be an absolute path: {cwd}"
    if not os.path.isdir(cwd):
        return f"no such folder to work in: {cwd}"
    if not os.access(cwd, os.X_OK):
        return f"the folder to work in cannot be entered: {cwd}"
    return _too_long(argv, env) or _cannot_run(argv[0], cwd, env.get("PATH", os.defpath))


def _too_long(argv: Sequence[str], env: Mapping[str, str]) -> str:
    sizes = [len(os.fsencode(text)) for text in (*argv, *(f"{name}={text}" for name, text in env.items()))]
    if sys.platform == "linux" and max(sizes) > LONGEST:
        return f"an argument, or a variable with its name, is longer than {LONGEST} bytes"
    if sum(sizes) + 9 * len(sizes) > os.sysconf("SC_ARG_MAX") - _SPARE:
        return "arguments and environment are too long together"
    return ""


def _cannot_run(name: str, cwd: str, path: str) -> str:
    if "/" in name:
        return _unfit(Path(cwd, name), name, cwd)
    said = f"no such program: {name}"
    for folder in path.split(os.pathsep):
        unfit = _unfit(Path(cwd, folder, name), name, cwd)
        if not unfit:
            return ""
        if not unfit.startswith("no such"):
            said = unfit
    return said


def _unfit(file: Path, name: str, cwd: str) -> str:
    if not file.exists():
        return f"no such program: {name}"
    if not file.is_file():
        return f"not a program: {file}"
    if not os.access(file, os.X_OK):
        return f"not executable: {file}"
    interpreter = _interpreter(file)
    if interpreter and not os.access(Path(cwd, interpreter), os.X_OK):
        return f"{file} needs {interpreter}, which cannot be run"
    return ""


def _interpreter(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            first = opened.read(256).split(b"\n")[0]
    except OSError:
        return ""  # one that may be run and not read
    words = first[2:].split() if first.startswith(b"#!") else []
    return os.fsdecode(words[0]) if words else ""
