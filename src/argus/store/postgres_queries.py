"""The SQL of the PostgreSQL store. A write is made ready as a value, and carried out later in its transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from argus.core.errors import ArgusError, Code
from argus.core.events import Event
from argus.core.failpoints import Place, reach
from argus.core.redact import Redactor
from argus.store import dialects, pruning, records, rows, session_tables
from argus.store.records import Act, Condition, Counts, Cursor, Document, HealthCheck, Incident, Tally

CHANNEL = "argus_journal"
"""Of LISTEN and NOTIFY. The payload is the newest number of a commit."""
LOCK = 0x41524755
"""The advisory lock that every writer of the database takes: ARGU."""
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
"""Said in full: with another default of the database, a commit would not see what came before it got the lock."""


_ABOVE_PRUNED = f"GREATEST($1, (SELECT value::bigint FROM argus.settings WHERE key = '{rows.PRUNED}'))"  # noqa: S608
"""In the question itself: a prune may come between two."""


@dataclass(frozen=True, slots=True)
class Ready:
    sql: str
    values: tuple[Any, ...] = ()
    event: Event | None = None
    """What an append becomes; its number is not known yet."""
    closes: str | None = None
    claims: str | None = None
    many: tuple[tuple[Any, ...], ...] = ()
    """The values of each time, when it is carried out more than once."""
    order: records.Prune | None = None
    step: Place | None = None


def make_ready(write: records.Write, epoch: str, now: int, redactor: Redactor) -> Ready:
    match write:
        case records.Append(draft, at):
            when = now if at is None else at
            data = redactor.value(draft.data)
            incident = data.get("incident")
            names = (rows.plain(draft.channel), rows.plain(draft.type), _clean(draft.subject, redactor))
            event = Event(0, epoch, when, *names, data)
            return Ready(
                "INSERT INTO argus.journal (timestamp, channel, type, subject, incident, data) "
                "VALUES ($1, $2, $3, $4, $5, $6) RETURNING n",
                (when, event.channel, event.type, event.subject, _optional(incident or None), rows.encoded(data)),
                event=event,
            )
        case records.OpenAct(act):
            names = (rows.plain(act.id), rows.plain(act.kind), rows.plain(act.subject))
            begun = (rows.plain(act.begun.boot_id), act.begun.boot, act.begun.wall)
            return Ready(
                f"INSERT INTO argus.acts ({rows.ACT}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL, '{{}}')",  # noqa: S608
                (*names, *begun, _optional(act.incident), rows.encoded(redactor.value(act.intent))),
                step=Place.ACT_OPENED,
            )
        case records.CloseAct(id, outcome, ended, detail):
            return Ready(
                "UPDATE argus.acts SET outcome = $2, ended = $3, detail = $4 WHERE id = $1 AND outcome IS NULL",
                (rows.plain(id), rows.plain(outcome), ended, rows.encoded(redactor.value(detail))),
                closes=id,
                step=Place.ACT_CLOSED,
            )
        case records.PutIncident(incident):
            names = (rows.plain(incident.id), rows.plain(incident.kind), rows.plain(incident.subject))
            told = (_clean(incident.cause, redactor), rows.encoded(redactor.value(incident.data)))
            return Ready(
                f"INSERT INTO argus.incidents ({rows.INCIDENT}) VALUES ($1, $2, $3, $4, $5, $6, $7) "  # noqa: S608
                "ON CONFLICT (id) DO UPDATE SET "
                "closed = excluded.closed, cause = excluded.cause, data = excluded.data",
                (*names, incident.opened, incident.closed, *told),
            )
        case records.PutCondition(condition):
            names = (rows.plain(condition.domain), rows.plain(condition.subject), rows.plain(condition.state))
            return Ready(
                "INSERT INTO argus.conditions (domain, subject, state, since) VALUES ($1, $2, $3, $4) "
                "ON CONFLICT (domain, subject) DO UPDATE SET state = excluded.state, since = excluded.since",
                (*names, condition.since),
            )
        case records.PutSetting(key, None):
            return Ready("DELETE FROM argus.settings WHERE key = $1", (rows.plain(key),))
        case records.PutSetting(key, value):
            return Ready(
                "INSERT INTO argus.settings (key, value) VALUES ($1, $2) "
                "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (rows.plain(key), rows.encoded(value)),
            )
        case records.PutDocument(document):
            return Ready(
                "INSERT INTO argus.documents (domain, id, live, data) VALUES ($1, $2, $3, $4) "
                "ON CONFLICT (domain, id) DO UPDATE SET live = excluded.live, data = excluded.data",
                (rows.plain(document.domain), rows.plain(document.id), document.live, rows.encoded(document.data)),
            )
        case records.Claim(key, at):
            return Ready(
                "INSERT INTO argus.claims (key, at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                (rows.plain(key), at),
                claims=key,
            )
        case records.PutCursor(cursor):
            return Ready(
                "INSERT INTO argus.cursors (name, n, sending) VALUES ($1, $2, $3) "
                "ON CONFLICT (name) DO UPDATE SET n = excluded.n, sending = excluded.sending",
                (rows.plain(cursor.name), cursor.n, cursor.sending),
            )
        case records.AddTallies(tallies):
            return Ready(
                f"INSERT INTO argus.tallies ({rows.TALLY}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "  # noqa: S608
                "ON CONFLICT (span, start, domain, subject) DO UPDATE SET "
                f"{rows.ADDED}, slowest = GREATEST(tallies.slowest, excluded.slowest)",
                many=tuple(rows.tally(replace(one, subject=rows.plain(one.subject))) for one in tallies),
            )
        case records.PutSession() | records.RemoveSession() | records.PutSpawn() | records.AddHealthCheck():
            return Ready(*dialects.for_postgres(session_tables.write(write, redactor)))
        case _:
            return Ready("", order=write)


async def carry_out(db: Any, ready: Ready) -> Event | records.Pruned | None:
    if ready.order is not None:
        return await _prune(db, ready.order)
    if ready.many:
        await db.executemany(ready.sql, ready.many)
        return None
    if ready.event is not None:
        return ready.event._replace(n=await db.fetchval(ready.sql, *ready.values))
    said = await db.execute(ready.sql, *ready.values)
    if ready.closes is not None and said != "UPDATE 1":
        raise ArgusError(Code.CONFLICT, f"act {ready.closes} is not open", act=ready.closes)
    if ready.claims is not None and said != "INSERT 0 1":
        raise ArgusError(Code.CONFLICT, f"{ready.claims} is claimed already", key=ready.claims)
    if ready.step is not None:
        reach(ready.step)
    return None


async def _prune(db: Any, order: records.Prune) -> records.Pruned:
    steps = pruning.steps(order)
    try:
        sql, values = dialects.for_postgres(next(steps))
        while True:
            sql, values = dialects.for_postgres(steps.send(await db.fetch(sql, *values)))
    except StopIteration as ended:
        return cast(records.Pruned, ended.value)


async def lock(db: Any) -> str:
    """Waits until no other process writes, and returns the transaction's own number.

    One writer at a time makes the journal's numbers appear in their order: a reader that has seen a number has seen
    all before it. The lock ends with the transaction, after what it wrote can be seen.
    """
    return str(await db.fetchval("SELECT pg_current_xact_id()::text FROM pg_advisory_xact_lock($1)", LOCK))


async def is_committed(db: Any, transaction: str) -> bool:
    """What became of a transaction. Its lock is waited for first: while it is held, nobody knows yet."""
    said = await db.fetchval(
        # A server that crashed may have forgotten the number: then it is one of the future, and never happened.
        "SELECT CASE WHEN $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot()) "
        "THEN pg_xact_status($1::text::xid8) END FROM pg_advisory_xact_lock($2)",
        transaction,
        LOCK,
    )
    return bool(said == "committed")


def commit(newest: int) -> str:
    """In one message with the word to those who listen, which the server passes on once it is committed."""
    return f"NOTIFY {CHANNEL}, '{newest:d}'; COMMIT" if newest else "COMMIT"


async def span(db: Any) -> tuple[int, int]:
    row = await db.fetchrow(
        "SELECT COALESCE(MIN(n), 0), COALESCE(MAX(n), 0), "  # noqa: S608
        f"(SELECT value::bigint FROM argus.settings WHERE key = '{rows.PRUNED}') FROM argus.journal"
    )
    oldest, newest, pruned = row
    return (pruned + 1 if pruned else oldest), newest


async def setting(db: Any, key: str) -> Any:
    found = await db.fetchval("SELECT value FROM argus.settings WHERE key = $1", rows.plain(key))
    return None if found is None else json.loads(found)


async def documents(db: Any, domain: str, live: bool) -> list[Document]:
    found = await db.fetch(
        "SELECT id, data FROM argus.documents WHERE domain = $1 AND live = $2 ORDER BY id", rows.plain(domain), live
    )
    return [Document(domain, row[0], json.loads(row[1]), live) for row in found]


async def cursor(db: Any, name: str) -> Cursor | None:
    row = await db.fetchrow("SELECT name, n, sending FROM argus.cursors WHERE name = $1", rows.plain(name))
    return Cursor(*row) if row else None


async def events(db: Any, epoch: str, after: int, limit: int, channel: str | None, subject: str | None) -> list[Event]:
    found = await db.fetch(
        f"SELECT {rows.EVENT} FROM argus.journal WHERE n > {_ABOVE_PRUNED} "  # noqa: S608
        "AND ($2::text IS NULL OR channel = $2) AND ($3::text IS NULL OR subject = $3) ORDER BY n LIMIT $4",
        after,
        _optional(channel),
        _optional(subject),
        limit,
    )
    return [rows.event(row, epoch) for row in found]


async def last_events(
    db: Any, epoch: str, limit: int, channel: str | None, type: str | None, since: int
) -> list[Event]:
    found = await db.fetch(
        f"SELECT {rows.EVENT} FROM argus.journal WHERE n > {_ABOVE_PRUNED} AND timestamp >= $2 "  # noqa: S608
        "AND ($3::text IS NULL OR channel = $3) AND ($4::text IS NULL OR type = $4) ORDER BY n DESC LIMIT $5",
        0,
        since,
        _optional(channel),
        _optional(type),
        limit,
    )
    return [rows.event(row, epoch) for row in found][::-1]


async def story(db: Any, epoch: str, incident: str, limit: int) -> list[Event]:
    found = await db.fetch(
        f"SELECT {rows.EVENT} FROM argus.journal WHERE md5(incident) = md5($1) AND incident = $1 ORDER BY n LIMIT $2",  # noqa: S608
        rows.plain(incident),
        limit,
    )
    return [rows.event(row, epoch) for row in found]


async def acts(db: Any, kind: str, newest: int) -> list[Act]:
    found = await db.fetch(
        f"SELECT {rows.ACT} FROM argus.acts WHERE kind = $1 ORDER BY n DESC LIMIT $2",  # noqa: S608
        rows.plain(kind),
        newest,
    )
    return [rows.act(row) for row in found][::-1]


async def open_acts(db: Any) -> list[Act]:
    found = await db.fetch(f"SELECT {rows.ACT} FROM argus.acts WHERE outcome IS NULL ORDER BY n")  # noqa: S608
    return [rows.act(row) for row in found]


async def incidents(db: Any, open_only: bool, limit: int, before: str | None) -> list[Incident]:
    found = await db.fetch(
        f"SELECT {rows.INCIDENT} FROM argus.incidents WHERE (NOT $1 OR closed IS NULL) "  # noqa: S608
        "AND ($2::text IS NULL OR n < (SELECT n FROM argus.incidents WHERE id = $2)) ORDER BY n DESC LIMIT $3",
        open_only,
        _optional(before),
        limit,
    )
    return [rows.incident(row) for row in found]


async def incident(db: Any, id: str) -> Incident | None:
    row = await db.fetchrow(f"SELECT {rows.INCIDENT} FROM argus.incidents WHERE id = $1", rows.plain(id))  # noqa: S608
    return rows.incident(row) if row else None


async def conditions(db: Any, domain: str) -> dict[str, Condition]:
    found = await db.fetch(
        "SELECT domain, subject, state, since FROM argus.conditions WHERE domain = $1", rows.plain(domain)
    )
    return {row[1]: Condition(*row) for row in found}


async def tallied(db: Any, domain: str, span: int, first: int, last: int) -> dict[str, Counts]:
    found = await db.fetch(
        f"SELECT subject, {rows.SUMS} FROM argus.tallies "  # noqa: S608
        "WHERE span = $1 AND start BETWEEN $2 AND $3 AND domain = $4 GROUP BY subject",
        span,
        first,
        last,
        rows.plain(domain),
    )
    return {row[0]: rows.counts(row[1:]) for row in found}


async def buckets(db: Any, domain: str, span: int, starts: Sequence[int], subjects: Sequence[str]) -> list[Tally]:
    found = await db.fetch(
        f"SELECT {rows.TALLY} FROM argus.tallies "  # noqa: S608
        "WHERE span = $1 AND domain = $2 AND start = ANY($3) AND subject = ANY($4)",
        span,
        rows.plain(domain),
        list(starts),
        [rows.plain(one) for one in subjects],
    )
    return [rows.read_tally(row) for row in found]


async def session_data(db: Any, statement: dialects.Statement) -> list[dict[str, Any]]:
    sql, values = dialects.for_postgres(statement)
    return session_tables.data(await db.fetch(sql, *values))


async def health_checks(db: Any, statement: dialects.Statement) -> list[HealthCheck]:
    sql, values = dialects.for_postgres(statement)
    return [session_tables.check(row) for row in await db.fetch(sql, *values)]


def _optional(value: str | None) -> str | None:
    return None if value is None else rows.plain(value)


def _clean(value: str, redactor: Redactor) -> str:
    return rows.plain(redactor.text(value))
