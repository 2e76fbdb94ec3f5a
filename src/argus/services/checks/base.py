"""What every service has, whatever is checked of it."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from argus.core.budget import MOST
from argus.core.patterns import LAUNCHD_LABEL
from argus.host.seam import Failure, Host, ProbeFailed
from argus.schema import Name, PositiveDuration, Section, ServiceName, lasting
from argus.services.containers import Label, Names
from argus.services.model import Seen, Status
from argus.services.restarters import AnyRestarter, Restarter, derived, understood
from argus.services.restarters.systemd import Unit
from argus.services.windows import Window

_CODES = {Failure.TIMEOUT: "HEALTH_CHECK_TIMEOUT", Failure.DNS: "DNS_RESOLUTION_FAILED"}


class _RestartSchema:
    """Made when somebody asks for it: it needs every restarter's model built, and a start needs few of them."""

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        models = (one.model_json_schema(by_alias=True) for one in get_args(Restarter))
        return {"anyOf": [{"enum": ["none", "launchd", "systemd", "docker"]}, {"type": "null"}, *models]}


_SHORTEST = 0.1
"""Seconds between two checks of a service: more often than that, nobody could keep the time."""


def _can_be_kept(interval: float) -> float:
    if interval < _SHORTEST:
        raise ValueError("is at least 100ms: a shorter interval could not be kept")
    return interval


Interval = Annotated[PositiveDuration, AfterValidator(_can_be_kept)]


def _first_format(schema: dict[str, Any]) -> None:
    """The keys of the first configuration format, which are still read."""
    for plain, least in (("interval", {"minimum": 1000 * _SHORTEST}), ("timeout", {"exclusiveMinimum": 0})):
        text = f"The same as {plain}, in milliseconds."
        schema["properties"][f"{plain}Ms"] = {"type": "number", **least, "description": text}


class RestartBudget(Section):
    max_per_hour: int = Field(
        default=2, ge=0, le=MOST, strict=True, description="Restarts in any sliding hour; 0 means none."
    )


class Service(Section):
    """One thing that is watched."""

    model_config = ConfigDict(json_schema_extra=_first_format)

    name: ServiceName = Field(description="How the service is called everywhere; unique.")
    interval: Interval = lasting("60s", "How often it is checked, at least 100ms; intervalMs takes milliseconds.")
    timeout: PositiveDuration = lasting("5s", "How long one check may take, everything included; also timeoutMs.")
    failures_before_action: int | None = Field(
        default=None, ge=1, strict=True, description="Consecutive failures that confirm it is down; else the section's."
    )
    launchd_label: str | None = Field(default=None, pattern=LAUNCHD_LABEL, description="The launchd job that runs it.")
    systemd_unit: Unit | None = Field(default=None, description="The systemd unit that runs it.")
    systemd_user: bool = Field(default=False, strict=True, description="It is a unit of the user's own.")
    containers: Names | None = Field(default=None, description="The containers that it is made of, or that run it.")
    label: Label | None = Field(default=None, description="The same by a label that they carry: key=value, or key.")
    restart: Annotated[AnyRestarter | None, BeforeValidator(understood), _RestartSchema()] = Field(
        default=None,
        description="How it is restarted: launchd, systemd, docker, {command: [program, argument]} or none; "
        "left out, as launchdLabel, systemdUnit, containers or label say.",
    )
    successes_before_recovery: int | None = Field(
        default=None, ge=1, strict=True, description="Consecutive successes that end its outage; else the section's."
    )
    restart_budget: RestartBudget | None = Field(
        default=None, description="How many restarts it may have, within those of all services."
    )
    maintenance: tuple[Window, ...] = Field(
        default=(), description="Windows in which nothing alerts about it or restarts it."
    )
    depends_on: tuple[Name, ...] = Field(default=(), description="Services whose failure explains this one's.")

    @model_validator(mode="before")
    @classmethod
    def _read_what_was_meant(cls, values: Any) -> Any:
        """The keys of the first configuration format stay good: intervalMs, timeoutMs."""
        if not isinstance(values, dict):
            return values
        values = dict(values)
        values["restart"] = derived(values)
        for plain in ("interval", "timeout"):
            given = values.pop(f"{plain}Ms", None)
            if given is not None:
                if plain in values:
                    raise ValueError(f"give {plain} or {plain}Ms, not both")
                if isinstance(given, bool) or not isinstance(given, int | float):
                    raise ValueError(f"{plain}Ms is a number of milliseconds")
                values[plain] = f"{given}ms" if given > 0 else "0ms"
        return values

    @field_validator("depends_on")
    @classmethod
    def _once_each(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) != len(names):
            raise ValueError("a service is named twice")
        return names

    @property
    def place(self) -> str:
        """Where it is, as notifications name it."""
        return self.name

    def target(self, seen: Seen | None) -> str:
        """What a restart acts on after such a look, as notifications name it."""
        return self.restart.target(self.name) if self.restart else self.name

    @property
    def port_number(self) -> int | None:
        return None

    @property
    def host_name(self) -> str:
        return ""

    async def probe(self, host: Host) -> Seen:
        raise NotImplementedError

    def failed(self, failure: ProbeFailed) -> Seen:
        if failure.failure is Failure.OURS:
            return Seen(Status.UNKNOWN, None, failure.failure.value, failure.detail)
        code = _CODES.get(failure.failure, "SERVICE_DOWN")
        return Seen(Status.DOWN, None, failure.failure.value, failure.detail, code)
