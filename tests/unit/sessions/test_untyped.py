"""Why nothing was typed, for whoever asked: the text, the pane, or the moment."""

from __future__ import annotations

import pytest

from argus.core.errors import Code
from argus.sessions.prompting import untyped
from argus.sessions.tools import Answer
from argus.typist import Reason


@pytest.mark.parametrize(
    ("reason", "again", "code"),
    [
        (Reason.COMMAND, False, Code.INVALID_REQUEST),
        (Reason.TOO_LONG, False, Code.INVALID_REQUEST),
        (Reason.NO_SESSION, False, Code.PANE_NOT_FOUND),
        (Reason.SHELL, False, Code.PANE_NOT_FOUND),
        (Reason.HALF_TYPED, True, Code.PANE_NOT_READY),
    ],
)
def test_the_code_tells_what_has_to_change(reason: Reason, again: bool, code: Code):
    error = untyped(Answer(False, again=again, reason=reason.value), "shop")
    assert (error.code, error.details["reason"]) == (code, reason.value)
    assert (error.actions == ("fix_request",)) is (code is Code.INVALID_REQUEST)
