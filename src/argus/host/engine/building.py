"""Images are built by the docker command, as the caller would: with BuildKit where that is chosen, and without.

What it prints is told line by line. It is ended with its whole group at the deadline and when nobody waits any more.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections import deque
from collections.abc import Callable, Mapping

from argus.core.cutting import beginning, ending
from argus.core.errors import ArgusError, Code
from argus.host.asking import ask
from argus.host.children import Children
from argus.host.engine import where
from argus.host.engine.attending import PATIENCE, while_it_answers
from argus.host.engine.guard import FAIR
from argus.host.engine.inside import InsideCalls
from argus.host.engine.names import checked_image
from argus.host.engine.refusals import full
from argus.host.engine.resources import Building
from argus.host.engine.seam import EngineUnavailable
from argus.host.engine.things import ThingCalls
from argus.host.engine.wire import Line
from argus.host.leftovers import Leftovers
from argus.host.seam import Ran

_LINES = 100
"""Of the output, the last ones, that an error carries."""
_LONGEST = 8 * 1024
"""Bytes of a line that is told."""
_MOST = 64 * 1024
"""Characters of them all."""
_RESERVE = 5.0
"""Seconds of the deadline that are kept to find out whether the engine or the build was at fault."""
_ELSEWHERE = re.compile(r"\s*(?:https?://\S*$|View build details:)")
_WRONG = re.compile(r"\s*error\b", re.IGNORECASE)
_LOST = re.compile(r"(?:ERROR: |error: )*(?:Cannot connect to the Docker daemon|error during connect|unexpected EOF$)")
"""The command's own last line; what a step of the build prints is never the last."""


class DockerDock(ThingCalls, InsideCalls):
    """All that an environment asks of a real engine."""

    def __init__(
        self,
        line: Line,
        children: Children,
        leftovers: Leftovers,
        environ: Mapping[str, str],
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(line)
        self._patience = patience
        self._children = children
        self._leftovers = leftovers
        self._environ = environ

    async def build(self, building: Building, heard: Callable[[str], None], *, timeout: float) -> str:
        argv = command(building, self._environ)
        reserve = min(_RESERVE, timeout / 4)
        lines = Lines(heard)
        env = where.for_commands(self._environ)
        asking = ask(self._children, self._leftovers, argv, timeout=timeout - reserve, env=env, heard=lines.take)
        try:
            ran = await while_it_answers(self.ping, asking, self._patience)
        except EngineUnavailable as silent:
            lines.end()
            raise EngineUnavailable(f"{silent.message} in the middle of a build", output=lines.output) from None
        lines.end()
        try:
            async with asyncio.timeout(reserve):
                return await self._outcome(building, ran, lines)
        except TimeoutError:
            message = f"the Docker engine did not answer within {reserve:g} s after a build"
            raise EngineUnavailable(message, is_the_engines=reserve >= FAIR, output=lines.output) from None

    async def _outcome(self, building: Building, ran: Ran, lines: Lines) -> str:
        last, output = lines.last, lines.output
        problem = ran.problem or f"the build failed: {lines.why or f'exit code {ran.exit_code}'}"
        if ran.exit_code == 0:
            image = await self.image(building.tag)
            if image is not None:
                return image
            problem = "the build ended well, but the engine does not have its image"
        if _LOST.match(last):
            raise EngineUnavailable(f"the build lost the Docker engine: {last}", output=output)
        # An engine that is gone or frozen is not the fault of the Dockerfile, whatever the command made of it.
        try:
            await self.ping()
        except EngineUnavailable as gone:
            raise EngineUnavailable(
                gone.message, is_the_engines=gone.is_the_engines, **{**gone.details, "output": output}
            ) from None
        raise full(output) or ArgusError(
            Code.BUILD_FAILED,
            f"{building.tag}: {problem}",
            output=output,
            exitCode=ran.exit_code,
            image=building.tag,
            dockerfile=building.dockerfile,
        )


class Lines:
    """Tells lines, out of pieces as they come, cut where they are too long."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._rest = b""
        self._told: deque[str] = deque(maxlen=_LINES)
        self.last = ""
        """The last one that says anything."""

    @property
    def why(self) -> str:
        """The last one that says anything, unless it only says where to read more of it."""
        if not _ELSEWHERE.match(self.last):
            return self.last
        return next((line for line in reversed(self._told) if _WRONG.match(line)), self.last)

    @property
    def output(self) -> str:
        """The end of all that was told."""
        return ending("\n".join(self._told), _MOST)

    def take(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._tell(line)
        self._rest = self._rest[: 2 * _LONGEST]

    def end(self) -> None:
        if self._rest:
            self._tell(self._rest)
            self._rest = b""

    def _tell(self, line: bytes) -> None:
        text = beginning(line[: 2 * _LONGEST].decode("utf-8", "replace").rstrip(), _LONGEST)
        self.last = text or self.last
        self._told.append(text)
        self._heard(text)


def command(building: Building, environ: Mapping[str, str]) -> list[str]:
    """Raises where there is no docker command, or what it would be told is not fit for it."""
    for path in (building.dockerfile, building.context):
        if not os.path.isabs(path):
            raise ValueError(f"not an absolute path: {path}")
    program = shutil.which("docker", path=environ.get("PATH") or os.defpath)
    if program is None:
        raise EngineUnavailable(
            "there is no docker command on the caller's PATH, and images are built by it",
            is_the_engines=False,
            program="docker",
        )
    return [
        program,
        "build",
        f"--file={building.dockerfile}",
        f"--tag={checked_image(building.tag)}",
        *(f"--build-arg={name}={value}" for name, value in building.args.items()),
        *(f"--label={name}={value}" for name, value in building.labels.items()),
        # Without BuildKit every step is a container, and that of a failed one would stay. BuildKit takes no notice.
        "--force-rm",
        *(["--no-cache"] if building.no_cache else []),
        building.context,
    ]
