"""May it be typed here, now? Values in, value out: what was looked at just before, and what is wanted."""

from __future__ import annotations

import re

from argus.host.panes import SHELLS, Look
from argus.typist.cleaning import LONGEST, clean
from argus.typist.kinds import Closed, Kind, Line
from argus.typist.model import Message, Reason, Wanted

_PASTED = re.compile(r"\[Pasted [^\]]*\]")
_OWN = 12
_TAIL = 200
"""Characters at the end of a long text that must show."""


def prepared(message: Message, kind: Kind) -> str | Reason:
    """The text as it is typed, or why it is not."""
    text = (
        clean(message.text, lines=kind.lines).strip("\n") if message.command else clean(message.text, lines=kind.lines)
    )
    if not text.strip():
        return Reason.EMPTY
    if len(text) > LONGEST:
        return Reason.TOO_LONG
    begins = text.lstrip().startswith(kind.commands) if kind.commands else message.command
    if begins != message.command or (message.command and "\n" in text):
        return Reason.COMMAND
    return text


def not_the_agents(look: Look | None, wanted: Wanted) -> Reason | None:
    """Whether the pane is the agent's and takes keys at all."""
    if look is None:
        return Reason.GONE
    if look.dead:
        return Reason.DEAD
    if look.agent is None:
        return Reason.SHELL if look.leader and look.leader.name in SHELLS else Reason.NOT_THE_AGENT
    if wanted.agent is not None and look.agent.who != wanted.agent:
        return Reason.NOT_THE_AGENT
    if look.agent.stopped:
        return Reason.STOPPED
    if look.in_mode:
        return Reason.COPY_MODE
    if look.input_off:
        return Reason.INPUT_OFF
    return Reason.SYNCHRONIZED if look.synchronized else None


def may_type(look: Look | None, wanted: Wanted) -> Reason | None:
    reason = not_the_agents(look, wanted)
    if reason is not None or look is None:
        return reason
    line = wanted.kind.read(look)
    if isinstance(line, Closed):
        return Reason.DIALOG if line is Closed.DIALOG else Reason.NO_PROMPT
    return Reason.HALF_TYPED if line.text else None


def may_enter(look: Look | None, wanted: Wanted, message: Message, text: str) -> Reason | None:
    """After the paste: the same agent, and at its prompt our text and nothing else."""
    reason = not_the_agents(look, wanted)
    if reason is not None or look is None:
        return reason
    line = wanted.kind.read(look)
    if isinstance(line, Closed):
        return Reason.DIALOG if line is Closed.DIALOG else Reason.NO_PROMPT
    if not line.text:
        return Reason.NOT_SEEN
    if not shows(line, text):
        return Reason.CHANGED
    if line.choice and (not message.command or line.choice != text.split()[0]):
        return Reason.OTHER_COMMAND
    return None


def shows(line: Line, text: str) -> bool:
    """Whether this text, and nothing else, stands at the prompt: wrapped, scrolled, or abbreviated by the agent."""
    if _PASTED.fullmatch(line.text):
        return True
    shown, wanted = _letters(line.text), _letters(text)
    if shown == wanted:
        return True
    return not line.whole and bool(shown) and wanted.endswith(shown[-_TAIL:])


def stands(line: Line | None, text: str) -> bool:
    """Whether this text is what stands at a prompt, by its letters: an abbreviation could be anybody's. Where only the
    end of a line shows, that end must be long enough to be nobody else's."""
    shown, wanted = _letters(line.text if line else ""), _letters(text)
    if line is None or not shown:
        return False
    return shown == wanted or (not line.whole and len(shown) >= _OWN and wanted.endswith(shown))


def is_beginning(line: Line, text: str) -> bool:
    """Whether what stands at the prompt is a beginning of this text, or all of it, and nothing else."""
    return bool(_PASTED.fullmatch(line.text)) or _letters(text).startswith(_letters(line.text))


def _letters(text: str) -> str:
    """What every agent shows as it is: spaces wrap, and some symbols are drawn as others."""
    return "".join(one for one in text if one.isalnum() or "!" <= one <= "~")
