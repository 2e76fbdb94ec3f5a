"""Which MCP servers a caller has: argus.yaml, the files of its folder and above, variables, and what is wrong."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from argus.bridge.definitions import Definitions, Found
from argus.bridge.expanding import Missing, expanded
from argus.bridge.reaching import reach
from argus.bridge.settings import Bridge


def write(folder: Path, servers: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".mcp.json"
    path.write_text(servers if isinstance(servers, str) else json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


class Place:
    """A home folder in which a caller works."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.learnt: list[str] = []
        self.environ = {"HOME": str(home), "WHERE": "here"}
        home.mkdir()

    def find(self, folder: Path, servers: Any = None, *, file: Path | None = None, within: Path | None = None) -> Found:
        settings = Bridge.model_validate({"servers": servers or {}})
        made = Definitions(settings, str(file) if file else None, {"OWN": "ours"}, self.learnt.append)
        try:
            return asyncio.run(made.find(str(folder), self.environ, str(within) if within else None))
        finally:
            made.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "home")


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("plain $HOME", "plain $HOME"),
        ("${ONE}/x", "1/x"),
        ("${NONE:-else}", "else"),
        ("${NONE:-}", ""),
        ("${ONE:-else}", "1"),
        ("${EMPTY:-else}", "else"),
        ("${EMPTY}", ""),
        ("${TRAP}", "${ONE}"),
    ],
)
def test_a_variable_is_read_once(text: str, becomes: str) -> None:
    assert expanded(text, {"ONE": "1", "EMPTY": "", "TRAP": "${ONE}"}) == becomes


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(Missing, match="NONE"):
        expanded("${NONE}", {})


def test_the_nearer_file_goes_before_the_farther_and_argus_yaml_before_both(place: Place) -> None:
    near = place.home / "work" / "near"
    write(place.home, {"a": {"command": "far"}, "b": {"command": "far"}, "c": {"command": "far"}})
    write(near, {"a": {"command": "near"}, "b": {"command": "near"}})
    found = place.find(near, {"a": {"command": "configured"}}).servers
    assert {name: one.command[0] for name, one in found.items()} == {"a": "configured", "b": "near", "c": "far"}
    assert found["b"].folder == str(near)
    assert found["c"].source == str(place.home / ".mcp.json")


def test_no_file_above_the_repository_is_read(place: Place) -> None:
    repository = place.home / "work"
    write(place.home, {"far": {"command": "x"}})
    write(repository, {"root": {"command": "x"}})
    (repository / ".git").mkdir()
    assert set(place.find(repository / ".").servers) == {"root"}
    inside = repository / "sub"
    inside.mkdir()
    assert set(place.find(inside).servers) == {"root"}


def test_no_file_above_the_home_or_above_where_the_caller_must_stay_is_read(place: Place) -> None:
    write(place.home.parent, {"above": {"command": "x"}})
    write(place.home, {"home": {"command": "x"}})
    inner = place.home / "project" / "deep"
    write(inner.parent, {"project": {"command": "x"}})
    inner.mkdir()
    assert set(place.find(inner).servers) == {"home", "project"}
    assert set(place.find(inner, within=inner.parent).servers) == {"project"}


def test_a_file_next_to_argus_yaml_is_for_everybody_and_runs_in_our_environment(place: Place, tmp_path: Path) -> None:
    write(tmp_path / "etc", {"shared": {"command": "x", "args": ["${OWN}"]}})
    found = place.find(place.home, file=tmp_path / "etc" / "argus.yaml").servers["shared"]
    assert (found.command, found.for_all) == (("x", "ours"), True)
    assert reach(found, {"A": "caller"}, {"A": "ours"}).environ == {"A": "ours"}


