"""`make test`: the checks, then every tier of tests in order, with nothing left behind.

    python scripts/test_tiers.py [tier ...]

Only the standard library, so that it runs before anything else does.

- A tier whose folder does not exist is not listed. A folder without tests is fine.
- A tier may need programs (see TIERS). As root on Debian a missing one is installed; one that npm brings, by npm, into
  .venv; otherwise the tier, or what in it needs the program, is skipped and the reason is printed at the end. With
  CI=true a skipped tier fails the run.
- Tests get a fresh TMPDIR, removed at the end. A process that outlives its tier is listed, killed, and a failure.
- The last line counts tests. A failure that is no test (a check, a leftover process, pytest itself) counts as one
  failed, a skipped tier as one skipped: "0 failed" always means that the run passed.
- A run of all tiers leaves its record for `make trace` in .trace.jsonl.
"""

import argparse
import contextlib
import ctypes
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / ".trace.jsonl"
AGENTS = ROOT / ".venv" / "agents"
MARKER = "ARGUS_TEST_RUN"
GRACE = 3.0  # seconds in which a process may still be on its way out when its tier has ended
NO_TESTS = 5  # pytest's exit code for "nothing was collected"


@dataclass(frozen=True)
class Need:
    """A program a tier cannot do without, and the Debian package that brings it, or the package of npm."""

    program: str
    package: str
    partly: bool = False  # only some tests need it: without it these skip themselves, and the others run
    places: tuple[str, ...] = ()  # where to look besides PATH; patterns such as "/usr/lib/postgresql/*/bin"
    npm: str = ""  # the version of the package of npm: only this one will do, whatever else is on the PATH
    file: str = ""  # it is no program: this file of the package of npm, or one that a pattern names

    @property
    def folder(self) -> Path:
        return AGENTS / f"{self.program}-{self.npm}"

    def within(self, folder: Path) -> Path:
        """Where npm has put it."""
        modules = folder / "node_modules"
        return modules / self.package / self.file if self.file else modules / ".bin" / self.program


def locked(package: str) -> str:
    """The version that the page's own lockfile names: what is tested is what is built with."""
    lock = json.loads((ROOT / "dashboard" / "package-lock.json").read_text(encoding="utf-8"))
    return str(lock["packages"][f"node_modules/{package}"]["version"])


@dataclass(frozen=True)
class Tier:
    name: str
    path: str
    workers: int = 0  # of pytest-xdist; 0: one after the other
    needs: tuple[Need, ...] = ()  # for example (Need(program="tmux", package="tmux"),)


TMUX = Need(program="tmux", package="tmux", partly=True)
POSTGRES = Need(program="postgres", package="postgresql", places=("/usr/lib/postgresql/*/bin",), partly=True)
CHROMIUM = Need(program="chromium", package="chromium", partly=True)
FAKETIME = Need(program="faketime", package="faketime", partly=True)
CLAUDE = Need(program="claude", package="@anthropic-ai/claude-code", npm="2.1.325", partly=True)
CODEX = Need(program="codex", package="@openai/codex", npm="0.166.0", partly=True)
DOCKER = Need(program="dockerd", package="docker.io", partly=True)
BUSYBOX = Need(program="busybox", package="busybox-static", partly=True)
AXE = Need(program="axe-core", package="axe-core", npm=locked("axe-core"), file="axe.min.js", partly=True)
DEBOOTSTRAP = Need(program="debootstrap", package="debootstrap", partly=True)
ZSH = Need(program="zsh", package="zsh", partly=True)
# The Docker engine asks it which processes a container has.
PS = Need(program="ps", package="procps", partly=True)
FISH = Need(program="fish", package="fish", partly=True)
IP = Need(program="ip", package="iproute2", partly=True)
# The browser's driver is a program of Node's own that wants it.
ATOMIC = Need(program="libatomic", package="libatomic1", file="/usr/lib/*/libatomic.so.1", partly=True)

