"""Which kind of agent a session holds, as typing into its pane needs to know it."""

from __future__ import annotations

from argus.host.panes import Who
from argus.sessions.session import Place
from argus.typist import CLAUDE, CODEX, Kind, plain


def kind_of(place: Place) -> Kind:
    if place.agent == "claude":
        return CLAUDE
    return CODEX if place.agent == "codex" else plain(place.prompt)


def who(place: Place) -> Who:
    return Who(names=kind_of(place).processes)
