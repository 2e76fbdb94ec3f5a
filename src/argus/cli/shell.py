"""Where this command was called, and in which environment: it travels with what is asked about environments."""

from __future__ import annotations

import json
import os
from typing import Any

from argus.cli import here
from argus.core.errors import ArgusError, Code

_MOST = 900 * 1024
"""Bytes as JSON. A request has at most 1 MiB, and something is to be asked besides."""


def shell(*, cut: bool = False) -> dict[str, Any]:
    """Raises where it is too much to send: what was left out would be missed by a build, and nobody would know why.

    `cut`: for who asks about much else too, the largest variables are left out instead.
    """
    environ = {name: value for name, value in os.environ.items() if _is_text(name + value)}
    sizes = {name: len(json.dumps({name: value})) for name, value in environ.items()}
    for name in sorted(sizes, key=lambda name: sizes[name], reverse=True):
        if cut and sum(sizes.values()) > _MOST:
            del sizes[name], environ[name]
    if sum(sizes.values()) > _MOST:
        largest = sorted(sizes, key=lambda name: sizes[name], reverse=True)[:3]
        raise ArgusError(
            Code.TOO_LARGE,
            f"the environment of this shell is too large to be sent along ({sum(sizes.values())} bytes, at most "
            f"{_MOST}); the largest variables: {', '.join(largest)}. Call again without them: env -u NAME argus …",
            bytes=sum(sizes.values()),
            largest={name: sizes[name] for name in largest},
        )
    return {"folder": _folder(), "environ": environ}


def _folder() -> str:
    return str(here.or_nowhere())


def _is_text(value: str) -> bool:
    """Not every variable is: bytes that are no characters cannot be said in JSON."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
