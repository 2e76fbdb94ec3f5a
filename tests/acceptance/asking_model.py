"""A stand-in for a model that does as it is told: the lines `use TOOL JSON` of its prompt, one a turn, then it says
what came of them. It can be made to think, and to refuse."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

from tests.acceptance.harness import DEADLINE
from tests.acceptance.model_service import Asked, ModelService, Refusal, _Messages

_USE = re.compile(r"^use (\S+) (\{.*\})$", re.MULTILINE)
LIMIT = Refusal(
    429,
    {"type": "error", "error": {"type": "rate_limit_error", "message": "This would exceed your limit."}},
    (("x-should-retry", "false"),),
)
NO_MODEL = Refusal(404, {"type": "error", "error": {"type": "not_found_error", "message": "model: nope"}})


class AskingModel(ModelService):
    def __init__(self) -> None:
        super().__init__([])
        self.refuses: Refusal | None = None
        self._thinking = threading.Event()
        self._thinking.set()

    def refusal(self, request: dict[str, Any]) -> Refusal | None:
        return self.refuses

    def think(self) -> None:
        """From now on, until `answer`."""
        self._thinking.clear()

    def answer(self) -> None:
        self._thinking.set()

    def close(self) -> None:
        self.answer()
        super().close()

    def _work(self, shape: Any, request: dict[str, Any]) -> list[dict[str, Any]]:
        prompts, results = tuple(_Messages.prompts(request)), _Messages.results(request)
        self.asked.append(Asked(_Messages.session(request), prompts, len(results)))
        self._thinking.wait(10 * DEADLINE)
        wanted = _USE.findall("\n".join(prompts))
        if len(results) < len(wanted):
            tool, arguments = wanted[len(results)]
            return _Messages.uses(tool, json.loads(arguments), f"{len(self.asked)}")
        return _Messages.says("; ".join(results) or "nothing was wanted")
