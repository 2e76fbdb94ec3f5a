"""What the engine lets things be called. Quoting is not enough: the engine puts `..%2Fimages` together again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import quote

from argus.host.engine.seam import EngineRefused

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]*(?:/[A-Za-z0-9][A-Za-z0-9_.:@-]*)*")
_ENOUGH = 12
"""Letters of an id that mean one container and no other: what `docker ps` prints."""


def is_name(name: str) -> bool:
    """Of a container, a network or a volume, or an id."""
    return bool(_NAME.fullmatch(name))


def is_image(name: str) -> bool:
    return bool(_IMAGE.fullmatch(name))


def checked(name: str, what: str) -> str:
    """The name, for an address. Raises EngineRefused for what no engine would take."""
    if not is_name(name):
        raise EngineRefused(f"{name[:100]!r} cannot be the name of a {what}", 400)
    return name


def checked_image(name: str) -> str:
    if not is_image(name):
        raise EngineRefused(f"{name[:100]!r} cannot be the name of an image", 400)
    return name


def is_meant(asked: str, id: str, name: str) -> bool:
    """The engine also takes the beginning of an id for a name: `cafe` would be whatever container's id begins so."""
    return name == asked or (len(asked) >= _ENOUGH and id.startswith(asked))


def filters(labels: Mapping[str, str | None], **more: list[str]) -> str:
    wanted = [key if value is None else f"{key}={value}" for key, value in labels.items()]
    return quote(json.dumps({"label": wanted, **more}), safe="")
