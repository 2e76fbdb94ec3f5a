"""Test files, played against a real server and this machine."""

import asyncio
import contextlib
import itertools
import json
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.case_server import CaseServer, serving

from argus.core.clock import SystemClock
from argus.environments.e2e.suites import Retry
from argus.environments.testing import real
from argus.environments.testing.results import CaseResult, SuiteResult, Verdict
from argus.environments.testing.running import Plan, Progress, run_suite_file
from argus.environments.testing.variables import Given
from argus.environments.testing.world import World
from argus.environments.tools import Shell
from argus.host.machine import MachineHost
from argus.host.matching import Matcher

ENOUGH = 60.0


@dataclass
class Bench:
    server: CaseServer
    world: World
    folder: Path
    told: list[Progress] = field(default_factory=list)

    async def suite(self, text: str | dict[str, Any], given: Given | None = None, **more: Any) -> SuiteResult:
        file = self.folder / "t.yaml"
        file.write_text(text if isinstance(text, str) else yaml.safe_dump(text, sort_keys=False))
        plan = Plan("s1", "suite", **{key: more.pop(key) for key in list(more) if key in Plan.__slots__})
        numbers = itertools.count()
        async with asyncio.timeout(ENOUGH):
            return await run_suite_file(
                file,
                plan,
                more.pop("world", self.world),
                given or Given(),
                clock=SystemClock(),
                new_id=lambda: f"id-{next(numbers)}",
                told=self.told.append,
                **more,
            )

    async def case(self, **keys: Any) -> CaseResult:
        (result,) = (await self.suite({"name": "x", "cases": [{"name": "a", **keys}]})).cases
        return result


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    host = MachineHost()
    try:
        async with serving() as server:
            shell = Shell(str(tmp_path), {**os.environ, "GREETING": "hello"})
            no_dock: Any = None
            yield Bench(server, real.world(host, no_dock, shell, base_url=f"{server.url}/"), tmp_path)
    finally:
        host.close()


def said(case: CaseResult) -> list[str]:
    return [str(one) for one in case.failures]


ALL = """
name: Users
sequential: true
variables: {name: "u-{{uuid}}"}
setup:
  - waitHealthy:
  - delay: 1ms
cases:
  - name: create
    request: {method: POST, path: /users, body: {name: "{{name}}", n: 5}}
    expect:
      status: [200, 201]
      headers: {X-Id: abc, content-type: {startsWith: application/json}}
      body: {user: {id: {type: number, gt: 0}, tags: {length: 2}}, sent: {name: "{{name}}", n: 5}}
      responseTime: {lt: 60000}
      expr: ["body.user.id == 7 && status == 201", "vars.name == 'u-id-0'"]
      any: [{nope: 1}, {user: {id: 7}}]
    save: {id: user.id, first: "user.tags[0]", header: headers.X-Id, whole: "$"}
  - name: read
    request: {path: "users/{{id}}", headers: {Authorization: "Bearer {{header}}-{{first}}-{{whole.user.id}}"}}
    expect: {status: 200, body: {id: "{{id}}", token: Bearer abc-a-7}}
  - name: command
    exec: {command: 'printf "%s in %s" "$GREETING" "$PWD"; echo bad >&2'}
    expect: {exitCode: 0, output: {contains: hello in /, notContains: bad, matches: "^h.*$", length: "==1"}}
teardown:
  - {request: {method: DELETE, path: /gone}}
"""


async def test_a_whole_file_goes_well(bench: Bench):
    result = await bench.suite(ALL)
    assert [said(one) for one in result.cases] == [[], [], []]
    assert (result.status, result.error, result.name, result.warnings) == (Verdict.PASSED, None, "Users", ())
    assert result.cases[0].saved == ("id", "first", "header", "whole")
    assert bench.server.paths() == ["GET /health", "POST /users", "GET /users/7", "DELETE /gone"]
    assert [one.case for one in bench.told if one.kind == "known"] == ["create", "read", "command"]
    assert [(one.kind, one.number, one.case) for one in bench.told[3:]] == [
        (kind, number, name)
        for number, name in ((1, "create"), (2, "read"), (3, "command"))
        for kind in ("started", "ended")
    ]
    json.dumps(result.public())


