"""Writes docs/errors.md from the error codes, so that what is said about each cannot drift from what is answered.

python scripts/errors.py            writes it
python scripts/errors.py --check    says whether it is current
"""

import json
import sys
from pathlib import Path

from argus.core.errors import ACTIONS, REGISTRY, ArgusError, Category, Code, exit_code

TARGET = Path(__file__).resolve().parent.parent / "docs" / "errors.md"
HEAD = """# If this happens, do that: every error code

Generated from `core/codes.py` by `scripts/errors.py`; do not edit. `argus explain CODE` says the same in a terminal.

Every face of Argus says an error in the same form: `code`, `category`, `severity`, `message`, `details`,
`suggestedActions`, `timestamp`. The codes, and the identifiers of the actions, do not change; the sentences may. The
command line says the sentence and the actions, and ends with the exit code below; with `--json` it prints the whole.
Exit codes: 0 done, 1 the thing asked about is not well, 2 wrong use, 3 no daemon, 4 refused by a gate.

*Agents*: act on the code, never on the sentence. A refusal by a gate is a correct answer. What says that it is not
retryable is answered the same way the next time.
"""
_TIME = 1794818295718
_GROUPS = {
    Category.INFRASTRUCTURE: "The machine, its services and the engine",
    Category.CONTAINER: "Containers",
    Category.NETWORK: "Ports and networks",
    Category.SYSTEM: "Argus, its files and its doors",
}


def index() -> str:
    rows = ["| code | it means | again? |", "| --- | --- | --- |"]
    for code, entry in sorted(REGISTRY.items()):
        rows.append(
            f"| [{code.value}](#{code.value.lower()}) | {entry.means} | {entry.retry.value.partition(':')[0]} |"
        )
    return "\n".join(rows) + "\n"


def section(code: Code) -> str:
    entry = REGISTRY[code]
    error = ArgusError(code, entry.message, **entry.details)
    lines = [
        f"### {code.value}",
        entry.means,
        "",
        f"- **When**: {entry.when}",
        f"- **Again?** {entry.retry.value[0].upper()}{entry.retry.value[1:]}.",
        f"- **In numbers**: HTTP {entry.status}, exit code {exit_code(code)}, {entry.severity.value}.",
        f"- **A person**: {' '.join(ACTIONS[action] for action in entry.actions)}",
        f"- **An agent**: {entry.agent}",
        "",
        "```json",
        json.dumps({"error": error.structured(_TIME)}, ensure_ascii=False),
        "```",
        "",
    ]
    return "\n".join(lines)


def page() -> str:
    parts = [HEAD, index()]
    for category, title in _GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [section(code) for code, entry in REGISTRY.items() if entry.category is category]
    return "\n".join(parts)


if __name__ == "__main__":
    text = page()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            sys.exit("docs/errors.md is not current: python scripts/errors.py")
    else:
        TARGET.write_text(text, encoding="utf-8")
