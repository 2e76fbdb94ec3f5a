"""What a case expects, held against what its step saw. Pure: the search for regular expressions is handed in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from argus.environments.testing import expressions, operators
from argus.environments.testing.model import Events, Expect, Output
from argus.environments.testing.operators import Search
from argus.environments.testing.results import Failure
from argus.environments.testing.seeing import Seen, parsed
from argus.environments.testing.showing import MISSING, brief, shown
from argus.environments.testing.strange import ROOTS

MOST = 50
"""Failures of one case that are told."""


def judge(seen: Seen, expect: Expect, search: Search, variables: Mapping[str, Any]) -> list[Failure]:
    """`expect` has no mistakes."""
    found: list[Failure] = []
    for one in _all(seen, expect, search, variables):
        found.append(one)
        if len(found) == MOST:
            found.append(Failure(f"and more; the first {MOST} are told"))
            break
    return found


def _all(seen: Seen, expect: Expect, search: Search, variables: Mapping[str, Any]) -> Iterator[Failure]:
    if expect.status is not None:
        yield from _one_of(seen.status, expect.status, "status")
    if expect.exit_code is not None:
        yield from _one_of(seen.exit_code, (expect.exit_code,), "exitCode")
    if expect.headers:
        yield from _headers(seen, expect.headers, search)
    if expect.response_time is not None:
        yield from _time(seen, expect.response_time)
    if expect.body is not None:
        yield from operators.check(seen.body, expect.body, "body", search)
    for one in expect.all:
        yield from operators.check(seen.body, one, "body", search)
    if expect.any:
        yield from _any(seen, expect.any, search)
    yield from _expressions(seen, expect.expr, variables)
    if expect.output is not None:
        yield from output(seen.output, expect.output, search)
    if expect.events is not None:
        yield from _events(seen, expect.events, search)


def _one_of(actual: int | None, wanted: tuple[int, ...], path: str) -> Iterator[Failure]:
    if actual is None:
        yield Failure(f"this step has no {path}", path, shown(list(wanted)))
    elif actual not in wanted:
        words = " or ".join(str(one) for one in wanted)
        expected = wanted[0] if len(wanted) == 1 else list(wanted)
        yield Failure(f"expected {words}, got {actual}", path, shown(expected), actual)


def _headers(seen: Seen, wanted: Mapping[str, Any], search: Search) -> Iterator[Failure]:
    if seen.headers is None:
        yield Failure("this step has no headers", "headers", shown(dict(wanted)))
        return
    for name, one in wanted.items():
        # Text is all a header can be: `content-length: 12` is meant so.
        expected = str(one) if isinstance(one, int | float) and not isinstance(one, bool) else one
        actual = seen.headers.get(name.lower(), MISSING)
        yield from operators.check(actual, expected, f"headers.{name}", search)


def _time(seen: Seen, wanted: Mapping[str, float]) -> Iterator[Failure]:
    if seen.milliseconds is None:
        yield Failure("this step has no response time", "responseTime", shown(dict(wanted)))
        return
    took = round(seen.milliseconds, 1)
    yield from operators.check(took, dict(wanted), "responseTime", lambda pattern, text: False)


def _any(seen: Seen, several: list[Any], search: Search) -> Iterator[Failure]:
    first: Failure | None = None
    for one in several:
        wrong = next(operators.check(seen.body, one, "body", search), None)
        if wrong is None:
            return
        first = first or wrong
    said = f"none of {len(several)} is as expected; the first: {first}"
    yield Failure(said, "body", shown({"any": several}), shown(seen.body))


def _expressions(seen: Seen, several: Iterable[str], variables: Mapping[str, Any]) -> Iterator[Failure]:
    values: dict[str, Any] | None = None
    for text in several:
        expression = expressions.parse(text, ROOTS)
        values = values if values is not None else {**seen.values(), "vars": dict(variables)}
        if not expression.holds(values):
            actual = {path: shown(value, 500) for path, value in expression.seen(values).items()}
            words = ", ".join(f"{path} is {brief(value)}" for path, value in list(actual.items())[:5])
            said = f"does not hold: {brief(text, 200)}" + (f" ({words})" if words else "")
            yield Failure(said, "expr", shown(text), shown(actual))


def output(actual: str | None, wanted: Output, search: Search) -> Iterator[Failure]:
    if actual is None:
        yield Failure("this step has no output", "output")
        return
    yield from text(actual, wanted.contains, wanted.not_contains, wanted.matches, "output", search)
    if wanted.json_ is not None:
        yield from json_text(actual, wanted.json_, "output", search)
    if wanted.length is not None:
        lines = len(actual.splitlines())
        if not wanted.length.holds(lines):
            yield Failure(f"expected {wanted.length} lines, got {lines}", "output.length", str(wanted.length), lines)


def text(
    actual: str, contains: Iterable[str], lacks: Iterable[str], matches: str | None, path: str, search: Search
) -> Iterator[Failure]:
    for one in contains:
        if one not in actual:
            yield Failure(f"expected to contain {brief(one)}", path, {"contains": shown(one)}, shown(actual))
    for one in lacks:
        if one in actual:
            yield Failure(f"expected not to contain {brief(one)}", path, {"notContains": shown(one)}, shown(actual))
    if matches is not None and not search(matches, actual):
        yield Failure(f"expected to match {brief(matches)}", path, {"matches": shown(matches)}, shown(actual))


def json_text(actual: str, wanted: Any, path: str, search: Search) -> Iterator[Failure]:
    value = parsed(actual)
    if isinstance(value, str) and not actual.strip().startswith('"'):
        yield Failure("is not JSON", path, {"json": shown(wanted)}, shown(actual))
    else:
        yield from operators.check(value, wanted, f"{path}.json", search)


def _events(seen: Seen, wanted: Events, search: Search) -> Iterator[Failure]:
    if seen.events is None:
        yield Failure("this step has no events", "events")
        return
    count, events = len(seen.events), seen.events
    if wanted.min_count is not None and count < wanted.min_count:
        yield Failure(f"expected at least {wanted.min_count}, got {count}", "events", wanted.min_count, count)
    if wanted.max_count is not None and count > wanted.max_count:
        yield Failure(f"expected at most {wanted.max_count}, got {count}", "events", wanted.max_count, count)
    for one in wanted.types:
        if one not in seen.types:
            there = shown(list(dict.fromkeys(seen.types)))
            yield Failure(f"expected one of the type {brief(one)}", "events.types", shown(one), there)
    data = "\n".join(one.data for one in events)
    yield from text(data, wanted.data_contains, wanted.data_not_contains, None, "events.data", search)
    for path, expected, place in (("events.first", wanted.first, 0), ("events.last", wanted.last, -1)):
        if expected is not None:
            value = events[place].value if events else MISSING
            yield from operators.check(value, expected, path, search)
