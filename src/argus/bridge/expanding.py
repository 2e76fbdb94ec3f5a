"""`${NAME}` and `${NAME:-else}` in what a file says of an MCP server, as Claude Code reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Missing(Exception):
    """The name of a variable that is not set and has nothing instead."""


def expanded(text: str, environ: Mapping[str, str]) -> str:
    """Once: what a variable holds is not looked through again."""

    def value(found: re.Match[str]) -> str:
        name, instead = found[1], found[2]
        known = environ.get(name)
        if known is not None and (known or instead is None):
            return known
        if instead is None:
            raise Missing(name)
        return instead

    return _VARIABLE.sub(value, text)
