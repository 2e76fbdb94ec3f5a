"""Secrets leave through no sink."""

from __future__ import annotations

import json
from time import perf_counter
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.core.redact import MASK, Redactor

CANARY = "canary-7f3a91"
secrets = st.text("ABCdef0189-_.+", min_size=6, max_size=20).filter(lambda one: one not in MASK)


def knowing(*known: str) -> Redactor:
    redactor = Redactor()
    for secret in known:
        redactor.learn(secret)
    return redactor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("nothing to see", "nothing to see", id="ordinary-text-is-left-alone"),
        pytest.param("", "", id="nothing"),
        pytest.param(f"a {CANARY} b", f"a {MASK} b", id="a-known-secret"),
        pytest.param(f"{CANARY}{CANARY}", f"{MASK}{MASK}", id="every-occurrence"),
        pytest.param(f"x{CANARY}y", f"x{MASK}y", id="inside-a-word"),
        pytest.param(
            "postgres://me:hunter2@db:5432/x", f"postgres://{MASK}@db:5432/x", id="user-and-password-of-a-url"
        ),
        pytest.param("amqp+ssl://me:pw@h", f"amqp+ssl://{MASK}@h", id="a-scheme-with-a-plus"),
        pytest.param("see HTTPS://key@h/p now", f"see HTTPS://{MASK}@h/p now", id="a-user-alone-in-capitals"),
        pytest.param("a://u:p@h b://v:q@i", f"a://{MASK}@h b://{MASK}@i", id="each-of-two-urls"),
        pytest.param("http://h/p?mail=a@b", "http://h/p?mail=a@b", id="an-at-in-the-path-is-no-password"),
        pytest.param("http://127.0.0.1:80/x", "http://127.0.0.1:80/x", id="a-url-without-a-user"),
        pytest.param("mail me@example.org", "mail me@example.org", id="an-address-of-a-person"),
        pytest.param("Authorization: Bearer abcDEF12._~+/=-", f"Authorization: Bearer {MASK}", id="a-bearer-token"),
        pytest.param("bearer   abcdefgh,", f"bearer {MASK},", id="a-bearer-token-in-small-letters"),
        pytest.param("Basic dXNlcjpwYXNz", f"Basic {MASK}", id="basic-credentials"),
        pytest.param("the bearer of news", "the bearer of news", id="a-short-word-after-bearer"),
        pytest.param("forbearer abcdefghij", "forbearer abcdefghij", id="bearer-inside-a-word"),
        pytest.param(
            "postgres://me:p@ss@db/x",
            f"postgres://{MASK}@db/x",
            id="a-password-that-holds-an-at",
        ),
    ],
)
def test_text(text: str, expected: str):
    assert knowing(CANARY).text(text) == expected


@pytest.mark.parametrize(
    ("known", "text", "expected"),
    [
        pytest.param(["abcde"], "abcde", "abcde", id="five-characters-would-mask-ordinary-words"),
        pytest.param(["abcdef"], "abcdef", MASK, id="six-characters-are-a-secret"),
        pytest.param(["abcdef", "abcdefghij"], "abcdefghij", MASK, id="the-longer-of-two-goes-first"),
        pytest.param(["abcdefghij", "abcdef"], "abcdefghij", MASK, id="in-whatever-order-they-were-learned"),
        pytest.param(["a.c+ef"], "abccef a.c+ef", f"abccef {MASK}", id="a-secret-is-no-pattern"),
        pytest.param(["abcdef"], "ABCDEF", "ABCDEF", id="case-counts"),
        pytest.param(["", "  "], "a  b", "a  b", id="nothing-is-no-secret"),
        pytest.param([r"\1\g<0>x"], r"y\1\g<0>x", f"y{MASK}", id="backslashes-are-taken-as-they-are"),
    ],
)
def test_what_was_learned(known: list[str], text: str, expected: str):
    assert knowing(*known).text(text) == expected


def test_redactors_do_not_share_what_they_know():
    knowing(CANARY)
    assert Redactor().text(CANARY) == CANARY


