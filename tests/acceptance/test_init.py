"""`argus init`: what is found becomes a file that loads, and nothing that would be restarted."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml

from tests.acceptance.harness import Argus, Silent, WebServer

ALONE = {"ARGUS_NO_AUTOSTART": "1"}


def test_what_listens_is_found_and_the_file_loads_and_watches_it(argus: Argus, web: WebServer, silent: Silent) -> None:
    ran = argus.cli("init", "--json", env=ALONE)
    assert ran.code == 0, ran
    file = Path(ran.json["file"])
    assert file == argus.folder / "argus.yaml"
    written = yaml.safe_load(file.read_text())
    assert written["autonomy"] == "observe"
    by_port = {}
    for one in written["health"]["services"]:
        by_port[one.get("port") or int(one.get("url", ":0/").rsplit(":", 1)[1].strip("/"))] = one
    assert by_port[web.port]["type"] == "http"
    quiet = int(silent.url.rsplit(":", 1)[1].strip("/"))
    assert by_port[quiet]["type"] == "tcp", "what does not speak HTTP is only connected to"
    argus.up("--port", "0")
    listed = {one["name"]: one for one in argus.get("/api/services")["services"]}
    assert listed[by_port[web.port]["name"]]["restartable"] is False
    assert not any(one["restartable"] for one in listed.values())
    argus.wait_until(by_port[web.port]["name"], "up")


def test_a_file_that_is_there_is_not_replaced_unasked_and_never_lost(argus: Argus) -> None:
    argus.write("autonomy: full\n")
    refused = argus.cli("init", "--json", env=ALONE)
    assert (refused.code, refused.error["code"]) == (1, "CONFLICT")
    assert (argus.folder / "argus.yaml").read_text() == "autonomy: full\n"
    assert argus.cli("init", "--force", env=ALONE).code == 0
    assert (argus.folder / "argus.yaml.before").read_text() == "autonomy: full\n"
    printed = argus.cli("init", "other.yaml", "--print", env=ALONE)
    assert "health:" in printed.stdout
    assert not (argus.folder / "other.yaml").exists()
    nowhere = argus.cli("init", "no/such/folder.yaml", "--json", env=ALONE)
    assert (nowhere.code, nowhere.error["code"]) == (2, "INVALID_REQUEST")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_an_agent_in_tmux_is_offered_as_a_session(argus: Argus) -> None:
    # The path of a socket has at most 107 bytes, and the folders of tests are deep.
    with tempfile.TemporaryDirectory(prefix="tmux-", dir="/tmp") as sockets:
        _look_at_a_session(argus, sockets)


def _look_at_a_session(argus: Argus, sockets: str) -> None:
    claude = argus.folder / "claude"
    shutil.copy(shutil.which("sleep") or "", claude)
    env = {**argus.env, "TMUX_TMPDIR": sockets}
    env.pop("TMUX", None)
    start = ["tmux", "new-session", "-d", "-s", "green-ps", "-c", str(argus.folder), f"{claude} 600"]
    subprocess.run(start, env=env, check=True)
    try:
        printed = argus.cli("init", "--print", env={**ALONE, "TMUX_TMPDIR": sockets}).stdout
        line = next(line for line in printed.splitlines() if "green-ps:" in line)
        assert "agent: claude" in line
        assert line.startswith("#")
    finally:
        subprocess.run(["tmux", "kill-server"], env=env, check=False)


def test_what_is_said_after_it_makes_the_file_count_also_where_another_argus_runs(argus: Argus) -> None:
    argus.up("--port", "0")
    argus.folder = argus.folder / "else where"
    argus.folder.mkdir()
    file = argus.folder / "argus.yaml"
    follows = "argus down && argus up --detach"
    assert argus.cli("init").stdout.rstrip().endswith(f"{follows} (the Argus that runs uses no file)")
    assert f"{file} is well, but the Argus that runs uses no file" in argus.cli("doctor").stdout
    assert f"{file} is not read: the Argus that runs uses no file. To use it: {follows}" in argus.cli("reload").stderr
    beside = argus.cli("up", "--detach")
    assert beside.code != 0
    assert f"{file} is not read: the Argus that runs uses no file. To use it: {follows}" in beside.stderr
    refused = argus.cli("--config", str(file), "reload", "--json")
    assert (refused.code, refused.error["code"], refused.error["details"]["hint"]) == (2, "INVALID_REQUEST", follows)

    argus.down()
    argus.up("--port", "0")
    assert argus.get("/api/state")["argus"]["config"] == str(file)
    assert argus.cli("init", "--force").stdout.rstrip().endswith("Read it, then: argus reload")
    quiet = argus.cli("reload")
    assert (quiet.code, quiet.stderr) == (0, "")
    other = argus.cli("init", "other file.yaml").stdout
    assert f"argus down && argus --config '{argus.folder}/other file.yaml' up --detach" in other
