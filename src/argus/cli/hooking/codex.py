"""Codex's config.toml: the program that it starts when a turn is over.

Codex has hooks too. It asks its person to review new ones at its next start, which an agent that works alone would wait
at for ever; `notify` it does not ask about. The rest is in its rollouts.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from typing import Any

from argus.cli.hooking.refusing import refused
from argus.cli.hooking.reporter import MARK, Reporter

AGENT = "codex"
_BEGIN = f"# {MARK}: begin. `argus hooks uninstall --agent codex` takes this away."
_END = f"# {MARK}: end"
_BOTH = 'for last in "$@"; do :; done; {tell} "$last" >/dev/null 2>&1 & exec "$@"'
"""Tells us, and is then the program that was there before: the payload comes last."""


def parse(raw: bytes, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise refused(f"{file} is not TOML: {error}", file) from None


def with_ours(raw: bytes, reporter: Reporter, file: str) -> bytes:
    clean = without_ours(raw, file)
    theirs = parse(clean, file).get("notify")
    lines = clean.decode("utf-8").splitlines(keepends=True)
    if theirs is not None and not (isinstance(theirs, list) and theirs and all(isinstance(one, str) for one in theirs)):
        raise refused(f"notify in {file} is not a list of words", file)
    begin, end = _span(lines, file) if theirs is not None else (0, 0)
    argv = _wrapping(theirs, reporter) if theirs else reporter.argv(AGENT)
    kept = "".join(f"# {MARK}: was {line}" for line in lines[begin:end])
    kept += "\n" if kept and not kept.endswith("\n") else ""
    block = f"{_BEGIN}\n{kept}notify = {json.dumps(argv, ensure_ascii=False)}\n{_END}\n"
    made = "".join([*lines[:begin], block, *lines[end:]]).encode()
    _check(made, {**parse(clean, file), "notify": argv}, file)
    return made


def without_ours(raw: bytes, file: str) -> bytes:
    lines = raw.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    begin = next((n for n, line in enumerate(lines) if line.strip() == _BEGIN), None)
    end = next((n for n, line in enumerate(lines) if line.strip() == _END), None)
    if begin is None or end is None or end < begin:
        return raw
    was = f"# {MARK}: was "
    before = [line.removeprefix(was) for line in lines[begin:end] if line.startswith(was)]
    return "".join([*lines[:begin], *before, *lines[end + 1 :]]).encode("utf-8", "surrogateescape")


def installed(raw: bytes) -> bool:
    return _BEGIN.encode() in raw


def _wrapping(theirs: list[str], reporter: Reporter) -> list[str]:
    return ["/bin/sh", "-c", _BOTH.format(tell=shlex.join(reporter.argv(AGENT))), MARK.replace(" ", "-"), *theirs]


def _span(lines: list[str], file: str) -> tuple[int, int]:
    """The lines of the key at the top. A list can go over several."""
    for begin, line in enumerate(lines):
        if line.lstrip().startswith("["):
            break
        if line.split("=")[0].strip() != "notify":
            continue
        for end in range(begin + 1, len(lines) + 1):
            try:
                tomllib.loads("".join(lines[begin:end]))
            except tomllib.TOMLDecodeError:
                continue
            return begin, end
    raise refused(f"notify stands in {file} in a way that cannot be edited", file)


def _check(made: bytes, wanted: dict[str, Any], file: str) -> None:
    """That it says what it said before, and our line: text was edited, not TOML."""
    if parse(made, file) != wanted:
        raise refused(f"{file} cannot be edited without changing something else", file)
