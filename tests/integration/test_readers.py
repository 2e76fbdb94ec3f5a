"""Files that may lie on a disk that hangs."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from argus.host.readers import Readers, contents


async def test_what_hangs_is_nobody_elses_concern_and_is_asked_again_once_it_has_answered() -> None:
    readers, released = Readers("test"), [threading.Event() for _ in range(6)]
    try:
        for at, one in enumerate(released):
            with pytest.raises(TimeoutError):
                await readers.run(f"disk {at}", one.wait, timeout=0.02)
        assert await readers.run("another", lambda: "read", timeout=30.0) == "read"
        with pytest.raises(TimeoutError):
            await readers.run("disk 0", lambda: "read", timeout=30.0)
        released[0].set()
        async with asyncio.timeout(30.0):
            while True:
                try:
                    assert await readers.run("disk 0", lambda: "read", timeout=30.0) == "read"
                    break
                except TimeoutError:
                    await asyncio.sleep(0.01)
    finally:
        for one in released:
            one.set()
        readers.close()


def test_only_what_is_a_file_is_read(tmp_path: Path) -> None:
    import os

    (tmp_path / "file").write_text("x" * 20)
    os.mkfifo(tmp_path / "fifo")
    assert contents(str(tmp_path / "file"), 10) == b"x" * 11
    for path in (tmp_path / "fifo", tmp_path, tmp_path / "none"):
        with pytest.raises(OSError):
            contents(str(path), 10)