def test_a_server_is_understood_as_claude_code_writes_it(place: Place) -> None:
    servers = {
        "program": {"command": "run", "args": ["--at", "${WHERE}"], "env": {"KEY": "${NONE:-k}"}},
        "remote": {"type": "http", "url": "https://${WHERE}.example/mcp", "headers": {"X-Key": "${WHERE}"}},
        "named": {"type": "streamable-http", "url": "http://x/"},
    }
    write(place.home, servers)
    found = place.find(place.home).servers
    assert found["program"].command == ("run", "--at", "here")
    assert found["program"].environ == {"KEY": "k"}
    assert (found["remote"].url, found["remote"].headers) == ("https://here.example/mcp", {"X-Key": "here"})
    assert [found[name].kind for name in ("program", "remote", "named")] == ["stdio", "http", "http"]
    assert not any(one.problem for one in found.values())


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ({"type": "sse", "url": "http://x"}, "sse"),
        ({"type": "ws", "url": "ws://x"}, "ws"),
        ({"url": "ftp://x"}, "http://"),
        ({"url": "http://${NOT_SET}/"}, "NOT_SET"),
        ({"command": "x", "env": {"A": "${NOT_SET}"}}, "env.A"),
        ({"command": "x", "args": "a b"}, "args"),
        ({"command": "x", "env": ["A=1"]}, "env"),
        ({"command": 3}, "command"),
        ({}, "command"),
        ("text", "object"),
    ],
)
def test_what_is_wrong_with_one_server_is_said_and_the_others_are_there(place: Place, said: Any, word: str) -> None:
    write(place.home, {"bad": said, "good": {"command": "x"}})
    found = place.find(place.home).servers
    assert word in found["bad"].problem
    assert not found["good"].problem


def test_a_name_that_no_tool_could_carry_is_a_problem(place: Place) -> None:
    write(place.home, {"a__b": {"command": "x"}, "../x": {"command": "x"}})
    assert all(one.problem for one in place.find(place.home).servers.values())


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"servers": {}}', "[" * 100_000, '{"mcpServers": []}', " " * 1024 * 1025], ids=range(6)
)
def test_a_bad_file_is_a_notice_that_names_it_and_hides_no_other(place: Place, text: str) -> None:
    inner = place.home / "inner"
    path = write(inner, text)
    write(place.home, {"good": {"command": "x"}})
    found = place.find(inner)
    assert set(found.servers) == {"good"}
    (notice,) = found.notices
    assert notice.startswith(f"{path}: ")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_above_that_somebody_else_put_there_is_not_read(place: Place) -> None:
    inner = place.home / "inner"
    inner.mkdir()
    path = write(place.home, {"trap": {"command": "x"}})
    os.chown(path, 12345, 12345)
    found = place.find(inner)
    assert (found.servers, len(found.notices)) == ({}, 1)
    os.chown(inner, 12345, 12345)  # the folder is theirs as well: they work here
    assert set(place.find(inner).servers) == {"trap"}


def test_a_file_that_was_changed_is_read_again(place: Place) -> None:
    made = Definitions(Bridge(), None, {}, place.learnt.append)
    try:
        write(place.home, {"a": {"command": "x"}})
        assert set(asyncio.run(made.known(str(place.home), place.environ))) == {"a"}
        write(place.home, {"other": {"command": "x"}})
        assert set(asyncio.run(made.known(str(place.home), place.environ))) == {"other"}
    finally:
        made.close()


def test_secrets_are_learnt_and_plain_values_are_not(place: Place) -> None:
    headers = {"Authorization": "Bearer abc-secret", "Accept": "text/plain"}
    env = {"API_TOKEN": "t-o-k-e-n", "HIDDEN": "4f9a8b7c6d5e4f3a2b1c", "FOLDER": "/usr/share/things1", "MODE": "quick"}
    write(place.home, {"a": {"command": "x", "env": env}, "b": {"url": "http://x", "headers": headers}})
    place.find(place.home)
    assert {"t-o-k-e-n", "4f9a8b7c6d5e4f3a2b1c", "abc-secret"} <= set(place.learnt)
    assert not {"/usr/share/things1", "quick", "text/plain"} & set(place.learnt)


def test_callers_in_other_terminals_share_a_session_and_other_environments_do_not(place: Place) -> None:
    write(place.home, {"a": {"command": "x"}})
    one = place.find(place.home).servers["a"]
    first = reach(one, {"PATH": "/bin", "TMUX_PANE": "%1", "SHLVL": "1"}, {})
    assert reach(one, {"PATH": "/bin", "TMUX_PANE": "%2"}, {}).key == first.key
    assert reach(one, {"PATH": "/sbin"}, {}).key != first.key
