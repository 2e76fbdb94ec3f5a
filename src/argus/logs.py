"""The daemon's log: to the terminal, or bounded in the state folder; no secret passes."""

from __future__ import annotations

import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

from argus.core.redact import Redactor


class _Redacting(logging.Formatter):
    def __init__(self, redactor: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))


def set_up(folder: Path | None, redactor: Redactor) -> None:
    if folder is None:
        handler: logging.Handler = logging.StreamHandler(sys.stderr)
    else:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = RotatingFileHandler(folder / "argus.log", maxBytes=5_000_000, backupCount=3, encoding="utf-8")
    handler.setFormatter(_Redacting(redactor))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("argus").setLevel(logging.INFO)