async def test_a_failure_shows_path_expected_and_actual_and_what_was_answered(bench: Bench):
    case = await bench.case(request={"path": "/none"}, expect={"status": 200, "body": {"error": {"length": 1}}})
    assert case.status is Verdict.FAILED
    assert [(one.path, one.expected, one.actual) for one in case.failures] == [
        ("status", 200, 404),
        ("body.error.length", 1, 12),
    ]
    assert "no such page" in case.output


@pytest.mark.parametrize(
    ("path", "expect"),
    [
        ("/text", {"body": "grüße", "headers": {"content-length": 5}}),
        ("/packed", {"body": {"packed": True}}),
        ("/nothing", {"status": 204, "body": {"exists": False}}),
        ("/closed", {"body": {"endsWith": "the end"}}),
        ("/moved", {"status": 200, "body": {"id": 7}}),
        ("/moved", {"status": 302, "headers": {"location": "/users/7"}}),
        ("/text?q=a b&ü=[1]", {"status": 200}),
    ],
)
async def test_answers_of_every_kind_are_understood(bench: Bench, path: str, expect: dict[str, Any]):
    assert said(await bench.case(request={"path": path}, expect=expect)) == []


async def test_bodies_go_out_as_their_content_type_says(bench: Bench):
    form = {"content-type": "application/x-www-form-urlencoded"}
    for headers, body, sent in (
        ({}, {"a": [1]}, '{"a": [1]}'),
        (form, {"a": "x y", "b": 1}, "a=x+y&b=1"),
        ({"Content-Type": "text/csv"}, "a;b", "a;b"),
    ):
        kind = next(iter(headers.values()), "application/json")
        request = {"method": "POST", "path": "/form", "headers": headers, "body": body}
        assert said(await bench.case(request=request, expect={"body": {"kind": kind, "sent": sent}})) == []


async def test_a_large_answer_is_cut_and_says_so(bench: Bench):
    case = await bench.case(request={"path": "/large"}, expect={"body": {"length": 1}})
    assert case.failures[0].actual == 4 * 1024 * 1024
    assert "cut after" in case.output
    assert len(json.dumps(case.public())) < 20_000


async def test_what_was_cut_is_said_also_where_the_case_passed_and_is_not_saved(bench: Bench):
    case = await bench.case(request={"path": "/large"}, expect={"status": 200}, save={"how": "status"})
    assert (case.status, case.saved) == (Verdict.PASSED, ("how",))
    assert "cut after 4194304 bytes" in case.reason
    case = await bench.case(request={"path": "/large"}, save={"all": "$"})
    assert (case.status, case.saved) == (Verdict.FAILED, ())
    assert "cannot be saved as all: the body is cut" in case.failures[0].message
    case = await bench.case(exec={"command": "yes | head -c 2000000"}, save={"all": "output"})
    assert (case.status, "the output is cut" in case.failures[0].message) == (Verdict.FAILED, True)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"path": "/slow", "timeout": "200ms"}, "0.2 s"),
        ({"url": "http://127.0.0.1:1/"}, "refused"),
        ({"path": "/circle"}, "elsewhere"),
        ({"url": "ftp://x/"}, "http://"),
        ({"url": "http://[/"}, "URL"),
        ({"path": "/", "headers": {"X": "a\r\nY: b"}}, "header"),
    ],
)
async def test_a_request_that_cannot_be_made_is_a_failure_of_its_case(bench: Bench, request_: Any, words: str):
    case = await bench.case(request=request_)
    assert case.status is Verdict.FAILED
    assert words in said(case)[0]


async def test_saving_what_is_not_there_is_a_failure_that_says_so(bench: Bench):
    case = await bench.case(request={"path": "/users/7"}, save={"x": "user.name", "id": "id"})
    assert said(case) == ["save.x: cannot be saved as x: there is nothing at 'user.name'"]
    assert case.saved == ("id",)


async def test_a_bad_case_fails_and_the_others_run(bench: Bench):
    result = await bench.suite(
        "name: x\ncases:\n  - {name: bad, requst: {path: /}}\n"
        "  - {name: worse, request: {path: /text}, expect: {body: {matches: '('}}}\n"
        "  - {name: good, request: {path: /text}}\n"
    )
    assert [one.status for one in result.cases] == [Verdict.FAILED, Verdict.FAILED, Verdict.PASSED]
    assert [one.failures[0].code for one in result.cases[:2]] == ["CONFIG_INVALID"] * 2
    assert f"{bench.folder}/t.yaml:4: " in result.cases[1].failures[0].message
    assert bench.server.paths() == ["GET /text"]


