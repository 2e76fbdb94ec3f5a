"""How often a case is tried, and how long is waited in between. Pure."""

from __future__ import annotations

from argus.environments.e2e.suites import Retry

_LONGEST = 300.0


def chosen(*levels: Retry | None) -> Retry | None:
    """The nearest one: of the case, of the suite, of all."""
    return next((one for one in levels if one is not None), None)


def attempts(retry: Retry | None) -> int:
    return retry.max_attempts if retry else 1


def pause(retry: Retry, failed: int) -> float:
    """Seconds before the next attempt, after that many."""
    factor = 1.0
    if retry.backoff == "linear":
        factor = failed
    elif retry.backoff == "exponential":
        factor = retry.backoff_multiplier ** (failed - 1)
    return min(_LONGEST, retry.delay * factor)
