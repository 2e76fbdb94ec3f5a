"""Paths as they were sent: a slash that is part of a name ends no segment."""

from __future__ import annotations

import re
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

_SLASH = re.compile(r"%2f", re.IGNORECASE)


class Segments:
    """The server takes `a%2Fb` for two segments, and what is asked of a thing of that name would be asked of nothing.

    Such a slash stays encoded. No thing has a name with `%` or with a slash, so it is refused like any other that is
    none.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = scope.get("raw_path") or b""
        if b"%2f" in sent or b"%2F" in sent:
            scope["path"] = unquote(_SLASH.sub("%252F", sent.decode("ascii")))
        await self._app(scope, receive, send)
