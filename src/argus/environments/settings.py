"""The section `environments` of argus.yaml: which files there are, and what they need that is not in them."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from argus.core.depending import Kind, Thing, thing
from argus.schema import Dependency, Section

_FILE = "e2e.yaml"


def _service(value: str) -> str:
    if thing(value).kind is not Kind.SERVICE:
        raise ValueError(f"{value!r}: an environment depends on services")
    return value


class EnvironmentFile(Section):
    """One environment. A path alone stands for one without `dependsOn`."""

    path: str = Field(min_length=1, description="Its e2e.yaml, or the folder of that; from this file's folder.")
    depends_on: tuple[Annotated[Dependency, AfterValidator(_service)], ...] = Field(
        default=(), description="Services outside of it that it needs: while one is down, so is the environment."
    )

    @property
    def needs(self) -> tuple[Thing, ...]:
        return tuple(map(thing, self.depends_on))

    @property
    def file(self) -> str:
        return os.path.abspath(self.written_file)

    @property
    def written_file(self) -> str:
        """As it is written: from the folder of argus.yaml, wherever one stands."""
        full = os.path.normpath(os.path.expanduser(self.path))
        return full if full.endswith((".yaml", ".yml")) else os.path.join(full, _FILE)


def _one(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


EnvironmentEntry = Annotated[EnvironmentFile, BeforeValidator(_one, json_schema_input_type=str | EnvironmentFile)]
