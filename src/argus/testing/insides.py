"""What is inside of the fake engine's containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from argus.core.errors import ArgusError, Code
from argus.host.engine.resources import Executed, FileFound, Process
from argus.testing.containers import FakeContainer, FakeContainers


class FakeInsides(FakeContainers):
    async def execute(
        self, id: str, argv: Sequence[str], environment: Mapping[str, str], *, timeout: float
    ) -> Executed:
        await self._reach()
        missing = Executed(127, f"{argv[0]}: executable file not found in $PATH")
        return self._running(id).answers.get(tuple(argv), missing)

    async def processes(self, id: str) -> list[Process]:
        await self._reach()
        return list(self._running(id).processes)

    async def file(self, id: str, path: str, most: int) -> FileFound | None:
        await self._reach()
        found = self._one(id).files.get(path)
        return replace(found, content=found.content[:most]) if found else None

    def _running(self, id: str) -> FakeContainer:
        one = self._one(id)
        if one.state != "running":
            raise ArgusError(Code.CONTAINER_NOT_RUNNING, f"{id} does not run", container=id)
        return one
