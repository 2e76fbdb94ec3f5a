"""JSON schemas that somebody else wrote: whether they are one, and whether a value fits.

They are not to be trusted: nothing is fetched for them, nothing in them can take for ever, and what would is left to
whoever wrote it. Regular expressions, and comparing everything with everything, are not tried at all; of the rest
there is a bound on how much is looked at, since a few lines can ask for more than a computer can do.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from argus.core.cutting import beginning
from argus.core.errors import ArgusError, Code

_DEEPEST = 60
_LARGEST = 20_000
"""Of a schema: values in it. Its own check takes a few microseconds for each."""
_SMALL = 200
_STEPS = 20_000
"""Of one look at a value: a tenth of a second."""
_SEVERAL = 20
_CUT = 300
_LEFT_TO_THEM = (
    *("pattern", "patternProperties", "format", "propertyNames", "uniqueItems"),
    *("unevaluatedItems", "unevaluatedProperties"),
)


class Unfit(Exception):
    """It is no schema, or none that can be checked; in words."""


class TooMuch(Unfit):
    """More than can be looked at."""


class Misfit(NamedTuple):
    where: str
    why: str


class Schema:
    """One, ready to look at values. Made by `read`."""

    def __init__(self, validator: Any, budget: _Budget) -> None:
        self._validator = validator
        self._budget = budget

    def misfits(self, value: Any) -> list[Misfit]:
        """Raises Unfit where it cannot be said."""
        self._budget.left = _STEPS
        try:
            return [_told(one) for one in islice(self._validator.iter_errors(value), _SEVERAL)]
        except _Spent:
            raise TooMuch("it asks for more than can be looked at") from None
        except RecursionError:
            raise Unfit("it leads round in a circle") from None
        except Exception as error:  # noqa: BLE001 - the library's ways to say that a reference leads nowhere
            raise Unfit(f"it cannot be followed: {beginning(str(error), _CUT)}") from None


async def read(schema: Mapping[str, Any]) -> Schema:
    """Raises Unfit. In a thread what takes long: a tenth of a second to load the library, and large schemas."""
    size = _measured(schema)
    if size > _SMALL or "jsonschema" not in sys.modules:
        return await asyncio.to_thread(_read, dict(schema))
    return _read(dict(schema))


def _read(schema: dict[str, Any]) -> Schema:
    library = importlib.import_module("jsonschema")
    kind = library.validators.validator_for(schema, default=library.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except library.SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        raise Unfit(f"{f'at {where}: ' if where else ''}{beginning(error.message, _CUT)}") from None
    except Exception as error:  # noqa: BLE001 - as above
        raise Unfit(beginning(str(error), _CUT)) from None
    budget = _Budget()
    # A registry of its own, or references to other machines would be fetched.
    registry = importlib.import_module("referencing").Registry()
    return Schema(_bounded(kind)(schema, registry=registry, format_checker=budget), budget)


class _Spent(Exception):
    pass


class _Budget:
    """Handed to the steps as what checks formats, which are not checked here: it is the one thing all of them see."""

    left = _STEPS


@cache
def _bounded(kind: Any) -> Any:
    library = importlib.import_module("jsonschema")
    steps = {name: _nothing if name in _LEFT_TO_THEM else _counted(step) for name, step in kind.VALIDATORS.items()}
    return library.validators.extend(kind, steps)


def _counted(step: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        budget = validator.format_checker
        budget.left -= 1
        if budget.left < 0:
            raise _Spent
        yield from step(validator, value, instance, schema) or ()

    return counted


def _nothing(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    return iter(())


def _told(error: Any) -> Misfit:
    path = [str(one) for one in error.absolute_path]
    if error.validator == "required" and isinstance(error.instance, dict):
        missing = [one for one in error.validator_value if one not in error.instance and repr(one) in error.message]
        path += [str(one) for one in missing[:1]]
    return Misfit(".".join(path), beginning(str(error.message), _CUT))


def _measured(schema: Any) -> int:
    size, depth, level = 0, 0, [schema]
    while level:
        depth, size = depth + 1, size + len(level)
        if depth > _DEEPEST or size > _LARGEST:
            raise Unfit(f"it is nested more than {_DEEPEST} deep, or holds more than {_LARGEST} values")
        level = [one for each in level for one in _inside(each)]
    return size


def _inside(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


async def checker(schema: Mapping[str, Any]) -> Callable[[Any], str]:
    """For an answer in that form: what says why a value does not fit; empty, it does. Raises INVALID_REQUEST."""
    try:
        made = await read(schema)
    except Unfit as error:
        raise ArgusError(Code.INVALID_REQUEST, f"schema: not a JSON schema that can be used: {error}") from None

    def misfit(value: Any) -> str:
        try:
            found = made.misfits(value)
        except TooMuch:
            return "" if value is not None else "there is none"  # whoever gave it has checked it too
        except Unfit as error:
            return f"the schema cannot be used: {error}"
        return "; ".join(f"{where}: {why}" if where else why for where, why in found[:3])

    return misfit
