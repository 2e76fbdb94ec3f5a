"""Started by an agent's program, in the background: passes on to Argus what it is given, and is silent about all else.

    python -I -S tell.py STATE_FOLDER AGENT [PAYLOAD]

Without a payload it takes what comes by standard input. It starts nothing, waits for nothing for long, prints nothing,
and always ends with 0. Only the standard library, and little of that: it runs at every change of a status line.
"""

import contextlib
import os
import socket
import sys

_LARGEST = 1024 * 1024
_PATIENCE = 1.0


def _url(folder: str) -> tuple[str, int]:
    """Where the daemon of this state folder listens."""
    import json

    with open(f"{folder}/daemon.json", "rb") as file:
        said = json.loads(file.read(65536))
    about = os.stat(folder)
    here = f"{about.st_dev}:{about.st_ino}"
    if said.get("folder", here) != here:
        raise ProcessLookupError  # this folder is a copy, and the daemon is the original's
    host, _, port = str(said["url"]).removeprefix("http://").rpartition(":")
    return host.strip("[]"), int(port)


def _with_process(body: bytes, pid: str) -> bytes:
    """Whose word it is: several agents may work in one folder, and only one of them in the terminal that is watched."""
    import json

    with contextlib.suppress(ValueError, RecursionError):
        said = json.loads(body)
        if isinstance(said, dict) and pid.isdigit():
            return json.dumps({**said, "argus_pid": int(pid)}).encode("ascii")
    return body


def main(folder: str, agent: str, payload: str | None) -> None:
    body = sys.stdin.buffer.read(_LARGEST + 1) if payload is None else payload.encode("utf-8", "surrogateescape")
    if not body.strip() or len(body) > _LARGEST:
        return
    body = _with_process(body, os.environ.get("ARGUS_AGENT_PID") or str(os.getppid()))
    with open(f"{folder}/hooks/token", "rb") as file:
        token = file.read(4096).strip().decode("ascii")
    host, port = _url(folder)
    head = (
        f"POST /api/hooks/{agent} HTTP/1.1\r\nHost: {f'[{host}]' if ':' in host else host}:{port}\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    with socket.create_connection((host, port), timeout=_PATIENCE) as connection:
        connection.sendall(head.encode("ascii") + body)
        connection.recv(1024)  # so that it is not gone before it was read


if __name__ == "__main__":
    # Whatever is wrong here, it is not the agent's business.
    with contextlib.suppress(Exception):
        main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
