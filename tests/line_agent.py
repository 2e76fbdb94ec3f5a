"""An agent for tests with a real terminal: it reads lines and notes them, byte for byte, in the file it is given.

It shows `> ` and what is typed. A paste in brackets is one piece, whatever is in it; Enter, or a line break, submits.
Its first argument is the file; `silent` as a second one makes it show nothing, `deaf` makes it lose its first Enter.
"""

import json
import os
import sys
import termios
import tty

BEGIN, END = b"\x1b[200~", b"\x1b[201~"


def show(typed: bytes) -> None:
    text = typed.decode("utf-8", "replace").replace("\n", " ")
    if len(text) > 300:
        text = f"[Pasted {len(text)} chars]"
    sys.stdout.write(f"\r\x1b[K> {text}")
    sys.stdout.flush()


def main() -> None:
    path, *how = sys.argv[1:]
    before = termios.tcgetattr(0)
    tty.setraw(0)
    silent, deaf = "silent" in how, "deaf" in how
    sys.stdout.write("\x1b[?2004h")
    show(b"")
    waiting = typed = b""
    try:
        while True:
            read = os.read(0, 65536)
            if not read:
                return
            waiting += read
            while waiting:
                if BEGIN.startswith(waiting[: len(BEGIN)]):
                    if END not in waiting:
                        break
                    pasted, _, waiting = waiting[len(BEGIN) :].partition(END)
                    typed += pasted
                    continue
                key, waiting = waiting[:1], waiting[1:]
                if key in b"\r\n" and deaf:
                    deaf = False
                elif key in b"\r\n":
                    with open(path, "a") as file:
                        file.write(json.dumps(typed.decode("utf-8", "surrogateescape")) + "\n")
                    typed = b""
                    if not silent:
                        sys.stdout.write("\r\n")
                elif key == b"\x03":
                    return
                elif key == b"\x15":
                    typed = b""
                else:
                    typed += key
            if not silent:
                show(typed)
    finally:
        termios.tcsetattr(0, termios.TCSANOW, before)
        sys.stdout.write("\x1b[?2004l\r\n")


if __name__ == "__main__":
    main()
