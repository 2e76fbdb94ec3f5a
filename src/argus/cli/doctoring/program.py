"""The program: its Python, and whether everything that was installed is there and unchanged."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata, resources
from pathlib import Path
from shlex import quote

from argus import __version__, installation
from argus.cli.doctoring import recorded
from argus.cli.doctoring.finding import Case, Finding, bad, ok, warn
from argus.cli.doctoring.needed import advice

_OLDEST, _NEWEST = (3, 11), (3, 13)
_BUILT = (("argus.api", "static", "built", ""), ("argus.environments", "helper", "programs", "argus-helper-"))
"""Where something built lies, the key of its digests in built.json, and how its files' names begin."""


def python(case: Case) -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    said = f"{version} at {sys.executable}"
    if sys.version_info[:2] < _OLDEST:
        return bad("PYTHON", said, "use Python 3.11 or newer, with: " + _on_another_python())
    if sys.version_info[:2] > _NEWEST:
        return warn("PYTHON", f"{said}; Argus is tried with 3.11 to 3.13", _on_another_python())
    return ok("PYTHON", said)


def _on_another_python() -> str:
    """An environment has the Python with which it was made."""
    installed = installation.here()
    if installed.tool in ("uv", "pipx"):
        return installed.again("--python 3.13 ")
    return f"make another environment with Python 3.13, and install {installed.source or 'argus'} into it"


def program(case: Case) -> Finding:
    """Another `argus` that comes first on the PATH is a day's confusion."""
    found = shutil.which("argus")
    own = Path(sys.prefix, "bin", "argus")
    if found is None:
        place = own.parent if own.exists() else Path(sys.argv[0]).absolute().parent
        return warn("PROGRAM", "no argus is on the PATH", _on_the_path(place))
    if own.exists() and not os.path.samefile(os.path.realpath(found), os.path.realpath(own)):
        return warn("PROGRAM", f"{found} comes first on the PATH, and this one is {own}", f"run {own}, or remove one")
    return ok("PROGRAM", f"argus {__version__} at {found}")


def _on_the_path(place: Path) -> str:
    """Who keeps it can do so for every shell to come; of a clone's own environment only its folder can be named."""
    by_tool = {"uv": "; or for good: uv tool update-shell", "pipx": "; or for good: pipx ensurepath"}
    return f'export PATH={quote(str(place))}:"$PATH"{by_tool.get(installation.here().tool, "")}'


def package(case: Case) -> Finding:
    try:
        installed = metadata.distribution("argusd")
    except metadata.PackageNotFoundError:
        return warn("PACKAGE", "argus runs from a folder and is not installed", "pip install -e . in that folder")
    again = advice()
    files = recorded.files(installed)
    if not files:
        return bad("PACKAGE", "its RECORD is gone or cannot be read, so nobody knows whether it is whole", again)
    wrong = [*_changed(files), *_not_as_built()]
    if wrong:
        shown = ", ".join(sorted(set(wrong))[:5])
        return bad("PACKAGE", f"missing or not as they were built: {shown}", again)
    if installed.version != __version__:
        return bad("PACKAGE", f"the files are {__version__}, and {installed.version} is installed", again)
    return ok("PACKAGE", f"whole: the page, the helper and {len(files)} files as installed")


def _changed(files: list[recorded.File]) -> Iterator[str]:
    """Files of the wheel whose digest is not the recorded one. What tools write beside them has none."""
    return (one.name for one in files if one.digest and one.name.startswith("argus/") and one.is_changed())


def _not_as_built() -> Iterator[str]:
    for module, folder, key, prefix in _BUILT:
        place = resources.files(module).joinpath(folder)
        try:
            built = json.loads(place.joinpath("built.json").read_text(encoding="utf-8"))[key]
        except (OSError, ValueError, KeyError):
            yield f"{module}.{folder}/built.json"
            continue
        for name, digest in built.items():
            file = place.joinpath(f"{prefix}{name}")
            body = file.read_bytes() if file.is_file() else b""
            # As scripts/page.py counts them: with their names.
            counted = body if prefix else f"{name}\0{len(body)}\0".encode() + body
            if hashlib.sha256(counted).hexdigest() != digest:
                yield f"{folder}/{prefix}{name}"
