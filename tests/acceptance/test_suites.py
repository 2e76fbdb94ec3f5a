"""The suites of a project without services run with no Docker at all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.acceptance.harness import DEADLINE, PROGRAM, Argus, Ran, Reply, eventually, words_of
from tests.acceptance.screen import Screen
from tests.acceptance.yard import Project, ended

PYTEST = f"{sys.executable} -m pytest -p no:cacheprovider"
SECRET = "wJalrXUtnFEMI-K7MDENG"


class Suites(Project):
    """A project of suites alone."""

    def __init__(self, argus: Argus, *suites: dict[str, Any], **tests: Any) -> None:
        said = [{"id": one["name"], **one} for one in suites]
        super().__init__(argus, argus.folder / "project", {"project": {"name": "suites"}})
        self.write(project={"name": "suites"}, tests={"suites": said, **tests})

    def file(self, name: str, content: Any) -> Path:
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
        return path

    def run(self, *words: str, env: dict[str, str] | None = None) -> dict[str, Any]:
        ran = self.env("run", *words, env=env)
        done = dict(ran.json)
        assert ran.code == (0 if done["status"] == "passed" else 1), ran
        return done

    def text(self, *words: str) -> Ran:
        done = subprocess.run(
            [PROGRAM, "env", *words],
            cwd=self.folder,
            env=self.yard.env,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def here(argus: Argus) -> Iterator[Argus]:
    """Where no engine is."""
    argus.env["DOCKER_HOST"] = "unix:///nowhere/docker.sock"
    argus.configure([])
    argus.up()
    yield argus
    # Whatever a run started has ended with it: only the daemon is left.
    left = [words for one in argus.marked() if one.pid != argus.pid and (words := words_of(one))]
    assert not left, left


def of(done: dict[str, Any], suite: str) -> dict[str, Any]:
    (found,) = [one for one in done["suites"] if one["id"] == suite]
    return dict(found)


def states(suite: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["status"] for one in suite["cases"]}


def test_suites_of_every_kind_run_side_by_side_without_docker(here: Argus) -> None:
    project = Suites(
        here,
        {"name": "yaml", "file": "api.yaml"},
        {"name": "pytest", "runner": "pytest", "file": "test_api.py", "command": PYTEST},
        {"name": "script", "runner": "shell", "file": "check.sh"},
        {"name": "shell", "runner": "shell", "command": 'echo "$ARGUS_SUITE in $(pwd)" >&2; exit 3'},
        {"name": "exec", "runner": "exec", "command": "test 'a b' = 'a b'"},
        parallel={"enabled": True, "concurrency": 3},
    )
    project.file(
        "api.yaml",
        {
            "name": "API",
            "cases": [
                {"name": "here", "exec": {"command": "echo $WHO $ARGUS_PROJECT"}, "save": {"said": "output"}},
                {
                    "name": "kept",
                    "exec": {"command": ["echo", "{{said}}"]},
                    "expect": {"output": {"contains": "me sui"}},
                },
                {"name": "wrong", "exec": {"command": "echo 1"}, "expect": {"output": {"contains": "2"}}},
            ],
        },
    )
    project.file(
        "test_api.py",
        "import os, pytest\n"
        "def test_given(): assert os.environ['ARGUS_SUITE'] == 'pytest' and os.environ['WHO'] == 'me'\n"
        "def test_wrong(): assert 1 == 2\n"
        "@pytest.mark.skip(reason='later')\n"
        "def test_later(): pass\n",
    )
    project.file("check.sh", "test -f e2e.yaml\n")
    junit = project.folder / "results.xml"
    done = project.run("--junit", str(junit), env={"WHO": "me"})
    assert (done["status"], done["totals"]) == ("failed", {"passed": 5, "failed": 3, "skipped": 1, "total": 9})
    assert [one["id"] for one in done["suites"]] == ["yaml", "pytest", "script", "shell", "exec"]
    assert states(of(done, "yaml")) == {"here": "passed", "kept": "passed", "wrong": "failed"}
    assert states(of(done, "pytest")) == {
        "test_api > test_given": "passed", "test_api > test_wrong": "failed", "test_api > test_later": "skipped",
    }  # fmt: skip
    (shell,) = of(done, "shell")["cases"]
    assert (shell["failures"][0]["actual"], shell["output"]) == (3, f"shell in {project.folder}")
    assert (of(done, "script")["status"], of(done, "exec")["status"]) == ("passed", "passed")
    assert (done["restarts"], done["problems"], done["duration"] > 0) == ([], [], True)
    counted = ElementTree.parse(junit).getroot().attrib
    assert {key: counted[key] for key in ("tests", "failures", "skipped")} == {
        "tests": "9", "failures": "3", "skipped": "1",
    }  # fmt: skip
    told = [event.type for event in here.journal() if event.name.startswith("test:")]
    assert (told[0], told[-1]) == ("run_started", "run_ended")
    assert [told.count(f"{what}_ended") for what in ("suite", "case")] == [5, 9]


def test_a_bad_case_names_file_and_line_and_the_others_run(here: Argus) -> None:
    project = Suites(
        here,
        {"name": "cases", "file": "cases.yaml"},
        {"name": "gone", "file": "gone.yaml"},
        {"name": "broken", "file": "broken.yaml"},
        {"name": "strange", "runner": "mocha", "file": "x"},
        {"name": "good", "runner": "exec", "command": "true"},
    )
    file = project.file("cases.yaml", "name: C\ncases:\n  - {name: good, exec: {command: 'true'}}\n  - {name: bad}\n")
    project.file("broken.yaml", "name: [\n")
    done = project.run()
    assert states(of(done, "cases")) == {"good": "passed", "bad": "failed"}
    (bad,) = [one for one in of(done, "cases")["cases"] if one["name"] == "bad"]
    assert (bad["line"], f"{file}:4" in bad["failures"][0]["message"]) == (4, True)
    assert "gone.yaml" in of(done, "gone")["error"]["message"]
    assert "broken.yaml" in of(done, "broken")["error"]["message"]
    assert "mocha" in of(done, "strange")["error"]["message"]
    # Three suites could not be run: each counts, or whoever reads the totals alone would miss them.
    assert of(done, "good")["status"] == "passed"
    assert done["totals"] == {"passed": 2, "failed": 4, "skipped": 0, "total": 6}
    shown = project.text("run")
    assert shown.code == 1
    assert "FAILED bad (line 4)" in shown.stdout
    assert shown.stdout.splitlines()[-1].startswith("FAILED: 2 passed, 4 failed in")
    assert "cases 1/2 passed  good" in shown.stderr, "without a terminal every case is a line"


def test_what_failed_is_tried_again_as_often_as_the_file_says(here: Argus) -> None:
    soon = {"maxAttempts": 3, "delay": "10ms"}
    counting = 'echo x >> count; test "$(wc -l < count)" -ge 3'
    project = Suites(
        here,
        {"name": "third", "runner": "shell", "command": counting, "retry": soon},
        {"name": "never", "runner": "shell", "command": "false"},
        {"name": "cases", "file": "cases.yaml"},
        retry={"maxAttempts": 2, "delay": "10ms", "backoff": "linear"},
    )
    once = {"name": "twice", "exec": {"command": "echo x >> other; test $(wc -l < other) -ge 2"}}
    project.file("cases.yaml", {"name": "C", "cases": [once, {"name": "once", "exec": {"command": "true"}}]})
    done = project.run()
    assert (of(done, "third")["status"], of(done, "third")["attempts"]) == ("passed", 3)
    assert (of(done, "never")["status"], of(done, "never")["attempts"]) == ("failed", 2)
    assert [one["attempts"] for one in of(done, "cases")["cases"]] == [2, 1]
    assert len(here.journal("suite_retried")) == 3


def test_a_test_program_that_lies_hangs_or_is_not_there_fails_its_suite_alone(here: Argus) -> None:
    fake = here.folder / "bin"
    fake.mkdir()
    (fake / "vitest").write_text(
        '#!/bin/sh\nfor a; do case $a in --outputFile.junit=*) f=${a#*=};; esac; done\ncat > "$f"\n'
    )
    (fake / "pytest").write_text(
        '#!/bin/sh\nfor a; do case $a in --junitxml=*) ln -s /dev/zero "${a#*=}";; esac; done\n'
    )
    for one in fake.iterdir():
        one.chmod(0o755)
    project = Suites(
        here,
        {"name": "empty", "runner": "vitest"},
        {"name": "hostile", "runner": "pytest"},
        {"name": "missing", "runner": "playwright"},
        {"name": "good", "runner": "exec", "command": "true"},
    )
    done = project.run(env={"PATH": f"{fake}:/usr/bin:/bin", "VIRTUAL_ENV": ""})
    assert [one["status"] for one in done["suites"]] == ["failed", "failed", "failed", "passed"]
    assert "no whole XML" in of(done, "empty")["error"]["message"]
    assert "report" in of(done, "hostile")["error"]["message"]
    assert "npm install --save-dev @playwright/test" in of(done, "missing")["error"]["message"]


def test_only_the_suites_that_are_meant_run_and_unknown_ones_are_named(here: Argus) -> None:
    project = Suites(here, *({"name": name, "runner": "exec", "command": "true"} for name in "abc"))
    assert [one["id"] for one in project.run("--filter", "c, a")["suites"]] == ["a", "c"]
    ran = project.env("run-suite", "b")
    assert (ran.code, [one["id"] for one in ran.json["suites"]]) == (0, ["b"])
    error = project.refused("run-suite", "d")
    assert (error["code"], error["details"]["known"]) == ("SUITE_NOT_FOUND", ["a", "b", "c"])
    assert "list_suites" in error["suggestedActions"]
    assert project.refused("run", "--filter", " ,")["details"]["known"] == ["a", "b", "c"]
    project.write(project={"name": "suites"})
    assert project.refused("run")["code"] == "SUITE_NOT_FOUND"


def test_a_junit_file_that_cannot_be_written_is_told_before_anything_runs(here: Argus) -> None:
    project = Suites(here, {"name": "a", "runner": "shell", "command": "touch ran"})
    error = project.refused("run", "--junit", "nowhere/results.xml")
    assert (error["code"], (project.folder / "ran").exists()) == ("INVALID_REQUEST", False)


def marker(project: Suites) -> Path:
    return project.folder / "begun"


def hanging(argus: Argus, **tests: Any) -> Suites:
    """One suite that hangs as a command, and one whose case does, and that has something to tear down."""
    project = Suites(
        argus,
        {"name": "command", "runner": "shell", "command": "sleep 600 & touch begun; wait"},
        {"name": "cases", "file": "cases.yaml"},
        parallel={"enabled": True},
        **tests,
    )
    first = {"name": "first", "exec": {"command": "true"}}
    hangs = {"name": "hangs", "exec": {"command": "touch inside; sleep 600", "timeout": "10m"}}
    tidy = {"exec": {"command": "echo torn >> down"}}
    project.file("cases.yaml", {"name": "C", "cases": [first, hangs], "teardown": [tidy]})
    return project


def under_way(project: Suites) -> None:
    eventually(lambda: all((project.folder / one).exists() for one in ("begun", "inside")), "both suites are under way")


def torn_down(project: Suites) -> bool:
    return (project.folder / "down").exists()


def test_ctrl_c_ends_a_run_with_all_that_it_started_and_tears_down(here: Argus) -> None:
    project = hanging(here)
    running = project.begin("run")
    under_way(project)
    running.send_signal(signal.SIGINT)
    assert ended(running).code == 130
    here.wait_for("run_ended")
    eventually(lambda: torn_down(project), "the teardown has run")
    eventually(lambda: not [one for one in here.marked() if one.pid != here.pid], "nothing of it is left")
    # And the next one has its turn at once.
    assert here.journal("run_ended")[-1].data["status"] == "cancelled"
    assert project.refused("run-suite", "nothing")["code"] == "SUITE_NOT_FOUND"


def test_a_run_whose_argus_was_killed_is_ended_by_the_next_one_with_all_that_it_left(argus: Argus) -> None:
    """Commands, also those that left their session, and folders; and it is on record that it was interrupted."""
    scratch = argus.folder / "tmp"
    scratch.mkdir()
    argus.env |= {"DOCKER_HOST": "unix:///nowhere/docker.sock", "TMPDIR": str(scratch)}
    argus.configure([])
    argus.up()
    stranger = scratch / "argus-0123"
    stranger.mkdir()
    project = Suites(argus, {"name": "one", "runner": "shell", "command": "setsid sleep 600 & touch begun; sleep 600"})
    running = project.begin("run")
    eventually((project.folder / "begun").exists, "the suite is under way")
    assert len([*scratch.iterdir()]) == 2
    argus.kill()
    ended(running)
    assert [one for one in argus.marked() if one.name() == "sleep"]
    argus.up()
    eventually(lambda: not [one for one in argus.marked() if one.name() == "sleep"], "nothing of it runs")
    assert [*scratch.iterdir()] == [stranger]
    (event,) = argus.journal("run_ended")
    assert (event.data["status"], event.data["projectPath"]) == ("interrupted", str(project.folder))
    # Once: the Argus after that has nothing to tell.
    argus.down()
    argus.up()
    assert len(argus.journal("run_ended")) == 1


def test_a_run_that_takes_too_long_tells_what_it_has(here: Argus) -> None:
    project = hanging(here)
    done = project.run("--timeout", "2s")
    assert (done["status"], done["totals"]["passed"], torn_down(project)) == ("failed", 1, True)
    assert all("not finished within 2 s" in one["error"]["message"] for one in done["suites"])


def test_a_clean_ends_the_run_and_a_second_run_waits_for_the_first(here: Argus) -> None:
    project = hanging(here)
    first = project.begin("run")
    under_way(project)
    second = project.begin("run-suite", "cases", "--timeout", "1s")
    here.wait_for("waiting_for_turn")
    assert project.env("clean").code == 0
    error = ended(first).error
    assert (error["code"], torn_down(project)) == ("CONFLICT", True)
    assert error["details"]["results"]["totals"]["passed"] == 1
    assert ended(second).error["code"] == "CONFLICT"


def test_secrets_are_masked_in_everything_that_is_told(here: Argus) -> None:
    project = Suites(
        here,
        {"name": "cases", "file": "cases.yaml"},
        {"name": "shell", "runner": "shell", "command": "echo $API_TOKEN; exit 1"},
    )
    sent = {"name": "sent", "exec": {"command": "echo {{env.API_TOKEN}}"}, "expect": {"output": {"contains": "no"}}}
    project.file("cases.yaml", {"name": "C", "cases": [sent]})
    junit = project.folder / "results.xml"
    done = project.run("--junit", str(junit), env={"API_TOKEN": SECRET})
    assert done["totals"]["failed"] == 2
    told = json.dumps(done) + junit.read_text() + json.dumps([event.data for event in here.journal()])
    assert SECRET not in told
    assert "[redacted]" in told


def test_on_a_terminal_one_line_shows_what_runs(here: Argus) -> None:
    project = Suites(here, {"name": "cases", "file": "cases.yaml"})
    good = [{"name": f"good {n}", "exec": {"command": "true"}} for n in range(3)]
    bad = {"name": "bad", "exec": {"command": "exit 1"}}
    project.file("cases.yaml", {"name": "C", "cases": [*good, bad]})
    screen = Screen([PROGRAM, "env", "run"], {**here.env, "TERM": "xterm"}, project.folder)
    screen.shows("FAILED: 3 passed, 1 failed")
    assert screen.process.wait(DEADLINE) == 1
    assert "3 passed" in screen.text.partition("cases: FAILED")[0], "what passed is counted in the line that changes"
    assert "cases 4/4 FAILED  bad" in screen.text


def test_the_same_over_rest_where_nobody_says_where_it_works(here: Argus) -> None:
    project = Suites(here, {"name": "pwd", "runner": "shell", "command": "pwd; exit 1"})
    reply: Reply = here.rest("POST", "/api/environments/run", {"projectPath": str(project.folder)})
    assert reply.status == 200, reply
    assert reply.json["suites"][0]["cases"][0]["output"] == str(project.folder)
    refused = here.rest("POST", "/api/environments/run_suite", {"projectPath": str(project.folder), "suiteId": "x"})
    assert (refused.status, refused.error["code"]) == (404, "SUITE_NOT_FOUND")


def test_whoever_asks_decides_whether_suites_run_side_by_side(here: Argus) -> None:
    waits = "touch {me}; for _ in $(seq 400); do test -e {other} && exit 0; sleep 0.05; done; exit 1"
    alone = "mkdir busy || exit 1; sleep 0.5; rmdir busy"
    together = [
        {"name": me, "runner": "shell", "command": waits.format(me=me, other=other)}
        for me, other in (("one", "two"), ("two", "one"))
    ]
    project = Suites(here, *together)
    assert project.run("--parallel")["totals"]["passed"] == 2
    apart = [{"name": name, "runner": "shell", "command": alone} for name in ("one", "two")]
    project = Suites(here, *apart, parallel={"enabled": True})
    assert project.run("--no-parallel")["totals"]["passed"] == 2
    wrong = here.rest("POST", "/api/environments/run", {"projectPath": str(project.folder), "parallel": "yes"})
    assert (wrong.status, wrong.error["code"]) == (400, "INVALID_REQUEST")
