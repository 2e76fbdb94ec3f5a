"""A scripted agent for the tour: it works step by step, and says what it is told in its terminal."""

from __future__ import annotations

import select
import sys
import time

STEP = 5.0


def main() -> None:
    task = sys.argv[1]
    print(f"I work on: {task}", flush=True)
    step = 0
    print("> ", end="", flush=True)
    until = time.monotonic() + STEP
    while True:
        ready, _, _ = select.select([sys.stdin], [], [], max(0.0, until - time.monotonic()))
        if ready:
            line = sys.stdin.readline()
            if not line:
                return
            print(f"I was told: {line.strip()}", flush=True)
        elif step < 100:
            step += 1
            print(f"\rstep {step} is done", flush=True)
        print("> ", end="", flush=True)
        until = time.monotonic() + STEP


main()
