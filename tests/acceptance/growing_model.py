"""A stand-in for a model whose context grows: it writes the handoff it is asked for, and counts as a test tells it."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

from tests.acceptance.model_service import Asked, ModelService, Refusal, _Messages, _Responses

_PATH = re.compile(r"(/\S+handoff\S*\.md)")
_OWN = re.compile(r"<(system-reminder|session)>.*?</\1>", re.S)
SMALL = 21_000


class GrowingModel(ModelService):
    def __init__(self) -> None:
        super().__init__([])
        self.tokens = 40_000
        """That a conversation holds which was not cleared."""
        self.command = ""
        """That it wants to run, once."""
        self.limit: Refusal | None = None
        """What it answers instead, until there is none."""
        self.may_write = threading.Event()
        """Until then it thinks about the document that it is to write."""
        self.may_write.set()

    def refusal(self, request: dict[str, Any]) -> Refusal | None:
        return self.limit

    def typed(self) -> list[str]:
        """What was typed, in all conversations, each once."""
        return list(dict.fromkeys(text for one in self.asked for text in one.prompts))

    def _work(self, shape: type[_Messages | _Responses], request: dict[str, Any]) -> list[dict[str, Any]]:
        prompts = [_OWN.sub("", text).strip() for text in shape.prompts(request)]
        prompts = [text for text in prompts if text and not text.startswith("<")]
        calls = shape.calls(request)
        self.asked.append(Asked(shape.session(request), tuple(prompts), len(calls)))
        last = prompts[-1] if prompts else ""
        path = _PATH.search(last)
        wants = path is not None and re.search(r"\bcreate\b", last, re.I) and not any(path[1] in call for call in calls)
        if self.command and shape is _Messages:
            command, self.command = self.command, ""
            return _Messages.runs(command, f"call_{len(self.asked)}")
        if wants:
            self.may_write.wait(60)
        made = shape.writes(Path(path[1]), f"call_{len(self.asked)}") if path and wants else shape.says("done")
        cleared = any(text.startswith("Read handoff") for text in prompts)
        used = {"input_tokens": SMALL if cleared else self.tokens, "output_tokens": 5}
        for event in made:
            if event["type"] == "message_start":
                event["message"] = {**event["message"], "usage": used}
        return made
