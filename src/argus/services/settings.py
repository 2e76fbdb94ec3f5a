"""The section `health` of argus.yaml."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field, model_validator

from argus.schema import Duration, PositiveDuration, Section, lasting
from argus.services.checks import Service
from argus.services.checks.base import RestartBudget


class Flapping(Section):
    flips: int = Field(default=4, ge=2, le=100, strict=True, description="More changes of the result than this…")
    within: PositiveDuration = lasting("10m", "…in this time, and a service is flapping: told once, not restarted.")


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
    successes_before_recovery: int = Field(
        default=1, ge=1, strict=True, description="Consecutive successes that end an outage."
    )
    flapping: Flapping = Field(default_factory=Flapping, description="When a service goes up and down too often.")
    verify_after: PositiveDuration = lasting("30s", "When to look again after a restart.")
    restart_budget: RestartBudget = Field(
        default_factory=RestartBudget, description="How many restarts are allowed over all services."
    )
    wait_for_work: Duration = lasting(
        "30s", "How long a restart waits for the test case or the agent's turn that uses the service; 0s: not at all."
    )
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
