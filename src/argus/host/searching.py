"""Searches for regular expressions until its input ends: `python -I -S searching.py`. See matching.py.

In: lengths in four bytes, each before what it is the length of: an expression and a text. Out: one letter each, `1` for
found, `0` for not found, `!` for what is no expression; and `+` once, when it begins.
"""

import re
import resource
import sys
from typing import BinaryIO

_MEMORY = 512 * 1024 * 1024
_SECONDS = 60
"""Of work in all, should nobody be left to end it: an expression that went wild dies with them."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    read, write = sys.stdin.buffer, sys.stdout.buffer
    _say(write, b"+")
    while True:
        parts = []
        for _ in range(2):
            size = read.read(4)
            if len(size) < 4:
                return
            parts.append(read.read(int.from_bytes(size, "big")).decode("utf-8", "replace"))
        # Counted anew for each: the kernel counts all the work of a process.
        spent = resource.getrusage(resource.RUSAGE_SELF)
        used = int(spent.ru_utime + spent.ru_stime)
        resource.setrlimit(resource.RLIMIT_CPU, (used + _SECONDS, resource.RLIM_INFINITY))
        try:
            answer = b"1" if re.search(parts[0], parts[1]) else b"0"
        except (re.error, RecursionError, OverflowError):
            answer = b"!"
        _say(write, answer)


def _say(write: BinaryIO, answer: bytes) -> None:
    write.write(answer)
    write.flush()


if __name__ == "__main__":
    main()
