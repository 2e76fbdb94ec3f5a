"""`make coverage`: how much of the environments, the breakers and the error codes the tests inside the process reach.

The acceptance tests drive the installed program from outside and are not counted here: what they reach comes on top.
Passed, it is a proof for `make trace`, beside those of the last `make test`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / ".trace.jsonl"
TESTS = (
    "tests/unit/environments",
    "tests/unit/core",
    "tests/integration/test_case_containers.py",
    "tests/integration/test_case_running.py",
    "tests/integration/test_helper.py",
)
GOALS = {
    "environments": (85, ("src/argus/environments/",)),
    "breaker": (90, ("src/argus/core/breaker.py", "src/argus/core/circuit.py", "src/argus/environments/circuits.py")),
    "error codes": (90, ("src/argus/core/errors.py", "src/argus/core/codes.py", "src/argus/core/actions.py")),
}


def measured(folder: Path) -> dict[str, tuple[int, int]]:
    """Of each file, how many statements were reached, and of how many."""
    environ = {**os.environ, "COVERAGE_FILE": str(folder / "data")}
    coverage = [sys.executable, "-m", "coverage"]
    tests = [*coverage, "run", "--source=src/argus", "-m", "pytest", "-q", "-p", "no:xdist", *TESTS]
    if subprocess.run(tests, cwd=ROOT, env=environ).returncode != 0:
        raise SystemExit("The tests failed: nothing is measured.")
    report = folder / "report.json"
    subprocess.run([*coverage, "json", "-q", "-o", str(report)], cwd=ROOT, env=environ, check=True)
    files = json.loads(report.read_text(encoding="utf-8"))["files"]
    return {name: (one["summary"]["covered_lines"], one["summary"]["num_statements"]) for name, one in files.items()}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="argus-coverage-") as folder:
        files = measured(Path(folder))
    good = True
    for what, (goal, places) in GOALS.items():
        found = [count for name, count in files.items() if name.startswith(places)]
        reached, all_of_them = sum(one for one, _ in found), sum(one for _, one in found)
        share = 100 * reached / all_of_them
        good = good and share >= goal
        print(f"{what:13} {share:5.1f} % of {all_of_them} statements (goal {goal})")
    if good and RECORD.exists():
        with RECORD.open("a", encoding="utf-8") as record:
            record.write(json.dumps({"test": "make coverage", "outcome": "passed", "req": ["NFR-R06"]}) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
