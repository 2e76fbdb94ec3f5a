"""How this Argus was installed, and the command that installs it again. Its name alone is no use: no index has it."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

_UNKNOWN = "build/wheel/*.whl"
_MAKE_ONE = "; make wheel, in a clone, makes that file"


@dataclass(frozen=True, slots=True)
class Installation:
    tool: str
    """What keeps it: `uv` or `pipx`, each in an environment of its own; else `pip`, or `uv pip` where pip is not."""
    python: str
    source: str = ""
    """The wheel, the folder or the address it came from; empty when that is gone or was not said."""
    editable: bool = False

    def again(self, options: str = "") -> str:
        """The command that makes it whole, with everything it needs. `options`: more words for uv tool or pipx."""
        source = shlex.quote(self.source) if self.source else _UNKNOWN
        python = shlex.quote(self.python)
        match self.tool:
            case "uv":
                words = f"uv tool install --force {options}{'-e ' * self.editable}{source}"
            case "pipx":
                words = f"pipx install --force {options}{'-e ' * self.editable}{source}"
            case "uv pip":
                words = f"uv pip install --python {python} --reinstall {'-e ' * self.editable}{source}"
            case _:
                words = f"{python} -m pip install {'-e' if self.editable else '--force-reinstall'} {source}"
        return words if self.source else words + _MAKE_ONE


def here() -> Installation:
    source, editable = origin(_direct_url())
    return Installation(_tool(Path(sys.prefix)), sys.executable, source, editable)


def origin(said: Any) -> tuple[str, bool]:
    """Of direct_url.json, in which installers write where a package came from: what they would take again."""
    try:
        url, vcs, folder = str(said["url"]), said.get("vcs_info"), said.get("dir_info")
        if vcs:
            return f"{vcs['vcs']}+{url}@{vcs['commit_id']}", False
        parts = urlsplit(url)
        if parts.scheme != "file":
            return url, False
        place = unquote(parts.path)
        return (place if Path(place).exists() else ""), bool(folder and folder.get("editable"))
    except (LookupError, TypeError, AttributeError, ValueError):
        return "", False


def _tool(prefix: Path) -> str:
    """Each leaves a note of its own in the environment that it keeps."""
    if (prefix / "uv-receipt.toml").exists():
        return "uv"
    if (prefix / "pipx_metadata.json").exists():
        return "pipx"
    return "pip" if importlib.util.find_spec("pip") else "uv pip"


def _direct_url() -> Any:
    try:
        return json.loads(metadata.distribution("argusd").read_text("direct_url.json") or "null")
    except (metadata.PackageNotFoundError, OSError, ValueError):
        return None
