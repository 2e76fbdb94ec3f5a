"""Writes docs/configuration.md from the models, so that the reference cannot drift from what is accepted.

python scripts/reference.py            writes it
python scripts/reference.py --check    says whether it is current
"""

import json
import sys
from pathlib import Path
from typing import Any

from argus import config
from argus.core.units import DURATION_PATTERN, POSITIVE_DURATION_PATTERN

TARGET = Path(__file__).resolve().parent.parent / "docs" / "configuration.md"
HEAD = """# Configuration: argus.yaml

Generated from the models by `scripts/reference.py`; do not edit. `argus schema argus` prints the JSON Schema;
`argus check` reads a file without starting anything and names every error with its path and line.

`./argus.yaml`, else `$XDG_CONFIG_HOME/argus/argus.yaml`; `--config FILE` and `ARGUS_CONFIG` name another;
[installing.md](installing.md#variables) has `ARGUS_HOME` and the other variables. Everything has a default: an empty
file, or none, is a working Argus. Durations are text with a unit: `500ms`, `30s`, `1h30m`.
"""


def table(name: str, schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    required = schema.get("required", [])
    rows = [
        f"\n## {name}\n",
        schema.get("description", ""),
        "",
        "| key | value | default | |",
        "| --- | --- | --- | --- |",
    ]
    for key, field in schema.get("properties", {}).items():
        default = "required" if key in required else f"`{json.dumps(field['default'])}`" if "default" in field else ""
        rows.append(f"| `{key}` | {kind(field, definitions)} | {default} | {field.get('description', '')} |")
    return "\n".join(rows) + "\n"


def kind(field: dict[str, Any], definitions: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        values = definitions[name].get("enum")
        return " or ".join(f"`{value}`" for value in values) if values else f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " or ".join(kind(one, definitions) for one in field["anyOf"])
    if "oneOf" in field:
        return " or ".join(kind(one, definitions) for one in field["oneOf"])
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if field.get("type") == "array":
        return f"list of {kind(field.get('items', {}), definitions)}"
    if field.get("pattern") in (DURATION_PATTERN, POSITIVE_DURATION_PATTERN):
        return "duration"
    return field.get("title") if field.get("type") == "object" and field.get("properties") else field.get("type", "any")


def reference() -> str:
    schema = config.json_schema()
    definitions = schema.get("$defs", {})
    parts = [HEAD, table("The file", schema, definitions)]
    parts += [table(name, one, definitions) for name, one in sorted(definitions.items()) if one.get("properties")]
    return "\n".join(parts).replace("\n\n\n", "\n\n")


if __name__ == "__main__":
    text = reference()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            sys.exit("docs/configuration.md is not current: python scripts/reference.py")
    else:
        TARGET.write_text(text, encoding="utf-8")