TIERS = (
    Tier("unit", "tests/unit", workers=2),
    Tier("contract", "tests/contract", workers=3, needs=(POSTGRES, TMUX, DOCKER, BUSYBOX, PS, IP)),
    Tier("integration", "tests/integration", workers=3, needs=(POSTGRES, TMUX, DOCKER, BUSYBOX, PS, IP, CLAUDE)),
    Tier(
        "acceptance",
        "tests/acceptance",
        workers=4,  # on two cores: most of them wait, for a deadline or a program that starts
        needs=(
            *(POSTGRES, FAKETIME, CHROMIUM, ATOMIC, AXE, TMUX, CLAUDE, CODEX),
            *(DOCKER, BUSYBOX, PS, IP, DEBOOTSTRAP, ZSH, FISH),
        ),
    ),
    Tier("simulation", "tests/simulation", workers=2),
)


@dataclass
class Outcome:
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    empty: bool = False

    @property
    def verdict(self) -> str:
        if self.failed:
            return "failed"
        if self.empty:
            return "no tests"
        return "skipped" if self.skipped and not self.passed else "passed"


# --- programs -------------------------------------------------------------------------------------------------------


def find(need: Need) -> str | None:
    if need.npm:
        brought = need.within(need.folder)
        return str(brought) if brought.is_file() and (need.file or os.access(brought, os.X_OK)) else None
    if need.file:
        return next(iter(glob.glob(need.file)), None)
    places = [os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"]
    places += [place for pattern in need.places for place in sorted(glob.glob(pattern), reverse=True)]
    return shutil.which(need.program, path=os.pathsep.join(places))


def apt_get(*arguments: str) -> str | None:
    """Runs apt-get without noise, after whoever installs something else; None, or what it said when it failed."""
    done = subprocess.run(
        ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=180", *arguments],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return None if done.returncode == 0 else done.stdout.strip()


@cache
def apt_update() -> str | None:
    return apt_get("update")


def provide(need: Need) -> str | None:
    """Makes sure the program is there; None, or the reason why it is not."""
    if find(need):
        return None
    if need.npm:
        return npm_install(need)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return f"{need.program} is missing (Debian: apt-get install {need.package})"
    print(f"Installing {need.package}, which brings {need.program} ...", flush=True)
    said = apt_update() or apt_get("install", "--no-install-recommends", need.package)
    if said:
        print(said)
        return f"{need.program} is missing, and {need.package} could not be installed"
    return None if find(need) else f"{need.program} is missing, though {need.package} is installed"


def npm_install(need: Need) -> str | None:
    """Into a folder of its version, whole or not at all; None, or the reason why not."""
    npm = shutil.which("npm")
    if npm is None:
        return f"{need.program} is missing, and so is npm, which would bring it"
    print(f"Installing {need.package}@{need.npm}, which brings {need.program} ...", flush=True)
    AGENTS.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=AGENTS))
    package, brought = f"{need.package}@{need.npm}", need.within(new)
    install = [npm, "install", f"--prefix={new}", "--no-audit", "--no-fund", "--fetch-retries=1", package]
    try:
        # It may be there and not run: a version of node that is too old, a part for another machine.
        for command in (install, ["test", "-s", str(brought)] if need.file else [str(brought), "--version"]):
            done = subprocess.run(
                command,
                cwd=new,
                env=os.environ if command is install else {**os.environ, "HOME": str(new)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=600,
            )
            if done.returncode:
                print(done.stdout.strip()[-2000:])
                return f"{need.program} is missing, and {package} could not be installed"
        for old in AGENTS.glob(f"{need.program}-*"):
            remove(old)
        new.rename(need.folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{need.program} is missing, and {package} could not be installed: {error}"
    finally:
        remove(new)
    return None


# --- processes ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    started: int  # tells two holders of one pid apart
    command: str = field(compare=False)
    marked: bool = field(compare=False)


def adopt_orphans(wanted: bool) -> None:
    """While the tests run, their orphans become our children: found even when they threw their environment away."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(36, int(wanted), 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def processes(mark: bytes) -> list[Process]:
    """Every living process of the machine that may be read."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent, *rest = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except (OSError, ValueError):
            continue  # gone while we looked
        if state in "ZX":
            continue
        marked = False
        with contextlib.suppress(OSError):  # of someone else, so not of our tests
            marked = mark in (folder / "environ").read_bytes().split(b"\0")
        found.append(Process(int(folder.name), int(parent), int(rest[17]), command, marked))
    return found


def of_the_run(mark: bytes) -> set[Process]:
    """The processes that carry the mark of this run, and all that descend from this one."""
    every = processes(mark)
    family = {os.getpid()}
    while grown := {p.pid for p in every if p.parent in family} - family:
        family |= grown
    return {p for p in every if (p.marked or p.pid in family) and p.pid != os.getpid()}


def reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def sweep(mark: bytes, before: set[Process]) -> list[Process]:
    """The processes the tests left behind, after killing them."""
    known = {(p.pid, p.started) for p in before}

    def left() -> list[Process]:
        reap()
        return sorted((p for p in of_the_run(mark) if (p.pid, p.started) not in known), key=lambda p: p.pid)

    deadline = time.monotonic() + GRACE
    while (found := left()) and time.monotonic() < deadline:
        time.sleep(0.05)
    leftovers = found
    for _ in range(100):  # again and again: a supervisor among them may start new ones
        if not found:
            break
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.05)
        found = left()
    return leftovers


# --- one tier -------------------------------------------------------------------------------------------------------


def run_to_end(command: list[str], environment: dict[str, str]) -> int:
    """Runs a command; adopted orphans are buried as they end, as init would, so that tests see them gone."""
    child = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL)
    try:
        while True:
            pid, status = os.waitpid(-1, 0)
            if pid == child.pid:
                child.returncode = os.waitstatus_to_exitcode(status)
                return child.returncode
    except BaseException:
        if child.returncode is None:
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        raise


