"""When the engine began, by the process that listens at its socket."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from argus.host.engine.birth import birth

_LISTENS = (
    "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(flush=True); input()"
)


def test_it_is_known_to_a_fraction_of_a_second() -> None:
    """What was started before it may have ended with the engine before; a second too early, it would not."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "docker.sock")
        before = time.time()
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LISTENS, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as listens:
            after = time.time()
            assert listens.stdout is not None
            listens.stdout.readline()
            found = birth({"DOCKER_HOST": f"unix://{path}"})
            listens.communicate(b"\n")
    assert found is not None
    assert before - 0.05 <= found.at <= after + 0.05
    assert not found.is_engine
