"""What of a program's words the tour shows. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_NOTICE = (
    "DEPRECATED: The legacy builder is deprecated and will be removed in a future release.",
    "Install the buildx component to build images with BuildKit:",
    "https://docs.docker.com/go/buildx/",
)
_TIME = re.compile(r"^ *[0-9.]+ s ")


def without_notice(lines: Iterable[str]) -> Iterator[str]:
    """Without Docker's notice about its builder, and the empty line behind it: it comes once for each image. There is
    no setting that keeps it away."""
    was_notice = False
    for line in lines:
        text = _TIME.sub("", line).strip()
        is_notice = text in _NOTICE
        if not is_notice and (text or not was_notice):
            yield line
        was_notice = is_notice
