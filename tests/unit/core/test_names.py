"""Names that come from outside can be read as nothing but names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.agents.settings import Agents
from argus.bridge.settings import Bridge
from argus.core.names import PATTERN, apart, check, made_of
from argus.environments.e2e.names import container
from argus.sessions.settings import Sessions


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a", id="one-letter"),
        pytest.param("7", id="one-digit"),
        pytest.param("_private", id="an-underscore-first"),
        pytest.param("api-1", id="a-dash-inside"),
        pytest.param("docker:shop", id="a-breakers-name"),
        pytest.param("getty@tty1.service", id="a-systemd-unit"),
        pytest.param("com.example.agent", id="a-launchd-label"),
        pytest.param("My Service", id="a-blank-inside"),
        pytest.param("a--b", id="two-dashes-inside"),
        pytest.param("c++", id="plus-signs"),
        pytest.param("a" * 100, id="a-hundred-characters"),
    ],
)
def test_is_a_name(name: str):
    assert check(name) == name


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="nothing"),
        pytest.param("-f", id="an-option"),
        pytest.param("--force", id="a-long-option"),
        pytest.param("+x", id="a-leading-plus"),
        pytest.param("@host", id="a-leading-at"),
        pytest.param(":x", id="a-leading-colon"),
        pytest.param(".", id="this-folder"),
        pytest.param("..", id="the-folder-above"),
        pytest.param("../x", id="a-path-up"),
        pytest.param("a..b", id="two-dots-inside"),
        pytest.param(".hidden", id="a-hidden-file"),
        pytest.param("a/b", id="a-path"),
        pytest.param("a\\b", id="a-path-with-backslashes"),
        pytest.param("/etc/passwd", id="an-absolute-path"),
        pytest.param("http://x", id="a-url"),
        pytest.param("$(x)", id="a-substitution"),
        pytest.param("a$(x)", id="a-substitution-inside"),
        pytest.param("a`x`", id="backticks"),
        pytest.param("a;b", id="a-semicolon"),
        pytest.param("a|b", id="a-pipe"),
        pytest.param("a&b", id="an-ampersand"),
        pytest.param("a*", id="a-wildcard"),
        pytest.param("a=b", id="an-equals-sign"),
        pytest.param("a%2e", id="a-percent-escape"),
        pytest.param("<b>", id="markup"),
        pytest.param("a<b", id="markup-inside"),
        pytest.param('a"b', id="a-quote"),
        pytest.param("a'b", id="an-apostrophe"),
        pytest.param(" a", id="a-leading-blank"),
        pytest.param("a ", id="a-trailing-blank"),
        pytest.param("a\n", id="a-trailing-newline"),
        pytest.param("a\nb", id="a-newline-inside"),
        pytest.param("a\tb", id="a-tab"),
        pytest.param("a\0", id="a-nul"),
        pytest.param("a\x1b[0m", id="an-escape-sequence"),
        pytest.param("naïve", id="a-letter-outside-ascii"),
        pytest.param("٣", id="a-digit-of-another-script"),
        pytest.param("a\u00a0b", id="a-blank-outside-ascii"),
        pytest.param("a" * 101, id="a-hundred-and-one-characters"),
    ],
)
def test_is_no_name(name: str):
    with pytest.raises(ValueError):
        check(name)


_LETTERS = r"letters? \(a to z, A to Z\)"


@pytest.mark.parametrize(
    "refuse",
    [
        pytest.param(lambda: check("größe"), id="of-anything"),
        pytest.param(lambda: container("größe"), id="of-a-container"),
        pytest.param(lambda: Sessions.model_validate({"projects": {"größe": {"path": "/srv"}}}), id="of-a-project"),
        pytest.param(
            lambda: Agents.model_validate({"configs": {"a b": {"command": ["x"], "tmux": True}}}),
            id="of-agents-in-tmux",
        ),
        pytest.param(lambda: Bridge.model_validate({"servers": {"größe": {"command": "x"}}}), id="of-an-mcp-server"),
    ],
)
def test_which_letters_a_name_may_have_is_said(refuse: Callable[[], Any]):
    with pytest.raises(ValueError, match=_LETTERS):
        refuse()


@given(st.text(max_size=8) | st.text("ab1_.:@ +-/\\$\n", max_size=8) | st.from_regex(PATTERN))
@settings(deadline=None, max_examples=300)
def test_what_passes_is_harmless_and_unchanged(name: str):
    try:
        passed = check(name)
    except ValueError:
        return
    assert passed == name
    assert name.isascii()
    assert name.isprintable()
    assert name == name.strip()
    assert 1 <= len(name) <= 100
    assert name[0] not in "-.+@: "
    assert ".." not in name
    assert not set(name) & set("/\\$`;|&*?=%<>\"'(){}[]~!#^,")
    assert re.search(PATTERN, name)


@given(st.from_regex(PATTERN, fullmatch=True).filter(lambda name: not name.endswith("\n")))
@settings(deadline=None, max_examples=300)
def test_what_fits_the_schema_is_a_name(name: str):
    assert check(name) == name


@given(st.lists(st.text(), min_size=1))
def test_words_from_anywhere_make_a_name(parts: list[str]):
    name = made_of(*parts)
    assert check(name) == name


def test_names_of_which_letters_are_lost_stay_two():
    shops = {apart("商店"), apart("银行"), apart("shop"), apart("shopé"), apart("s" * 101), apart("s" * 102)}
    assert len(shops) == 6
    assert (apart("shop"), apart("my shop")) == ("shop", "my-shop"), "what can be read is left as it is"
    assert apart("/run/a/sock", strictly=True) != apart("/run/a-sock", strictly=True)
    assert apart("\ud800")


@given(st.text(max_size=200), st.integers(20, 100), st.booleans())
def test_a_name_kept_apart_is_a_name_of_the_length_that_is_asked_for(text: str, longest: int, strictly: bool):
    name = apart(text, longest, strictly=strictly)
    assert check(name) == name
    assert len(name) <= longest
