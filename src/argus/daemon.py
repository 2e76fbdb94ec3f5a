"""The detached daemon as a program, small enough to run before the parts of Argus are imported."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

from argus import home

_GIVEN_UP = 2
"""What the unit says that no new start mends."""


def main() -> None:
    """The detached daemon: `python -m argus.daemon`, started by the CLI, which reads the announcement from a pipe.

    Without a pipe it was started by systemd or launchd: a failure goes where they keep what is said, with an exit code
    that tells what a new start could mend from what it could not.
    """
    parser = argparse.ArgumentParser(prog="argus.daemon")
    parser.add_argument("--config")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("--idle-exit", type=float)
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    # Asked to reload before we can: there is nothing to reload yet, and it is no reason to end.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # All that is imported stays. To look through it for what does not, again and again as it grows, takes a tenth of
    # the start; the assembly lets the collector go on when everything stands.
    gc.disable()
    from argus.assembly import run
    from argus.core.errors import Code, exit_code
    from argus.host import readiness
    from argus.startup import Options

    pipe = os.fdopen(given.ready_fd, "w", encoding="utf-8") if given.ready_fd is not None else None
    failed: dict[str, Any] = {}

    def announce(said: dict[str, Any]) -> None:
        failed.update(said.get("error", {}))
        if pipe is None:
            if said["ready"]:
                readiness.tell()
            return
        # Whoever started us may be gone already; then nobody needs to know.
        with contextlib.suppress(OSError, ValueError):
            pipe.write(json.dumps(said) + "\n")
            pipe.close()

    options = Options(
        home=home.folder(os.environ),
        config=Path(given.config) if given.config else None,
        host=given.host,
        port=given.port,
        detached=True,
        idle_exit=given.idle_exit,
        folder=given.folder,
    )
    code = run(options, announce)
    if pipe is None and failed:
        print(f"argus: {failed['code']}: {failed['message']}", file=sys.stderr)
        # A lock is the kernel's and ends with its holder: who has it lives, and a new start every two seconds would be
        # refused as often. A database may think for a while that we, who were killed, still use it.
        held = failed["code"] == Code.ALREADY_RUNNING and "lock" in failed["details"]
        code = _GIVEN_UP if held else exit_code(failed["code"])
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    # A look-up that hangs in a thread cannot be cancelled, and the interpreter would wait for it for ever.
    os._exit(code)


if __name__ == "__main__":
    main()
