"""`make faults`: injects every fault of spec/faults.yaml into the running program, and says what came of it.

    python scripts/faults.py [row ...]

The tests that are marked with a row of the table run from outside against the installed Argus, each with its bound;
then the controls count, in which nothing is broken and nothing may be done. A row without a test is shown as not built
yet, and what cannot be done on this machine as skipped; neither is counted as injected. The last line is
`N injected, N recovered, N lost`. Fails when one is lost, when a control saw an action, or when the tests themselves
did not run to their end.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import test_tiers
import yaml

TABLE = test_tiers.ROOT / "spec" / "faults.yaml"
GOOD = {"fault": "recovered", "control": "quiet"}
BAD = {"fault": "lost", "control": "acted"}


@dataclass(frozen=True)
class Row:
    id: str
    kind: str
    what: str
    expected: str
    bound: float | None


@dataclass(frozen=True)
class Line:
    """One test of one row, or a row without a test."""

    row: Row
    outcome: str
    seconds: float | None = None
    test: str = ""
    case: str = ""
    why: str = ""

    @property
    def shown_by(self) -> str:
        return self.test + (f" ({self.case})" if self.case else "") + (f": {self.why}" if self.why else "")


def rows(table: Path) -> list[Row]:
    found: dict[str, Any] = yaml.safe_load(table.read_text(encoding="utf-8"))
    faults = [Row(one["id"], "fault", one["fault"], one["expected"], one["bound"]) for one in found["faults"]]
    return faults + [Row(one["id"], "control", one["control"], "no action", None) for one in found["controls"]]


def lines(row: Row, tests: list[dict[str, Any]]) -> list[Line]:
    words = {"passed": GOOD[row.kind], "failed": BAD[row.kind], "skipped": "skipped"}
    found = [
        Line(row, words[test["outcome"]], test["seconds"], *sentence(test["test"]), test["why"])
        for test in tests
        if row.id in test["rows"]
    ]
    return found or [Line(row, "not built yet")]


def sentence(test: str) -> tuple[str, str]:
    """What it says, and in which case."""
    name, _, case = test.rpartition("::")[2].partition("[")
    return name.removeprefix("test_").replace("_", " "), case.removesuffix("]")


def folded(found: list[Line]) -> list[Line]:
    """The cases of one test that recovered are one line, with the longest time; any other case is a line of its own."""
    kept: dict[object, Line] = {}
    counts: dict[object, int] = {}
    for number, line in enumerate(found):
        key: object = (line.row.id, line.test) if line.outcome in GOOD.values() else number
        counts[key] = counts.get(key, 0) + 1
        one = kept.setdefault(key, line)
        if (line.seconds or 0.0) > (one.seconds or 0.0):
            kept[key] = line
    return [replace(line, case=f"{counts[key]} cases") if counts[key] > 1 else line for key, line in kept.items()]


def print_table(found: list[Line]) -> None:
    heads = ("id", "fault", "expected", "bound", "took", "outcome", "shown by")
    body = [
        (
            line.row.id,
            line.row.what if line.row.kind == "fault" else f"none: {line.row.what}",
            line.row.expected,
            "" if line.row.bound is None else f"{line.row.bound:g} s",
            "" if line.seconds is None else f"{line.seconds:.1f} s",
            line.outcome,
            line.shown_by,
        )
        for line in folded(found)
    ]
    widths = [max(len(row[column]) for row in [heads, *body]) for column in range(6)]
    for row in [heads, *body]:
        print("  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[6]]).rstrip())


def summarise(found: list[Line], ran: test_tiers.Outcome) -> int:
    print(f"\n== faults, in {ran.seconds:.0f} s")
    print_table(found)
    print()

    def count(*outcomes: str) -> int:
        return sum(line.outcome in outcomes for line in found)

    kinds = {kind: {row.id for row in {line.row for line in found} if row.kind == kind} for kind in GOOD}
    unbuilt = {kind: {x.row.id for x in found if x.outcome == "not built yet"} & kinds[kind] for kind in GOOD}
    print(f"{len(kinds['fault'])} rows of faults, {len(unbuilt['fault'])} of them not built yet")
    print(f"{count('skipped')} skipped on this machine")
    print(f"{count('quiet', 'acted')} controls, {count('acted')} acted, {len(unbuilt['control'])} not built yet")
    besides = ran.failed - count("lost", "acted")
    if besides > 0:
        print(f"{besides} failed besides, and are shown above: a row of theirs may be missing here")
    for note in ran.notes:
        print(note)
    injected, recovered, lost = count("recovered", "lost"), count("recovered"), count("lost")
    print(f"{injected} injected, {recovered} recovered, {lost} lost", flush=True)
    return 1 if ran.failed or lost or count("acted") or not (injected or count("quiet")) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Injects the faults of the campaign.")
    parser.add_argument("rows", nargs="*", metavar="row", help="only these, for example AG1 CK1")
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--tests", help="where the tests are, if not where Argus's own are")
    asked = parser.parse_args()
    table = rows(asked.table)
    unknown = set(asked.rows) - {row.id for row in table}
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    table = [row for row in table if not asked.rows or row.id in asked.rows]

    (acceptance,) = (tier for tier in test_tiers.TIERS if tier.name == "acceptance")
    tier = replace(acceptance, name="faults")
    if asked.tests:
        tier = test_tiers.Tier("faults", asked.tests)
    signal.signal(signal.SIGTERM, test_tiers.stop)
    signal.signal(signal.SIGHUP, test_tiers.stop)
    scratch = Path(tempfile.mkdtemp(prefix="argus-"))
    try:
        scratch.chmod(0o711)  # for a database server, which runs as somebody else
        (scratch / "t").mkdir()
        record = scratch / "faults.jsonl"
        record.touch()
        os.environ |= {
            "ARGUS_FAULTS": str(record),
            "ARGUS_FAULT_TABLE": str(asked.table),
            "ARGUS_FAULT_ROWS": " ".join(asked.rows),
        }
        ran = test_tiers.run_tier(tier, scratch, os.environ.get("CI", "").lower() in ("true", "1"))
        tests = [json.loads(line) for line in sorted(record.read_text(encoding="utf-8").splitlines())]
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    finally:
        test_tiers.remove(scratch)
    return summarise([line for row in table for line in lines(row, tests)], ran)


if __name__ == "__main__":
    sys.exit(main())
