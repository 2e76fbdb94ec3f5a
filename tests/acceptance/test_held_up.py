"""A daemon that lives and does not answer: commands say so in time, and there is a way out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from argus.host.identity import identify
from argus.host.state_folder import mark
from tests.acceptance.harness import Argus, is_alive
from tests.acceptance.test_doctor import doctor

_DEAF = """
import signal, socket
signal.signal(signal.SIGTERM, signal.SIG_IGN)
one = socket.create_server(("127.0.0.1", 0))
print(one.getsockname()[1], flush=True)
signal.pause()
"""


def test_a_daemon_that_was_stopped_by_a_signal_is_named_and_ends_when_told(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    os.kill(argus.pid, signal.SIGSTOP)
    begun = time.monotonic()
    ran = argus.cli("status", "--json")
    assert time.monotonic() - begun < 20
    assert (ran.code, ran.error["code"]) == (3, "NO_DAEMON")
    assert ran.error["details"]["pid"] == argus.pid
    assert ran.error["suggestedActions"] == ["end_by_force"]
    assert f"kill -CONT {argus.pid}" in ran.error["details"]["hint"]
    found = doctor(argus)["DAEMON"]
    assert found["state"] == "bad"
    assert f"kill -CONT {argus.pid}" in found["next"]
    argus.down()


def test_one_that_hangs_is_named_and_ends_by_force(argus: Argus) -> None:
    """It takes connections and hears neither them nor that it is to end."""
    argus.home.mkdir(mode=0o700)
    with subprocess.Popen([sys.executable, "-c", _DEAF], stdout=subprocess.PIPE, text=True) as deaf:
        assert deaf.stdout is not None
        port, identity = int(deaf.stdout.readline()), identify(deaf.pid)
        assert identity is not None
        note: dict[str, object] = {"pid": deaf.pid, "started": identity.started, "url": f"http://127.0.0.1:{port}"}
        note["folder"] = mark(argus.home)
        (argus.home / "daemon.json").write_text(json.dumps(note))
        (argus.home / "token").write_text("known")
        try:
            ran = argus.cli("status", "--json")
            assert (ran.code, ran.error["code"]) == (3, "NO_DAEMON")
            assert ran.error["details"]["pid"] == deaf.pid
            assert is_alive(deaf.pid)
            assert argus.cli("down", "--force", "--json").json == {"stopped": True}
            assert not is_alive(deaf.pid)
        finally:
            deaf.kill()


@pytest.mark.parametrize("told", [True, False], ids=["by-the-environment", "by-the-file"])
def test_a_wrong_token_is_not_answered_with_how_to_print_it(argus: Argus, told: bool) -> None:
    argus.configure([])
    argus.up()
    if not told:
        (argus.home / "token").write_text("another")
    ran = argus.cli("status", "--json", env={"ARGUS_TOKEN": "another"} if told else {})
    assert (ran.code, ran.error["suggestedActions"]) == (1, ["check_token"])
