"""Whatever cuts a text from outside leaves no half of a secret: whoever shows it later would not know it for one."""

import json
from collections.abc import Callable

import pytest

from argus.agents import reports as agents
from argus.core.redact import Redactor
from argus.environments.mocking import log
from argus.environments.mocking.reading import Request
from argus.environments.testing.runners import judging as runners
from argus.environments.testing.runners.tail import Tail
from argus.environments.testing.showing import cut
from argus.host.engine import reading
from argus.host.engine.building import Lines
from argus.host.engine.refusals import said
from argus.host.engine.wire import Answer
from argus.host.seam import Ran
from argus.services.checks.process import _unanswered
from argus.services.model import Observation, Seen, Status
from argus.services.repairs import evidence
from argus.sessions import reports, spawns
from argus.sessions.signals import words

SECRET = "HuntEr2SecretPw99xyz"


def _shown_line(text: str) -> str:
    lines: list[str] = []
    Tail(lines.append).take(f"{text}\n".encode())
    return lines[0]


def _health(text: str) -> str:
    made = {"Id": "1", "Name": "/db", "State": {"Status": "running", "Health": {"Log": [{"Output": text}]}}}
    return reading.made(made).health_output


def _cut_by_the_engine(text: str) -> str:
    return _health(f"{text[:4096]}...")


def _built(text: str) -> str:
    lines: list[str] = []
    Lines(lines.append).take(f"{text}\n".encode())
    return lines[0]


def _mocked(text: str) -> str:
    request = Request("POST", "/", {}, {"x-said": text}, "")
    return str(log.seen("mail", 0.0, request, text.encode(), None, 404, 0.1))


def _restarted(text: str) -> str:
    return str(evidence(Ran(0, text, 0.1), Observation(Seen(Status.UP, None), 0.0, 0.0))["output"])


def _checked(text: str) -> str:
    return _unanswered("launchctl", Ran(1, text, 0.1)).detail


@pytest.mark.parametrize(
    ("shorten", "limit"),
    [
        pytest.param(words, 400, id="a session's question"),
        pytest.param(lambda text: str(reports.prompted("shop", "message", text, "typed", "").data), 500, id="a prompt"),
        pytest.param(
            lambda text: str(agents.stop_requested("a1", "1", text).data), agents._TASK, id="why an agent wants to end"
        ),
        pytest.param(lambda text: spawns.failure([f"Error: {text}"]), 193, id="a spawn's last line"),
        pytest.param(lambda text: spawns.quoted(text, 100), 99, id="a spawn's name"),
        pytest.param(
            lambda text: said(Answer(500, json.dumps({"message": text}).encode())), 500, id="an engine's refusal"
        ),
        pytest.param(lambda text: cut(text, 200), 200, id="a value in a test's answer"),
        pytest.param(_shown_line, 300, id="a line of a test program"),
        pytest.param(_cut_by_the_engine, 4096, id="a health check that the engine cut"),
        pytest.param(_built, 8192, id="a line of a build"),
        pytest.param(_mocked, 1024, id="a header of a request to a mock"),
        pytest.param(_mocked, 16384, id="the body of a request to a mock"),
    ],
)
def test_no_half_of_a_secret_stays_at_the_end_of_what_is_cut(shorten: Callable[[str], str], limit: int):
    for before in (limit - 20, limit - 25, limit - 30):
        shown = Redactor().text(shorten(f"{'x' * before} postgres://app:{SECRET}@db/shop {'y' * 1000}"))
        assert "xxxx" in shown
        assert not any(SECRET[at : at + 5] in shown for at in range(len(SECRET) - 4)), shown


@pytest.mark.parametrize(
    ("shorten", "limit"),
    [
        pytest.param(_health, 4096, id="a health check"),
        pytest.param(runners.end, 4096, id="a test program"),
        pytest.param(_restarted, 2000, id="a restart's output"),
        pytest.param(_checked, 200, id="a check's output"),
    ],
)
def test_no_half_of_a_secret_stays_at_the_beginning_of_what_is_cut(shorten: Callable[[str], str], limit: int):
    for after in (limit - 10, limit - 15, limit - 20):
        shown = Redactor().text(shorten(f"{'x' * 1000} postgres://app:{SECRET}@db/s {'y' * (after - 6)}"))
        assert "yyyy" in shown
        assert not any(SECRET[at : at + 5] in shown for at in range(len(SECRET) - 4)), shown
