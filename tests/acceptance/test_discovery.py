"""Without a configuration Argus looks around, watches what listens, and touches nothing."""

from __future__ import annotations

import socket

from tests.acceptance.harness import Argus


def test_without_a_configuration_it_watches_what_listens_and_touches_nothing(argus: Argus) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        said = argus.up("--port", "0")
        assert (said["discovered"], said["config"], said["autonomy"]) == (True, None, "observe")
        (found,) = [one for one in argus.get("/api/services")["services"] if one["port"] == port]
        argus.wait_until(found["name"], "up")
        status = argus.cli("status")
        assert found["name"] in status.stdout

        state = argus.get("/api/state")
        assert state["autonomy"] == "observe"
        assert not any(one["restartable"] for one in state["services"])
        own = int(argus.url.rpartition(":")[2])
        assert own not in [one["port"] for one in state["services"]]

        assert argus.cli("autonomy", "full").code == 0
        refused = argus.rest("POST", f"/api/services/{found['name']}/restart")
        assert (refused.status, refused.error["code"]) == (409, "GATE_REFUSED")
        # It watches all that listens on this machine. When others' programs end just now, that gate comes first.
        assert refused.error["details"]["gate"] in ("no restart configured", "infrastructure event")


def test_a_listener_that_goes_away_is_told(argus: Argus) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        argus.up("--port", "0")
        (found,) = [one for one in argus.get("/api/services")["services"] if one["port"] == port]
        argus.wait_until(found["name"], "up")
    for _ in range(3):
        seen = argus.rest("POST", f"/api/services/{found['name']}/check").json
    assert seen["state"] == "down"
    assert argus.cli("status").code == 1
    assert argus.journal("restart_started") == []


def test_what_listens_later_is_found_by_a_reload_which_says_so(argus: Argus) -> None:
    argus.up("--port", "0")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        said = argus.cli("reload").stdout
        assert f"-{listener.getsockname()[1]}" in said
        assert "nothing" not in said
