"""SQL that is written once, as each store says it: PostgreSQL's, with a word of ours for times.

`time($3)` is a moment given in seconds since 1970, `told(column)` one as text in UTC.
"""

from __future__ import annotations

import re
from typing import Any

Statement = tuple[str, tuple[Any, ...]]

_TIME = re.compile(r"\btime\((\$\d+)\)")
_TOLD = re.compile(r"\btold\((\w+)\)")


def for_sqlite(statement: Statement) -> Statement:
    sql, values = statement
    sql = _TIME.sub(r"strftime('%Y-%m-%d %H:%M:%f', \1, 'unixepoch')", sql)
    sql = _TOLD.sub(r"\1", sql)
    return sql.replace("::jsonb", "").replace("::text", "").replace("$", "?").replace("argus.", ""), values


def for_postgres(statement: Statement) -> Statement:
    sql, values = statement
    sql = _TIME.sub(r"to_timestamp(\1::float8)", sql)
    return _TOLD.sub(r"""to_char(\1 AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')""", sql), values
