"""How much Argus may do by itself: from the file, or set at run time, which holds until the file's value changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from argus.core.autonomy import Level
from argus.core.events import Draft
from argus.store import kept
from argus.store.interface import Store
from argus.store.records import Append, PutSetting, Write

_KEY = "autonomy"


def _read(found: Any) -> tuple[Level, str]:
    return Level(found["level"]), str(found["file"])


class Autonomy:
    def __init__(self, store: Store, file: Level) -> None:
        self._store = store
        self._file = file
        self.level = file

    async def restore(self) -> None:
        found = await kept.setting(self._store, _KEY, _read, None)
        if found is None:
            return
        level, file = found
        if file == self._file.value:
            self.level = level
        else:
            # The file has spoken since: what was set before it is over for good, also when the file goes back.
            await self._store.commit(PutSetting(_KEY, None))

    def reread(self, file: Level, by: str) -> tuple[tuple[Write, ...], Callable[[], None]]:
        """What to record, and how to take it over, when the file is read again. Only a changed value counts."""
        if file is self._file:
            return (), lambda: None

        def take_over() -> None:
            self._file = self.level = file

        changed = {"from": self.level.value, "to": file.value, "by": by}
        told = (Append(Draft("system", "autonomy_changed", "", changed)),) if file is not self.level else ()
        return (PutSetting(_KEY, None), *told), take_over

    async def set(self, level: Level, by: str) -> None:
        if level is self.level:
            return
        data = {"from": self.level.value, "to": level.value, "by": by}
        await self._store.commit(
            PutSetting(_KEY, {"level": level.value, "file": self._file.value}),
            Append(Draft("system", "autonomy_changed", "", data)),
        )
        self.level = level
