"""The environments on record, for who looks at everything: who needs a person, who comes first, what they are called.

Pure, on what the guardian saw last: no engine is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from argus.core.cutting import ending
from argus.environments.guarding.guardian import Seen
from argus.environments.runs import Run, State
from argus.sessions.signals import words

_NAME, _FOLDER = 100, 200

Guards = Mapping[str, Seen]


def needs_a_person(run: Run, guards: Guards) -> bool:
    """Nothing more happens to it by itself. A setup that failed is none of these: it took back what it had made, and
    told whoever asked for it."""
    return run.state is State.INTERRUPTED or any(one.state.is_given_up for one in guards.values())


def rank(run: Run, guards: Guards) -> int:
    """The lowest is the worst. One that nobody guards is not well: there is nobody who would know."""
    if any(one.state.is_given_up for one in guards.values()):
        return 0
    if run.state in (State.INTERRUPTED, State.FAILED):
        return 1
    is_well = all(one.state.is_well or one.is_finished for one in guards.values())
    return 3 if guards and is_well and run.state is State.UP else 2


def names(runs: Iterable[Run]) -> dict[str, str]:
    """By the run's key: what each is called, in one bounded line, with its folder where a name is there twice."""
    every = {run.key: (words(run.project, _NAME), run.folder) for run in runs}
    often = Counter(name for name, _ in every.values())
    return {key: name if often[name] == 1 else f"{name} ({_place(folder)})" for key, (name, folder) in every.items()}


def _place(folder: str) -> str:
    line = words(folder, 4096)
    return line if len(line) <= _FOLDER else f"…{ending(line, _FOLDER)}"
