"""Test files: what they may say, and everything that is wrong with them, with its place."""

from pathlib import Path
from typing import Any

import pytest

from argus.core.errors import ArgusError, Code
from argus.environments.testing import reading
from argus.environments.testing.reading import TestFile, Unfit
from argus.environments.testing.results import Failure
from argus.environments.testing.variables import Given, Scope

GOOD = """
name: Users
description: all of it
sequential: true
variables: {email: a@b.c}
setup:
  - waitHealthy: {timeout: 30s}
  - waitHealthy:
  - waitForPort: {port: 5432}
  - delay: 2s
  - {name: seed, exec: {command: "true"}, ignoreError: true}
cases:
  - name: request
    delay: 500
    request: {method: post, path: /users, headers: {X-N: 5, X-T: true}, body: {a: 1}, timeout: "5000"}
    expect:
      status: [200, 201]
      headers: {content-type: {contains: json}}
      body: {id: {type: number, gt: 0}}
      responseTime: {lt: 2000}
      expr: ["status == 200", "body.id > 0"]
      all: [{id: {exists: true}}]
      any: [{id: 1}, {id: 2}]
    save: {id: user.id}
    retry: {maxAttempts: 3, delay: 1s, backoff: exponential}
  - name: exec
    exec: {command: [ls, -l, 5], container: db}
    expect: {exitCode: 0, output: {contains: [a, b], length: ">0"}}
  - {name: file, file: {path: /etc/x, exists: true, permissions: 0644, size: ">1KB", owner: 0, json: {a: {gt: 1}}}}
  - {name: process, process: {name: nginx, running: true, count: ">=1", user: root}}
  - {name: port, port: {port: 80, host: localhost, listening: false, timeout: 1s}}
  - {name: sse, sse: {url: /events, timeout: 2s}, expect: {events: {minCount: 1, types: [a], first: {x: 1}}}}
teardown:
  - {request: {method: DELETE, path: /all}}
"""


def parse(text: str) -> TestFile:
    return reading.parse(text, "/t/users.yaml")


def understood(file: TestFile) -> list[Any]:
    return [reading.understand(file, one, one.tree) for one in (*file.setup, *file.cases, *file.teardown)]


def wrong(case: str) -> tuple[Failure, ...]:
    file = parse(f"name: x\ncases:\n  - {case}\n  - {{name: good, request: {{path: /}}}}\n")
    assert reading.understand(file, file.cases[1], file.cases[1].tree).name == "good"
    with pytest.raises(Unfit) as unfit:
        reading.understand(file, file.cases[0], file.cases[0].tree)
    assert all(one.code == "CONFIG_INVALID" for one in unfit.value.failures)
    return unfit.value.failures


def test_a_file_with_all_that_the_format_has_is_read_without_a_warning():
    file = parse(GOOD)
    assert file.warnings == ()
    assert (file.name, file.sequential, file.variables) == ("Users", True, {"email": "a@b.c"})
    first = understood(file)
    assert [one.wait_healthy.timeout for one in first[:2]] == [30, 60]
    request = first[5]
    assert (request.delay, request.request.method, request.request.timeout) == (0.5, "POST", 5)
    assert request.request.headers == {"X-N": "5", "X-T": "true"}
    assert first[6].exec.command == ("ls", "-l", "5")
    assert first[10].sse.timeout == 2


def test_commands_in_words_run_through_a_shell():
    file = parse("name: x\ncases: [{name: a, exec: {command: 'a | b'}}]")
    assert understood(file)[0].exec.command == ("sh", "-c", "a | b")


def test_unknown_keys_are_warnings_with_their_path_and_line():
    file = parse("name: x\nfoo: 1\ncases:\n  - name: a\n    request: {path: /, header: {}}\n    expects: {}\n")
    assert list(file.warnings) == [
        "line 2: foo: unknown key, left out",
        'line 5: cases[0].request.header: unknown key, left out; did you mean "headers"?',
        'line 6: cases[0].expects: unknown key, left out; did you mean "expect"?',
    ]
    assert understood(file)[0].expect is None


