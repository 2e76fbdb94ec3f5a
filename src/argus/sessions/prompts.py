"""What was given to an agent to do, in the order in which it came to it; and whether that was more than Argus asked.

Read where it stands for good, in the agent's own transcript or on its screen: what was heard is gone when Argus is
killed, and an agent that tells nothing of itself is not heard at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

CLEARS = ("/clear", "/new")
"""Nothing to do: that is how a conversation is ended. Our own may stand there since an Argus that was killed."""


def holds(text: str | None, ours: Iterable[str]) -> bool:
    """Whether these words came from us. What waited together may be handed over together."""
    plain = _plain(text or "")
    return bool(plain) and any(_plain(one) in plain for one in ours)


def after(texts: Iterable[str | None], ours: Sequence[str]) -> bool | None:
    """Whether somebody else's words came after the last of ours; None: ours are not among them."""
    spoken: bool | None = None
    for text in texts:
        if holds(text, ours):
            spoken = False
        elif text and text.strip() and spoken is False:
            spoken = True
    return spoken


def on_screen(lines: Sequence[str], ours: Sequence[str]) -> bool | None:
    """The same of a program that shows what is typed after a prompt of its own: a later line with words after the same
    prompt was typed by somebody."""
    found = [(y, prompt) for y, line in enumerate(lines) for one in ours if (prompt := _prompt(line, one)) is not None]
    if not found:
        return None
    y, prompt = found[-1]
    if not prompt:
        return None  # which lines were typed, nobody can say
    typed = (line.strip().removeprefix(prompt).strip() for line in lines[y + 1 :] if line.strip().startswith(prompt))
    return any(one and one not in CLEARS for one in typed)


def _plain(text: str) -> str:
    return " ".join(text.split())


_BEGINNING = 24
"""Characters of a line of ours by which it is known again on a screen: the rest may be in its next rows."""


def _prompt(line: str, ours: str) -> str | None:
    before, found, _ = line.partition(ours[:_BEGINNING])
    return before.strip() if found else None
