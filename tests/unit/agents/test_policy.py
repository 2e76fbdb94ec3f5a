"""The four questions, the gates, the waits and the ids: tables over values, no doubles."""

from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from argus.agents import policy
from argus.agents.book import Book
from argus.agents.model import Agent, State
from argus.agents.policy import Facts, Gate, Hold, Keep, Remove, Report, Respawn, Wait, decide
from argus.agents.settings import Agents
from argus.core.autonomy import Level
from argus.core.backoff import Backoff
from argus.core.vital import Vital
from argus.ops.agents import BeatAsk

OPEN = Facts(vital=Vital.DEAD, autonomy=Level.MODERATE)
QUESTIONS: list[tuple[dict[str, Any], policy.Decision]] = [
    ({"stop_approved": True}, Remove("stopped")),
    ({"finished": True}, Remove("finished")),
    ({"vital": Vital.ALIVE}, Keep(hung=False)),
    ({"all_are_late": True}, Wait()),
    ({"vital": None}, Report()),
]
PAIRS = [(one, two) for one, two in combinations(QUESTIONS, 2) if one[0].keys() != two[0].keys()]
"""One fact cannot be two things."""
GATES: list[tuple[dict[str, Any], Gate]] = [
    ({"respawn_enabled": False}, Gate.DISABLED),
    ({"config_known": False}, Gate.CONFIG),
    ({"path_exists": False}, Gate.PATH),
    ({"autonomy": Level.CAUTIOUS}, Gate.AUTONOMY),
    ({"respawns": 5}, Gate.CAP),
    ({"wait": 0.1}, Gate.BACKOFF),
    ({"recordable": False}, Gate.RECORD),
]


def test_a_dead_and_unfinished_agent_is_respawned_when_every_gate_is_open() -> None:
    assert decide(OPEN) == Respawn()
    assert decide(replace(OPEN, autonomy=Level.FULL, respawns=4)) == Respawn()


@pytest.mark.parametrize(("change", "decision"), QUESTIONS)
def test_each_question_is_answered_by_itself(change: dict[str, Any], decision: policy.Decision) -> None:
    assert decide(replace(OPEN, **change)) == decision


@pytest.mark.parametrize(("earlier", "later"), PAIRS)
def test_the_questions_are_asked_in_order(earlier: Any, later: Any) -> None:
    assert decide(replace(OPEN, **later[0], **earlier[0])) == earlier[1]


@pytest.mark.parametrize(("change", "decision"), QUESTIONS)
def test_every_question_comes_before_every_gate(change: dict[str, Any], decision: policy.Decision) -> None:
    closed = replace(OPEN, **{key: value for gate, _ in GATES for key, value in gate.items()})
    assert decide(replace(closed, **change)) == decision


@pytest.mark.parametrize(("change", "gate"), GATES)
def test_each_gate_holds_by_itself(change: dict[str, Any], gate: Gate) -> None:
    assert decide(replace(OPEN, **change)) == Hold(gate)


@pytest.mark.parametrize(("earlier", "later"), list(combinations(GATES, 2)))
def test_the_gates_are_asked_in_order(earlier: Any, later: Any) -> None:
    assert decide(replace(OPEN, **later[0], **earlier[0])) == Hold(earlier[1])


def test_a_process_that_is_stopped_is_hung_and_not_dead() -> None:
    assert decide(replace(OPEN, vital=Vital.STOPPED)) == Keep(hung=True)


def test_gates_that_no_time_opens_are_escalated() -> None:
    assert frozenset({Gate.PATH, Gate.CAP, Gate.CONFIG}) == policy.ESCALATED


# The waits.

BACKOFF = Backoff(10.0, 300.0, jitter=0.25)


def waits(chances: list[float]) -> list[float]:
    found: list[float] = []
    for tries, chance in enumerate(chances):
        found.append(policy.delay(BACKOFF, tries, found[-1] if found else 0.0, chance))
    return found


def test_without_jitter_the_wait_doubles_up_to_its_cap() -> None:
    assert waits([0.0] * 7) == [10, 20, 40, 80, 160, 300, 300]


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=2000))
def test_a_wait_never_shrinks_is_capped_and_has_a_quarter_of_jitter_at_most(chances: list[float]) -> None:
    found = waits(chances)
    assert all(before <= after for before, after in pairwise(found))
    for tries, wait in enumerate(found):
        least = min(300.0, 10.0 * 2.0 ** min(tries, 10))
        assert least <= wait <= least * 1.25


