"""What an event costs as the record grows: appends to an empty journal, and to one that already holds half a million.

Constant means that the full one pays for an append what the empty one pays. What is kept of old events is bounded by
age and number; the tests of retention show that.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable
from contextlib import closing

from benchmarks.measure import in_child, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.work.journal import sqlite_store

_BATCH = 256
_MORE = 1.2
"""How much dearer the full one may be: noise, and a tree that is a level deeper."""


def measure(plan: Plan) -> Iterable[Row]:
    held, appends = plan.size(500_000, 1024), plan.size(_BATCH * 80, _BATCH)
    fresh = (str(plan.folder / f"empty-{number}.db") for number in itertools.count())
    full = str(plan.folder / "full.db")
    in_child(sqlite_store, path=full, appends=_BATCH)
    fill(full, held)
    found = interleave(
        {
            "empty": lambda: in_child(sqlite_store, path=next(fresh), appends=appends),
            "full": lambda: in_child(sqlite_store, path=full, appends=appends),
        },
        plan.rounds,
    )
    cost = {name: [1e6 / one["cpu"] for one in series] for name, series in found.items()}
    floor = "to an empty one"
    yield Row(
        f"an append to a journal of {held:,} events",
        "CPU us",
        cost["full"],
        floor=(floor, cost["empty"]),
        goal=Goal(_MORE, of=floor),
    )


def fill(path: str, held: int) -> None:
    """With copies of what the store itself wrote, each a row of its own in every index."""
    with closing(sqlite3.connect(path)) as db:
        columns = "timestamp, channel, type, subject, incident, data"
        while (there := db.execute("SELECT count(*) FROM journal").fetchone()[0]) < held:
            db.execute(f"INSERT INTO journal ({columns}) SELECT {columns} FROM journal LIMIT ?", (held - there,))
        db.commit()
