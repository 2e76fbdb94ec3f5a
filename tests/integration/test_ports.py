"""Ports of this machine: whether one is free, and who has it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from argus.host.ports import is_free, listeners, occupants


@pytest.fixture(params=["127.0.0.1", "0.0.0.0", "::1", "::"])
def taken(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    try:
        with socket.create_server(
            (request.param, 0), family=socket.AF_INET6 if ":" in request.param else socket.AF_INET
        ) as one:
            yield one
    except OSError:
        pytest.skip("no IPv6 here")


def test_a_taken_port_is_not_free_on_whatever_address_and_its_holder_is_named(taken: socket.socket):
    host, port, *_ = taken.getsockname()
    assert not is_free(port)
    (found,) = occupants([port]).values()
    assert (found.host, found.port, found.pid) == (host, port, os.getpid())
    assert found.program == Path("/proc/self/comm").read_text().strip()
    assert occupants([port])[port].pid == next(one.pid for one in listeners() if one.port == port)


def test_a_port_let_go_is_free_and_nobodys():
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    assert is_free(port)
    assert occupants([port]) == {}


def test_ten_are_named_at_once():
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(10)]
    try:
        ports = [one.getsockname()[1] for one in servers]
        assert {port: one.pid for port, one in occupants(ports).items()} == dict.fromkeys(ports, os.getpid())
    finally:
        for one in servers:
            one.close()


def test_a_holder_with_many_other_handles_before_it_is_named_too():
    before = [socket.socket() for _ in range(100)]
    try:
        with socket.create_server(("127.0.0.1", 0)) as last:
            port = last.getsockname()[1]
            assert last.fileno() > 100
            assert occupants([port])[port].pid == os.getpid()
    finally:
        for one in before:
            one.close()


def test_of_a_parent_and_a_child_that_share_a_socket_the_parent_is_named():
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
        words = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
        child = subprocess.Popen(words, pass_fds=[one.fileno()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            assert child.stdout is not None
            child.stdout.readline()
            # Pids may begin anew, and then nobody can tell who of the two was first.
            assert occupants([port])[port].pid == min(os.getpid(), child.pid)
        finally:
            child.communicate()
