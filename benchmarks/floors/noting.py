"""What is checked, and keeps a diary: `noting PORTS` answers HTTP on that many ports and notes each path's moments.

GET /noted says all of it. A path that begins with /hang is taken and never answered.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import defaultdict
from typing import Any

import uvloop

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
_ANSWER = _HEAD % 2 + b"ok"
_NOTED: defaultdict[bytes, list[float]] = defaultdict(list)
"""By the clock that all processes of a machine share."""


class Answer(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        path = data[4 : data.index(b" ", 4)]
        if path == b"/noted":
            body = json.dumps({name.decode(): times for name, times in _NOTED.items()}).encode()
            self._transport.write(_HEAD % len(body) + body)
        else:
            _NOTED[path].append(time.monotonic())
            if path.startswith(b"/hang"):
                return
            self._transport.write(_ANSWER)
        self._transport.close()


async def main() -> None:
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(Answer, "127.0.0.1", 0, backlog=1024) for _ in range(int(sys.argv[1]))]
    print(json.dumps([server.sockets[0].getsockname()[1] for server in servers]), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
