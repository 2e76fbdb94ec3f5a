from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.postgresql import Server, find_programs


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A private PostgreSQL server. Without PostgreSQL, what needs it is skipped; in CI that would hide something."""
    programs = find_programs()
    if programs is None:
        reason = "PostgreSQL is missing (Debian: apt-get install postgresql)"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(reason)
        pytest.skip(reason)
    server = Server(programs)
    yield server
    server.end()


@pytest.fixture
def database(postgres: Server) -> str:
    """The URL of an empty database of the test's own."""
    if not postgres.running:
        postgres.start()
    return postgres.new_database()
