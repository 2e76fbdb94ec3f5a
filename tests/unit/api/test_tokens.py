"""Tokens for others: what was proven once is not proven again, and nothing else gets in that way."""

from __future__ import annotations

from argus.api.tokens import Tokens
from argus.ops.caller import Caller, Role

ROOT = "0123456789abcdef0123456789abcdef"


def test_a_token_that_comes_again_is_the_same_callers():
    tokens = Tokens(ROOT)
    token = tokens.make(Role.AGENT, "worker", "/srv/app")
    assert [tokens.read(token) for _ in range(3)] == [Caller("agent:worker", Role.AGENT, "worker", "/srv/app")] * 3


def test_another_roots_token_is_refused_however_often_it_comes():
    stranger = Tokens("another root token").make(Role.AGENT, "worker")
    tokens = Tokens(ROOT)
    assert [tokens.read(stranger) for _ in range(3)] == [None] * 3


def test_a_good_token_makes_no_other_good():
    tokens = Tokens(ROOT)
    good = tokens.make(Role.REPORT)
    assert tokens.read(good)
    assert [tokens.read(good[:-1]), tokens.read(good + "A"), tokens.read(good.upper())] == [None] * 3


def test_more_tokens_than_are_kept_are_all_good():
    tokens = Tokens(ROOT)
    made = [tokens.make(Role.AGENT, f"worker-{number}") for number in range(600)]
    for _ in range(2):
        assert [tokens.read(token).agent for token in made] == [f"worker-{number}" for number in range(600)]


def test_a_session_of_the_page_is_good_until_its_time_and_for_an_argus_that_was_started_again():
    session = Tokens(ROOT).make_session(1000.0)
    assert Tokens(ROOT).is_session(session, 999.0)
    assert not Tokens(ROOT).is_session(session, 1000.0)
    assert not Tokens("another root token").is_session(session, 0.0)
    assert Tokens(ROOT).make_session(1000.0) != session


def test_nothing_else_is_a_session_of_the_page():
    tokens = Tokens(ROOT)
    good = tokens.make_session(1000.0)
    later = "9" + good
    for wrong in ("", ".", "..", "x", good[:-1], good + "A", later, tokens.make(Role.AGENT, "a"), "ü.ü.ü", "1" * 9999):
        assert not tokens.is_session(wrong, 0.0), wrong
    assert tokens.read(good) is None