@pytest.mark.parametrize(
    ("case", "path", "words"),
    [
        ("{name: a}", "cases[0]", "no step"),
        ("{name: a, requst: {path: /}}", "cases[0].requst", '"request"'),
        ("{name: a, browser: {goto: /}}", "cases[0].browser", "no step"),
        ("{name: a, request: }", "cases[0].request", "no step"),
        ("{name: a, request: {path: /}, exec: {command: ls}}", "cases[0].exec", "request and exec"),
        ("{name: a, waitHealthy: {}}", "cases[0]", "no step"),
        ("{request: {path: /}}", "cases[0].name", "required"),
        ("just text", "cases[0]", "mapping"),
        ("{name: a, request: {method: GET}}", "cases[0].request", "path or url"),
        ("{name: a, request: {path: /, timeout: soon}}", "cases[0].request.timeout", "duration"),
        ("{name: a, request: {path: /, timeout: 2h}}", "cases[0].request.timeout", "hour"),
        ("{name: a, request: {path: /}, expect: {status: ok}}", "cases[0].expect.status", "whole number"),
        (
            "{name: a, sse: {url: /}, expect: {body: {n: {gt: 1, foo: 2}}}}",
            "cases[0].expect.body.n.foo",
            "operator",
        ),
        (
            "{name: a, sse: {url: /}, expect: {headers: {x: {has: 1}}}}",
            "cases[0].expect.headers.x.has",
            "operator",
        ),
        ("{name: a, request: {path: /}, expect: {responseTime: {max: 1}}}", "cases[0].expect.responseTime", "operator"),
        ("{name: a, request: {path: /}, expect: {expr: 'a b'}}", "cases[0].expect.expr", "expression"),
        (
            "{name: a, exec: {command: ls}, expect: {output: {matches: '('}}}",
            "cases[0].expect.output.matches",
            "regular",
        ),
        ("{name: a, exec: {command: []}}", "cases[0].exec.command", "program"),
        ("{name: a, request: {path: /}, expect: {any: []}}", "cases[0].expect.any", "empty"),
        ("{name: a, request: {path: /}, expect: {all: []}}", "cases[0].expect.all", "empty"),
        ("{name: a, request: {path: /}, save: {uuid: id}}", "cases[0].save.uuid", "meaning of its own"),
        ("{name: a, request: {path: /}, save: {env: id}}", "cases[0].save.env", "meaning of its own"),
        ("{name: a, request: {path: /}, save: {a.b: id}}", "cases[0].save.a.b", "no dots"),
        ("{name: a, request: {path: /}, save: {'': id}}", "cases[0].save.", "name is expected"),
        ("{name: a, file: {contains: x}}", "cases[0].file.path", "required"),
        ("{name: a, file: {path: /x, size: big}}", "cases[0].file.size", "comparison"),
        ("{name: a, process: {name: x, count: '=>1'}}", "cases[0].process.count", "comparison"),
        ("{name: a, port: {port: 70000}}", "cases[0].port.port", "65535"),
        ("{name: a, request: {path: /}, retry: {maxAttempts: 11, delay: 1s}}", "cases[0].retry.maxAttempts", "10"),
        ("{name: a, name: b, request: {path: /}}", "cases[0].name", "twice"),
        ("{name: a, request: {path: !!python/object:os.system x}}", "cases[0].request.path", "not read"),
    ],
)
def test_a_bad_case_names_file_and_line_and_the_others_are_good(case: str, path: str, words: str):
    found = wrong(case)
    assert path in [one.path for one in found]
    said = next(one.message for one in found if one.path == path)
    assert said.startswith("/t/users.yaml:3: ")
    assert words in said


