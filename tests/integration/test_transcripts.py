"""Transcripts as agents leave them on a disk: whole, cut, replaced, huge, or something else altogether."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.host import rows, transcript_places
from argus.host.rows import Look, Position
from argus.host.transcripts import MachineTranscripts

SESSION = "11111111-2222-4333-8444-555555555551"


def row(n: int, **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "n": n, **more}


def lines(*made: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in made)


def append(path: Path, raw: bytes) -> None:
    with path.open("ab") as file:
        file.write(raw)


def numbers(look: Look | None) -> list[int]:
    assert look is not None
    return [one["n"] for one in look.rows]


def look(path: Path, position: Position | None = None) -> Look:
    return rows.look(str(path), position, lambda one: one["type"] == "assistant")


# --- one file -------------------------------------------------------------------------------------------------------


def test_only_what_was_appended_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(1), row(2), {"type": "user", "n": 3}))
    first = look(path)
    assert (numbers(first), first.is_new, first.first) == ([2, 3], True, row(1)), "from the last row that speaks"
    assert numbers(look(path, first.position)) == []
    append(path, lines(row(4), row(5)))
    then = look(path, first.position)
    assert (numbers(then), then.is_new) == ([4, 5], False)


def test_a_row_that_is_cut_in_the_middle_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(1)) + lines(row(2))[:9])
    first = look(path)
    assert (numbers(first), first.broken) == ([1], 0)
    append(path, lines(row(2))[9:14])
    then = look(path, first.position)
    assert numbers(then) == []
    append(path, lines(row(2))[14:])
    assert numbers(look(path, then.position)) == [2]


def test_a_file_that_begins_with_half_a_row_is_read_from_there(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(1))[:9])
    first = look(path)
    assert numbers(first) == []
    append(path, lines(row(1))[9:])
    assert numbers(look(path, first.position)) == [1]


@pytest.mark.parametrize("how", ["cut", "cut-and-grown", "rotated"])
def test_a_file_that_was_written_anew_is_read_anew(tmp_path: Path, how: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(*(row(n) for n in range(20))))
    first = look(path)
    if how == "cut":
        os.truncate(path, 0)
        append(path, lines(row(100)))
    elif how == "cut-and-grown":
        os.truncate(path, 0)
        append(path, lines(*(row(n) for n in range(80, 101))))
        assert path.stat().st_size > first.position.offset, "its size alone would not tell"
    else:
        path.rename(tmp_path / "t.jsonl.1")
        path.write_bytes(lines(row(99), row(100)))
    then = look(path, first.position)
    assert (numbers(then), then.is_new) == ([100], True)


def test_rows_of_many_megabytes_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    huge = lines(row(2, text="x" * (rows.ROW + 1000)))
    path.write_bytes(lines(row(1)) + huge + lines({"type": "user", "n": 3}))
    first = look(path)
    assert (numbers(first), first.skipped) == ([1, 3], 1)
    append(path, huge + lines(row(4)))
    then = look(path, first.position)
    assert (numbers(then), then.skipped) == ([4], 1)


def test_a_huge_row_that_comes_in_pieces_is_skipped_without_being_read_again(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(1)))
    position = look(path).position
    append(path, b'{"type": "' + b"x" * (rows.ROW + 10))
    then = look(path, position)
    assert (then.rows, then.position.offset, then.position.skipping) == ((), path.stat().st_size, True)
    append(path, b"y" * 1000)
    then = look(path, then.position)
    append(path, b'"}\n' + lines(row(2)))
    last = look(path, then.position)
    assert (numbers(last), last.skipped, last.position.skipping) == ([2], 1, False)


def test_a_file_of_which_too_much_is_new_is_looked_at_from_its_end(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(0)))
    position = look(path).position
    append(path, lines(*(row(n, text="x" * 100_000) for n in range(1, 60))))
    then = look(path, position)
    assert (numbers(then), then.is_new) == ([59], True)


def test_the_end_of_a_large_file_is_looked_for_no_further_than_allowed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    quiet = lines({"type": "user", "n": 1, "text": "x" * 50_000})
    path.write_bytes(lines(row(0)) + quiet * 300)
    found = look(path)
    assert 100 < len(found.rows) < 200
    assert found.first == row(0)
    assert numbers(found) == [1] * len(found.rows)


def test_bytes_that_are_no_text_and_lines_that_are_no_row_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    deep = b"[" * 100_000 + b"\n"
    path.write_bytes(
        b"\xff\xfe\n[]\n7\n\n" + lines({"type": "user", "n": 1}) + deep + b'{"type":"user","n":2,"t":"\xff"}\n'
    )
    found = look(path)
    assert (numbers(found), found.broken) == ([1, 2], 4)
    assert found.first is None


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_in_whatever_pieces_it_grows_no_row_is_lost_or_read_twice(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("grows") / "t.jsonl"
    raw = lines(*(row(n, text="ü" * data.draw(st.integers(0, 40))) for n in range(12)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    path.write_bytes(b"")
    position, seen = look(path).position, []
    for begin, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        append(path, raw[begin:end])
        found = look(path, position)
        position, seen = found.position, [*seen, *numbers(found)]
    assert seen == list(range(12))


@given(st.lists(st.binary(max_size=60) | st.just(lines(row(1))), max_size=6))
@settings(max_examples=60, deadline=None)
def test_a_file_of_any_bytes_is_harmless(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("any") / "t.jsonl"
    path.write_bytes(b"")
    position = rows.look(str(path), None, lambda one: True).position
    for piece in pieces:
        append(path, piece)
        fresh = rows.look(str(path), None, lambda one: False)
        position = rows.look(str(path), position, lambda one: True).position
        assert position.offset <= path.stat().st_size
        assert fresh.position.offset == position.offset, "however it was come to, it stands at the same row"


@pytest.mark.parametrize("kind", ["fifo", "link", "device", "folder", "socket", "gone"])
async def test_what_is_no_regular_file_is_not_read(tmp_path: Path, kind: str) -> None:
    path, secret = tmp_path / "t.jsonl", tmp_path / "secret"
    secret.write_bytes(lines(row(1)))
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(secret)
    elif kind == "device":
        path.symlink_to("/dev/zero")
        path = Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    assert await MachineTranscripts().look(str(path), None, lambda one: True) is None


# --- finding it -----------------------------------------------------------------------------------------------------


def written(path: Path, *made: dict[str, Any], age: int = 0) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(*made))
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return str(path)


def test_the_newest_transcript_of_the_project_is_found(tmp_path: Path) -> None:
    project = tmp_path / "my.project_1"
    project.mkdir()
    home = tmp_path / "home"
    folder = home / ".claude" / "projects" / transcript_places.slug(str(project))
    old = written(folder / f"{SESSION}.jsonl", row(1), age=50)
    new = written(folder / "other.jsonl", row(2))
    written(home / ".claude/projects/-elsewhere/newer.jsonl", row(3), age=-50)
    env = {"HOME": str(home)}
    assert transcript_places.find("claude", str(project), env) == new
    assert transcript_places.find("claude", str(project), env, session=SESSION) == old
    assert transcript_places.find("claude", str(project), env, session="../../x") == new
    assert transcript_places.find("claude", str(tmp_path / "nothing"), env) is None
    moved = tmp_path / "config"
    elsewhere = written(moved / "projects" / folder.name / "a.jsonl", row(4))
    assert transcript_places.find("claude", str(project), {**env, "CLAUDE_CONFIG_DIR": str(moved)}) == elsewhere


def test_a_project_behind_a_link_is_found_by_where_it_really_is(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    path = written(tmp_path / ".claude/projects" / transcript_places.slug(str(real)) / "a.jsonl", row(1))
    assert transcript_places.find("claude", str(link), {"HOME": str(tmp_path)}) == path


def test_where_an_agent_says_that_its_transcript_is_counts_only_inside_of_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder = home / ".claude/projects/-srv-green"
    own = written(folder / "own.jsonl", row(1), age=99)
    newest = written(folder / "newest.jsonl", row(2))
    outside = written(tmp_path / "outside.jsonl", row(3))
    (folder / "link.jsonl").symlink_to(outside)
    (folder / "out").symlink_to(tmp_path)
    os.mkfifo(folder / "fifo.jsonl")

    def found(hint: str) -> str | None:
        return transcript_places.find("claude", "/srv/green", {"HOME": str(home)}, hint=hint)

    assert found(own) == own
    for hint in (
        outside, str(folder / "link.jsonl"), str(folder / "out" / "outside.jsonl"), str(folder / "fifo.jsonl"),
        str(folder / "../../../../outside.jsonl"), "/etc/passwd", "own.jsonl", str(folder / "gone.jsonl"), "/\0.jsonl",
    ):  # fmt: skip
        assert found(hint) == newest, hint


def test_the_rollout_of_a_project_is_found_and_not_one_of_another(tmp_path: Path) -> None:
    def meta(cwd: str, **more: Any) -> dict[str, Any]:
        return {"type": "session_meta", "payload": {"id": "x", "cwd": cwd, "source": "cli", **more}}

    sessions = tmp_path / ".codex/sessions"
    mine = written(sessions / f"2026/11/14/rollout-1-{SESSION}.jsonl", meta("/srv/green"), age=90)
    written(sessions / "2026/11/15/rollout-2-b.jsonl", meta("/srv/red"), age=10)
    written(sessions / "2026/11/15/rollout-3-c.jsonl", meta("/srv/green", source={"subagent": "x"}), age=5)
    written(sessions / "2026/11/15/rollout-4-d.jsonl", meta("/srv/green", thread_source="title"), age=2)
    (sessions / "2026/11/15/rollout-5-e.jsonl").write_bytes(b"nonsense\n")
    env = {"HOME": str(tmp_path)}
    assert transcript_places.find("codex", "/srv/green", env) == mine
    assert transcript_places.find("codex", "/srv/green", env, session=SESSION) == mine
    assert transcript_places.find("codex", "/srv/blue", env) is None
    assert transcript_places.find("codex", "/srv/green", {**env, "CODEX_HOME": str(tmp_path / "no")}) is None


def test_where_a_process_keeps_its_files_is_told_by_its_environment() -> None:
    env = {"HOME": "/home/dev", "CODEX_HOME": "/opt/codex", "CLAUDE_CONFIG_DIR": "relative", "SECRET_TOKEN": "x"}
    with subprocess.Popen(["sleep", "60"], env={**env, "PATH": os.environ["PATH"]}) as process:
        try:
            until = time.monotonic() + 30
            while not (found := transcript_places.homes(process.pid)) and time.monotonic() < until:
                time.sleep(0.001)  # a program that has just begun has no environment for a moment
        finally:
            process.kill()
    assert found == {"HOME": "/home/dev", "CODEX_HOME": "/opt/codex"}
    assert transcript_places.homes(2**22 + 1) == {}
