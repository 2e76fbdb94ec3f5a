"""The base of every section of a configuration file, and the types its values have."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from argus.core import depending, names, units


class Section(BaseModel):
    """Keys are camelCase, unknown ones are errors, and nothing changes after loading."""

    # Built when it is first used: all of them at once are a quarter of the time in which Argus starts.
    model_config = ConfigDict(
        defer_build=True, extra="forbid", frozen=True, alias_generator=to_camel, validate_by_name=False
    )


def _duration(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError('a duration is text with a unit, such as "30s" or "5m"')
    if isinstance(value, str):
        return units.duration(value)
    # Seconds to one reader are milliseconds to another: the unit has to be written.
    raise ValueError(f'a duration needs a unit: write "{value:g}s" for seconds or "{value:g}ms" for milliseconds')


def _positive(value: float) -> float:
    if value <= 0:
        raise ValueError("must be more than 0")
    return value


_DURATION_SCHEMA = {"type": "string", "pattern": units.DURATION_PATTERN, "examples": ["30s", "5m", "1h30m"]}
_POSITIVE_SCHEMA = {**_DURATION_SCHEMA, "pattern": units.POSITIVE_DURATION_PATTERN}

Duration = Annotated[float, BeforeValidator(_duration), WithJsonSchema(_DURATION_SCHEMA)]
PositiveDuration = Annotated[
    float, BeforeValidator(lambda value: _positive(_duration(value))), WithJsonSchema(_POSITIVE_SCHEMA)
]


def lasting(default: str, description: str) -> Any:
    """A duration with a default, which the schema shows as people write it."""
    return Field(default=units.duration(default), description=description, json_schema_extra={"default": default})


Name = Annotated[
    str,
    BeforeValidator(lambda value: names.check(value) if isinstance(value, str) else value),
    WithJsonSchema({"type": "string", "pattern": names.PATTERN, "maxLength": 100}),
]


_KINDS = "|".join(depending.Kind)


def _of_no_kind(value: str) -> str:
    kind, colon, _ = value.partition(":")
    if colon and kind in depending.Kind.__members__.values():
        # `dependsOn: ["environment:x"]` would mean something else, which may not be there and is never down.
        raise ValueError(f'a service is not called "{kind}:…": that is how dependsOn names a thing of that kind')
    return value


ServiceName = Annotated[
    Name,
    AfterValidator(_of_no_kind),
    WithJsonSchema({"type": "string", "pattern": f"^(?!({_KINDS}):){names.PATTERN[1:]}", "maxLength": 100}),
]


def _thing(value: str) -> str:
    depending.thing(value)
    return value


Dependency = Annotated[str, AfterValidator(_thing)]
Dependencies = tuple[Dependency, ...]
"""Names of services, and environment:NAME."""
Port = Annotated[int, Field(ge=0, le=65535, strict=True)]
