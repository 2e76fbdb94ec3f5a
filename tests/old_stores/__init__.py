"""Stores as earlier versions of Argus left them, as SQL text: `sqlite-1.sql` is a store of version 1 in SQLite.

When a migration is added: put rows for its new tables into `ROWS`, and dump the version before it, with the code of
that version: `python -m tests.old_stores`. A test fails until the files are there.
"""

from __future__ import annotations

import glob
import os
import re
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from argus.core.clock import Stamp
from argus.core.events import Draft
from argus.store.interface import Store
from argus.store.records import (
    Act,
    AddTallies,
    Append,
    Claim,
    CloseAct,
    Condition,
    Counts,
    Cursor,
    Document,
    Incident,
    OpenAct,
    PutCondition,
    PutCursor,
    PutDocument,
    PutIncident,
    PutSetting,
    Tally,
    Write,
)
from tests.postgresql import PASSWORD, find_programs

FOLDER = Path(__file__).parent
EPOCH = "5eed5eed"
NOON = 1_790_000_000.0


def _event(type: str, subject: str, **data: Any) -> Append:
    return Append(Draft("services", type, subject, {"service": subject, **data}))


def _act(id: str, subject: str, seconds: float, incident: str) -> Act:
    command = ["/opt/api/restart.sh", "--now"]
    begun = Stamp("7c1f", 5_000.0 + seconds, NOON + seconds)
    return Act(id, "restart_service", subject, begun, incident, {"action": "command", "command": command})


OVER = Incident("i-over", "outage", "api", NOON + 10, NOON + 95.5, "connection refused", {"restarts": 1, "told": True})
OPEN = Incident("i-open", "outage", "datenbank-ü", NOON + 200, None, "timeout", {"restarts": 1, "gate": None})
EVENT = Incident("i-event", "infrastructure_event", "", NOON + 300, NOON + 400, "3 at once", {"services": ["a", "b"]})
CLOSED_ACT = _act("a-closed", "api", 11.0, OVER.id)
OPEN_ACT = _act("a-open", "datenbank-ü", 201.0, OPEN.id)
CONDITIONS = (
    Condition("services", "api", "up", NOON + 95.5),
    Condition("services", "datenbank-ü", "down", NOON + 200),
    Condition("agents", "green", "working", NOON + 1),
)
SETTINGS = {
    "autonomy": {"level": "moderate", "by": "cli"},
    "services.pauses": {"api": NOON + 3600},
    "odd": "\x00\ud800",
}
CURSORS = (Cursor("notify:json-1a2b3c4d", 3), Cursor("notify:ntfy-99aa88bb", 2, sending=3))
OUTCOME = CloseAct(CLOSED_ACT.id, "recovered", NOON + 95.5, {"exit": 0, "output": "started\n"})

_SEEN = Counts(up=55, degraded=2, down=3, timed=57, latency=1.5, slowest=0.25)
TALLIES = (
    Tally(
        3600, 1_789_999_200, "services", "api", Counts(up=55, degraded=2, down=3, timed=57, latency=1.5, slowest=0.25)
    ),
    Tally(
        86400, 1_789_948_800, "services", "api", Counts(up=55, degraded=2, down=3, timed=57, latency=1.5, slowest=0.25)
    ),
    Tally(3600, 1_789_999_200, "services", "datenbank-ü", Counts(down=60, unknown=1)),
)

DOCUMENTS = (
    Document("agents", "team-green001", {"task": "SEC-1: 'quoted' \u00fc", "generation": 1}),
    Document("agents", "team-green000", {"task": ""}, live=False),
)

# By the version that introduced them; a store of version 2 holds those of 1 and 2.
ROWS: dict[int, tuple[Write, ...]] = {
    1: (
        Append(Draft("system", "argus_started", "", {"version": "0.1.0", "pid": 4711, "services": ["api"]})),
        _event("service_down", "api", incident=OVER.id, cause="connection refused", failures=3),
        _event("restart_started", "api", incident=OVER.id, act=CLOSED_ACT.id),
        _event("service_recovered", "api", incident=OVER.id, seconds=85.5),
        _event("service_down", "datenbank-ü", incident=OPEN.id, cause="\u2028 'quoted' \"twice\" \x00; -- $$"),
        _event("restart_started", "datenbank-ü", incident=OPEN.id, act=OPEN_ACT.id),
        PutIncident(OVER),
        PutIncident(OPEN),
        PutIncident(EVENT),
        OpenAct(CLOSED_ACT),
        OUTCOME,
        OpenAct(OPEN_ACT),
        *map(PutCondition, CONDITIONS),
        *(PutSetting(key, value) for key, value in SETTINGS.items()),
        *map(PutCursor, CURSORS),
    ),
    2: (AddTallies(TALLIES),),
    3: (*map(PutDocument, DOCUMENTS), Claim("coder:2", NOON + 20)),
}


async def fill(store: Store, version: int) -> None:
    for number in range(1, version + 1):
        for write in ROWS.get(number, ()):
            await store.commit(write)


def text(store: str, version: int) -> str:
    return (FOLDER / f"{store}-{version}.sql").read_text(encoding="utf-8")


def dump_sqlite(path: Path) -> str:
    db = sqlite3.connect(path)
    try:
        pragmas = [f"PRAGMA {name} = {db.execute(f'PRAGMA {name}').fetchone()[0]};" for name in _IN_THE_HEADER]
        return "\n".join([*pragmas, *db.iterdump(), ""])
    finally:
        db.close()


def load_sqlite(path: Path, dump: str) -> None:
    db = sqlite3.connect(path)
    try:
        db.executescript(dump)
        db.execute("PRAGMA journal_mode = WAL")
    finally:
        db.close()


def dump_postgres(url: str) -> str:
    programs = find_programs()
    assert programs is not None
    options = ["--schema=argus", "--no-owner", "--no-privileges", "--inserts", url.replace(f":{PASSWORD}@", "@")]
    ran = subprocess.run(
        ["pg_dump", *options],
        env={"PGPASSWORD": PASSWORD, "PATH": os.pathsep.join([str(programs), *_DEBIAN, os.environ["PATH"]])},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    # What only psql understands, what the server's version says of itself, and what would outlive the loading.
    unwanted = re.compile(r"^(\\|--|SET |SELECT pg_catalog.set_config|$)")
    return "\n".join([line for line in ran.stdout.splitlines() if not unwanted.match(line)] + [""])


_DEBIAN = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
_IN_THE_HEADER = ("application_id", "user_version")
