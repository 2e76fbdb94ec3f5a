"""Which seeds are played: a few with every `make test`; with `make simulate` as many as one likes, from any of them."""

from __future__ import annotations

import os

IS_LONG = "ARGUS_SEEDS" in os.environ
FIRST = int(os.environ.get("ARGUS_FIRST_SEED", "0"))
LAST = FIRST + int(os.environ.get("ARGUS_SEEDS", "100"))
BLOCK = 25
BLOCKS = range(FIRST, LAST, BLOCK)


def of(first: int) -> range:
    """The seeds of one block."""
    return range(first, min(first + BLOCK, LAST))
