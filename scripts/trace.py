"""`make trace`: every requirement, and the tests that proved it in the last `make test`.

Reads .trace.jsonl, which `make test` writes; when it is absent, the tests run first. Fails when a requirement has
no passing test though its part is listed as finished in spec/finished.txt.
"""

import json
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / ".trace.jsonl"
SPEC = ROOT / "spec" / "requirements.yaml"
FINISHED = ROOT / "spec" / "finished.txt"


def requirements() -> dict[str, list[str]]:
    """The ids of every part, in the order of the file."""
    parts: dict[str, list[str]] = defaultdict(list)
    seen: set[str] = set()
    for entry in yaml.safe_load(SPEC.read_text(encoding="utf-8")):
        if entry["id"] in seen:
            sys.exit(f"spec/requirements.yaml has {entry['id']} twice.")
        seen.add(entry["id"])
        parts[entry["part"]].append(entry["id"])
    return parts


def finished(parts: dict[str, list[str]]) -> set[str]:
    lines = FINISHED.read_text(encoding="utf-8").splitlines() if FINISHED.exists() else []
    named = {name for line in lines if (name := line.partition("#")[0].strip())}
    if unknown := named - parts.keys():
        sys.exit(f"spec/finished.txt names no part of the requirements: {', '.join(sorted(unknown))}")
    return named


def proofs() -> dict[str, list[str]]:
    """The passing tests of every id. A test with variants passes when one passed and none failed."""
    outcomes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        test = entry["test"].partition("[")[0]
        for name in entry["req"]:
            outcomes[name, test].append(entry["outcome"])
    found: dict[str, list[str]] = defaultdict(list)
    for (name, test), results in outcomes.items():
        if "passed" in results and "failed" not in results:
            found[name].append(test if len(results) == 1 else f"{test} ({results.count('passed')} variants)")
    return found


def is_stale() -> bool:
    sources = (path for folder in ("src", "tests", "spec") for path in (ROOT / folder).rglob("*"))
    newest = max((path.stat().st_mtime for path in sources if path.suffix in (".py", ".yaml")), default=0.0)
    return newest > RECORD.stat().st_mtime


def main() -> int:
    parts = requirements()
    done = finished(parts)
    if not RECORD.exists():
        print("No test run is recorded yet (.trace.jsonl is absent): the tests run first.\n", flush=True)
        code = subprocess.run([sys.executable, str(ROOT / "scripts/test_tiers.py")], cwd=ROOT).returncode
        if not RECORD.exists():
            print("The run left no record, so nothing can be traced.")
            return 1
        print(f"\nThat run {'passed' if code == 0 else 'failed'}. What it proved:\n")
    when = datetime.fromtimestamp(RECORD.stat().st_mtime, UTC)
    print(f"From the test run of {when:%Y-%m-%d %H:%M} UTC.")
    if is_stale():
        print("Sources have changed since; `make test` records anew.")

    proven = proofs()
    missing = []
    for part, ids in parts.items():
        count = sum(1 for name in ids if proven.get(name))
        print(f"\n{part}: {count} of {len(ids)}{', finished' if part in done else ''}")
        for name in ids:
            tests = proven.get(name)
            print(f"  {name:<11} {'-> ' + tests[0] if tests else '-- nothing yet'}")
            for test in (tests or [])[1:]:
                print(f"  {'':<11} -> {test}")
            if part in done and not tests:
                missing.append(name)
    every = [name for ids in parts.values() for name in ids]
    print(f"\n{sum(1 for name in every if proven.get(name))} of {len(every)} requirements have a passing test.")
    if missing:
        print(f"Without one, in a part that is finished: {', '.join(missing)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
