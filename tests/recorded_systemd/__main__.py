"""Writes down what a systemd says: this machine's Debian's, or that of a file made by debootstrap from another one.

python -m tests.recorded_systemd [debian.tar]
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from tests.recorded_systemd import FOLDER, record
from tests.systemd_machine import Machine

machine = Machine(base=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
try:
    version = machine.do("systemctl", "--version").splitlines()[0]
    said = record(machine)
finally:
    machine.end()
head = (
    f"# {version}, as PID 1, on record by `python -m tests.recorded_systemd`: what systemctl said, and how it ended.\n"
)
answers = {
    case: {question: {"exit": ran.exit_code, "said": ran.output.splitlines()} for question, ran in both.items()}
    for case, both in said.items()
}
text = yaml.safe_dump(answers, sort_keys=False, width=1000)
(FOLDER / f"systemd-{version.split()[1]}.yaml").write_text(head + text, encoding="utf-8")
