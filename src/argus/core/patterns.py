"""What a text from outside has to look like: as patterns, and in the words that whoever wrote another one is told."""

from __future__ import annotations

from argus.core.names import LETTERS

NO_NUL = r"^[^\x00]*$"
ABSOLUTE = r"^/[^\x00]*$"
AGO = r"^[1-9][0-9]{0,2}[smhd]$"
PROJECT = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$"
CONVERSATION = r"^([A-Za-z0-9][A-Za-z0-9_.:-]*)?$"
"""Never an option of the program that resumes it."""
QUESTION = r"^[0-9a-f]{16}(-[0-9]{1,6})?$"
MODEL = r"^[A-Za-z0-9][\w.:/\[\]@-]{0,99}$"
IN_ENVIRONMENT = r"^[^\x00=]+$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
TIME_OF_DAY = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
WEB_ADDRESS = r"^https?://|^\$\{"
CONTAINER = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
DOCKER_LABEL = r"^[^\s=,\"'-][^\s=]*(=.*)?$"
LAUNCHD_LABEL = r"^[A-Za-z0-9._][A-Za-z0-9._-]*$"
SYSTEMD_UNIT = r"^[A-Za-z0-9:_.@\\][A-Za-z0-9:_.@\\-]*$"

EXPECTED = {
    NO_NUL: "must not hold a NUL character",
    ABSOLUTE: "must be an absolute path",
    AGO: 'must be 1 to 999 with a unit, such as "30s", "15m", "2h" or "7d"',
    PROJECT: f"must be at most 50 {LETTERS}, digits and . _ -, and begin with a letter or a digit",
    CONVERSATION: f"must be {LETTERS}, digits and . _ : -, and begin with a letter or a digit",
    QUESTION: "must be the id of a question that was seen",
    MODEL: "must be at most 100 letters, digits and . _ : / [ ] @ -, and begin with a letter or a digit",
    IN_ENVIRONMENT: "must be the name of a variable: not empty, without = and NUL",
    VARIABLE: f"must be {LETTERS}, digits and _, and not begin with a digit",
    TIME_OF_DAY: 'must be a time of day, such as "22:00"',
    WEB_ADDRESS: "must begin with http:// or https://, or with a variable: ${NAME}",
    CONTAINER: f"must be {LETTERS}, digits and . _ -, and begin with a letter or a digit",
    DOCKER_LABEL: 'must be a label, such as "app" or "app=shop"',
    LAUNCHD_LABEL: f"must be {LETTERS}, digits and . _ -, and not begin with -",
    SYSTEMD_UNIT: f"must be {LETTERS}, digits and : _ . @ \\ -, and not begin with -",
}


def in_words(pattern: str) -> str:
    return EXPECTED.get(pattern, f"must match {pattern}")