def test_everything_that_is_wrong_with_a_case_is_told_at_once():
    found = wrong("{name: a, exec: {command: 5, timeout: x}, expect: {status: x}}")
    assert len(found) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("[1]", "mapping"),
        ("name: x", "cases"),
        ("name: x\ncases: []", "at least 1"),
        ("name: x\ncases: {}", "list"),
        ("cases: [{name: a, request: {path: /}}]", "name"),
        ("name: x\nname: y\ncases: [{}]", "twice"),
        ("name: [x\n", "not YAML"),
        ("a: " + "[" * 500, "deep"),
        ("&a [*a]", "too deep"),
        ("name: x\nbomb: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"b{n}: &b{n} [{','.join([f'*b{n - 1}' if n else '*a'] * 9)}]\n" for n in range(9)
        ) + "cases: [{}]", "too large"),
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_only_a_file_that_is_no_test_file_is_wrong_as_a_whole(text: str, words: str):
    with pytest.raises(ArgusError) as error:
        parse(text)
    assert error.value.code is Code.CONFIG_INVALID
    assert words in reading.error_of(error.value).message


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"name: \x00", b"x" * (1024 * 1024 + 1)])
def test_a_file_that_is_no_text_or_too_large_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "t.yaml").write_bytes(content)
    with pytest.raises(ArgusError) as error:
        reading.load(tmp_path / "t.yaml")
    assert error.value.code is Code.CONFIG_INVALID


def test_a_file_that_is_not_there_says_so(tmp_path: Path):
    for path in (tmp_path / "no.yaml", tmp_path):
        with pytest.raises(ArgusError) as error:
            reading.load(path)
        assert error.value.code is Code.CONFIG_NOT_FOUND


# --- variables


def scope(**saved: Any) -> Scope:
    numbers = iter(range(100))
    given = Given({"HOME": "/root"}, {"base_url": "http://localhost:3000"}, {"x": 1, "run": "r1"})
    return Scope(given, lambda: 1_700_000_000.5, lambda: f"id-{next(numbers)}", saved)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("{{id}}", 7),
        (" {{ id }} ", 7),
        ("/users/{{id}}", "/users/7"),
        ("{{runtime.id}}", 7),
        ("{{user}}", {"id": 7, "tags": ["a"]}),
        ("{{user.id}}-{{user.tags.0}}", "7-a"),
        ("is {{user}}", 'is {"id": 7, "tags": ["a"]}'),
        ("{{flag}} {{flag}}", "true true"),
        ("{{x}}{{run}}", "1r1"),
        ("{{env.HOME}}", "/root"),
        ("{{config.base_url}}/a", "http://localhost:3000/a"),
        ("{{timestamp}}", "1700000000500"),
        ("{{date}}", "2023-11-14"),
        ("{{uuid}} {{uuid}}", "id-0 id-1"),
        ("{{nothing}}", "{{nothing}}"),
        ("a {{nothing}} {{id}}", "a {{nothing}} 7"),
        ({"{{id}}": ["{{id}}", 5, None]}, {"{{id}}": [7, 5, None]}),
    ],
)
def test_references_are_resolved_and_keep_their_type_when_they_stand_alone(written: Any, value: Any):
    assert scope(id=7, user={"id": 7, "tags": ["a"]}, flag=True).resolved(written).value == value


def test_what_is_saved_goes_before_what_was_given():
    assert scope(x=2).resolved("{{x}}").value == 2


def test_what_cannot_be_resolved_is_known():
    assert scope().resolved({"a": "{{one}}", "b": ["x {{two}}"]}).unresolved == ["one", "two"]


def test_variables_of_the_file_are_resolved_once_and_in_order():
    made = scope()
    made.define({"id": "{{uuid}}", "url": "{{config.base_url}}/{{id}}", "n": 5})
    assert made.resolved(["{{url}}", "{{url}}", "{{n}}"]).value == ["http://localhost:3000/id-0"] * 2 + [5]


def test_the_example_of_the_documentation_is_one():
    page = (Path(__file__).parents[3] / "docs" / "tests.md").read_text()
    file = parse(page.partition("```yaml\n")[2].partition("```")[0])
    assert file.warnings == ()
    assert len(understood(file)) == 5


def test_a_number_is_a_name_too():
    file = parse("name: 2024\ncases: [{name: 5, exec: {command: ls}}]")
    assert (file.name, file.cases[0].name, understood(file)[0].name) == ("2024", "5", "5")
