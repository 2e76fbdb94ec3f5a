"""`make check`: lint, format, types, import contracts, the manifest of the CLI, and the pages that are made.

Every step runs, also after one has failed. What a step says is shown only when it fails.
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

STEPS: dict[str, list[str]] = {
    "ruff check": [PYTHON, "-m", "ruff", "check", "."],
    "ruff format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "mypy": [PYTHON, "-m", "mypy"],
    "lint-imports": [str(Path(PYTHON).with_name("lint-imports")), "--no-logo"],
    "manifest": [PYTHON, "scripts/manifest.py", "--check"],
    "reference": [PYTHON, "scripts/reference.py", "--check"],
    "commands": [PYTHON, "scripts/commands.py", "--check"],
    "errors": [PYTHON, "scripts/errors.py", "--check"],
    "tools": [PYTHON, "scripts/tools.py", "--check"],
    "page": [PYTHON, "scripts/page.py", "--check"],
}


def run(name: str, command: list[str]) -> bool:
    started = time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except OSError as error:
        passed, said = False, str(error)
    else:
        passed, said = done.returncode == 0, done.stdout.strip()
    if not passed:
        print(said)
    print(f"{name:<12} {'ok' if passed else 'FAILED':<8} {time.monotonic() - started:7.1f} s", flush=True)
    return passed


def main() -> int:
    results = [run(name, command) for name, command in STEPS.items()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
