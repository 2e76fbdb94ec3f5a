"""The section `health` of argus.yaml."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field, model_validator

from argus.core.budget import MOST
from argus.schema import PositiveDuration, Section, lasting
from argus.services.checks import Service


class RestartBudget(Section):
    max_per_hour: int = Field(
        default=2,
        ge=0,
        le=MOST,
        strict=True,
        description="Restarts in any sliding hour over all services; 0 means none.",
    )


def _first_format(schema: dict[str, Any]) -> None:
    text = "The same as failuresBeforeAction, as the first configuration format called it."
    schema["properties"]["consecutiveFailsBeforeAlert"] = {"type": "integer", "minimum": 1, "description": text}


class Health(Section):
    """What is watched, and the limits of what is done about it."""

    model_config = ConfigDict(json_schema_extra=_first_format)

    enabled: bool = Field(default=True, strict=True, description="false turns all checks off.")
    services: tuple[Service, ...] = Field(default=(), description="What is watched.")
    failures_before_action: int = Field(
        default=3, ge=1, strict=True, description="Consecutive failures that confirm that a service is down."
    )
    verify_after: PositiveDuration = lasting("30s", "When to look again after a restart.")
    restart_budget: RestartBudget = Field(default_factory=RestartBudget, description="How many restarts are allowed.")
    correlated_failure_threshold: int = Field(
        default=3, ge=2, strict=True, description="So many failing together are an infrastructure event."
    )
    correlated_failure_share: float = Field(
        default=0.02, ge=0, le=1, description="The same as a share of all services, where that is more."
    )

    @model_validator(mode="before")
    @classmethod
    def _read_the_first_format(cls, values: Any) -> Any:
        if isinstance(values, dict) and "consecutiveFailsBeforeAlert" in values:
            values = dict(values)
            if "failuresBeforeAction" in values:
                raise ValueError("give failuresBeforeAction or consecutiveFailsBeforeAlert, not both")
            values["failuresBeforeAction"] = values.pop("consecutiveFailsBeforeAlert")
        return values