async def test_a_file_that_cannot_be_run_fails_its_suite(bench: Bench):
    result = await bench.suite("name: x\ncases: 5\n")
    assert (result.status, result.name, result.cases) == (Verdict.FAILED, "suite", ())
    assert result.error is not None
    assert result.error.code == "CONFIG_INVALID"


async def test_the_first_failure_of_a_sequential_file_skips_the_rest(bench: Bench):
    def case(name: str, status: int) -> dict[str, Any]:
        return {"name": name, "request": {"path": "/x"}, "expect": {"status": status}}

    cases = [case("1", 404), case("2", 200), case("3", 404)]
    result = await bench.suite({"name": "x", "sequential": True, "cases": cases})
    assert [one.status.value for one in result.cases] == ["passed", "failed", "skipped"]
    assert '"2" failed' in result.cases[2].reason
    assert result.cases[2].attempts == 0


async def test_an_ignored_error_passes_and_says_so(bench: Bench):
    case = await bench.case(request={"path": "/x"}, expect={"status": 200}, ignoreError=True)
    assert case.status is Verdict.PASSED
    assert "ignored" in case.reason
    assert case.failures[0].path == "status"


@pytest.mark.parametrize(("level", "attempts"), [("case", 3), ("suite", 3), ("global", 3), ("none", 1)])
async def test_a_case_is_tried_again_as_the_nearest_level_says(bench: Bench, level: str, attempts: int):
    bench.server.fails = 2
    three = {"maxAttempts": 3, "delay": "1ms", "backoff": "exponential"}
    wrong = Retry.model_validate({"maxAttempts": 1, "delay": "1h"})
    retry = Retry.model_validate(three)
    levels: dict[str, dict[str, Any]] = {
        "case": {"retry": wrong, "retry_of_all": wrong},
        "suite": {"retry": retry, "retry_of_all": wrong},
        "global": {"retry_of_all": retry},
        "none": {},
    }
    around: list[str] = []

    @contextlib.asynccontextmanager
    async def noted(name: str) -> AsyncIterator[None]:
        around.append(name)
        yield

    case = {"name": "a", "request": {"path": "/flaky"}, "expect": {"status": 200}}
    case |= {"retry": three} if level == "case" else {}
    result = await bench.suite({"name": "x", "cases": [case]}, around=noted, **levels[level])
    assert (result.cases[0].attempts, around) == (attempts, ["a"] * attempts)
    assert result.cases[0].status is (Verdict.PASSED if attempts == 3 else Verdict.FAILED)


@pytest.mark.parametrize(
    ("fails", "disturbed", "status", "asked"),
    [
        (1, 1, Verdict.PASSED, 2),
        (1, 0, Verdict.FAILED, 1),
        (9, 9, Verdict.FAILED, 3),  # one that breaks its environment each time
        (0, 1, Verdict.PASSED, 1),
    ],
)
async def test_a_case_that_failed_while_its_environment_did_is_played_anew(
    bench: Bench, fails: int, disturbed: int, status: Verdict, asked: int
):
    bench.server.fails = fails
    turns: list[str] = []

    class Turn:
        async def was_disturbed(self) -> bool:
            return len(turns) <= disturbed

    @contextlib.asynccontextmanager
    async def taking_turns(name: str) -> AsyncIterator[Turn]:
        turns.append(name)
        yield Turn()

    case = {"name": "a", "request": {"path": "/flaky"}, "expect": {"status": 200}}
    result = await bench.suite({"name": "x", "cases": [case]}, around=taking_turns)
    assert (result.cases[0].status, len(turns)) == (status, asked)
    assert result.cases[0].attempts == 1
    assert ("tried again" in result.cases[0].reason) == (asked > 1)


async def test_cases_run_side_by_side_in_bounds_and_keep_their_order(bench: Bench):
    cases = [{"name": str(n), "request": {"path": "/slow"}} for n in range(6)]
    running = asyncio.ensure_future(bench.suite({"name": "x", "cases": cases}, parallel=True, concurrency=3))
    while bench.server.under_way < 3:  # noqa: ASYNC110 - the server has nobody to tell
        await asyncio.sleep(0.01)
    bench.server.slow.set()
    result = await running
    assert [one.name for one in result.cases] == [str(n) for n in range(6)]
    assert result.status is Verdict.PASSED
    assert bench.server.most_at_once == 3


