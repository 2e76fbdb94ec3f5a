"""A stand-in for a model on loopback: with it the real Claude Code needs no network and no account.

It knows two things: to say that it goes on, and to write the handoff document that it is asked for. How full its
context is, the tour says.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_ASKED = re.compile(r"Create handoff document now.*?Write it to (/\S+\.md)", re.S)
_FRESH = 20_000
Event = dict[str, Any]


class Model:
    def __init__(self) -> None:
        self.tokens = 30_000
        self.prompts: list[str] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._answer(b"", "text/plain")

            def do_GET(self) -> None:
                self._answer(b"{}", "application/json")

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
                if not self.path.partition("?")[0].endswith("/messages"):
                    self._answer(b'{"input_tokens": 100}', "application/json")
                    return
                lines = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in model.answer(asked)]
                self._answer("".join(lines).encode(), "text/event-stream")

            def _answer(self, body: bytes, kind: str) -> None:
                with contextlib.suppress(OSError):  # who asked may be gone
                    self.send_response(200)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: dict[str, Any]) -> list[Event]:
        texts, written = _texts(asked), _written(asked)
        if not asked.get("tools"):
            return _message({"type": "text", "text": ""}, {"type": "text_delta", "text": "A day"}, "end_turn", 100)
        self.prompts += [text for text in texts if text not in self.prompts]
        last = _ASKED.search(texts[-1]) if texts else None
        used = _FRESH if any(text.startswith("Read handoff") for text in texts) else self.tokens
        if last is not None and last[1] not in written:
            document = "# Handoff\n\nWhat was done, what is open, what is next.\n"
            arguments = json.dumps({"file_path": last[1], "content": document})
            block = {"type": "tool_use", "id": f"toolu_{len(self.prompts)}", "name": "Write", "input": {}}
            return _message(block, {"type": "input_json_delta", "partial_json": arguments}, "tool_use", used)
        said = {"type": "text_delta", "text": "I go on with it."}
        return _message({"type": "text", "text": ""}, said, "end_turn", used)


def _blocks(asked: dict[str, Any], role: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for message in asked["messages"]:
        if message["role"] == role:
            content = message["content"]
            found += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return found


def _texts(asked: dict[str, Any]) -> list[str]:
    texts = [one["text"].strip() for one in _blocks(asked, "user") if one["type"] == "text"]
    return [text for text in texts if text and not text.startswith("<")]


def _written(asked: dict[str, Any]) -> set[str]:
    return {str(one["input"].get("file_path")) for one in _blocks(asked, "assistant") if one["type"] == "tool_use"}


def _message(block: Event, delta: Event, stop: str, used: int) -> list[Event]:
    ends = {"stop_reason": None, "stop_sequence": None}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": []}
    return [
        {"type": "message_start", "message": {**message, **ends, "usage": {"input_tokens": used, "output_tokens": 5}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {**ends, "stop_reason": stop}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
