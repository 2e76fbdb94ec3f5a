"""From where a call or a query comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Whence:
    """Where the caller works, and its environment."""

    folder: str
    environ: Mapping[str, str]
    within: str | None = None
    """It may not leave this folder."""
