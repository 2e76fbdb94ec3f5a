"""How much room is left."""

from __future__ import annotations

import os

LEAST = 64 * 1024
"""Bytes that SQLite needs beside the store to open it: an index of 32 KiB, and the first of its log."""


def free(path: str) -> int | None:
    """Bytes that may still be written on the file system that holds this folder; None when that cannot be seen."""
    try:
        found = os.statvfs(path)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize
