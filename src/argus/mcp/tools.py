"""Operations as an agent sees them: a tool each, with what it takes, what it answers and what it changes."""

from __future__ import annotations

from typing import Any

import mcp_types as types

from argus.ops import OPERATIONS, Operation
from argus.ops.operation import CLI_SHELL

INSTRUCTIONS = """\
Argus supervises this machine. It watches services and restarts them within limits, keeps a record of agents (like \
you), their sessions and the work they gave away, and brings Docker test environments up from a project's e2e.yaml.

Where to begin:
- Something fails and it may not be your fault: argus_context, a short block on the health of the machine; \
argus_services for details; the resource argus://incidents/{id} tells an incident's story.
- A service should be restarted: argus_restart_service, never by hand. It passes gates and may be refused.
- You need a test environment: argus_init reads e2e.yaml, argus_setup brings it up (argus_build before it where images \
are built), argus_run runs the suites, argus_logs and argus_status show what happened, argus_clean takes it away. \
argus_preflight_check says why this machine is not ready. Paths may be relative to the folder you work in.
- You are an agent that Argus keeps an eye on: argus_heartbeat while you work, argus_report_context as your context \
fills, argus_admission before a large task, argus_register_spawn for work you give away, argus_request_stop to end.
- You need another MCP server: argus_mcp_servers lists those of your folder, argus_mcp_tools the tools of one, \
argus_call_mcp calls one, and argus_query_mcp asks a model that uses several.

Every answer is {"success": true, "data": ..., "timestamp": ms} or {"success": false, "error": {"code", "message", \
"details"}, "timestamp": ms}, in the text and as structured content. Act on error.code and on \
error.details.suggestedActions; error.details.details holds the facts. CIRCUIT_OPEN, GATE_REFUSED and \
RESTART_BUDGET_EXHAUSTED do not go away by asking again at once. Long work reports progress when you send a \
progressToken; builds, setups, test runs and questions to other servers end when you cancel them."""

TOOLS: dict[str, Operation] = {one.tool: one for one in OPERATIONS if one.tool}


def listed() -> list[types.Tool]:
    return [_tool(name, one) for name, one in sorted(TOOLS.items())]


def _tool(name: str, one: Operation) -> types.Tool:
    data = one.answer.model_json_schema(by_alias=True, mode="serialization")
    definitions = data.pop("$defs", {})
    envelope = {
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "data": data,
            "timestamp": {"type": "integer", "description": "Epoch milliseconds"},
        },
        "required": ["success", "data", "timestamp"],
        "$defs": definitions,
    }
    return types.Tool(
        name=name,
        title=title(one),
        description=one.documentation,
        input_schema=_input(one),
        output_schema=envelope,
        annotations=types.ToolAnnotations(
            title=title(one),
            read_only_hint=one.read_only,
            destructive_hint=one.destructive,
            idempotent_hint=one.read_only or one.idempotent,
            open_world_hint=one.open_world,
        ),
    )


def title(one: Operation) -> str:
    """Short, for a list that people read."""
    words = (one.tool or one.name).removeprefix("argus_").replace("_", " ")
    return f"Environment: {words}" if one.name.startswith("environments.") else words.capitalize()


def _input(one: Operation) -> dict[str, Any]:
    """Without what an agent cannot know and its relay says for it."""
    schema = one.ask.model_json_schema(by_alias=True)
    known = {name: field for name, field in schema.get("properties", {}).items() if field.get("cli") != CLI_SHELL}
    if known == schema.get("properties"):
        return schema
    definitions = {name: said for name, said in schema.pop("$defs", {}).items() if f"#/$defs/{name}" in str(known)}
    return {**schema, "properties": known, **({"$defs": definitions} if definitions else {})}
