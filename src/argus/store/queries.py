"""The SQL of the SQLite store, a function a question."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, cast

from argus.core.errors import ArgusError, Code
from argus.core.events import Event
from argus.core.failpoints import Place, reach
from argus.core.redact import Redactor
from argus.store import dialects, pruning, records, rows, session_tables
from argus.store.records import Act, Condition, Counts, Cursor, Document, HealthCheck, Incident, Pruned, Tally

_ABOVE_PRUNED = f"MAX(?, COALESCE((SELECT CAST(value AS INTEGER) FROM settings WHERE key = '{rows.PRUNED}'), 0))"  # noqa: S608
"""In the question itself: a prune may come between two."""


INSERT = "INSERT INTO journal (n, timestamp, channel, type, subject, incident, data) VALUES (?, ?, ?, ?, ?, ?, ?)"
"""With the number: there is one writer, so it is known before, and many rows go in as one statement."""


def last_number(db: sqlite3.Connection) -> int:
    """The highest that was ever given; pruning gives none back."""
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
    return int(row[0]) if row else 0


def appended(write: records.Append, n: int, epoch: str, now: int, redactor: Redactor) -> tuple[Event, tuple[Any, ...]]:
    """The event, and its row."""
    draft, when = write.draft, now if write.at is None else write.at
    data = redactor.value(draft.data)
    subject, incident = rows.text(redactor.text(draft.subject)), data.get("incident")
    row = (
        n,
        when,
        draft.channel,
        draft.type,
        subject,
        rows.text(incident) if incident else None,
        rows.encoded(data),
    )
    return Event(n, epoch, when, draft.channel, draft.type, subject, data), row


def carry_out(
    db: sqlite3.Connection, write: records.Write, epoch: str, now: int, redactor: Redactor
) -> Event | Pruned | None:
    match write:
        case records.Append():
            event, row = appended(write, last_number(db) + 1, epoch, now, redactor)
            db.execute(INSERT, row)
            return event
        case records.OpenAct(act):
            begun = act.begun
            intent = rows.encoded(redactor.value(act.intent))
            db.execute(
                f"INSERT INTO acts ({rows.ACT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, '{{}}')",  # noqa: S608
                (act.id, act.kind, act.subject, begun.boot_id, begun.boot, begun.wall, act.incident, intent),
            )
            reach(Place.ACT_OPENED)
        case records.CloseAct(id, outcome, ended, detail):
            changed = db.execute(
                "UPDATE acts SET outcome = ?, ended = ?, detail = ? WHERE id = ? AND outcome IS NULL",
                (outcome, ended, rows.encoded(redactor.value(detail)), id),
            )
            if changed.rowcount != 1:
                raise ArgusError(Code.CONFLICT, f"act {id} is not open", act=id)
            reach(Place.ACT_CLOSED)
        case records.PutIncident(incident):
            db.execute(
                f"INSERT INTO incidents ({rows.INCIDENT}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "  # noqa: S608
                "closed = excluded.closed, cause = excluded.cause, data = excluded.data",
                (
                    incident.id,
                    incident.kind,
                    incident.subject,
                    incident.opened,
                    incident.closed,
                    rows.text(redactor.text(incident.cause)),
                    rows.encoded(redactor.value(incident.data)),
                ),
            )
        case records.PutCondition(condition):
            db.execute(
                "INSERT INTO conditions (domain, subject, state, since) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (domain, subject) DO UPDATE SET state = excluded.state, since = excluded.since",
                (condition.domain, condition.subject, condition.state, condition.since),
            )
        case records.PutSetting(key, value):
            put_setting(db, key, value)
        case records.PutDocument(document):
            db.execute(
                "INSERT INTO documents (domain, id, live, data) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (domain, id) DO UPDATE SET live = excluded.live, data = excluded.data",
                (document.domain, document.id, document.live, rows.encoded(document.data)),
            )
        case records.Claim(key, at):
            claimed = db.execute("INSERT INTO claims (key, at) VALUES (?, ?) ON CONFLICT DO NOTHING", (key, at))
            if claimed.rowcount != 1:
                raise ArgusError(Code.CONFLICT, f"{key} is claimed already", key=key)
        case records.PutCursor(cursor):
            db.execute(
                "INSERT INTO cursors (name, n, sending) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET n = excluded.n, sending = excluded.sending",
                (cursor.name, cursor.n, cursor.sending),
            )
        case records.AddTallies(tallies):
            db.executemany(
                f"INSERT INTO tallies ({rows.TALLY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
                "ON CONFLICT (span, start, domain, subject) DO UPDATE SET "
                f"{rows.ADDED}, slowest = MAX(tallies.slowest, excluded.slowest)",
                [rows.tally(one) for one in tallies],
            )
        case records.PutSession() | records.RemoveSession() | records.PutSpawn() | records.AddHealthCheck():
            db.execute(*dialects.for_sqlite(session_tables.write(write, redactor)))
        case _:
            return _prune(db, write)
    return None


def _prune(db: sqlite3.Connection, order: records.Prune) -> Pruned:
    steps = pruning.steps(order)
    try:
        statement = next(steps)
        while True:
            statement = steps.send(db.execute(*dialects.for_sqlite(statement)).fetchall())
    except StopIteration as ended:
        return cast(Pruned, ended.value)


def put_setting(db: sqlite3.Connection, key: str, value: Any) -> None:
    if value is None:
        db.execute("DELETE FROM settings WHERE key = ?", (key,))
        return
    db.execute(
        "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, rows.encoded(value)),
    )


def setting(db: sqlite3.Connection, key: str) -> Any:
    row = db.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
    return json.loads(row[0]) if row else None


def documents(db: sqlite3.Connection, domain: str, live: bool) -> list[Document]:
    found = db.execute("SELECT id, data FROM documents WHERE domain = ? AND live = ? ORDER BY id", (domain, live))
    return [Document(domain, id, json.loads(data), live) for id, data in found]


def cursor(db: sqlite3.Connection, name: str) -> Cursor | None:
    row = db.execute("SELECT name, n, sending FROM cursors WHERE name = ?", (name,)).fetchone()
    return Cursor(*row) if row else None


def span(db: sqlite3.Connection) -> tuple[int, int]:
    # Two questions: both ends asked for in one, SQLite would read the whole journal.
    oldest, newest = (db.execute(f"SELECT COALESCE({end}(n), 0) FROM journal").fetchone()[0] for end in ("MIN", "MAX"))  # noqa: S608
    pruned = setting(db, rows.PRUNED)
    return (pruned + 1 if pruned else oldest), newest


def events(
    db: sqlite3.Connection, epoch: str, after: int, limit: int, channel: str | None, subject: str | None
) -> list[Event]:
    found = db.execute(
        f"SELECT {rows.EVENT} FROM journal WHERE n > {_ABOVE_PRUNED} "  # noqa: S608
        "AND (? IS NULL OR channel = ?) AND (? IS NULL OR subject = ?) ORDER BY n LIMIT ?",
        (after, channel, channel, subject, subject, limit),
    )
    return [rows.event(row, epoch) for row in found]


def last_events(
    db: sqlite3.Connection, epoch: str, limit: int, channel: str | None, type: str | None, since: int
) -> list[Event]:
    found = db.execute(
        f"SELECT {rows.EVENT} FROM journal WHERE n > {_ABOVE_PRUNED} AND timestamp >= ? "  # noqa: S608
        "AND (? IS NULL OR channel = ?) AND (? IS NULL OR type = ?) ORDER BY n DESC LIMIT ?",
        (0, since, channel, channel, type, type, limit),
    )
    return [rows.event(row, epoch) for row in found][::-1]


def story(db: sqlite3.Connection, epoch: str, incident: str, limit: int) -> list[Event]:
    found = db.execute(f"SELECT {rows.EVENT} FROM journal WHERE incident = ? ORDER BY n LIMIT ?", (incident, limit))  # noqa: S608
    return [rows.event(row, epoch) for row in found]


def acts(db: sqlite3.Connection, kind: str, newest: int) -> list[Act]:
    found = db.execute(f"SELECT {rows.ACT} FROM acts WHERE kind = ? ORDER BY n DESC LIMIT ?", (kind, newest))  # noqa: S608
    return [rows.act(row) for row in found][::-1]


def open_acts(db: sqlite3.Connection) -> list[Act]:
    return [rows.act(row) for row in db.execute(f"SELECT {rows.ACT} FROM acts WHERE outcome IS NULL ORDER BY n")]  # noqa: S608


def incidents(db: sqlite3.Connection, open_only: bool, limit: int, before: str | None) -> list[Incident]:
    found = db.execute(
        f"SELECT {rows.INCIDENT} FROM incidents WHERE (NOT ? OR closed IS NULL) "  # noqa: S608
        "AND (? IS NULL OR n < (SELECT n FROM incidents WHERE id = ?)) ORDER BY n DESC LIMIT ?",
        (open_only, before, before, limit),
    )
    return [rows.incident(row) for row in found]


def incident(db: sqlite3.Connection, id: str) -> Incident | None:
    row = db.execute(f"SELECT {rows.INCIDENT} FROM incidents WHERE id = ?", (id,)).fetchone()  # noqa: S608
    return rows.incident(row) if row else None


def conditions(db: sqlite3.Connection, domain: str) -> dict[str, Condition]:
    found = db.execute("SELECT domain, subject, state, since FROM conditions WHERE domain = ?", (domain,))
    return {row[1]: Condition(*row) for row in found}


def tallied(db: sqlite3.Connection, domain: str, span: int, first: int, last: int) -> dict[str, Counts]:
    found = db.execute(
        f"SELECT subject, {rows.SUMS} FROM tallies "  # noqa: S608
        "WHERE span = ? AND start BETWEEN ? AND ? AND domain = ? GROUP BY subject",
        (span, first, last, domain),
    )
    return {row[0]: rows.counts(row[1:]) for row in found}


def buckets(
    db: sqlite3.Connection, domain: str, span: int, starts: Sequence[int], subjects: Sequence[str]
) -> list[Tally]:
    # Each bucket by its key: a range of starts would read the counts of every other subject too.
    found = db.execute(
        f"SELECT {rows.TALLY} FROM tallies WHERE span = ? AND domain = ? "  # noqa: S608
        f"AND start IN ({_marks(starts)}) AND subject IN ({_marks(subjects)})",
        (span, domain, *starts, *map(rows.text, subjects)),
    )
    return [rows.read_tally(row) for row in found]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def session_data(db: sqlite3.Connection, statement: dialects.Statement) -> list[dict[str, Any]]:
    return session_tables.data(db.execute(*dialects.for_sqlite(statement)).fetchall())


def health_checks(db: sqlite3.Connection, statement: dialects.Statement) -> list[HealthCheck]:
    return [session_tables.check(row) for row in db.execute(*dialects.for_sqlite(statement))]