async def test_setup_that_fails_skips_the_cases_and_teardown_still_runs(bench: Bench):
    result = await bench.suite(
        {
            "name": "x",
            "setup": [
                {"request": {"path": "/x"}, "ignoreError": True},
                {"waitForPort": {"port": 1, "timeout": "100ms"}},
            ],
            "cases": [{"name": "a", "request": {"path": "/text"}}],
            "teardown": [{"name": "t", "exec": {"command": "exit 3"}}, {"request": {"path": "/last"}}],
        }
    )
    assert (result.status, result.cases[0].status) == (Verdict.FAILED, Verdict.SKIPPED)
    assert result.error is not None
    assert "line" in result.error.message
    assert bench.server.paths() == ["GET /x", "GET /last"]
    assert ["t" in one and "got 3" in one for one in result.warnings] == [True]


async def test_teardown_runs_when_the_suite_is_cancelled(bench: Bench):
    suite = {
        "name": "x",
        "cases": [{"name": "a", "request": {"path": "/slow"}}],
        "teardown": [{"exec": {"command": "sleep 0.2; touch torn-down"}}],
    }
    running = asyncio.ensure_future(bench.suite(suite))
    while not bench.server.under_way:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (bench.folder / "torn-down").exists()


async def test_a_teardown_that_never_ends_does_not_hold_up_a_cancelled_run(bench: Bench):
    suite = {
        "name": "x",
        "cases": [{"name": "a", "request": {"path": "/slow"}}],
        "teardown": [{"request": {"path": "/slow", "timeout": "50s"}}],
    }
    running = asyncio.ensure_future(bench.suite(suite, last_words=0.1))
    while not bench.server.under_way:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    running.cancel()
    async with asyncio.timeout(40):
        with pytest.raises(asyncio.CancelledError):
            await running
    assert bench.server.paths() == ["GET /slow"] * 2


async def test_only_a_case_that_passed_saves(bench: Bench):
    case = {"name": "a", "request": {"path": "/users/7"}, "expect": {"status": 500}, "save": {"id": "id"}}
    result = await bench.suite({"name": "x", "cases": [case, {"name": "b", "exec": {"command": "test {{id}} = 7"}}]})
    assert [one.status.value for one in result.cases] == ["failed", "failed"]
    assert "{{id}}" in result.cases[1].reason


async def test_waiting_for_health_asks_where_the_configuration_says(bench: Bench):
    bench.server.fails = 2
    world = replace(bench.world, health_urls=(f"{bench.server.url}/flaky",))
    suite = {
        "name": "x",
        "setup": [{"waitHealthy": {"timeout": "30s"}}],
        "cases": [{"name": "a", "exec": {"command": "true"}}],
    }
    assert (await bench.suite(suite, world=world)).status is Verdict.PASSED
    assert bench.server.paths() == ["GET /flaky"] * 3


async def test_an_expression_that_backtracks_for_ever_ends_its_case_alone(bench: Bench):
    world = replace(bench.world, matching=lambda: Matcher(deadline=0.5))
    cases = [
        {"name": "bad", "exec": {"command": "printf " + "a" * 40}, "expect": {"output": {"matches": "^(a+)+$b"}}},
        {"name": "good", "exec": {"command": "echo abc"}, "expect": {"output": {"matches": "^a(?<rest>.*)c$"}}},
    ]
    result = await bench.suite({"name": "x", "cases": cases}, world=world)
    assert [one.status.value for one in result.cases] == ["failed", "passed"]
    assert result.cases[0].failures[0].code == "CONFIG_INVALID"


# --- events


@pytest.mark.parametrize(
    "events",
    [
        {"minCount": 2},
        {"types": ["begin", "end"], "dataContains": ["two\nlines"]},
        {"minCount": 3, "first": {"n": 1}, "dataContains": '"n": 3'},
        {"minCount": 1, "maxCount": 3, "dataNotContains": "four", "last": {"n": {"gt": 2}}},
    ],
)
async def test_events_of_a_stream_are_read_until_it_is_enough(bench: Bench, events: dict[str, Any]):
    case = await bench.case(sse={"url": "/events", "timeout": "1s"}, expect={"status": 200, "events": events})
    assert said(case) == []


async def test_events_that_do_not_come_and_those_that_must_not_are_failures(bench: Bench):
    expect = {"events": {"minCount": 4, "types": ["x"], "dataNotContains": "two", "last": {"n": 1}}}
    case = await bench.case(sse={"url": "/events", "method": "POST"}, expect=expect)
    assert [one.path for one in case.failures] == ["events", "events.types", "events.data", "events.last.n"]


