"""The test suites of an `e2e.yaml`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from argus.environments.e2e.values import Count, Delay, Filled, Number, Part, Truth, whole


class Retry(Part):
    """How often something that failed is tried again."""

    max_attempts: Annotated[int, whole(1, 10)] = Field(description="The most attempts, the first one counted: 1 to 10.")
    delay: Delay = Field(
        description='The time before the next attempt, such as "500ms" or "2s"; digits alone are milliseconds.'
    )
    backoff: Literal["linear", "exponential"] | None = Field(
        default=None, description="How the delay grows; it stays the same when left out."
    )
    backoff_multiplier: Number = Field(default=2, description="What an exponential delay is multiplied by.")


class Parallel(Part):
    """Whether suites run side by side."""

    enabled: Truth = Field(description="Whether they do.")
    concurrency: Count | None = Field(default=None, description="The most at once.")


RUNNERS = ("yaml", "vitest", "pytest", "shell", "exec", "playwright")


class Suite(Part):
    """Tests that are run together."""

    name: Filled = Field(description="What people call it.")
    id: Filled = Field(description="What programs call it; no other suite has it.")
    file: Filled | None = Field(default=None, description="The file of the tests, seen from this file.")
    runner: Filled = Field(
        default="yaml", description="What runs them: yaml, vitest, pytest, shell, exec or playwright."
    )
    command: Filled | None = Field(
        default=None,
        description="The command, for shell and exec; for the others, the program to run instead of their own.",
    )
    config: Filled | None = Field(default=None, description="The runner's own configuration file.")
    retry: Retry | None = Field(default=None, description="How often a failed case is tried; goes before that of all.")
    parallel: Truth | None = Field(default=None, description="Whether its cases run side by side.")
    concurrency: Count | None = Field(default=None, description="The most cases at once.")


class Tests(Part):
    """What is run against the environment."""

    suites: tuple[Suite, ...] = Field(description="The suites, in the order in which they run.")
    retry: Retry | None = Field(default=None, description="How often a failed case is tried, in every suite.")
    parallel: Parallel | None = Field(default=None, description="Whether suites run side by side.")
