"""What an operation is: its name, its typed input and output and its documentation, said once."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from argus.core import patterns
from argus.core.errors import ArgusError, Code
from argus.ops.caller import Scope
from argus.ops.house import House

CLI_FOLDER, CLI_SHELL = "folder", "shell"
"""What the CLI fills in by itself, as `json_schema_extra={"cli": ...}` of a field: where it was called, unless
somebody says otherwise; and that together with the environment it was called in, which nobody can say by hand."""


class Ask(BaseModel):
    """An operation's input. Unknown fields are errors: a misspelt option must not be ignored."""

    model_config = ConfigDict(defer_build=True, extra="forbid", alias_generator=to_camel, validate_by_name=False)


class Answer(BaseModel):
    """An operation's output."""

    model_config = ConfigDict(defer_build=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


A = TypeVar("A", bound=Ask)
B = TypeVar("B", bound=Answer)
Runner = Callable[[House, Any], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    method: str
    path: str
    ask: type[Ask]
    answer: type[Answer]
    run: Runner
    documentation: str
    verb: str | None = None
    """How the CLI calls it: `services list`."""
    places: tuple[str, ...] = ()
    """Fields that the CLI takes by their place, besides those of the path: `agents spawn CONFIG`."""
    tool: str | None = None
    """How MCP calls it: `argus_services`."""
    scope: Scope = Scope.MANAGE
    """What a caller's token must allow."""
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    """Asked for again, it changes nothing more."""
    open_world: bool = False
    """It reaches what is not of this machine, or does whatever a project's own files say."""
    ends_with_caller: bool = False
    """Long work that is taken back when the caller goes away, instead of going on for nobody."""
    status: int = 200
    errors: tuple[Code, ...] = ()
    """The codes it may answer with, besides those that every call may."""
    path_fields: tuple[str, ...] = field(default=())
    advice: Mapping[Code, tuple[str, ...]] = field(default_factory=dict)
    """What it suggests where that is not what the code suggests everywhere else."""

    async def call(self, house: House, values: dict[str, Any], *, encodable: bool = False) -> Answer:
        """Checks who asks, validates what came from outside, and runs. `encodable`: that much of it is known."""
        house.caller.require(self.scope)
        if not encodable:
            _check_encodable(values)
        try:
            asked = self.ask.model_validate(values)
        except ValidationError as invalid:
            raise invalid_request(invalid) from None
        try:
            return await self.run(house, asked)
        except ArgusError as error:
            if error.code in self.advice:
                error.actions = self.advice[error.code]
            raise


def _check_encodable(values: dict[str, Any]) -> None:
    """JSON can name half a character, which no text on its way out can hold."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ArgusError(Code.INVALID_REQUEST, "the request holds a lone surrogate") from None
    except RecursionError:
        raise ArgusError(Code.INVALID_REQUEST, "the request is too deep") from None


def invalid_request(invalid: ValidationError) -> ArgusError:
    errors = [
        {"field": ".".join(str(part) for part in one["loc"]), "message": _in_words(one)}
        for one in invalid.errors(include_url=False, include_input=False)
    ][:50]
    first = errors[0]
    return ArgusError(Code.INVALID_REQUEST, f"{first['field'] or 'the request'}: {first['message']}", errors=errors)


def _in_words(one: ErrorDetails) -> str:
    if one["type"] == "string_pattern_mismatch":
        return patterns.in_words(one["ctx"]["pattern"])
    return one["msg"].removeprefix("Value error, ")


def operation(
    name: str,
    rest: str,
    *,
    verb: str | None = None,
    places: tuple[str, ...] = (),
    tool: str | None = None,
    scope: Scope | None = None,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    open_world: bool = False,
    ends_with_caller: bool = False,
    status: int = 200,
    errors: tuple[Code, ...] = (),
) -> Callable[[Callable[[House, A], Awaitable[B]]], Operation]:
    """Makes an operation of a typed function; its docstring is the documentation on every face.

    Reading needs a token that may read; anything else needs the person's own unless it says so.
    """
    method, path = rest.split(" ")

    def make(run: Callable[[House, A], Awaitable[B]]) -> Operation:
        hints = get_type_hints(run)
        return Operation(
            name=name,
            method=method,
            path=path,
            ask=hints["ask"],
            answer=hints["return"],
            run=run,
            documentation=inspect.cleandoc(run.__doc__ or ""),
            verb=verb,
            places=places,
            tool=tool,
            scope=scope or (Scope.READ if read_only else Scope.MANAGE),
            read_only=read_only,
            destructive=destructive,
            idempotent=idempotent,
            open_world=open_world,
            ends_with_caller=ends_with_caller,
            status=status,
            errors=errors,
            path_fields=tuple(re.findall(r"{(\w+)}", path)),
        )

    return make
