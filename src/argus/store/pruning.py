"""What a prune takes away, as questions and orders in SQL that both stores understand.

A generator asks; whoever carries it out sends back the rows it got. So the rules stand once.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from argus.store import records, rows
from argus.store.records import Prune, Pruned

Rows = Sequence[Sequence[Any]]
Steps = Generator[tuple[str, tuple[Any, ...]], Rows, Pruned]

_STORY = (
    "(incident IS NOT NULL AND EXISTS "
    "(SELECT 1 FROM argus.incidents WHERE incidents.id = journal.incident AND incidents.closed IS NULL))"
)
"""Tells of an incident that is open."""
_OLD_ACT = "(boot_id = $4 AND boot < $5) OR (boot_id <> $4 AND wall < $6)"
"""Within one boot only the boot clock counts, as for budgets."""
_NTH_BEGINNING = (
    "WITH RECURSIVE beginnings(start, place) AS (SELECT MAX(start), 1 FROM argus.tallies WHERE span = $1 UNION ALL "
    "SELECT (SELECT MAX(tallies.start) FROM argus.tallies WHERE span = $1 AND tallies.start < beginnings.start), "
    "place + 1 FROM beginnings WHERE beginnings.start IS NOT NULL AND place < $2) "
    "SELECT start FROM beginnings WHERE place = $2 AND start IS NOT NULL"
)
"""Where the n-th newest buckets begin, found by leaps: every beginning may stand there ten thousand times."""


def steps(order: Prune) -> Steps:
    match order:
        case records.PruneEvents():
            return _events(order)
        case records.PruneStories(piece):
            return _stories(piece)
        case records.PruneActs():
            return _acts(order)
        case records.PruneIncidents():
            return _incidents(order)
        case records.PruneTallies():
            return _tallies(order)
        case records.PruneHealthChecks():
            return _by_age(order, "health_checks", "check_time", "TRUE")
        case records.PruneSpawns():
            return _by_age(order, "active_spawns", "spawn_time", "status NOT IN ('running', 'stalled')")


def pruned_up_to(candidates: Rows, order: records.PruneEvents, newest: int) -> int | None:
    """The last of these numbers and times that goes; all before it go with it. Pure."""
    last = None
    for n, timestamp in candidates:
        if timestamp < order.before or n <= newest - order.most:
            last = n
        elif timestamp <= order.now:
            break
    return last


def _events(order: records.PruneEvents) -> Steps:
    # Only from what is above the mark: readers see the events up to it no more.
    ((mark,),) = yield "SELECT value FROM argus.settings WHERE key = $1", (rows.PRUNED,)
    pruned = int(mark)
    ends = yield (
        "SELECT n FROM argus.journal WHERE n > $1 ORDER BY n DESC LIMIT 1 OFFSET $2",
        (pruned, order.keep),
    )
    if not ends:
        return Pruned()
    ((newest,),) = yield "SELECT MAX(n) FROM argus.journal", ()
    candidates = yield (
        "SELECT n, timestamp FROM argus.journal WHERE n > $1 AND n <= $2 ORDER BY n LIMIT $3",
        (pruned, ends[0][0], order.piece),
    )
    last = pruned_up_to(candidates, order, newest)
    if last is None:
        return Pruned()
    gone = yield (
        f"DELETE FROM argus.journal WHERE n > $1 AND n <= $2 AND NOT {_STORY} RETURNING n",  # noqa: S608
        (pruned, last),
    )
    yield "UPDATE argus.settings SET value = $2 WHERE key = $1 RETURNING key", (rows.PRUNED, str(last))
    return Pruned(len(gone), more=last == candidates[-1][0] and len(candidates) == order.piece, up_to=last)


def _stories(piece: int) -> Steps:
    ((mark,),) = yield "SELECT value FROM argus.settings WHERE key = $1", (rows.PRUNED,)
    gone = yield (
        "DELETE FROM argus.journal WHERE n IN (SELECT n FROM argus.journal "  # noqa: S608
        f"WHERE n <= $1 AND NOT {_STORY} ORDER BY n LIMIT $2) RETURNING n",
        (int(mark), piece),
    )
    return Pruned(len(gone), more=len(gone) == piece)


def _acts(order: records.PruneActs) -> Steps:
    left = order.piece
    now = order.now
    for (kind,) in (yield "SELECT DISTINCT kind FROM argus.acts", ()):
        newest = "SELECT n FROM argus.acts WHERE kind = $1 ORDER BY n DESC LIMIT 1 OFFSET $2"
        end = yield newest, (kind, order.keep)
        cap = yield newest, (kind, order.most)
        if not end:
            continue
        gone = yield (
            "DELETE FROM argus.acts WHERE n IN (SELECT n FROM argus.acts WHERE kind = $1 AND n <= $2 "  # noqa: S608
            f"AND outcome IS NOT NULL AND (n <= $3 OR {_OLD_ACT}) ORDER BY n LIMIT $7) RETURNING n",
            (
                kind,
                end[0][0],
                cap[0][0] if cap else 0,
                now.boot_id,
                now.boot - order.age,
                now.wall - order.age,
                left,
            ),
        )
        left -= len(gone)
    return Pruned(order.piece - left, more=left == 0)


def _incidents(order: records.PruneIncidents) -> Steps:
    newest = "SELECT n FROM argus.incidents ORDER BY n DESC LIMIT 1 OFFSET $1"
    end = yield newest, (order.keep,)
    cap = yield newest, (order.most,)
    if not end:
        return Pruned()
    gone = yield (
        "DELETE FROM argus.incidents WHERE n IN (SELECT n FROM argus.incidents WHERE n <= $1 "
        "AND closed IS NOT NULL AND (n <= $2 OR closed < $3) ORDER BY n LIMIT $4) RETURNING n",
        (end[0][0], cap[0][0] if cap else 0, order.before, order.piece),
    )
    return Pruned(len(gone), more=len(gone) == order.piece)


def _by_age(order: records.PruneHealthChecks | records.PruneSpawns, table: str, time: str, which: str) -> Steps:
    newest = f"SELECT id FROM argus.{table} ORDER BY id DESC LIMIT 1 OFFSET $1"  # noqa: S608
    end = yield newest, (order.keep,)
    cap = yield newest, (order.most,)
    if not end:
        return Pruned()
    gone = yield (
        f"DELETE FROM argus.{table} WHERE id IN (SELECT id FROM argus.{table} WHERE id <= $1 "  # noqa: S608
        f"AND {which} AND (id <= $2 OR {time} < time($3)) ORDER BY id LIMIT $4) RETURNING id",
        (end[0][0], cap[0][0] if cap else 0, order.before, order.piece),
    )
    return Pruned(len(gone), more=len(gone) == order.piece)


def _tallies(order: records.PruneTallies) -> Steps:
    kept = yield _NTH_BEGINNING, (order.span, order.keep)
    cap = yield _NTH_BEGINNING, (order.span, order.most)
    if not kept:
        return Pruned()
    # A clock that ran ahead does not empty the record, and one that jumps about does not fill it.
    before = max(min(order.before, kept[0][0]), cap[0][0] if cap else 0)
    ((start,),) = yield "SELECT MIN(start) FROM argus.tallies WHERE span = $1", (order.span,)
    if start >= before:
        return Pruned()
    # One beginning at a time, from its first row to the one that stands behind the piece: the key says where both are.
    end = yield (
        "SELECT domain, subject FROM argus.tallies WHERE span = $1 AND start = $2 "
        "ORDER BY domain, subject LIMIT 1 OFFSET $3",
        (order.span, start, order.piece),
    )
    in_piece = "AND (domain, subject) < ($3, $4) " if end else ""
    gone = yield (
        f"DELETE FROM argus.tallies WHERE span = $1 AND start = $2 {in_piece}RETURNING start",  # noqa: S608
        (order.span, start, *(end[0] if end else ())),
    )
    return Pruned(len(gone), more=True)
