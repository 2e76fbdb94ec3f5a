"""What a case of a test file may say, after its variables are resolved."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from argus.core import units
from argus.environments.e2e.suites import Retry
from argus.environments.e2e.values import Filled, Kind, Part, Port, Truth, lasting
from argus.environments.testing.comparing import Comparison, comparison, number

_LONGEST = 3600.0
"""Seconds. What waits longer than an hour has forgotten what it waits for."""
_METHOD = re.compile(r"[A-Za-z]{1,20}")


def _scalar(value: Any) -> str:
    """What goes out as text: a header, an argument."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise ValueError("text is expected")
    return str(value)


def _called(value: Any) -> str:
    """A name; `2024` is one too."""
    text = _scalar(value)
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _wait(value: Any) -> float:
    """Digits alone are milliseconds."""
    text = _scalar(value).strip()
    seconds = units.duration(f"{text}ms" if text.isascii() and text.isdigit() else "".join(text.split()))
    if seconds > _LONGEST:
        raise ValueError("is longer than an hour")
    return seconds


def _deadline(value: Any) -> float:
    seconds = _wait(value)
    if seconds <= 0:
        raise ValueError("must be more than 0")
    return seconds


def _whole(value: Any) -> int:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number is expected")
    return value


def _statuses(value: Any) -> tuple[int, ...]:
    several = value if isinstance(value, list) else [value]
    found = tuple(_whole(one) for one in several)
    if not found or not all(100 <= one <= 999 for one in found):
        raise ValueError("a status is expected, such as 200, or a list of them")
    return found


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_scalar(one) for one in (value if isinstance(value, list) else [value]))


def _method(value: Any) -> str:
    if not isinstance(value, str) or not _METHOD.fullmatch(value.strip()):
        raise ValueError("a method is expected, such as GET")
    return value.strip().upper()


def _command(value: Any) -> tuple[str, ...]:
    """Text runs through a shell, a list as it is."""
    if isinstance(value, list):
        words = tuple(_scalar(one) for one in value)
        if not words or not words[0]:
            raise ValueError("there is no program to start")
    elif isinstance(value, str) and value.strip():
        words = ("sh", "-c", value)
    else:
        raise ValueError("a command is expected, as text or as a list of words")
    if any("\0" in word for word in words):
        raise ValueError("a command cannot hold a NUL character")
    return words


def _permissions(value: Any) -> str:
    text = _scalar(value).strip()
    if not re.fullmatch(r"[-dlbcps]?([r-][w-][xsS-]){2}[r-][w-][xtT-]|[0-7]{3,5}", text):
        raise ValueError('permissions are expected, such as "-rw-r--r--" or "0644"')
    return text


def _times(value: Any) -> dict[str, float]:
    """Milliseconds. A number alone is the most it may take."""
    several = value if isinstance(value, dict) else {"lte": value}
    for key, one in several.items():
        if key not in ("lt", "lte", "gt", "gte"):
            raise ValueError(f'"{str(key)[:40]}" is no operator here: lt, lte, gt and gte are')
        if number(one) is None:
            raise ValueError("a number of milliseconds is expected")
    return {key: float(number(one) or 0) for key, one in several.items()}


_ANY: dict[str, Any] = {}
Scalar = Annotated[str, Kind(_scalar, _ANY)]
Called = Annotated[str, Kind(_called, _ANY)]
Wait = Annotated[float, Kind(_wait, _ANY)]
Deadline = Annotated[float, Kind(_deadline, _ANY)]
Statuses = Annotated[tuple[int, ...], Kind(_statuses, _ANY)]
Texts = Annotated[tuple[str, ...], Kind(_texts, _ANY)]
Method = Annotated[str, Kind(_method, _ANY)]
Command = Annotated[tuple[str, ...], Kind(_command, _ANY)]
Permissions = Annotated[str, Kind(_permissions, _ANY)]
Times = Annotated[dict[str, float], Kind(_times, _ANY)]
Whole = Annotated[int, Kind(_whole, _ANY)]
Compared = Annotated[Comparison, Kind(comparison, _ANY)]


class Request(Part):
    method: Method = "GET"
    path: Scalar | None = None
    url: Scalar | None = None
    headers: dict[str, Scalar] = Field(default_factory=dict)
    body: Any = None
    timeout: Deadline = lasting("30s", "")


class Exec(Part):
    command: Command
    container: Filled | None = None
    timeout: Deadline = lasting("60s", "")


class File(Part):
    path: Filled
    container: Filled | None = None
    exists: Truth | None = None
    contains: Texts = ()
    not_contains: Texts = ()
    matches: Any = None
    json_: Any = Field(default=None, alias="json")
    permissions: Permissions | None = None
    owner: Scalar | None = None
    size: Compared | None = None


class Process(Part):
    name: Called
    container: Filled | None = None
    running: Truth | None = None
    count: Compared | None = None
    user: Scalar | None = None


class PortStep(Part):
    port: Port
    host: Filled | None = None
    container: Filled | None = None
    listening: Truth = True
    timeout: Deadline = lasting("5s", "")


class Sse(Part):
    url: Filled
    method: Method = "GET"
    headers: dict[str, Scalar] = Field(default_factory=dict)
    body: Any = None
    timeout: Deadline = lasting("10s", "")


class Output(Part):
    contains: Texts = ()
    not_contains: Texts = ()
    matches: Any = None
    json_: Any = Field(default=None, alias="json")
    length: Compared | None = None


class Events(Part):
    min_count: Whole | None = None
    max_count: Whole | None = None
    types: Texts = ()
    data_contains: Texts = ()
    data_not_contains: Texts = ()
    first: Any = None
    last: Any = None


class Expect(Part):
    status: Statuses | None = None
    headers: dict[str, Any] = Field(default_factory=dict)
    body: Any = None
    response_time: Times | None = None
    expr: Texts = ()
    all: list[Any] = Field(default_factory=list)
    any: list[Any] = Field(default_factory=list)
    output: Output | None = None
    exit_code: Whole | None = None
    events: Events | None = None


class Case(Part):
    name: Called = ""
    description: Any = None
    delay: Wait = 0.0
    request: Request | None = None
    exec: Exec | None = None
    file: File | None = None
    process: Process | None = None
    port: PortStep | None = None
    sse: Sse | None = None
    expect: Expect | None = None
    save: dict[str, Filled] = Field(default_factory=dict)
    ignore_error: Truth = False
    retry: Retry | None = None


class WaitHealthy(Part):
    timeout: Deadline = lasting("60s", "")


class WaitForPort(Part):
    port: Port
    host: Filled = "localhost"
    timeout: Deadline = lasting("30s", "")


class Preparing(Case):
    """A step of setup or teardown, which may also only wait."""

    wait_healthy: WaitHealthy | None = None
    wait_for_port: WaitForPort | None = None


class Suite(Part):
    """The top of a test file; its cases are read one by one."""

    name: Called
    description: Any = None
    sequential: Truth = False
    variables: dict[str, Any] = Field(default_factory=dict)
    setup: list[Any] = Field(default_factory=list)
    cases: list[Any] = Field(min_length=1)
    teardown: list[Any] = Field(default_factory=list)


STEPS = ("request", "exec", "file", "process", "port", "sse")
