"""Volumes as Docker writes them: `data:/data`, `./config:/etc/app:ro`, `/data`. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
_SHARING = {f"{way}{kind}" for way in ("", "r") for kind in ("shared", "slave", "private")}
_OPTIONS = {"ro", "rw", "z", "Z", "nocopy", "cached", "delegated", "consistent", *_SHARING}
SCHEMA = {"type": "string", "minLength": 1, "examples": ["data:/var/lib/data", "./config:/etc/app:ro"]}


@dataclass(frozen=True, slots=True)
class Mount:
    target: str
    """Inside the container."""
    source: str | None = None
    """A folder or file of the host, or the name of a volume; None is a volume without a name."""
    options: tuple[str, ...] = ()

    @property
    def is_bind(self) -> bool:
        return self.source is not None and self.source[0] in "/.~"

    @property
    def read_only(self) -> bool:
        return "ro" in self.options

    def __str__(self) -> str:
        parts = [self.source, self.target, ",".join(self.options)]
        return ":".join(part for part in parts if part)


def read(text: str) -> Mount:
    parts = text.strip().split(":")
    if len(parts) > 3 or not all(parts) or "\0" in text:
        raise ValueError('not a volume; write "NAME:/inside", "./FOLDER:/inside" or either with ":ro"')
    source, target, options = (None, parts[0], "") if len(parts) == 1 else (parts[0], parts[1], "".join(parts[2:]))
    if not target.startswith("/") or target.strip("/") in ("", "."):
        raise ValueError('the place inside the container is a full path, such as "/data"')
    unknown = [one for one in options.split(",") if one not in _OPTIONS] if options else []
    if unknown:
        raise ValueError(f'the option "{unknown[0][:40]}" is not known; most often it is ro or rw')
    if source is not None and source[0] not in "/.~" and not _NAMED.fullmatch(source):
        hint = "; a folder beside the file begins with ./" if "/" in source else ""
        raise ValueError(f"what stands before the colon is neither a path nor the name of a volume{hint}")
    return Mount(target, source, tuple(options.split(",")) if options else ())
