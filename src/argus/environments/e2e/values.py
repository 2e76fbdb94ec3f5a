"""The values of an `e2e.yaml`: text, numbers and durations as they stand there after `{{…}}` was resolved."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

from argus.core import units
from argus.environments.e2e import mounts, names, published

PLACEHOLDER = r"\{\{.+\}\}"


class Part(BaseModel):
    """A section of the file. Unknown keys are left out, and told of elsewhere; an empty key is not there."""

    model_config = ConfigDict(
        defer_build=True, extra="ignore", frozen=True, alias_generator=to_camel, validate_by_name=False
    )

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        known = {field.alias or name for name, field in cls.model_fields.items()}
        return {key: one for key, one in value.items() if one is not None or key not in known}


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """One kind of value: how it is read, and what the schema says of it. Text that only a variable could have left
    (`port: "{{env.PORT}}"` can become nothing but text) is read as what it stands for."""

    read: Callable[[Any], Any]
    schema: dict[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.read, metadata={"pydantic_js_functions": [lambda _schema, _handler: dict(self.schema)]}
        )


def whole(low: int, high: int) -> Kind:
    def read(value: Any) -> int:
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 20:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError("a whole number is expected")
        if not low <= value <= high:
            raise ValueError(f"must be {low} to {high}")
        return value

    number = {"type": "integer", "minimum": low, "maximum": high}
    return Kind(read, {"anyOf": [number, {"type": "string", "pattern": "^[0-9]+$"}]})


def _number(value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
    except (ValueError, OverflowError):
        number = -1.0
    if not 1 <= number <= 100:
        raise ValueError("must be a number from 1 to 100")
    return number


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise ValueError("true or false is expected")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        raise ValueError('text is expected; write "" where nothing is meant')
    if isinstance(value, bool | int | float):
        raise ValueError("text is expected; write it in quotes")
    raise ValueError("text is expected")


def _filled(value: Any) -> str:
    if not _text(value).strip():
        raise ValueError("must not be empty")
    return str(value)


def _duration(value: Any) -> float:
    if not isinstance(value, str):
        raise ValueError('a duration is text with a unit, such as "500ms", "10s" or "2m"')
    return units.duration("".join(value.split()))


def _positive(value: Any) -> float:
    seconds = _duration(value)
    if seconds <= 0:
        raise ValueError("must be more than 0")
    return seconds


def _delay(value: Any) -> float:
    """Digits alone are milliseconds: the format had it so before Argus read it."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return _duration(f"{value.strip()}ms")
    return _duration(value)


def _size(value: Any) -> int:
    if not isinstance(value, str):
        raise ValueError('a size is text with a unit, such as "500MB" or "2GB"')
    return units.size(value)


def _url(value: Any) -> str:
    text = _text(value)
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    if not good:
        raise ValueError("a URL that begins with http:// or https:// is expected")
    return text


def _words(value: Any) -> str:
    try:
        shlex.split(_text(value))
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {str(error).lower()}") from None
    return str(value)


def _rooted(value: Any) -> str:
    text = _filled(value)
    return text if text.startswith("/") else f"/{text}"


_TEXT = {"type": "string"}
_BLANK = {"type": "string", "minLength": 1}

Text = Annotated[str, Kind(_text, _TEXT)]
Filled = Annotated[str, Kind(_filled, _BLANK)]
Rooted = Annotated[str, Kind(_rooted, {**_BLANK, "examples": ["/health", "/api/orders/:id"]})]
Url = Annotated[str, Kind(_url, {"type": "string", "pattern": "^https?://", "examples": ["https://api.example.com"]})]
Words = Annotated[str, Kind(_words, _TEXT)]
Truth = Annotated[bool, Kind(_truth, {"type": "boolean"})]
Number = Annotated[float, Kind(_number, {"type": "number", "minimum": 1, "maximum": 100})]
Port = Annotated[int, whole(1, 65535)]
Count = Annotated[int, whole(1, 1000)]

Duration = Annotated[float, Kind(_duration, {"type": "string", "pattern": units.DURATION_PATTERN})]
PositiveDuration = Annotated[float, Kind(_positive, {"type": "string", "pattern": units.POSITIVE_DURATION_PATTERN})]
Delay = Annotated[float, Kind(_delay, {"type": "string", "pattern": f"^[0-9]+$|{units.DURATION_PATTERN}"})]
Size = Annotated[int, Kind(_size, {"type": "string", "pattern": units.SIZE_PATTERN})]

Called = Annotated[str, Kind(lambda value: names.called(_filled(value)), names.CALLED_SCHEMA)]
ContainerName = Annotated[str, Kind(lambda value: names.container(_filled(value)), names.CONTAINER_SCHEMA)]
Image = Annotated[str, Kind(lambda value: names.image(_filled(value)), _BLANK)]
Published = Annotated[tuple[published.Port, ...], Kind(lambda value: published.read(_text(value)), published.SCHEMA)]
Mount = Annotated[mounts.Mount, Kind(lambda value: mounts.read(_text(value)), mounts.SCHEMA)]


def lasting(default: str, description: str) -> Any:
    return Field(default=units.duration(default), description=description, json_schema_extra={"default": default})


def sized(default: str, description: str) -> Any:
    return Field(default=units.size(default), description=description, json_schema_extra={"default": default})
