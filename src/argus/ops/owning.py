"""Whose a session or a spawn is. An agent's token is good for what lies in its own project's folder."""

from __future__ import annotations

import os

from argus.core.errors import ArgusError, Code
from argus.ops.caller import Role
from argus.ops.house import House


def require_own(house: House, project: str, folder: str) -> None:
    if not owns(house, project, folder):
        raise ArgusError(Code.FORBIDDEN, "an agent speaks for the sessions of its own project", project=project)


def owns(house: House, project: str, folder: str | None) -> bool:
    """`folder`: where that project's session works; None: there is no such session, so nothing can be typed there.

    Then it is an agent's own if it has the name of the folder in which the agent works: it may give work away before
    anybody has registered its session.
    """
    caller = house.caller
    if caller.role is Role.ROOT:
        return True
    own = own_folder(house)
    if caller.role is not Role.AGENT or not own:
        return False
    if folder is None:
        return os.path.basename(own) == project
    asked = os.path.realpath(folder) if folder else ""
    return asked == own or asked.startswith(own.rstrip("/") + "/")


def own_folder(house: House) -> str:
    """In which the agent that asks works; empty: it is nobody's."""
    return os.path.realpath(house.caller.project) if house.caller.project else ""


def folder_of(house: House, project: str) -> str | None:
    """Where a project's session works; None: no session of it is known."""
    found = (one.session.place.folder for one in house.sessions.all if one.session.project == project)
    return next(found, None)
