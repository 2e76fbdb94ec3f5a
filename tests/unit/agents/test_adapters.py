"""What starts and resumes each kind of agent."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from argus.agents import adapters
from argus.agents.settings import AgentConfig, Agents
from argus.host.conversations import Conversation


def config(*command: str, **more: Any) -> AgentConfig:
    return AgentConfig.model_validate({"command": list(command), **more})


def start(config: AgentConfig, task: str = "mend it", session: str = "") -> adapters.Start:
    return adapters.start(
        config, task=task, agent_id="team-a001", project="/work here", session=session, fresh_session="s-new"
    )


def test_places_are_filled_inside_their_argument() -> None:
    made = start(config("run", "--in={{project_path}}", "{{ task }}", "{{agent_id}}/{{session}}", "{{other}}"))
    assert made.argv == ("run", "--in=/work here", "mend it", "team-a001/s-new", "{{other}}")
    assert made.session == "s-new"


@given(st.text())
def test_a_task_stays_one_argument_unchanged(task: str) -> None:
    assert start(config("run", "{{task}}", "end"), task).argv == ("run", task, "end")
    assert start(config("run"), task).env["ARGUS_TASK"] == task


def test_what_is_put_in_is_not_looked_at_again() -> None:
    made = start(config("run", "{{task}}"), "say {{task}} and {{agent_id}}")
    assert made.argv == ("run", "say {{task}} and {{agent_id}}")


def test_a_plain_command_has_its_task_in_the_environment_and_no_session() -> None:
    made = start(config("run", "-x", env={"KEY": "v", "ARGUS_TASK": "not this"}))
    assert made.argv == ("run", "-x")
    assert made.env == {"KEY": "v", "ARGUS_TASK": "mend it", "ARGUS_AGENT_ID": "team-a001"}
    assert made.session == ""


def test_claude_is_given_its_session_and_resumes_it() -> None:
    claude = config("/opt/claude", "-p", "{{task}}")
    first = start(claude)
    assert first.argv == ("/opt/claude", "--session-id", "s-new", "-p", "mend it")
    again = start(claude, session=first.session)
    assert again.argv == ("/opt/claude", "--resume", "s-new", "-p", adapters.CONTINUE + "mend it")
    assert again.session == "s-new"


def test_claude_that_names_its_session_itself_is_left_alone() -> None:
    assert start(config("claude", "--session-id={{session}}")).argv == ("claude", "--session-id=s-new")


@pytest.mark.parametrize(
    ("command", "resumed"),
    [
        (["{{task}}"], ["resume", "s-old", "TASK"]),
        (["exec", "-s", "read-only", "{{task}}"], ["exec", "-s", "read-only", "resume", "s-old", "TASK"]),
        (["exec", "--", "{{task}}"], ["exec", "resume", "s-old", "--", "TASK"]),
        (["{{task}}", "--search"], ["resume", "s-old", "TASK", "--search"]),
        (["exec"], ["exec", "resume", "s-old"]),
    ],
    ids=["in-a-terminal", "headless", "behind-a-dash", "options-behind", "task-in-the-environment"],
)
def test_codex_works_by_itself_and_resumes_what_it_began(command: list[str], resumed: list[str]) -> None:
    codex, alone = config("/opt/codex", *command), ("/opt/codex", "-c", "features.daemon_auto_start=false")
    begun = start(codex)
    assert begun.argv == (*alone, *[one.replace("{{task}}", "mend it") for one in command])
    assert begun.session == "", "it names its conversation itself"
    again = start(codex, session="s-old")
    assert again.argv == (*alone, *[one.replace("TASK", adapters.CONTINUE + "mend it") for one in resumed])
    assert again.session == "s-old"


def test_codex_that_is_told_about_its_daemon_is_left_alone() -> None:
    assert start(config("codex", "--enable", "daemon_auto_start")).argv == ("codex", "--enable", "daemon_auto_start")


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_a_task_that_begins_with_a_dash_is_no_option(program: str) -> None:
    assert start(config(program, "-p", "{{task}}"), "- mend it").argv[-3:] == ("-p", "--", "- mend it")
    assert start(config(program, "-p", "--", "{{task}}"), "- mend it").argv[-3:] == ("-p", "--", "- mend it")
    assert start(config("run", "{{task}}"), "- mend it").argv == ("run", "- mend it")


@pytest.mark.parametrize(
    ("begun", "is_own"),
    [
        ([("a", "mend it")], "a"),
        ([("a", "<context>", "mend it\n"), ("b", "another task")], "a"),
        ([("a", "Your task: mend it")], "a"),
        ([("a", "another task")], ""),
        ([("a", "mend it"), ("b", "mend it")], ""),
        ([("a", "mend it"), ("taken", "mend it")], "a"),
        ([("taken", "mend it")], ""),
        ([], ""),
    ],
    ids=[
        "the-one-that-was-asked-for-its-task",
        "among-others",
        "inside-a-prompt",
        "not-a-person's-beside-it",
        "not-one-of-two-that-may-be",
        "not-that-of-another-agent",
        "not-only-that-of-another-agent",
        "none",
    ],
)
def test_a_conversation_is_an_agents_own_when_nobody_else_could_have_begun_it(
    begun: list[tuple[str, ...]], is_own: str
) -> None:
    found = [Conversation(id, 0.0, tuple(prompts)) for id, *prompts in begun]
    assert adapters.own(found, " mend it\n", {"", "taken"}) == is_own


def test_a_task_of_blanks_names_no_conversation() -> None:
    assert adapters.own([Conversation("a", 0.0, ("anything",))], " \n", set()) == ""


def test_the_longest_argument_is_that_of_a_resume_and_a_variable_counts_with_its_name() -> None:
    def longest(*command: str) -> int:
        return adapters.longest(config(*command), task="é" * 100, agent_id="team-a001", project="/work")

    assert longest("claude", "{{task}}") == 200 + len(adapters.CONTINUE)
    assert longest("run", "{{task}}") == 200 + len("ARGUS_TASK=")


def test_what_is_given_for_a_resume_is_used_for_one() -> None:
    resuming = config("run", "{{task}}", "{{session}}", resume=["run", "--again={{session}}", "{{task}}"])
    assert start(resuming).argv == ("run", "mend it", "s-new")
    assert start(resuming, session="s-old").argv == ("run", "--again=s-old", "mend it")


def test_an_agent_without_a_session_begins_anew() -> None:
    assert start(config("run", "{{task}}", resume=["run", "--again"])).argv == ("run", "mend it")


# The settings.


def settings(**more: Any) -> Agents:
    return Agents.model_validate(more)


def test_the_kind_is_told_from_the_program() -> None:
    assert [config(name).kind for name in ("claude", "/bin/codex", "sh")] == ["claude", "codex", "plain"]
    assert config("wrapper", agent="claude").kind == "claude"


def test_times_and_counts_have_the_values_of_the_documentation() -> None:
    found = settings()
    assert (found.heartbeat.interval, found.heartbeat.stale_after, found.heartbeat.check_every) == (30, 120, 60)
    assert (found.respawn.backoff, found.respawn.max_backoff, found.respawn.max_per_hour) == (10, 300, 5)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"configs": {"a": {"command": "claude x"}}}, "list of arguments"),
        ({"configs": {"a": {"command": []}}}, "at least 1"),
        ({"configs": {"a": {}}}, "required"),
        ({"configs": {"a": {"command": ["x"], "resume": "x"}}}, "list of arguments"),
        ({"configs": {"a": {"command": ["x"], "env": {"A-B": "1"}}}}, "pattern"),
        ({"configs": {"a": {"command": ["x"], "tmux": "yes"}}}, "boolean"),
        ({"configs": {"a": {"command": ["x"], "agent": "gpt"}}}, "claude"),
        ({"configs": {"a": {"command": ["x"], "other": 1}}}, "Extra"),
        ({"configs": {"../a": {"command": ["x"]}}}, "a name starts with"),
        ({"heartbeat": {"interval": "2m", "staleAfter": "2m"}}, "staleAfter must be longer"),
        ({"heartbeat": {"interval": 30}}, "needs a unit"),
        ({"heartbeat": {"checkEvery": "0s"}}, "more than 0"),
        ({"respawn": {"maxPerHour": "5"}}, "integer"),
        ({"respawn": {"maxPerHour": -1}}, "greater than or equal to 0"),
        ({"respawn": {"enabled": 1}}, "boolean"),
    ],
)
def test_a_bad_value_is_refused_with_its_reason(section: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        settings(**section)
