"""The image of the helper, made by Argus itself: no registry is asked for anything.

It is named after what is in it, so that another version of Argus has another one, and the two do not get in each
other's way.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import io
import tarfile
from importlib import resources

from argus.core.errors import ArgusError, Code
from argus.environments.labels import MANAGED
from argus.host.engine.resources import Dock

REPOSITORY = "argusai/helper"
_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
"""As engines call them, and as the programs are called."""
_PROGRAM = "argus-helper"
_LOOK = 5.0
_MAKE = 30.0


def name() -> str:
    return f"{REPOSITORY}:{_tag()}"


@functools.cache
def _tag() -> str:
    """The same on every machine: both programs count, whichever of them runs here."""
    made = hashlib.sha256()
    for architecture in sorted(set(_ARCHITECTURES.values())):
        made.update(_program(architecture))
    return made.hexdigest()[:16]


def _program(architecture: str) -> bytes:
    return (resources.files(__package__) / f"{_PROGRAM}-{architecture}").read_bytes()


class HelperImage:
    """Made where it is missing, also where somebody removed it. Two who need it at once make it once."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def made(self, dock: Dock) -> str:
        """Its name, once the engine has it."""
        if await dock.image(name(), timeout=_LOOK) is None:
            async with self._turn:
                if await dock.image(name(), timeout=_LOOK) is None:
                    await self._make(dock)
        return name()

    async def _make(self, dock: Dock) -> None:
        program = _program(await self._architecture(dock))
        changes = (f'ENTRYPOINT ["/{_PROGRAM}"]', f"LABEL {MANAGED}=true")
        await dock.import_image(packed(program), name(), changes, timeout=_MAKE)

    async def _architecture(self, dock: Dock) -> str:
        said = (await dock.info(timeout=_LOOK)).architecture
        if said not in _ARCHITECTURES:
            message = f"Argus has no helper for the architecture {said!r} of this engine: mocks need an `image`"
            known = sorted(set(_ARCHITECTURES.values()))
            raise ArgusError(Code.DOCKER_REFUSED, message, architecture=said, known=known)
        return _ARCHITECTURES[said]


def packed(program: bytes) -> bytes:
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w") as tar:
        entry = tarfile.TarInfo(_PROGRAM)
        entry.size, entry.mode = len(program), 0o755
        tar.addfile(entry, io.BytesIO(program))
    return into.getvalue()
