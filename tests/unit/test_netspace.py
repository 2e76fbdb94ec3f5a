"""Ports that a process's network listens on."""

import os
import socket
from pathlib import Path

from argus.host import netspace

TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:1F91 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
   2: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:0 0 0 0 3
"""


def test_those_that_listen_are_read_of_both_families():
    assert netspace.listening(TABLE) == {8080, 80}


def test_a_process_of_the_container_tells_its_ports():
    own = Path("/proc/self/cgroup").read_text().splitlines()[0]
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert server.getsockname()[1] in (netspace.of_container(os.getpid(), own) or ())


def test_a_process_that_is_not_the_containers_tells_nothing():
    assert netspace.of_container(os.getpid(), "f" * 64) is None
    assert netspace.of_container(2**22 + 1, "f" * 64) is None
