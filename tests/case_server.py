"""A small real HTTP server for tests of test files: an asyncio server with a few pages."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class CaseServer:
    url: str = ""
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    fails: int = 0
    """How often /flaky still fails."""
    under_way: int = 0
    most_at_once: int = 0
    slow: asyncio.Event = field(default_factory=asyncio.Event)
    """What /slow waits for."""

    def paths(self) -> list[str]:
        return [f"{method} {path}" for method, path, _, _ in self.asked]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
            method, path, _ = first.split(" ")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.asked.append((method, path, headers, body))
            self.under_way += 1
            self.most_at_once = max(self.most_at_once, self.under_way)
            try:
                await self._page(method, path.partition("?")[0], headers, body, writer)
            finally:
                self.under_way -= 1
        writer.close()

    async def _page(
        self, method: str, path: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter
    ) -> None:
        def say(status: int, content: Any = None, **more: str) -> None:
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            kind = more.pop("kind", "application/json")
            extra = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in more.items())
            writer.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{extra}".encode())
            writer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

        match path:
            case "/health":
                self.fails -= 1
                say(200 if self.fails < 0 else 503, {"ok": self.fails < 0})
            case "/flaky":
                self.fails -= 1
                say(500 if self.fails >= 0 else 200, {"left": self.fails})
            case "/users":
                say(201, {"user": {"id": 7, "tags": ["a", "b"]}, "sent": json.loads(body or b"null")}, X_Id="abc")
            case "/users/7":
                say(200, {"id": 7, "token": headers.get("authorization")})
            case "/form":
                say(200, {"kind": headers.get("content-type"), "sent": body.decode()})
            case "/text":
                say(200, "grüße".encode("latin-1"), kind="text/plain; charset=latin-1")
            case "/large":
                say(200, b"x" * (5 * 1024 * 1024), kind="text/plain")
            case "/packed":
                say(200, gzip.compress(b'{"packed": true}'), Content_Encoding="gzip")
            case "/moved":
                say(302, None, Location="/users/7")
            case "/circle":
                say(302, None, Location="/circle")
            case "/nothing":
                writer.write(b"HTTP/1.1 204 No\r\n\r\n")
            case "/closed":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end")
            case "/slow":
                await self.slow.wait()
                say(200, {})
            case "/events":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\r\n\r\n")
                writer.write(b'event: begin\r\ndata: {"n": 1}\r\n\r\nid: 5\rdata: two\rdata: lines\r\r')
                writer.write(b'event: end\ndata: {"n": 3}\n\n')
                await writer.drain()
                if method == "POST":
                    return
                await self.slow.wait()
            case _:
                say(404, {"error": "no such page"})
        await writer.drain()


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[CaseServer]:
    made = CaseServer()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        made.slow.set()
        server.close()
