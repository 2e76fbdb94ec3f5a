"""Another writer on the same database, as a second host would be: python journal_writer.py URL NAME COUNT"""

from __future__ import annotations

import asyncio
import itertools
import sys

from argus.core.events import Draft
from argus.store.postgres import PostgresStore
from argus.store.records import Append

_AT_ONCE = 8


async def write(url: str, name: str, count: int) -> None:
    store = await PostgresStore.open(url)
    numbers = itertools.count(1)

    async def some() -> None:
        # Singly and several in one transaction, so that the writers' turns have different lengths.
        while (number := next(numbers)) <= count:
            drafts = (
                Draft("other", "written", name, {"number": number, "part": part}) for part in range(number % 3 + 1)
            )
            await store.commit(*map(Append, drafts))

    try:
        await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
    finally:
        await store.close()


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3])))
