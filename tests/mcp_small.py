"""An MCP server in a few lines, by its pipes: it is there in no time, where the SDK's takes a second to begin."""

import json
import os
import sys

_NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
_NONE = {"type": "object", "properties": {}}
_TOOLS = [
    {"name": name, "description": text, "inputSchema": schema}
    for name, text, schema in (
        ("add", "Adds two numbers.", _NUMBERS),
        ("die", "Ends its server.", _NONE),
        ("hang", "Never answers.", _NONE),
    )
]


def _answer(method: str, params: dict[str, object]) -> dict[str, object] | None:
    if method == "initialize":
        who = {"name": "small", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": who}
    if method == "tools/list":
        return {"tools": _TOOLS}
    if method == "tools/call" and params["name"] == "die":
        os._exit(7)
    if method == "tools/call" and params["name"] == "hang":
        return None
    if method == "tools/call":
        numbers = params["arguments"]
        assert isinstance(numbers, dict)
        return {"content": [{"type": "text", "text": str(numbers["a"] + numbers["b"])}]}
    return {}


for line in sys.stdin:
    asked = json.loads(line)
    answer = _answer(asked["method"], asked.get("params") or {}) if "id" in asked else None
    if answer is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
