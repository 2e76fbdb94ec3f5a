"""The registry of codes is complete, and the structured form is the one that programs rely on."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.bridge.judging import SUGGESTED
from argus.core.errors import (
    ABOUT_BREAKERS,
    ABOUT_CONFIGS,
    ABOUT_INCIDENTS,
    ABOUT_SESSIONS,
    ABOUT_SPAWNS,
    ABOUT_STORIES,
    ACTIONS,
    FROM_NOWHERE,
    HELD_UP,
    IN_A_WRONG_FOLDER,
    IN_ANSWERS,
    IN_BRIDGE,
    IN_DATABASE,
    IN_ENVIRONMENTS,
    IN_SETTINGS,
    IN_THE_STORES_VARIABLE,
    IN_THE_WAY,
    NO_FILE,
    NOT_TO_BE_READ,
    NOT_WHOLE,
    OF_A_COMMAND,
    OF_A_NEWER,
    ON_A_SHARED_STORE,
    REGISTRY,
    WITH_A_WRONG_TOKEN,
    WITHOUT_A_FOLDER,
    ArgusError,
    Category,
    Code,
    Severity,
    exit_code,
)

THIRTEEN = re.findall(
    r"\w+",
    """
    DOCKER_UNAVAILABLE DISK_SPACE_LOW PORT_CONFLICT PORT_EXHAUSTION CONTAINER_OOM CONTAINER_CRASH
    CONTAINER_RESTART_EXHAUSTED HEALTH_CHECK_TIMEOUT NETWORK_UNREACHABLE DNS_RESOLUTION_FAILED CIRCUIT_OPEN
    ORPHAN_DETECTED CLEANUP_FAILED
""",
)
OTHERS = re.findall(
    r"\w+",
    """
    CONFIG_NOT_FOUND CONFIG_INVALID INVALID_STATE SERVICE_NOT_FOUND SUITE_NOT_FOUND CONTAINER_NOT_FOUND
    CONTAINER_NOT_RUNNING MOCK_NOT_FOUND NAME_CONFLICT BUILD_FAILED INTERNAL_ERROR SERVICE_DOWN INFRASTRUCTURE_EVENT
    RESTART_BUDGET_EXHAUSTED AGENT_NOT_FOUND AGENT_HUNG PANE_NOT_FOUND PANE_NOT_READY HANDOFF_TIMEOUT MCP_FAILED
    INVALID_REQUEST UNAUTHORIZED FORBIDDEN NOT_FOUND CONFLICT TOO_LARGE GATE_REFUSED NO_DAEMON ALREADY_RUNNING
    STORE_UNAVAILABLE STORE_CORRUPT CLOCK_JUMP
