"""Whether what Argus needs is installed, with all its files. Imports nothing of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from argus import installation
from argus.cli.doctoring.finding import Finding, bad

_CODE = (".py", ".so", ".pyd")


def advice() -> str:
    return f"install it again: {installation.here().again()}"


def finding(lacking: list[str]) -> Finding:
    shown = ", ".join(lacking[:5]) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
    return bad("PACKAGE", f"needed, and not installed or not whole: {shown}", advice())


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
        if not all(Path(str(file.locate())).exists() for file in found.files or () if _is_code(file)):
            yield name
        # What is needed only on some system or Python is not known to be needed on this one.
        waiting += _named(found, also_conditional=False)


def _is_code(file: metadata.PackagePath) -> bool:
    """Tests are left out: who makes things small removes them."""
    return file.suffix in _CODE and not {"test", "tests"} & set(file.parts)


def _named(distribution: metadata.Distribution, *, also_conditional: bool) -> Iterator[str]:
    for requirement in distribution.requires or ():
        word, _, marker = requirement.partition(";")
        if "extra" not in marker and (also_conditional or not marker):
            yield re.split(r"[\s<>=!~\[(]", word.strip(), maxsplit=1)[0].lower()
