from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests import debian, docker_engine
from tests.debian import Impossible
from tests.docker_engine import Engine
from tests.postgresql import Server, find_programs
from tests.systemd_machine import Machine


def _do_without(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def docker_engine_of_all() -> Iterator[Engine]:
    reason = docker_engine.missing()
    if reason:
        _do_without(reason)
    engine = Engine()
    yield engine
    engine.end()


@pytest.fixture
def docker(docker_engine_of_all: Engine) -> Iterator[Engine]:
    """A private Docker engine without a container."""
    yield docker_engine_of_all
    docker_engine_of_all.clean()


@pytest.fixture(scope="session")
def systemd_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    reason = debian.missing()
    if reason:
        _do_without(reason)
    try:
        machine = Machine(tmp_path_factory.getbasetemp())
    except Impossible as error:
        _do_without(str(error))
    yield machine
    machine.end()


@pytest.fixture
def systemd(systemd_of_all: Machine) -> Iterator[Machine]:
    """A systemd of the tests' own, with no unit of theirs."""
    yield systemd_of_all
    systemd_of_all.clean()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A private PostgreSQL server. Without PostgreSQL, what needs it is skipped; in CI that would hide something."""
    programs = find_programs()
    if programs is None:
        _do_without("PostgreSQL is missing (Debian: apt-get install postgresql)")
    server = Server(programs)
    yield server
    server.end()


@pytest.fixture
def database(postgres: Server) -> str:
    """The URL of an empty database of the test's own."""
    if not postgres.running:
        postgres.start()
    return postgres.new_database()
