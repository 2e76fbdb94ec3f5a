"""JSON schemas that somebody else wrote: whether they are one, and whether a value fits. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from argus.core.errors import ArgusError, Code

_DEEPEST = 60


def checker(schema: Mapping[str, Any]) -> Callable[[Any], str]:
    """What says why a value does not fit; empty: it does. Raises INVALID_REQUEST for what is no schema.

    Regular expressions are not tried: they are others', and one can take for ever.
    """
    # Here and not above: it takes a tenth of a second, and only who asks for structure needs it.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError, ValidationError, best_match
    from jsonschema.validators import extend
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if _depth(schema) > _DEEPEST:
        raise ArgusError(Code.INVALID_REQUEST, f"schema: nested more than {_DEEPEST} deep")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        message = f"schema: not a JSON schema{f', at {where}' if where else ''}: {error.message[:300]}"
        raise ArgusError(Code.INVALID_REQUEST, message, path=where) from None
    kind = extend(Draft202012Validator, {"pattern": _passes, "patternProperties": _passes})
    # A registry of its own, or references to other machines would be fetched.
    validator = kind(schema, registry=Registry())

    def misfit(value: Any) -> str:
        try:
            found = best_match(validator.iter_errors(value))
        except (Unresolvable, RecursionError) as error:
            return f"the schema cannot be followed: {str(error)[:200]}"
        return _words(found) if isinstance(found, ValidationError) else ""

    return misfit


def _words(found: Any) -> str:
    where = "/".join(map(str, found.absolute_path))
    return f"{where}: {found.message[:300]}" if where else str(found.message[:300])


def _passes(*_: Any) -> None:
    return None


def _depth(value: Any) -> int:
    deepest, level = 0, [value]
    while level:
        deepest += 1
        if deepest > _DEEPEST:
            break
        level = [one for each in level for one in _inside(each)]
    return deepest


def _inside(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []
