"""A stand-in for the models' services on loopback: with it the real Claude Code and the real Codex need no network.

Its model knows one job: to write one file after the other, each by a tool call, and then to say that it is done. Which
file is next it tells from the conversation alone, as a model does: who is not shown what was done before begins with
the first. It can be made to think for as long as a test likes.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.acceptance.harness import DEADLINE, eventually

Headers = tuple[tuple[str, str], ...]
USAGE = {"input_tokens": 100, "output_tokens": 5}


@dataclass(frozen=True)
class Asked:
    """One request of an agent."""

    session: str
    prompts: tuple[str, ...]
    """Every text that it shows as the user's."""
    done: int
    """How many of the files it shows as asked for."""


@dataclass(frozen=True)
class Refusal:
    """An answer that is an error."""

    status: int
    body: dict[str, Any]
    headers: Headers = ()


class ModelService:
    def __init__(self, files: list[Path]) -> None:
        self.asked: list[Asked] = []
        self._files = files
        self._thinks_at: int | None = None
        self._done_thinking = threading.Event()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._answer(b"", "text/plain")

            def do_GET(self) -> None:
                self._answer(b"{}", "application/json")

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
                shape = _Responses if "/responses" in self.path else _Messages
                if not self.path.partition("?")[0].endswith(("/messages", "/responses")):
                    self._answer(b'{"input_tokens": 100}', "application/json")
                elif not request.get("tools"):
                    # A title, a summary: what the program asks for besides the work.
                    self._answer(_stream(shape.says("ok")), "text/event-stream")
                elif refusal := service.refusal(request):
                    self._answer(json.dumps(refusal.body).encode(), "application/json", refusal.status, refusal.headers)
                else:
                    self._answer(_stream(service._work(shape, request)), "text/event-stream")

            def _answer(self, body: bytes, kind: str, status: int = 200, headers: Headers = ()) -> None:
                with contextlib.suppress(OSError):  # who asked may be dead by now
                    self.send_response(status)
                    for name, value in headers:
                        self.send_header(name, value)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def refusal(self, request: dict[str, Any]) -> Refusal | None:
        """Instead of an answer."""
        return None

    def think_at(self, done: int) -> None:
        """From now on, whoever has asked for that many files waits for an answer until `done_thinking`."""
        self._thinks_at = done

    def done_thinking(self) -> None:
        self._thinks_at = None
        self._done_thinking.set()

    def wait_for(self, done: int, count: int = 1) -> Asked:
        """The last request that shows that many files, once there are so many of these."""
        found = eventually(
            lambda: (hits := [one for one in self.asked if one.done == done])[count - 1 :] and hits,
            f"{count} requests that show {done} files; there are {[one.done for one in self.asked]}",
        )
        return found[-1]

    def close(self) -> None:
        self.done_thinking()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(DEADLINE)

    def _work(self, shape: type[_Messages | _Responses], request: dict[str, Any]) -> list[dict[str, Any]]:
        calls = shape.calls(request)
        done = sum(any(str(file) in call for call in calls) for file in self._files)
        self.asked.append(Asked(shape.session(request), tuple(shape.prompts(request)), done))
        if self._thinks_at == done:
            self._done_thinking.wait(10 * DEADLINE)
        if done == len(self._files):
            return shape.says("All is done.")
        return shape.writes(self._files[done], f"call_{done}")


class _Messages:
    """Anthropic's Messages, as Claude Code speaks it."""

    @staticmethod
    def session(request: dict[str, Any]) -> str:
        return str(json.loads(request["metadata"]["user_id"])["session_id"])

    @staticmethod
    def _blocks(request: dict[str, Any], role: str) -> Iterator[dict[str, Any]]:
        for message in request["messages"]:
            content = message["content"]
            if message["role"] == role:
                yield from [{"type": "text", "text": content}] if isinstance(content, str) else content

    @classmethod
    def prompts(cls, request: dict[str, Any]) -> list[str]:
        return [block["text"] for block in cls._blocks(request, "user") if block["type"] == "text"]

    @classmethod
    def calls(cls, request: dict[str, Any]) -> list[str]:
        return [json.dumps(one["input"]) for one in cls._blocks(request, "assistant") if one["type"] == "tool_use"]

    @classmethod
    def says(cls, text: str) -> list[dict[str, Any]]:
        return cls._message({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")

    @classmethod
    def writes(cls, file: Path, id: str) -> list[dict[str, Any]]:
        return cls.uses("Write", {"file_path": str(file), "content": file.name}, id)

    @classmethod
    def runs(cls, command: str, id: str) -> list[dict[str, Any]]:
        return cls.uses("Bash", {"command": command, "description": "a command"}, id)

    @classmethod
    def uses(cls, tool: str, arguments: dict[str, Any], id: str) -> list[dict[str, Any]]:
        block = {"type": "tool_use", "id": f"toolu_{id}", "name": tool, "input": {}}
        return cls._message(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")

    @classmethod
    def results(cls, request: dict[str, Any]) -> list[str]:
        """What the tools answered, as the model is shown it."""
        return [json.dumps(one["content"]) for one in cls._blocks(request, "user") if one["type"] == "tool_result"]

    @staticmethod
    def _message(block: dict[str, Any], delta: dict[str, Any], stop: str) -> list[dict[str, Any]]:
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": []}
        ends = {"stop_reason": None, "stop_sequence": None}
        return [
            {"type": "message_start", "message": {**message, **ends, "usage": USAGE}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {**ends, "stop_reason": stop}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]


class _Responses:
    """OpenAI's Responses, as Codex speaks it."""

    @staticmethod
    def session(request: dict[str, Any]) -> str:
        return str(request["prompt_cache_key"])

    @staticmethod
    def prompts(request: dict[str, Any]) -> list[str]:
        asked = [item for item in request["input"] if item["type"] == "message" and item["role"] == "user"]
        return [part["text"] for item in asked for part in item["content"]]

    @staticmethod
    def calls(request: dict[str, Any]) -> list[str]:
        return [item["arguments"] for item in request["input"] if item["type"] == "function_call"]

    @classmethod
    def says(cls, text: str) -> list[dict[str, Any]]:
        return cls._response(
            {"type": "message", "role": "assistant", "id": "m_1", "content": [{"type": "output_text", "text": text}]}
        )

    @classmethod
    def writes(cls, file: Path, id: str) -> list[dict[str, Any]]:
        wanted = json.dumps({"cmd": f"printf {file.name} > {file}"})
        return cls._response({"type": "function_call", "call_id": id, "name": "exec_command", "arguments": wanted})

    @staticmethod
    def _response(item: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "resp_1", "usage": {**USAGE, "total_tokens": 105}}},
        ]


def _stream(events: list[dict[str, Any]]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
