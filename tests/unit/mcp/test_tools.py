"""What an agent reads of the tools before it calls one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from mcp_types import Tool

from argus.mcp.resources import LISTED, TEMPLATES
from argus.mcp.tools import INSTRUCTIONS, TOOLS, listed

_ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "argus_init": {},
    "argus_build": {"noCache": False, "service": None, "useExisting": False},
    "argus_setup": {"timeout": None},
    "argus_run": {"filter": None, "parallel": None},
    "argus_run_suite": {},
    "argus_status": {},
    "argus_logs": {"lines": 100, "since": None},
    "argus_clean": {"force": False},
    "argus_mock_requests": {"mockName": None, "since": None, "clear": False},
    "argus_preflight_check": {"skipDiskCheck": False, "skipOrphanCheck": False, "autoFix": False},
    "argus_reset_circuit": {},
}
"""With their defaults, as the specification names them."""
_NEEDED = {"argus_run_suite": {"suiteId"}, "argus_logs": {"container"}}
_OTHERS = {
    "argus_context", "argus_services", "argus_check_service", "argus_restart_service", "argus_agents",
    "argus_heartbeat", "argus_register_spawn", "argus_update_spawn", "argus_report_context", "argus_admission",
    "argus_request_stop", "argus_breakers", "argus_query_mcp",
}  # fmt: skip
_EACH = pytest.mark.parametrize("tool", listed(), ids=lambda one: one.name)
_LONGEST_TITLE = 40


def test_every_tool_of_the_specification_is_there() -> None:
    assert set(TOOLS) >= {*_ENVIRONMENTS, *_OTHERS}


@pytest.mark.parametrize("name", _ENVIRONMENTS)
def test_environment_tools_take_what_the_specification_says_with_its_defaults(name: str) -> None:
    schema = next(one for one in listed() if one.name == name).input_schema
    fields = schema["properties"]
    assert set(schema["required"]) == {"projectPath", *_NEEDED.get(name, ())}
    for field, default in {"configFile": None, **_ENVIRONMENTS[name]}.items():
        assert fields[field]["default"] == default, field
    assert "shell" not in fields, "the relay says it"
    assert "ShellAsk" not in str(schema)


@_EACH
def test_every_tool_says_what_it_changes(tool: Tool) -> None:
    said = " ".join((tool.description or "").split())
    assert re.search(r"(^|[.:] )Changes [a-z]", said), said
    # What only reads says so without an exception, and nothing else may say it so.
    says_nothing = re.search(r"Changes nothing( and starts nothing)?\.( |$)", said) is not None
    assert says_nothing is TOOLS[tool.name].read_only


@_EACH
def test_every_tool_and_every_parameter_is_described(tool: Tool) -> None:
    first = (tool.description or "").partition("\n")[0]
    assert first.endswith("."), first
    for name, field in tool.input_schema["properties"].items():
        assert field.get("description"), f"{tool.name}: {name}"
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False


@_EACH
def test_annotations_agree_with_the_operation(tool: Tool) -> None:
    one, hints = TOOLS[tool.name], tool.annotations
    assert hints is not None
    assert hints.read_only_hint is one.read_only
    assert hints.destructive_hint is one.destructive
    assert hints.idempotent_hint is (one.read_only or one.idempotent)
    assert hints.open_world_hint is one.open_world
    assert not (one.read_only and (one.destructive or one.ends_with_caller))
    assert hints.title == tool.title
    assert hints.title
    assert len(hints.title) <= _LONGEST_TITLE
    assert not hints.title.endswith(".")


@pytest.mark.parametrize(
    ("name", "destructive", "idempotent", "open_world"),
    [
        ("argus_clean", True, True, False),
        ("argus_restart_service", True, False, False),
        ("argus_setup", True, False, True),
        ("argus_run", False, False, True),
        ("argus_build", False, False, True),
        ("argus_heartbeat", False, True, False),
        ("argus_register_spawn", False, False, False),
        ("argus_context", False, True, False),
    ],
)
def test_hints_warn_of_what_a_person_would_want_to_be_asked_about(
    name: str, destructive: bool, idempotent: bool, open_world: bool
) -> None:
    (hints,) = [one.annotations for one in listed() if one.name == name]
    assert hints is not None
    assert (hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint) == (
        destructive, idempotent, open_world,
    )  # fmt: skip


def test_titles_tell_the_tools_apart() -> None:
    titles = [one.title for one in listed()]
    assert len(set(titles)) == len(titles)


def test_the_instructions_name_only_what_there_is() -> None:
    named = set(re.findall(r"argus_[a-z_]+", INSTRUCTIONS))
    assert named
    assert named <= set(TOOLS)
    known = {*(one.uri for one in LISTED), *(one.uri_template for one in TEMPLATES)}
    assert set(re.findall(r"argus://[^\s;]+", INSTRUCTIONS)) <= known


def test_resources_say_what_they_are() -> None:
    for one in (*LISTED, *TEMPLATES):
        assert one.name
        assert one.title
        assert one.description
        assert one.mime_type
