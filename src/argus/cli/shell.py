"""Where this command was called, and in which environment: it travels with what is asked about environments."""

from __future__ import annotations

import os
from typing import Any


def shell() -> dict[str, Any]:
    return {
        "folder": _folder(),
        "environ": {name: value for name, value in os.environ.items() if _is_text(name + value)},
    }


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "/"  # it was taken away from under us


def _is_text(value: str) -> bool:
    """Not every variable is: bytes that are no characters cannot be said in JSON."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
