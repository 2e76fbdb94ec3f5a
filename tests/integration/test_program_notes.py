"""The note of a running program, by which a later Argus knows that it still runs."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from argus.host import process


async def test_the_note_does_not_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Between the program's start and its note, a killed Argus leaves a program that nobody knows of."""
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    log, gate = tmp_path / "restart.log", tmp_path / "gate"
    os.mkfifo(gate)
    running = asyncio.ensure_future(process.run(["/bin/sh", "-c", f"read line < '{gate}'"], timeout=60, log=str(log)))
    await asyncio.sleep(0)  # it runs up to its first wait, which is the one for the program's end
    note = json.loads((tmp_path / "restart.log.pid").read_text())
    with gate.open("w") as opened:
        opened.write("go\n")
    assert (await running).exit_code == 0
    assert note["pid"] > 0
    assert waits == []
