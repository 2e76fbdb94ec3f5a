"""The daemon's log: to the terminal, or bounded in the state folder; no secret passes."""

from __future__ import annotations

import logging
import os
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from argus.core.redact import Redactor


class _Redacting(logging.Formatter):
    def __init__(self, redactor: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))


class _Private(RotatingFileHandler):
    """Readable by its owner alone. Not by a umask: the commands that Argus runs would inherit that."""

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8")


def set_up(folder: Path | None, redactor: Redactor) -> None:
    if folder is None:
        handler: logging.Handler = logging.StreamHandler(sys.stderr)
    else:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = _Private(folder / "argus.log", maxBytes=5_000_000, backupCount=3, encoding="utf-8")
    handler.setFormatter(_Redacting(redactor))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("argus").setLevel(logging.INFO)
    # It writes parts of the channels' URLs, and in those any part may be the secret. What fails is said by us.
    logging.getLogger("apprise").disabled = True
