"""Builds the static helper for every architecture, byte for byte the same wherever it is built.

`make helper` runs this with the compiler of the version below. The programs are part of the repository: whoever only
uses Argus, or tests it, needs no compiler.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "helper" / "argus_helper.c"
INTO = ROOT / "src" / "argus" / "environments" / "helper"
RECORD = INTO / "built.json"
COMPILER = "0.17.0"
"""Of zig, which brings the C library for every target with it."""
TARGETS = {"amd64": "x86_64-linux-musl", "arm64": "aarch64-linux-musl"}
FLAGS = ("-static", "-Os", "-s", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wl,--build-id=none")


def name(architecture: str) -> str:
    return f"argus-helper-{architecture}"


def source_hash() -> str:
    """Of all that the programs are made of."""
    said = json.dumps([COMPILER, TARGETS, FLAGS])
    return hashlib.sha256(SOURCE.read_bytes() + said.encode()).hexdigest()


def compiler() -> str | None:
    """The command of the right version, where there is one."""
    found = [str(ROOT / "build" / "zig" / "ziglang" / "zig"), shutil.which("zig")]
    for one in filter(None, found):
        if Path(one).exists():
            said = subprocess.run([one, "version"], capture_output=True, text=True).stdout
            if said.strip() == COMPILER:
                return one
    return None


def build(into: Path, using: str) -> None:
    for architecture, target in TARGETS.items():
        words = [using, "cc", "-target", target, *FLAGS, "-o", str(into / name(architecture)), SOURCE.name]
        subprocess.run(words, cwd=SOURCE.parent, check=True)
        os.chmod(into / name(architecture), 0o755)


def main() -> int:
    using = compiler()
    if using is None:
        print(f"zig {COMPILER} is not here: `make helper` installs it")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), using)
        made = {one: (Path(folder) / name(one)).read_bytes() for one in TARGETS}
    for architecture, program in made.items():
        (INTO / name(architecture)).write_bytes(program)
        os.chmod(INTO / name(architecture), 0o755)
    hashes = {one: hashlib.sha256(program).hexdigest() for one, program in made.items()}
    RECORD.write_text(json.dumps({"source": source_hash(), "programs": hashes}, indent=2) + "\n")
    print("\n".join(f"{name(one)}: {len(program)} bytes" for one, program in made.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
