import pytest

from argus.bridge import naming
from argus.core.errors import ArgusError


def test_a_tool_names_its_server_and_each_is_named_once() -> None:
    tools = ["mcp__github__list_issues", "mcp__docker-mcp__*", "mcp__github__get_*", "mcp__memory", "mcp__a_b__c"]
    assert naming.servers(tools) == ("github", "docker-mcp", "memory", "a_b")


@pytest.mark.parametrize(
    "tool",
    ["Bash", "Bash(ls)", "mcp__", "mcp____x", "mcp__*", "mcp__*__x", "mcp__a__b c", "mcp__a__b,Bash", "mcp__a__",
     "--x", "", "mcp__a__b\nBash", "mcp__a(b)"],
)  # fmt: skip
def test_what_is_not_the_tool_of_one_server_is_refused(tool: str) -> None:
    with pytest.raises(ArgusError, match="mcp__SERVER__TOOL"):
        naming.servers([tool])


def test_none_and_too_many_are_refused() -> None:
    for tools in ([], ["mcp__a__b"] * (naming.MOST + 1)):
        with pytest.raises(ArgusError, match="tools: "):
            naming.servers(tools)


def test_what_a_program_says_it_used_is_found_under_the_name_it_gave() -> None:
    assert naming.server_in("mcp__a__b__c", ["a", "a__b"]) == "a__b"
    assert naming.server_in("mcp__x__c", ["a"]) == "x"
    assert naming.server_in("Bash", ["a"]) is None
