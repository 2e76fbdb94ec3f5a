"""Which store a URL names. What PostgreSQL needs is loaded only for those who use it."""

from __future__ import annotations

from pathlib import Path

from argus import installation
from argus.core.clock import Clock
from argus.core.errors import ArgusError, Code
from argus.core.redact import Redactor
from argus.store.interface import Store


def is_postgres(url: str) -> bool:
    return url.partition("://")[0] in ("postgresql", "postgres")


def check(url: str, redactor: Redactor) -> None:
    """Raises CONFIG_INVALID for a URL with which no store can be opened; nothing is opened."""
    if not is_postgres(url):
        path(url, Path())
        return
    try:
        from argus.store import postgres_opening
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        again = installation.here().again()
        raise _invalid(f"a postgresql:// store needs asyncpg, which is not installed: {again}") from None
    postgres_opening.learn(url, redactor)
    postgres_opening.check_url(url)


def path(url: str, folder: Path) -> Path:
    """The file of a SQLite store; one in `folder` when there is no URL."""
    if not url:
        return folder / "argus.db"
    scheme, mark, given = url.partition(":///")
    if scheme != "sqlite" or not mark or not given:
        raise _invalid("the store's URL is sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE")
    return Path(f"/{given}" if not given.startswith("/") and not given.startswith("~") else given).expanduser()


async def open_postgres(url: str, clock: Clock, redactor: Redactor) -> Store:
    check(url, redactor)
    from argus.store.postgres import PostgresStore

    return await PostgresStore.open(url, clock=clock, redactor=redactor, alone=True)


def _invalid(message: str) -> ArgusError:
    return ArgusError(Code.CONFIG_INVALID, message, errors=[{"path": "store.url", "message": message}])
