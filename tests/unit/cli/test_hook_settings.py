"""Our hooks in the settings of others' programs: beside all that was there, and out again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.cli.hooking import claude, codex
from argus.cli.hooking.reporter import Reporter
from argus.core.errors import ArgusError, Code

REPORTER = Reporter("http://127.0.0.1:7117", "argus.claims.proof", "/state folder/'x'", "/usr/bin/true", "/opt/tell.py")
THEIRS: dict[str, Any] = {
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "unknown": {"z": 1, "a": [1, None, "é"]},
    "hooks": {
        "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "http", "url": "http://other/api/hooks/claude"}]}],
        "Empty": [],
    },
    "statusLine": {"type": "command", "command": "git branch # mine", "padding": 0},
    "model": "opus",
}


def written(settings: dict[str, Any]) -> bytes:
    return json.dumps(settings, indent=2, ensure_ascii=False).encode() + b"\n"


def test_ours_are_put_beside_all_that_was_there() -> None:
    made = claude.with_ours(THEIRS, REPORTER)
    assert list(made) == list(THEIRS), "in the same order"
    for event, groups in THEIRS["hooks"].items():
        assert made["hooks"][event][: len(groups)] == groups
    assert set(claude.installed(made)) == {claude.STARTS, *claude.EVENTS}
    assert claude.token(made) == REPORTER.token
    (ours,) = made["hooks"]["SubagentStop"][0]["hooks"]
    assert (ours["type"], ours["url"]) == ("http", "http://127.0.0.1:7117/api/hooks/claude")
    assert ours["timeout"] == 1, "one that hangs holds the agent up for as long"
    assert made["hooks"][claude.STARTS][0]["hooks"][0]["type"] == "command"


def test_out_again_nothing_of_ours_is_left() -> None:
    assert claude.without_ours(claude.with_ours(THEIRS, REPORTER)) == THEIRS
    assert claude.without_ours(claude.with_ours({}, REPORTER)) == {}
    assert claude.without_ours(THEIRS) == THEIRS


def test_twice_is_as_once() -> None:
    once = claude.with_ours(THEIRS, REPORTER)
    assert claude.with_ours(once, REPORTER) == once
    moved = Reporter("http://127.0.0.1:1", "argus.other.proof", "/x", "/usr/bin/true", "/opt/tell.py")
    assert claude.without_ours(claude.with_ours(once, moved)) == THEIRS


def test_what_others_changed_meanwhile_stays() -> None:
    made = claude.with_ours(THEIRS, REPORTER)
    made["hooks"]["Stop"][1]["hooks"].append({"type": "command", "command": "put into our group"})
    made["added"] = True
    left = claude.without_ours(made)
    assert left["hooks"]["Stop"][1] == {"hooks": [{"type": "command", "command": "put into our group"}]}
    assert left["added"] is True
    assert left["statusLine"] == THEIRS["statusLine"]


def test_an_empty_place_that_was_there_before_stays() -> None:
    before: dict[str, Any] = {"hooks": {"Stop": []}}
    made = claude.with_ours(before, REPORTER)
    assert claude.without_ours(made, before) == before


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    ),
    st.dictionaries(
        st.sampled_from([*claude.EVENTS[:3], "Other"]), st.lists(st.just({"hooks": [{"type": "x"}]}), min_size=1)
    ),
    st.text(max_size=30),
)
def test_whatever_was_there_comes_back(other: Any, hooks: dict[str, Any], command: str) -> None:
    settings: dict[str, Any] = {"other": other, "statusLine": {"type": "command", "command": command}}
    settings |= {"hooks": hooks} if hooks else {}
    raw = written(settings)
    made = claude.render(claude.with_ours(claude.parse(raw, "f"), REPORTER), raw)
    assert claude.render(claude.without_ours(claude.parse(made, "f")), made) == raw


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a": 1 // mine\n}',
        b"[]",
        b"7",
        b"\xff",
        b'{"a": 1, "a": 2}',
        b'{"hooks": []}',
        b'{"hooks": {"Stop": 1}}',
        b"{",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e400}',
    ],
)
def test_what_cannot_be_written_back_as_it_was_is_refused(raw: bytes) -> None:
    with pytest.raises(ArgusError) as refused:
        claude.parse(raw, "settings.json")
    assert refused.value.code is Code.CONFIG_INVALID
    assert "settings.json" in refused.value.message
    assert refused.value.actions == ("fix_settings", "use_other_settings")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"env":{"X":"\\ud83d"},"model":"opus"}',
        b'\xef\xbb\xbf{\n  "model": "opus"\n}\n',
        b"\xef\xbb\xbf",
        b'{"a": 123456789012345678901234567890, "b": -0.0, "c": 1e22}',
        '{"é": "\U0001f600 \\u2028"}'.encode(),
    ],
)
def test_what_is_hard_to_keep_is_kept(raw: bytes) -> None:
    settings = claude.parse(raw, "f")
    made = claude.written(claude.with_ours(settings, REPORTER), raw, "f")
    assert made.startswith(b"\xef\xbb\xbf") is raw.startswith(b"\xef\xbb\xbf")
    json.loads(made.decode("utf-8-sig"))
    assert claude.without_ours(claude.parse(made, "f")) == settings


def test_what_would_not_say_the_same_is_not_written() -> None:
    for settings in ({"a": float("inf")}, {"a": (1, 2)}, {1: "a"}):
        with pytest.raises(ArgusError) as refused:
            claude.written(settings, b"{}", "settings.json")  # type: ignore[arg-type]
        assert refused.value.code is Code.CONFIG_INVALID


@pytest.mark.parametrize("indent", [2, 4, "\t", None])
@pytest.mark.parametrize("end", ["", "\n"])
def test_the_file_is_written_as_it_was(indent: Any, end: str) -> None:
    raw = (json.dumps(THEIRS, indent=indent, ensure_ascii=False) + end).encode()
    assert claude.render(THEIRS, raw) == raw


def test_what_keeps_our_hooks_from_running_is_named() -> None:
    url = "http://127.0.0.1:7117/api/hooks/claude"
    assert claude.hindrances({"disableAllHooks": True, "allowedHttpHookUrls": ["https://x/*"]}, url) == [
        "disableAllHooks",
        "allowedHttpHookUrls",
    ]
    assert claude.hindrances({"allowedHttpHookUrls": ["http://127.0.0.1:*"]}, url) == []


# --- what the shell makes of it -------------------------------------------------------------------------------------


def shell(command: str, given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/bin/sh", "-c", command], input=given, capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize(
    ("own", "shows", "code"),
    [
        pytest.param("cat", '{"a": "$HOME `x`"}\n', 0, id="it gets what it got before"),
        pytest.param("cat >/dev/null; printf 'two\\nlines' # and a comment", "two\nlines", 0, id="with a comment"),
        pytest.param("echo out; exit 3", "out\n", 3, id="it ends as it did"),
        pytest.param('read line; echo "it\'s $line" | tr a-z A-Z', 'IT\'S {"A": "$HOME `X`"}\n', 0, id="a pipe"),
    ],
)
def test_the_status_line_that_was_there_shows_what_it_showed(own: str, shows: str, code: int) -> None:
    made = claude.with_ours({"statusLine": {"type": "command", "command": own}}, REPORTER)
    ran = shell(made["statusLine"]["command"], '{"a": "$HOME `x`"}')
    assert (ran.stdout, ran.returncode, ran.stderr) == (shows, code, "")


@pytest.mark.parametrize("kind", ["fails", "is gone", "hangs"])
def test_our_command_is_silent_and_ends_well_whatever_becomes_of_our_program(tmp_path: Path, kind: str) -> None:
    program, fifo = tmp_path / "python", tmp_path / "fifo"
    os.mkfifo(fifo)
    if kind != "is gone":
        program.write_text(
            "#!/bin/sh\n" + ("echo out; echo err >&2; exit 7" if kind == "fails" else f"read x < {fifo}")
        )
        program.chmod(0o755)
    made = claude.with_ours({}, Reporter("http://x", "argus.a.b", "/s", str(program), "/t"))
    for command in (made["statusLine"]["command"], made["hooks"][claude.STARTS][0]["hooks"][0]["command"]):
        ran = shell(command, "{}")
        assert (ran.stdout, ran.stderr, ran.returncode) == ("", "", 0)
        if kind == "hangs":
            fifo.write_text("go on\n")  # opens once it hangs there: nobody waited for it


def test_what_is_told_is_what_came_in(tmp_path: Path) -> None:
    program = tmp_path / "tell.py"
    program.write_text("import sys; open(sys.argv[1], 'w').write(sys.argv[2] + sys.stdin.read())")
    told = tmp_path / "it's told"
    reporter = Reporter("http://x", "argus.a.b", str(told), sys.executable, str(program))
    shell(claude.with_ours({}, reporter)["statusLine"]["command"], '{"a": "\\n $x"}')
    until = time.monotonic() + 30
    while time.monotonic() < until and not (told.exists() and told.read_text().endswith("}")):
        time.sleep(0.01)
    assert told.read_text() == 'claude{"a": "\\n $x"}'


# --- Codex ----------------------------------------------------------------------------------------------------------

TOML = """# mine
model = "x" # and why

