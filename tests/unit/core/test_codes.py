"""Every error code has its words, and they are about what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from argus.cli.main import argus
from argus.core.actions import ACTIONS
from argus.core.codes import REGISTRY, Code
from argus.core.errors import ArgusError

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


def test_every_code_has_an_entry() -> None:
    assert set(REGISTRY) == set(Code)


@pytest.mark.parametrize("code", Code)
def test_a_code_says_what_it_means_when_it_comes_and_what_to_do(code: Code) -> None:
    entry = REGISTRY[code]
    for words in (entry.means, entry.when, entry.agent):
        assert words.endswith((".", ".)")), words
        assert words[0].isupper() or words[0] == "`", words
    assert entry.message
    assert not entry.message.endswith("."), "messages go on after a colon"
    assert entry.actions
    assert set(entry.actions) <= set(ACTIONS)
    assert ArgusError(code, entry.message, **entry.details).structured(0)["details"] == entry.details
    assert f"### {code.value}\n{entry.means}" in PAGE


def test_commands_that_are_advised_are_commands() -> None:
    """What somebody reads in trouble has to be there."""
    import click

    said = [*ACTIONS.values(), *(f"{one.agent} {one.when}" for one in REGISTRY.values())]
    advised = {tuple(found.split()) for text in said for found in re.findall(r"argus ((?:[a-z][a-z-]+ ?){1,2})", text)}
    assert ("services", "list") in advised
    context = click.Context(argus)
    for words in advised:
        command = argus.get_command(context, words[0])
        if command is None:
            assert words[0] in {"daemon", "yaml"}, words
        elif isinstance(command, click.Group) and len(words) > 1:
            below = command.get_command(context, words[1])
            assert below is not None, words
