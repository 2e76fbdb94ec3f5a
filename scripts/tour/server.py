"""A service for the tour: `server.py PORT PIDFILE` answers on that port, in the background."""

from __future__ import annotations

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    port, file = int(sys.argv[1]), Path(sys.argv[2])
    # Listening before the parent ends: whoever waits for this command may ask at once.
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    if os.fork():
        os._exit(0)
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for output in (0, 1, 2):
        os.dup2(nowhere, output)
    file.write_text(str(os.getpid()))
    server.serve_forever()


main()