[projects."/srv/green"]
trust_level = "trusted"
notify = "not this one"
"""


@pytest.mark.parametrize(
    "before",
    [
        "",
        TOML,
        'notify = ["say", "done"] # mine\n' + TOML,
        'model = "a"\nnotify = [\n  "say", # a comment\n  "it\'s [done]",\n]\n\n[a]\nb = 1\n',
        "model = 'no newline at the end'",
        '[a]\nb = """\nnotify = 1\n"""\n',
    ],
)
def test_codex_starts_our_program_and_the_file_comes_back(before: str) -> None:
    raw = before.encode()
    made = codex.with_ours(raw, REPORTER, "config.toml")
    said, was = tomllib.loads(made.decode()), tomllib.loads(before)
    theirs = was.get("notify", [])
    assert said["notify"][-len(theirs) :] == theirs if theirs else said["notify"] == REPORTER.argv("codex")
    assert {**said, "notify": 0} == {**was, "notify": 0}
    assert codex.installed(made)
    assert codex.with_ours(made, REPORTER, "config.toml") == made
    assert codex.without_ours(made, "config.toml") == raw
    assert codex.without_ours(made + b"[more]\nc = 1\n", "config.toml") == raw + b"[more]\nc = 1\n"


def test_the_program_that_codex_started_before_is_started_as_before(tmp_path: Path) -> None:
    out = tmp_path / "out"
    theirs = ["/bin/sh", "-c", f"printf '%s|' \"$@\" > {out}", "name", "one two", "it's"]
    made = codex.with_ours(f"notify = {json.dumps(theirs)}\n".encode(), REPORTER, "config.toml")
    payload = '{"type": "agent-turn-complete", "x": "$(touch y) \'"}'
    subprocess.run([*tomllib.loads(made.decode())["notify"], payload], check=True, timeout=30)
    assert out.read_text() == f"one two|it's|{payload}|"


@pytest.mark.parametrize("raw", [b"a = ", b"\xff", b'notify = "a string"\n', b"notify = []\n", b"notify = [1]\n"])
def test_what_codex_would_not_understand_either_is_refused(raw: bytes) -> None:
    with pytest.raises(ArgusError) as refused:
        codex.with_ours(raw, REPORTER, "config.toml")
    assert refused.value.code is Code.CONFIG_INVALID
