"""What schemathesis has to know besides the OpenAPI document. Loaded by its command line, in a process of its own."""

from __future__ import annotations

import re
import zlib
from typing import Any

import schemathesis

_LONG = re.compile(r"[0-9]{4,}(\.[0-9]+)?(ms|s|m|h|d)")


@schemathesis.hook
def before_call(context: Any, case: Any, arguments: dict[str, Any]) -> None:
    """The events go on until the reader leaves, and schemathesis reads to the end."""
    if case.operation.path == "/api/events" and str((case.query or {}).get("follow", "true")).lower() == "true":
        case.query = {**(case.query or {}), "follow": "false"}
    # Half of the well-formed names are one that there is: else nearly every answer would be a 404.
    name = (case.path_parameters or {}).get("name")
    if isinstance(name, str) and re.fullmatch("[A-Za-z0-9_]+", name) and zlib.crc32(name.encode()) % 2:
        case.path_parameters["name"] = "web"


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """A duration of more than ten years fits its pattern and is refused: no pattern can add the parts up."""
    values = case.body.values() if isinstance(case.body, dict) else ()
    return not any(isinstance(value, str) and _LONG.search(value) for value in values)


@schemathesis.check
def a_refusal_names_a_code_that_is_documented_for_it(context: Any, response: Any, case: Any) -> None:
    if response.status_code < 400 or response.status_code == 405:
        return
    code = response.json()["error"]["code"]
    documented = case.operation.definition.raw["responses"][str(response.status_code)]["description"]
    assert code in documented.split(", "), f"{code} is not documented under {response.status_code}: {documented}"