@pytest.mark.parametrize(
    "key",
    [
        *("password", "PASSWORD", "dbPassword", "passwd", "secret", "clientSecret", "token", "ARGUS_TOKEN", "apiKey"),
        *("api_key", "api-key", "APIKEY", "Authorization", "credentials", "private_key", "privateKey", "private-key"),
    ],
)
def test_a_value_named_like_a_secret_is_masked(key: str):
    assert Redactor().value({key: "x", "name": "x"}) == {key: MASK, "name": "x"}
    assert Redactor().value([{"deep": {key: "x"}}]) == [{"deep": {key: MASK}}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, None, id="none"),
        pytest.param(True, True, id="a-truth"),
        pytest.param(5, 5, id="a-number"),
        pytest.param(1.5, 1.5, id="a-fraction"),
        pytest.param({"tokens": 85_000}, {"tokens": 85_000}, id="a-count-of-tokens-is-no-token"),
        pytest.param({"env": {"name": CANARY}}, {"env": {"name": MASK}}, id="a-text-in-a-record-in-a-record"),
        pytest.param(["a", [CANARY]], ["a", [MASK]], id="a-text-in-a-list-in-a-list"),
        pytest.param(("a", CANARY), ["a", MASK], id="a-tuple-becomes-a-list"),
        pytest.param(MappingProxyType({"a": CANARY}), {"a": MASK}, id="any-mapping"),
        pytest.param({1: CANARY}, {"1": MASK}, id="a-key-becomes-a-text"),
        pytest.param({"url": "redis://:pw@h/0"}, {"url": f"redis://{MASK}@h/0"}, id="a-url-in-a-record"),
        pytest.param(
            {"token": {"name": "x"}}, {"token": {"name": "x"}}, id="a-record-under-such-a-name-is-looked-into"
        ),
    ],
)
def test_value(value: Any, expected: Any):
    assert knowing(CANARY).value(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({CANARY: 1}, id="as-a-key"),
        pytest.param({"cause": CANARY.encode()}, id="as-bytes"),
        pytest.param({"names": {CANARY}}, id="in-a-set"),
        pytest.param({"cause": ValueError(CANARY)}, id="in-an-exception"),
    ],
)
def test_a_known_secret_does_not_get_out(value: Any):
    assert CANARY not in str(knowing(CANARY).value(value))


@pytest.mark.parametrize("value", [{"passwords": ["hunter2"]}, {"secret": ("hunter2",)}], ids=["list", "tuple"])
def test_texts_in_a_list_named_like_a_secret_are_masked(value: Any):
    assert "hunter2" not in str(Redactor().value(value))


def test_what_was_given_is_not_changed():
    given_ = {"password": "x", "list": [CANARY]}
    knowing(CANARY).value(given_)
    assert given_ == {"password": "x", "list": [CANARY]}


@given(known=st.lists(secrets, min_size=1, max_size=4), pieces=st.lists(st.text(max_size=5), min_size=1, max_size=5))
@settings(deadline=None, max_examples=150)
def test_no_known_secret_is_left_in_a_text(known: list[str], pieces: list[str]):
    redactor = knowing(*known)
    text = "".join(piece + secret for piece in pieces for secret in known)
    out = redactor.text(text)
    assert not [secret for secret in known if secret in out]
    assert redactor.text(out) == out


def holding(secret: str) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["name", "note", "password", "tokens", "url", "n"])
    leaf = st.none() | st.integers() | st.booleans() | st.text(max_size=5).map(lambda one: one + secret + one)
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(names, inner, max_size=3),
        max_leaves=10,
    )


@given(holding(CANARY))
@settings(deadline=None, max_examples=150)
def test_no_known_secret_is_left_in_a_record_and_its_shape_is_kept(value: Any):
    redactor = knowing(CANARY)
    out = redactor.value(value)
    assert CANARY not in json.dumps(out)
    assert redactor.value(out) == out
    assert shape(out) == shape(value)


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [shape(item) for item in value]
    return str if isinstance(value, str) else value


@given(st.text(st.characters(exclude_characters="@bB")))
@settings(deadline=None, max_examples=150)
def test_text_without_anything_like_a_secret_is_left_alone(text: str):
    assert knowing(CANARY).text(text) == text


def test_a_long_text_of_small_pieces_takes_no_long_time():
    # Where the time grows with the square of the length these 24 KB take above a second, else a few milliseconds.
    begin = perf_counter()
    Redactor().text("a." * 12_000)
    assert perf_counter() - begin < 0.4
