"""Where argus.yaml is. Light: the CLI asks before it starts a daemon, which reads it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from argus import home
from argus.core.errors import ArgusError, Code


def find(given: str | None, environ: Mapping[str, str], folder: Path) -> Path | None:
    """--config, ARGUS_CONFIG, ./argus.yaml, then the user's own. One that was named must exist."""
    named = given or environ.get("ARGUS_CONFIG")
    if named:
        path = Path(named).expanduser()
        path = path if path.is_absolute() else folder / path
        if not path.is_file():
            raise ArgusError(Code.CONFIG_NOT_FOUND, f"there is no file {path}", file=str(path))
        return path
    base = environ.get("XDG_CONFIG_HOME") or str(home.of_the_user(environ) / ".config")
    for path in (folder / "argus.yaml", Path(base) / "argus" / "argus.yaml"):
        try:
            if path.is_file():
                return path
            if path.exists() or path.is_symlink():
                raise ArgusError(Code.CONFIG_NOT_FOUND, f"{path} is there and is no file", file=str(path))
        except PermissionError:
            # Most often the HOME of someone else, kept by su or sudo. Guessing that nothing is there would be a guess.
            message = f"{path} may not be looked at: check HOME and the current folder"
            raise ArgusError(Code.CONFIG_NOT_FOUND, message, file=str(path)) from None
    return None
