"""The section `resilience` of an `e2e.yaml`: how much is repaired. Everything has a default."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from argus.environments.e2e.values import Delay, Part, Size, Truth, lasting, sized, whole


class Preflight(Part):
    """What is looked at before anything is built or set up."""

    enabled: Truth = Field(default=True, description="Whether build and setup look first.")
    disk_space_threshold: Size = sized("2GB", "Less free space than this, where Docker keeps its data, stops them.")
    clean_orphans: Truth = Field(
        default=True, description="Whether what an earlier run of this project left behind is removed."
    )


class Restarts(Part):
    """What happens to a container that fails while it is needed."""

    restart_on_failure: Truth = Field(default=True, description="Whether it is started again.")
    max_restarts: Annotated[int, whole(0, 10)] = Field(default=3, description="How often, at most: 0 to 10.")
    restart_delay: Delay = lasting("2s", "The wait before the first restart; digits alone are milliseconds.")
    restart_backoff: Literal["exponential", "linear"] = Field(
        default="exponential", description="How the wait grows: 2, 4, 8 seconds, or 2, 4, 6."
    )


class Networking(Part):
    """Ports and connections."""

    port_conflict_strategy: Literal["auto", "fail"] = Field(
        default="auto", description="Where a port is taken: auto takes another, fail gives up."
    )
    verify_connectivity: Truth = Field(
        default=True, description="Whether setup proves that every service reaches every other and the mocks."
    )


class CircuitBreaker(Part):
    """When Docker itself fails again and again."""

    enabled: Truth = Field(default=True, description="Whether calls are refused at once while Docker is not well.")
    failure_threshold: Annotated[int, whole(1, 20)] = Field(
        default=5, description="So many failures in a row, and it opens: 1 to 20."
    )
    reset_timeout_ms: Annotated[int, whole(0, 86_400_000)] = Field(
        default=30_000, description="Milliseconds until one call may try again; 0 waits for a reset by hand."
    )


class Resilience(Part):
    """How much is repaired without being asked."""

    preflight: Preflight = Field(default_factory=Preflight, description="What is looked at first.")
    container: Restarts = Field(default_factory=Restarts, description="Containers that fail.")
    network: Networking = Field(default_factory=Networking, description="Ports and connections.")
    circuit_breaker: CircuitBreaker = Field(default_factory=CircuitBreaker, description="Docker itself failing.")
