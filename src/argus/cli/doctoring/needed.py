"""Whether what Argus needs is installed, with all its files. Imports nothing of it."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from importlib import metadata
from pathlib import PurePath

from argus import installation
from argus.cli.doctoring import recorded
from argus.cli.doctoring.finding import Finding, bad

_CODE = (".py", ".so", ".pyd")


def advice() -> str:
    return f"install it again: {installation.here().again()}"


def finding(lacking: list[str]) -> Finding:
    shown = ", ".join(lacking[:5]) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
    return bad("PACKAGE", f"needed, and not installed or not whole: {shown}", advice())


def broken(error: Exception) -> Finding:
    """All files are there, and one of them cannot be imported."""
    said = f"{type(error).__name__}: {getattr(error, 'msg', None) or error}"
    return bad("PACKAGE", f"cannot be imported: {_place(error)}: {said}", advice())


def _place(error: Exception) -> str:
    """The file at fault: which one does not read as Python, or which one raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith("<frozen")]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "a file of it"


def lacking() -> Iterator[str]:
    """Of what Argus needs, and what that needs; not of Argus itself."""
    try:
        installed = metadata.distribution("argusd")
    except metadata.PackageNotFoundError:
        return  # it runs from a folder
    waiting, known = list(_named(installed, also_conditional=True)), set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in known:
            continue
        known.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            yield name
            continue
        if not all(file.place.exists() for file in recorded.files(found) if _is_code(file.name)):
            yield name
        # What is needed only on some system or Python is not known to be needed on this one.
        waiting += _named(found, also_conditional=False)


def _is_code(name: str) -> bool:
    """Tests are left out: who makes things small removes them."""
    path = PurePath(name)
    return path.suffix in _CODE and not {"test", "tests"} & set(path.parts)


def _named(distribution: metadata.Distribution, *, also_conditional: bool) -> Iterator[str]:
    for requirement in distribution.requires or ():
        word, _, marker = requirement.partition(";")
        if "extra" not in marker and (also_conditional or not marker):
            yield re.split(r"[\s<>=!~\[(]", word.strip(), maxsplit=1)[0].lower()
