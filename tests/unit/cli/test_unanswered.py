"""A daemon that goes away before it has answered: what whoever asked is told."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from argus.cli.client import ask
from argus.core.errors import ArgusError, Code
from argus.host.identity import identify
from argus.host.state_folder import mark

HALF = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"


def closes(peer: socket.socket) -> None:
    peer.close()


def resets(peer: socket.socket) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def is_cut_off(peer: socket.socket) -> None:
    peer.sendall(HALF)
    peer.close()


@pytest.mark.parametrize("goes", [closes, resets, is_cut_off])
def test_it_says_that_the_daemon_ended_and_what_to_do(
    goes: Callable[[socket.socket], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with socket.create_server(("127.0.0.1", 0)) as server:
        tmp_path.chmod(0o700)
        (tmp_path / "token").write_text("t" * 32)
        here = identify(os.getpid())
        assert here is not None
        server.settimeout(10)  # who asks nobody here is found out, and not waited for
        note: dict[str, object] = {"pid": here.pid, "started": here.started, "folder": mark(tmp_path)}
        note["url"] = f"http://127.0.0.1:{server.getsockname()[1]}"
        (tmp_path / "daemon.json").write_text(json.dumps(note))
        monkeypatch.setenv("ARGUS_HOME", str(tmp_path))
        monkeypatch.setenv("ARGUS_NO_AUTOSTART", "1")
        monkeypatch.delenv("ARGUS_TOKEN", raising=False)

        def serve() -> None:
            peer, _ = server.accept()
            peer.recv(65536)
            goes(peer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ArgusError) as caught:
            ask(None, "POST", "/api/services/db/restart", {})
        thread.join()
    assert caught.value.code is Code.NO_DAEMON
    assert "argus status" in caught.value.details["hint"]
