"""Whether somebody holds a lock file. Light, because the CLI may ask at its start."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def is_held(path: Path) -> bool:
    """Whether somebody has that lock just now. Who cannot look says yes: another's life is not for us to deny."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe of that name would be waited for
    except FileNotFoundError:
        return False
    except (OSError, ValueError):  # ValueError: no path at all, such as one with a NUL
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