""",
)
FIELDS = {"code", "category", "severity", "message", "details", "suggestedActions", "timestamp"}

each_code = pytest.mark.parametrize("code", list(Code), ids=str)


@pytest.mark.req("FR-R01")
@pytest.mark.parametrize("name", THIRTEEN)
def test_the_thirteen_codes_are_defined_and_have_an_entry(name: str):
    assert Code(name) in REGISTRY


def test_the_thirteen_are_thirteen():
    assert len(set(THIRTEEN)) == 13


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_codes_of_the_specification_are_defined(name: str):
    assert Code(name).value == name


def test_every_code_has_one_entry_and_every_entry_a_code():
    assert set(REGISTRY) == set(Code)
    assert all(code.name == code.value for code in Code)


def test_the_categories_and_severities_are_those_of_the_contract():
    assert [one.value for one in Category] == ["infrastructure", "container", "network", "system"]
    assert [one.value for one in Severity] == ["fatal", "recoverable", "warning"]


@each_code
def test_an_entry_is_complete(code: Code):
    entry = REGISTRY[code]
    assert isinstance(entry.category, Category)
    assert isinstance(entry.severity, Severity)
    assert entry.status in {400, 401, 403, 404, 405, 409, 413, 415, 421, 500, 503}
    assert entry.actions
    assert len(set(entry.actions)) == len(entry.actions)


@pytest.mark.parametrize(
    ("code", "category", "severity"),
    [
        pytest.param(Code.DOCKER_UNAVAILABLE, "infrastructure", "fatal", id="no-engine-is-fatal"),
        pytest.param(Code.DISK_SPACE_LOW, "infrastructure", "fatal", id="a-full-disk-is-fatal"),
        pytest.param(Code.CONTAINER_OOM, "container", "recoverable", id="out-of-memory-is-recoverable"),
        pytest.param(Code.PORT_CONFLICT, "network", "recoverable", id="a-taken-port-is-recoverable"),
    ],
)
def test_the_classes_that_the_acceptance_scenarios_name(code: Code, category: str, severity: str):
    assert (REGISTRY[code].category, REGISTRY[code].severity) == (category, severity)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        pytest.param(Code.INVALID_REQUEST, 400, id="a-body-that-is-not-valid"),
        pytest.param(Code.UNAUTHORIZED, 401, id="no-token"),
        pytest.param(Code.FORBIDDEN, 403, id="a-token-that-may-not"),
        pytest.param(Code.NOT_FOUND, 404, id="no-such-path"),
        pytest.param(Code.SERVICE_NOT_FOUND, 404, id="no-such-service"),
        pytest.param(Code.AGENT_NOT_FOUND, 404, id="no-such-agent"),
        pytest.param(Code.METHOD_NOT_ALLOWED, 405, id="no-such-method"),
        pytest.param(Code.CONFLICT, 409, id="a-conflict"),
        pytest.param(Code.TOO_LARGE, 413, id="a-body-that-is-too-large"),
        pytest.param(Code.UNSUPPORTED_TYPE, 415, id="a-body-that-is-not-json"),
        pytest.param(Code.MISDIRECTED, 421, id="a-foreign-host"),
        pytest.param(Code.INTERNAL_ERROR, 500, id="a-bug"),
        pytest.param(Code.STORE_UNAVAILABLE, 503, id="no-store"),
    ],
)
def test_statuses(code: Code, status: int):
    assert ArgusError(code, "").status == status


def test_every_action_has_a_sentence_and_every_sentence_is_used():
    suggested = {action for entry in REGISTRY.values() for action in entry.actions}
    suggested |= {
        action
        for found in (IN_ENVIRONMENTS, IN_SETTINGS, IN_BRIDGE, IN_ANSWERS, SUGGESTED)
        for actions in found.values()
        for action in actions
    }
    suggested |= {
        *ABOUT_BREAKERS,
        *ABOUT_CONFIGS,
        *ABOUT_INCIDENTS,
        *ABOUT_SESSIONS,
        *ABOUT_SPAWNS,
        *ABOUT_STORIES,
        *IN_A_WRONG_FOLDER,
        *IN_THE_WAY,
        *OF_A_NEWER,
        *WITHOUT_A_FOLDER,
    }
    suggested |= {*FROM_NOWHERE, *HELD_UP, *IN_DATABASE, *NOT_WHOLE, *OF_A_COMMAND, *WITH_A_WRONG_TOKEN}
    suggested |= {*IN_THE_STORES_VARIABLE, *NO_FILE, *NOT_TO_BE_READ, *ON_A_SHARED_STORE}
    assert suggested - set(ACTIONS) == set()
    assert set(ACTIONS) - suggested == set()


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_an_action_is_an_identifier_and_its_text_a_sentence(action: str):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", action)
    assert re.fullmatch(r"[A-Z].*[^ ]\.", ACTIONS[action])


@each_code
def test_the_structured_form_has_exactly_the_seven_fields(code: Code):
    structured = ArgusError(code, "what went wrong", port=80).structured(1_700_000_000_123)
    entry = REGISTRY[code]
    assert set(structured) == FIELDS
    assert structured == {
        "code": str(code),
        "category": str(entry.category),
        "severity": str(entry.severity),
        "message": "what went wrong",
        "details": {"port": 80},
        "suggestedActions": list(entry.actions),
        "timestamp": 1_700_000_000_123,
    }


def plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(plain(item) for item in value)
    return type(value) in {str, int, float, bool, type(None)}


@given(
    code=st.sampled_from(list(Code)),
    message=st.text(),
    details=st.dictionaries(
        st.text(min_size=1).filter(lambda key: key not in {"self", "code", "message", "severity"}),
        st.integers() | st.text() | st.none() | st.lists(st.booleans()),
    ),
)
@settings(deadline=None, max_examples=50)
def test_the_structured_form_is_plain_json(code: Code, message: str, details: dict[str, Any]):
    structured = ArgusError(code, message, **details).structured(5)
    assert plain(structured)
    assert json.loads(json.dumps(structured)) == structured
    assert structured["details"] == details
    assert structured["message"] == message


@pytest.mark.parametrize("severity", list(Severity), ids=str)
@each_code
def test_a_severity_that_is_given_wins_over_the_default(code: Code, severity: Severity):
    error = ArgusError(code, "", severity=severity)
    assert error.severity is severity
    assert error.structured(0)["severity"] == severity.value


def test_the_suggested_actions_of_one_error_are_its_own():
    ArgusError(Code.NO_DAEMON, "").structured(0)["suggestedActions"].append("panic")
    assert ArgusError(Code.NO_DAEMON, "").structured(0)["suggestedActions"] == list(REGISTRY[Code.NO_DAEMON].actions)


def test_an_error_can_be_raised_and_carries_its_message():
    with pytest.raises(ArgusError) as raised:
        raise ArgusError(Code.NO_DAEMON, "none")
    assert (raised.value.code, raised.value.message, raised.value.args) == (Code.NO_DAEMON, "none", ("none",))
    assert raised.value.details == {}


@pytest.mark.parametrize("name", ["code", "message"])
def test_a_detail_may_have_any_name(name: str):
    assert ArgusError(Code.BUILD_FAILED, "", **{name: 1}).details == {name: 1}


EXITS = {
    "NO_DAEMON": 3,
    "GATE_REFUSED": 4,
    "RESTART_BUDGET_EXHAUSTED": 4,
    "CONFIG_INVALID": 2,
    "CONFIG_NOT_FOUND": 2,
    "INVALID_REQUEST": 2,
    "SERVICE_NOT_FOUND": 2,
    "AGENT_NOT_FOUND": 2,
    "SUITE_NOT_FOUND": 2,
    "CONTAINER_NOT_FOUND": 2,
    "MOCK_NOT_FOUND": 2,
    "IMAGE_NOT_FOUND": 2,
    "PANE_NOT_FOUND": 2,
    "NOT_FOUND": 2,
}


@pytest.mark.parametrize(
    ("code", "exits"),
    [
        *(pytest.param(code, exits, id=code) for code, exits in EXITS.items()),
        pytest.param("SERVICE_DOWN", 1, id="what-is-not-well-is-one"),
        pytest.param("", 1, id="no-code-at-all-is-one"),
        pytest.param("FROM_A_NEWER_DAEMON", 1, id="a-code-this-client-does-not-know-is-one"),
    ],
)
def test_exit_codes(code: str, exits: int):
    assert exit_code(code) == exits


@each_code
def test_no_error_exits_as_if_all_were_well(code: Code):
    assert exit_code(code) == exit_code(code.value) == EXITS.get(code.value, 1)


@each_code
def test_whatever_is_not_there_exits_alike(code: Code):
    assert (exit_code(code) == 2) or not code.endswith("NOT_FOUND")
