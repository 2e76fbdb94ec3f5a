"""What is checked: `target PORTS` answers HTTP on that many ports with fixed bytes. GET /count says how often."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import uvloop

_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"


class Answer(asyncio.Protocol):
    accepted = 0

    def connection_made(self, transport: Any) -> None:
        Answer.accepted += 1
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if data.startswith(b"GET /count"):
            body = str(Answer.accepted).encode()
            self._transport.write(
                b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body) + body
            )
        else:
            self._transport.write(_ANSWER)
        self._transport.close()


async def main() -> None:
    loop = asyncio.get_running_loop()
    # More than one port: connections that were closed a moment ago still hold their pair of ports.
    servers = [await loop.create_server(Answer, "127.0.0.1", 0, backlog=1024) for _ in range(int(sys.argv[1]))]
    print(json.dumps([server.sockets[0].getsockname()[1] for server in servers]), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