async def test_events_can_be_saved(bench: Bench):
    case = {"name": "a", "sse": {"url": "/events"}, "expect": {"events": {"minCount": 3}}}
    case["save"] = {"count": "eventCount", "n": "lastEvent.data.n", "id": "events.1.id"}
    uses = {
        "name": "b",
        "exec": {"command": "echo {{count}} {{n}} {{id}}"},
        "expect": {"output": {"matches": "^3 3 5$"}},
    }
    result = await bench.suite({"name": "x", "cases": [case, uses]})
    assert [said(one) for one in result.cases] == [[], []]


async def test_what_is_no_stream_is_a_failure(bench: Bench):
    assert "404" in said(await bench.case(sse={"url": "/none"}))[0]


# --- this machine, where there is no container


async def test_commands_run_in_the_callers_folder_and_end_with_their_group(bench: Bench):
    command = "sleep 300 & echo $! >child; wait"
    case = await bench.case(exec={"command": command, "timeout": "500ms"})
    assert "0.5 s" in said(case)[0]
    child = int((bench.folder / "child").read_text())
    await gone(lambda: Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text())


async def gone(is_there: Callable[[], bool]) -> None:
    async with asyncio.timeout(ENOUGH):
        while is_there():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("keys", "failed"),
    [
        ({"exec": {"command": ["printf", "%s", "$HOME"]}, "expect": {"output": {"contains": "$HOME"}}}, []),
        ({"exec": {"command": "exit 3"}}, ["exitCode: expected 0, got 3"]),
        ({"exec": {"command": "exit 3"}, "expect": {"exitCode": 3}}, []),
        ({"exec": {"command": "echo oops >&2; exit 1"}, "expect": {"output": {"contains": "oops"}}}, []),
        ({"exec": {"command": ["no-such-program"]}}, ["exec: no such program: no-such-program"]),
        ({"exec": {"command": "echo '[1]'"}, "expect": {"output": {"json": [1]}, "body": [1]}}, []),
        ({"exec": {"command": "echo x"}, "expect": {"output": {"json": {"a": 1}}}}, ["output: is not JSON"]),
        ({"exec": {"command": "echo x"}, "expect": {"status": 200}}, ["status: this step has no status"]),
        ({"file": {"path": "note", "contains": "one", "size": ">3", "matches": "t.o$", "permissions": "0640"}}, []),
        ({"file": {"path": "note", "permissions": "-rw-r-----", "exists": True}}, []),
        ({"file": {"path": "note", "exists": False}}, ["file note: exists"]),
        ({"file": {"path": "nothing"}}, ["file nothing: does not exist"]),
        ({"file": {"path": "nothing", "exists": False, "contains": "x"}}, []),
        ({"file": {"path": "note", "owner": "nobody-such", "size": "<3"}}, 2),
        ({"process": {"name": "pytest", "running": True, "count": ">=1"}}, []),
        ({"process": {"name": "no-such-process-at-all"}}, 1),
        ({"process": {"name": "no-such-process-at-all", "running": False}}, []),
        ({"port": {"port": 1, "listening": False}}, []),
        ({"port": {"port": 1, "host": "127.0.0.1"}}, 1),
    ],
)  # fmt: skip
async def test_steps_on_this_machine(bench: Bench, keys: dict[str, Any], failed: list[str] | int):
    (bench.folder / "note").write_text("one two")
    (bench.folder / "note").chmod(0o640)
    found = said(await bench.case(**keys))
    assert (len(found) if isinstance(failed, int) else found) == failed


async def test_what_was_not_resolved_is_said_where_it_failed(bench: Bench):
    case = await bench.case(request={"path": "/users/{{nobody}}"}, expect={"status": 200})
    assert "{{nobody}}" in case.reason


async def test_variables_come_from_the_environment_and_its_configuration(bench: Bench):
    given = Given({"WHO": "env"}, {"base_url": bench.server.url, "n": 5}, {"run": "r"})
    case = {
        "name": "a",
        "request": {
            "url": "{{config.base_url}}/users",
            "method": "POST",
            "body": ["{{env.WHO}}", "{{config.n}}", "{{run}}"],
        },
    }
    case["expect"] = {"body": {"sent": ["env", 5, "r"]}}
    result = await bench.suite({"name": "x", "cases": [case]}, given)
    assert said(result.cases[0]) == []
