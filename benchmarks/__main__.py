"""`python -m benchmarks`: measures, and prints the table."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import machine, plan, rows
from benchmarks.everything import WORK


def main() -> int:
    options = _options()
    names = options.only.replace(",", " ").split() or list(WORK)
    unknown = [name for name in names if name not in WORK]
    if unknown:
        print(f"there is no {unknown[0]!r}; there is {', '.join(WORK)}", file=sys.stderr)
        return 2
    print(machine.line(), flush=True)
    plan.install(package for name in names for package in WORK[name].packages)
    found: list[rows.Row] = []
    failed = 0
    with tempfile.TemporaryDirectory(prefix="argus-bench-", dir=options.folder) as folder:
        for name in names:
            began = time.monotonic()
            own = Path(folder) / name
            own.mkdir()
            asked = plan.Plan(options.rounds, options.quick, options.idle, own)
            try:
                found += WORK[name].measure(asked)
            except plan.Skipped as reason:
                print(f"{name}: skipped, {reason}", flush=True)
            except Exception as error:  # noqa: BLE001 - the other rows are still worth having
                failed += 1
                print(f"{name}: FAILED, {type(error).__name__}: {error}", flush=True)
            else:
                print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    if found:
        print(f"\n{rows.table(found)}\n")
        for row in found:
            if row.note:
                print(f"- {row.work}: {row.note}")
    if options.out:
        said = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine.facts(),
            "rounds": options.rounds,
            "quick": options.quick,
            "rows": [row.public() for row in found],
        }
        options.out.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description="Measures Argus beside floors and peers.")
    parser.add_argument("--only", default="", help=f"some of: {', '.join(WORK)}")
    parser.add_argument("--rounds", type=int, default=7, help="of which the median is taken")
    parser.add_argument("--idle", type=float, default=120.0, help="seconds for which the idle daemon is watched")
    parser.add_argument("--quick", action="store_true", help="shows that everything runs; the figures mean nothing")
    parser.add_argument("--out", type=Path, help="a file for every figure, as JSON")
    parser.add_argument("--folder", help="where the stores lie; else the folder for temporary files")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("at least one round")
    return options


if __name__ == "__main__":
    sys.exit(main())