def count(report: Path) -> dict[str, int]:
    """Tests by outcome. A test that failed and then failed to clean up has two entries and is one test."""
    order = ("passed", "skipped", "failed")
    worst: dict[tuple[str | None, str | None], str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        outcome = "passed"
        if case.find("skipped") is not None:
            outcome = "skipped"
        if case.find("failure") is not None or case.find("error") is not None:
            outcome = "failed"
        key = (case.get("classname"), case.get("name"))
        worst[key] = max(worst.get(key, "passed"), outcome, key=order.index)
    return {outcome: sum(1 for found in worst.values() if found == outcome) for outcome in order}


def run_tier(tier: Tier, scratch: Path, strict: bool) -> Outcome:
    outcome = Outcome(tier.name)
    lacking = {need: reason for need in tier.needs if (reason := provide(need))}
    missing = [reason for need, reason in lacking.items() if strict or not need.partly]
    outcome.notes += [f"some tests skipped: {reason}" for reason in lacking.values() if reason not in missing]
    if missing:
        outcome.notes.append(f"skipped: {'; '.join(missing)}")
        if strict:
            outcome.failed = 1
            outcome.notes.append("a skipped tier is a failure here, because of CI=true")
        else:
            outcome.skipped = 1
        return outcome

    run_id = str(uuid.uuid4())
    mark = f"{MARKER}={run_id}".encode()
    report = scratch / f"{tier.name}.xml"
    environment = {
        **os.environ,
        MARKER: run_id,
        "TMPDIR": str(scratch / "t"),
        "ARGUS_TRACE": str(scratch / "trace.jsonl"),
    }
    places = [str(Path(program).parent) for need in tier.needs if not need.npm and (program := find(need))]
    environment["PATH"] = os.pathsep.join(dict.fromkeys([environment.get("PATH", os.defpath), *places]))
    command = [sys.executable, "-m", "pytest", "-q", f"--junit-xml={report}", tier.path]
    if tier.workers:
        # The tests of a file may share what takes longer to start than most of them: see tests/sharing.py.
        command += ["-n", str(tier.workers), "--dist", "loadfile"]

    print(f"\n== {tier.name}", flush=True)
    started = time.monotonic()
    before = of_the_run(mark)
    adopt_orphans(True)
    try:
        code = run_to_end(command, environment)
    finally:
        leftovers = sweep(mark, before)
        adopt_orphans(False)
    outcome.seconds = time.monotonic() - started

    try:
        counts = count(report)
    except (OSError, ElementTree.ParseError):
        counts = {}
    outcome.passed, outcome.skipped = counts.get("passed", 0), counts.get("skipped", 0)
    outcome.failed = counts.get("failed", 0)
    if code == NO_TESTS and not counts.get("failed"):
        outcome.empty = True
    elif (code != 0 or not counts) and not outcome.failed:
        outcome.failed += 1
        outcome.notes.append(f"pytest ended with code {code} and no failed test")
    if leftovers:
        outcome.failed += 1
        outcome.notes.append("processes left behind, now killed:")
        outcome.notes += [f"  pid {process.pid}: {process.command or '(no command line)'}" for process in leftovers]
    return outcome


# --- the whole run --------------------------------------------------------------------------------------------------


def check() -> Outcome:
    print("== check", flush=True)
    started = time.monotonic()
    code = subprocess.run(
        [sys.executable, str(ROOT / "scripts/check.py")], cwd=ROOT, stdin=subprocess.DEVNULL
    ).returncode
    return Outcome("check", failed=int(code != 0), seconds=time.monotonic() - started)


def remove(folder: Path) -> bool:
    """Removes the folder, also what tests made unreadable; whether it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for place, folders, _ in os.walk(folder):
            for name in folders:
                path = os.path.join(place, name)
                with contextlib.suppress(OSError):
                    if not os.path.islink(path):
                        os.chmod(path, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def summarise(outcomes: list[Outcome]) -> int:
    print("\n== summary")
    for outcome in outcomes:
        numbers = f"{outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
        if outcome.name == "check":
            numbers = ""
        print(f"{outcome.name:<12} {outcome.verdict:<8} {outcome.seconds:7.1f} s   {numbers}".rstrip())
        for note in outcome.notes:
            print(f"{'':<12} {note}")
    if not Path("/proc/self/environ").exists():
        print("Without /proc nobody looked for processes left behind.")
    total = [sum(getattr(outcome, kind) for outcome in outcomes) for kind in ("passed", "failed", "skipped")]
    print(f"\n{total[0]} passed, {total[1]} failed, {total[2]} skipped", flush=True)
    return 1 if total[1] else 0


def stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the checks and the tiers of tests.")
    parser.add_argument("tiers", nargs="*", metavar="tier", help=", ".join(tier.name for tier in TIERS))
    wanted = parser.parse_args().tiers
    unknown = set(wanted) - {tier.name for tier in TIERS}
    if unknown:
        parser.error(f"no such tier: {', '.join(sorted(unknown))}")
    tiers = [t for t in TIERS if (not wanted or t.name in wanted) and (ROOT / t.path).is_dir()]
    strict = os.environ.get("CI", "").lower() in ("true", "1")

    # The tests start Argus a thousand times. Without bytecode on disk each start compiles all of its sources anew,
    # which takes half as long as the rest of it; and pytest rewrites every test in every worker.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, stop)
    # A shell's background job ignores it, and so would every program that a test interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    scratch = Path(tempfile.mkdtemp(prefix="argus-"))
    outcomes = []
    try:
        # A database server refuses to run as root: as another user it must be able to come this way.
        scratch.chmod(0o711)
        (scratch / "t").mkdir()
        (scratch / "trace.jsonl").touch()
        outcomes.append(check())
        outcomes += [run_tier(tier, scratch, strict) for tier in tiers]
        if not wanted:
            RECORD.write_bytes((scratch / "trace.jsonl").read_bytes())
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    finally:
        if not remove(scratch):
            outcomes.append(Outcome("clean-up", failed=1, notes=[f"{scratch} could not be removed"]))
    return summarise(outcomes)


if __name__ == "__main__":
    sys.exit(main())
