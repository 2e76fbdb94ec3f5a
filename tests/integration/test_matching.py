"""Regular expressions of others: applied in a process that can be ended."""

import threading
from collections.abc import Iterator

import pytest

from argus.host.matching import Matcher, TooSlow


@pytest.fixture
def matcher() -> Iterator[Matcher]:
    made = Matcher()
    yield made
    made.close()


def test_what_is_found_and_what_is_not(matcher: Matcher):
    assert matcher.search("^v[0-9]+", "v12")
    assert not matcher.search("^v[0-9]+$", "v12x")
    assert matcher.search("ü$", "grü")
    assert matcher.search("b" * 10 + "$", "a" * 1_000_000 + "b" * 10)
    assert matcher.search("", "")


def test_what_is_no_expression_is_refused_and_the_next_one_works(matcher: Matcher):
    with pytest.raises(ValueError, match="regular expression"):
        matcher.search("(", "x")
    assert matcher.search("x", "x")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("^(a+)+$", "a" * 40 + "b"), ("(.*,){20}x$", "," * 5000), ("(?:a|aa)+$", "a" * 60 + "b")],
)
def test_one_that_backtracks_for_ever_is_ended_and_the_next_one_works(pattern: str, text: str):
    matcher = Matcher(deadline=0.5)
    try:
        with pytest.raises(TooSlow):
            matcher.search(pattern, text)
        assert matcher.search("x", "x")
    finally:
        matcher.close()


def test_whoever_closes_it_ends_what_is_under_way():
    matcher = Matcher(deadline=60)
    assert matcher.search("x", "x")
    ended: list[type[Exception]] = []

    def searching() -> None:
        try:
            matcher.search("^(a+)+$", "a" * 40 + "b")
        except TooSlow as slow:
            ended.append(type(slow))

    thread = threading.Thread(target=searching)
    thread.start()
    matcher.close()
    thread.join(30)
    assert ended == [TooSlow]
    with pytest.raises(TooSlow):
        matcher.search("x", "x")