# Ids.


def agent(id: str, config: str = "") -> Agent:
    return Agent(id, id, 1, State.ALIVE, 0.0, config=config)


@pytest.mark.parametrize(
    ("id", "highest", "following"),
    [
        ("team-sntgreen002", 2, "team-sntgreen003"),
        ("team-sntgreen002", 7, "team-sntgreen008"),
        ("team-a0009", 9, "team-a0010"),
        ("a9", 9, "a010"),
        ("team-a999", 999, "team-a1000"),
        ("alone", 1, "alone002"),
        ("7", 7, "008"),
        ("a-", 0, "a-002"),
        ("run20260101001", 1, "run20260101002"),
        ("a" + "9" * 9, 0, "a1000000000"),
    ],
)
def test_the_number_counts_up_and_keeps_its_width(id: str, highest: int, following: str) -> None:
    assert policy.next_id(id, highest) == following


@given(st.text("ab0129-", min_size=1, max_size=40))
def test_a_split_id_is_whole_and_its_number_can_be_counted(id: str) -> None:
    stem, digits = policy.split(id)
    assert stem + digits == id
    assert len(digits) <= 9
    assert len(digits) == 9 or not stem[-1:].isdigit()


@pytest.mark.parametrize("config", ["green", "Green", "gpt4", "build-20260101", "a1234567890", "9" * 12])
def test_first_ids_of_a_config_are_never_the_same(config: str) -> None:
    book, ids = Book(), []
    for _ in range(1200):
        ids.append(book.first_id(config))
        book.put(agent(ids[-1], config))
        book.forget(ids[-1])
    assert ids[0] == f"team-{config.lower()}001"
    assert len(set(ids)) == 1200


def test_the_digits_of_a_configs_name_are_none_of_its_agents_numbers() -> None:
    book = Book()
    firsts = {name: book.first_id(name) for name in ("worker", "worker1", "worker18", "worker2")}
    for name, id in firsts.items():
        assert id == f"team-{name}001"
        book.put(agent(id, name))
    for name, id in firsts.items():
        assert book.first_id(name) == f"team-{name}002"
        assert book.next_id(id, name) == f"team-{name}002"
    again = Book()  # of some, only the run folders are left
    for id in firsts.values():
        again.use(id)
    assert [again.first_id(name) for name in firsts] == [f"team-{name}002" for name in firsts]


def test_what_another_config_has_is_passed_over() -> None:
    book = Book()
    book.put(agent("team-a1001", "a"))  # its 1001st
    assert book.first_id("a1") == "team-a1002"
    assert book.next_id("team-a1001", "a") == "team-a1002"


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["a", "a9", "a99", "a999999999", "a1000000000", "", "9"]))))
def test_whatever_was_used_is_never_used_again(steps: list[tuple[bool, str]]) -> None:
    book, used = Book(), set[str]()
    for first, name in steps:
        id = book.first_id(name) if first else book.next_id(name)
        assert id not in used
        used |= {id, name}
        book.put(agent(id))
        book.put(agent(name))


def test_every_id_can_be_named_also_after_many_generations_of_a_long_name():
    id = policy.first_id("x" * 100)
    for _ in range(1200):
        assert len(id) <= 100
        id = policy.next_id(id, 0)
    assert id.endswith("1201")
    assert len(policy.next_id("y" * 100, 0)) <= 100


@pytest.mark.parametrize("said", [True, "12", 0, -1, 2**31], ids=repr)
def test_what_is_no_pid_is_refused(said: object):
    with pytest.raises(ValidationError):
        BeatAsk.model_validate({"agent_id": "a", "pid": said})


@pytest.mark.parametrize("said", [{"session": "--evil"}, {"session": "a\0b"}, {"current_task": "a\0b"}], ids=str)
def test_what_could_not_be_given_to_a_successor_is_refused_when_it_is_said(said: dict[str, str]):
    with pytest.raises(ValidationError):
        BeatAsk.model_validate({"agent_id": "a", **said})


@pytest.mark.parametrize("where", ["tmux", "worktree"])
def test_a_name_that_cannot_be_one_there_is_refused_when_the_file_is_read(where: str):
    config = {"command": ["work"], where: True}
    Agents.model_validate({"configs": {"My_agent-1": config}})
    with pytest.raises(ValidationError, match="needs a name of letters"):
        Agents.model_validate({"configs": {"my agent": config}})
