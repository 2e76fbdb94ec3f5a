"""Writes the tables of docs/mcp.md from the tools and resources, so that the page cannot drift from what there is.

python scripts/tools.py            writes them
python scripts/tools.py --check    says whether they are current
"""

import re
import sys
from pathlib import Path
from typing import Any

from mcp_types import Tool

from argus.mcp.resources import LISTED, TEMPLATES
from argus.mcp.tools import listed

TARGET = Path(__file__).resolve().parent.parent / "docs" / "mcp.md"


def tools() -> str:
    rows = [f"| `{one.name}` | {parameters(one.input_schema)} | {summary(one)} | {hints(one)} |" for one in listed()]
    return "\n".join(["| tool | takes | what it does | |", "| --- | --- | --- | --- |", *rows])


def parameters(schema: dict[str, Any]) -> str:
    needed = schema.get("required", [])
    return " ".join(f"`{name}`" if name in needed else f"`{name}?`" for name in schema.get("properties", {}))


def summary(tool: Tool) -> str:
    first = (tool.description or "").partition("\n\n")[0]
    return " ".join(first.split()).replace("|", "\\|")


def hints(tool: Tool) -> str:
    said = tool.annotations
    assert said is not None
    if said.read_only_hint:
        return "reads"
    return ", ".join(["changes", *(["destructive"] if said.destructive_hint else [])])


def resources() -> str:
    rows = [f"| `{one.uri}` | {one.mime_type} | {one.description} |" for one in LISTED]
    rows += [f"| `{one.uri_template}` | {one.mime_type} | {one.description} |" for one in TEMPLATES]
    return "\n".join(["| address | type | what it holds |", "| --- | --- | --- |", *rows])


def page(text: str) -> str:
    for name, made in (("tools", tools()), ("resources", resources())):
        block = f"<!-- {name}: made by scripts/tools.py -->\n{made}\n<!-- end of {name} -->"
        text, found = re.subn(
            rf"<!-- {name}: .*?<!-- end of {name} -->", lambda _, block=block: block, text, flags=re.S
        )
        assert found == 1, f"docs/mcp.md has no place for the {name}"
    return text


def main() -> int:
    now = TARGET.read_text(encoding="utf-8")
    made = page(now)
    if "--check" in sys.argv:
        if now != made:
            print("docs/mcp.md is not what the tools say: python scripts/tools.py")
        return int(now != made)
    TARGET.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
