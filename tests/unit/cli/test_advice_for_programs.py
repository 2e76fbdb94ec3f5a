"""Wrong use of the command line is answered with the same advice in both forms: neither speaks of the REST API."""

from __future__ import annotations

import json

import pytest

from argus.cli.main import main


@pytest.mark.parametrize(
    ("words", "command"),
    [
        pytest.param(("bogus",), "argus", id="no-command"),
        pytest.param(("services", "list", "--jsonx"), "argus services list", id="no-option"),
        pytest.param(("autonomy", "god"), "argus autonomy", id="no-choice"),
        pytest.param(("call", "a", "b", "[]"), "argus call", id="no-object"),
    ],
)
def test_wrong_use_is_answered_with_the_help_of_the_command(
    words: tuple[str, ...], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main([*words, "--json"])
    assert left.value.code == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["suggestedActions"]) == ("INVALID_REQUEST", ["read_help"])
    assert error["details"] == {"help": f"{command} --help"}


def test_also_where_the_command_itself_refuses_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["agent", "heartbeat", "--agent-id", "a", "--pid", str(2**31 - 1), "--json"])
    assert json.loads(capsys.readouterr().out)["error"]["suggestedActions"] == ["read_help"]
