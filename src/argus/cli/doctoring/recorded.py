"""What was installed of a package, by the record that every installer leaves beside it.

Read here, and not by importlib.metadata: since Python 3.12 that leaves out whatever is missing. Imports only the
standard library: what is lacking is found out before anything is imported that might need it.
"""

from __future__ import annotations

import base64
import csv
import hashlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True, slots=True)
class File:
    name: str
    place: Path
    digest: str
    """Its kind and value, `sha256=…`; empty for what has none."""

    def is_changed(self) -> bool:
        kind, _, value = self.digest.partition("=")
        try:
            found = hashlib.new(kind, self.place.read_bytes()).digest()
        except (OSError, ValueError):
            return True
        return base64.urlsafe_b64encode(found).decode().rstrip("=") != value


def files(installed: metadata.Distribution) -> list[File]:
    """Empty where there is no record, or none that can be read."""
    try:
        rows = list(csv.reader((installed.read_text("RECORD") or "").splitlines()))
    except (OSError, ValueError, csv.Error):
        return []
    return [File(row[0], Path(str(installed.locate_file(row[0]))), row[1]) for row in rows if len(row) > 1]
