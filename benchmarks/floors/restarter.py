"""The barest thing that starts a program again: `restarter PROGRAM ARGUMENT...`. A pidfd, posix_spawn, no record."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import uvloop


async def main(command: list[str]) -> None:
    loop = asyncio.get_running_loop()

    def start() -> None:
        pid = os.posix_spawn(command[0], command, os.environ)
        handle = os.pidfd_open(pid)

        def again() -> None:
            loop.remove_reader(handle)
            os.close(handle)
            os.waitpid(pid, 0)
            start()

        loop.add_reader(handle, again)

    print(json.dumps(True), flush=True)
    start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(sys.argv[1:]))
