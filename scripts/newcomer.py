"""`make newcomer`: the README's two commands on an empty Debian that has Python, git and make, and nothing else.

    python3 scripts/newcomer.py [--as root|user] [--cache FOLDER] [--mirror URL] [tier ...]

Needs root on Debian, debootstrap and a few minutes; only the standard library. What is committed (HEAD) is
cloned into a root file system of its own and run there in its own mount, process and IPC namespaces: whatever it
starts or mounts ends with them. The network is the machine's, because packages come that way. Proxies and package
indexes are taken from the environment, with the certificates they name. With a cache folder the empty system is kept
for the next time. The last line counts the steps; the exit code is 0 when all passed.
"""

import argparse
import contextlib
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("python3", "git", "make")
PORT = 7117
BUNDLE = "/tmp/argus.bundle"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PASSED_ON = re.compile(
    r"(https?|ftp|all|no)_proxy|pip_(index_url|extra_index_url|trusted_host|cert|default_timeout)", re.I
)
CERTIFICATES = ("PIP_CERT", "SSL_CERT_FILE")

# Programs for the empty system: it has no ps, no ip, no curl and no setsid of a newcomer's own.
OFFLINE = """
import fcntl, os, socket, struct, sys
# SIOCSIFFLAGS, IFF_UP: even a machine without a network has its loopback.
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 1))
os.execvp(sys.argv[1], sys.argv[1:])
"""
HEALTHZ = f"""
import http.client
asked = http.client.HTTPConnection("127.0.0.1", {PORT}, timeout=10)
asked.request("GET", "/healthz")
answer = asked.getresponse()
print(answer.status, answer.read().decode())
"""
PORT_TAKEN = f"""
import socket, subprocess, sys
other = socket.create_server(("127.0.0.1", {PORT}))
sys.exit(subprocess.call(["make", "up"]))
"""
INTERRUPTED = """
import glob, os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job of a shell ignores it, and so would all that it starts
make = subprocess.Popen(["make", "up"], start_new_session=True)
until = time.monotonic() + 300
while not glob.glob(".venv/lib/python3*/site-packages/pydantic") and time.monotonic() < until and make.poll() is None:
    time.sleep(0.02)
os.killpg(make.pid, signal.SIGINT)
sys.exit(make.wait(60))
"""
# What `make test` installed is there by then, and no service manager that would start it.
WITH_DOCKER = """
dockerd >/tmp/dockerd.log 2>&1 & engine=$!
for _ in $(seq 300); do [ ! -S /var/run/docker.sock ] || break; sleep 0.1; done
make demo; code=$?
kill $engine; wait $engine
exit $code
"""


@dataclass(frozen=True)
class Step:
    name: str
    script: str  # for sh, in the folder
    fails: bool = False  # whether the right end is a failure
    says: str = ""  # what has to be in the output
    folder: str = "argus"  # in the newcomer's home
    online: bool = True
    vital: bool = False  # without it the rest is not worth trying


@dataclass(frozen=True)
class Result:
    step: Step
    passed: bool
    seconds: float


def steps(tiers: Iterable[str], *, may_install: bool) -> list[Step]:
    """What a newcomer does, then what goes wrong for some, then the tests. Only root may install tmux for the tour."""
    python = "python3 -c '{}'".format
    clone = "git -c advice.detachedHead=false clone -q " + BUNDLE
    hard = "umask 077; export HOME=/sys ARGUS_HOME=/tmp/of-the-newcomer;"
    spaced = "a folder with spaces"
    tiers = list(tiers)
    # The tour once more, now that there is Docker: in a network of its own, so that the machine's is left alone.
    whole = Step("make demo, with Docker", WITH_DOCKER, says="the database is killed", online=False)
    return [
        Step("clone", clone + " argus", folder=".", vital=True),
        Step("make up", "make up", says="Argus is up (", vital=True),
        Step("argus status", ".venv/bin/argus status", says=f"http://127.0.0.1:{PORT}"),
        Step("/healthz", python(HEALTHZ), says="200 "),
        Step("make up, again", "make up", says="up already"),
        Step("make demo", "make demo", fails=not may_install, says="left behind" if may_install else "apt-get install"),
        Step("make down", "make down", says="down"),
        Step("make up, no network", "make up && make down", says="Argus is up (", online=False),
        Step("make up, port taken", python(PORT_TAKEN), fails=True, says=f"port {PORT} ", online=False),
        Step("make up, no HOME", "unset HOME; make up && make down", says="Argus is up ("),
        Step("make up, HOME read-only", "HOME=/sys make up", fails=True, says="ARGUS_HOME"),
        Step("clone, spaces", f"{hard} {clone} '{spaced}'", folder="."),
        Step("set-up, interrupted", hard + python(INTERRUPTED), fails=True, says="Interrupted", folder=spaced),
        Step("make up, after that", f"{hard} make up && make down", says="Argus is up (", folder=spaced),
        Step("make test", f"make test TIERS='{' '.join(tiers)}'", says=" passed, 0 failed"),
        *([whole] if may_install and (not tiers or "acceptance" in tiers) else []),
    ]


def judge(step: Step, code: int, said: str) -> str | None:
    """None, or what is wrong with how the step ended."""
    if step.fails == (code == 0):
        return f"ended with code {code}"
    if step.says not in said:
        return f"did not say {step.says!r}"
    return None


def passed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """What the way to the packages needs, and nothing else of this machine's environment."""
    return {name: value for name, value in environ.items() if PASSED_ON.fullmatch(name) or name in CERTIFICATES}


# --- the empty system -----------------------------------------------------------------------------------------------


def make_base(root: Path, release: str, cache: Path | None, mirror: str | None) -> None:
    kept = cache / f"{release}-{platform.machine()}-{'-'.join(PACKAGES)}.tar" if cache else None
    if kept and kept.exists():
        subprocess.run(["tar", "-C", root, "-xpf", kept], check=True)
        return
    # In a mount namespace of its own: debootstrap leaves /proc mounted when it is interrupted.
    command = [
        "unshare",
        "--mount",
        "debootstrap",
        "--variant=minbase",
        f"--include={','.join(PACKAGES)}",
        release,
        str(root),
    ]
    done = subprocess.run(
        [*command, *([mirror] if mirror else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        sys.exit(f"{done.stdout[-2000:]}\ndebootstrap failed.")
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(".partial")
        subprocess.run(["tar", "-C", root, "-cpf", partial, "."], check=True)
        partial.rename(kept)


def furnish(root: Path, user: str) -> None:
    """What an installer adds to the bare system, the way to the packages, and what is to be cloned."""
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n")
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    for variable in CERTIFICATES:
        named = Path(os.environ.get(variable, ""))
        if named.is_absolute() and named.is_file():
            inside = root / named.relative_to("/")
            inside.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(named, inside)
    # The network is the machine's: a database server that its package starts by itself would be seen outside.
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    if user != "root":
        subprocess.run(["chroot", root, "useradd", "--create-home", user], env={"PATH": SYSTEM_PATH}, check=True)
    subprocess.run(["git", "-C", ROOT, "bundle", "create", "-q", f"{root}{BUNDLE}", "HEAD"], check=True)
    Path(f"{root}{BUNDLE}").chmod(0o644)


# --- inside, as process 1 of the namespaces -------------------------------------------------------------------------


def mount_all(root: Path) -> None:
    def mount(kind: str, place: str, options: str) -> None:
        (root / place).mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", kind, "-o", options, kind, root / place], check=True)

    subprocess.run(["mount", "--bind", root, root], check=True)
    mount("proc", "proc", "nosuid,nodev,noexec")
    # With the control groups in it, which a Docker engine needs.
    subprocess.run(["mount", "--rbind", "/sys", root / "sys"], check=True)
    mount("tmpfs", "dev", "mode=755")
    mount("devpts", "dev/pts", "newinstance,ptmxmode=666")
    mount("tmpfs", "dev/shm", "mode=1777")
    for name, major, minor in (
        ("null", 1, 3),
        ("zero", 1, 5),
        ("full", 1, 7),
        ("random", 1, 8),
        ("urandom", 1, 9),
        ("tty", 5, 0),
    ):
        os.mknod(root / "dev" / name, 0o020666, os.makedev(major, minor))
        (root / "dev" / name).chmod(0o666)
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("stdin", "fd/0"),
        ("stdout", "fd/1"),
        ("stderr", "fd/2"),
        ("ptmx", "pts/ptmx"),
    ):
        (root / "dev" / name).symlink_to(target)


def move_in(root: Path) -> None:
    """The root of these namespaces, and not only of a program in them: whoever enters them, or makes some of their own,
    as a Docker engine does, would else find this machine's."""
    old = root / ".outside"
    old.mkdir(exist_ok=True)
    subprocess.run(["pivot_root", root, old], check=True)
    os.chdir("/")
    subprocess.run(["umount", "--lazy", "/.outside"], check=True)
    Path("/.outside").rmdir()


def command_for(step: Step, user: str, environment: Mapping[str, str]) -> list[str]:
    home = "/root" if user == "root" else f"/home/{user}"
    path = SYSTEM_PATH if user == "root" else "/usr/local/bin:/usr/bin:/bin"
    own = {"HOME": home, "USER": user, "PATH": path, "TERM": "dumb", **environment}
    outside = [] if step.online else ["unshare", "--net", "python3", "-c", OFFLINE]
    enter = ["chroot", f"--userspec={user}:{user}", f"--groups={user}", "/", "/usr/bin/env", "-i"]
    settings = [f"{name}={value}" for name, value in own.items()]
    return [*outside, *enter, *settings, "/bin/sh", "-c", f"cd '{home}/{step.folder}' || exit 99\n{step.script}"]


def run(command: list[str]) -> tuple[int, str]:
    """The exit code, and what was said; shown as it comes. Orphans are buried, as process 1 has to."""
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    said: list[str] = []

    def show() -> None:
        for line in child.stdout or ():
            said.append(line)
            print("   ", line, end="", flush=True)

    reader = threading.Thread(target=show, daemon=True)
    reader.start()
    while child.returncode is None:
        pid, status = os.waitpid(-1, 0)
        if pid == child.pid:
            child.returncode = os.waitstatus_to_exitcode(status)
    reader.join(5)  # not for ever: what was left behind may hold the pipe
    return child.returncode, "".join(said)


def inside(root: Path, user: str, tiers: list[str]) -> int:
    mount_all(root)
    move_in(root)
    os.environ["PATH"] = SYSTEM_PATH
    environment = passed_on(os.environ)
    results: list[Result] = []
    for step in steps(tiers, may_install=user == "root"):
        print(f"\n== {step.name}", flush=True)
        started = time.monotonic()
        wrong = judge(step, *run(command_for(step, user, environment)))
        results.append(Result(step, wrong is None, time.monotonic() - started))
        if wrong:
            print(f"!! {step.name}: {wrong}", flush=True)
            if step.vital:
                break
    return summarise(results)


def summarise(results: list[Result]) -> int:
    print("\n== summary")
    for one in results:
        print(f"{one.step.name:<24} {'passed' if one.passed else 'FAILED'} {one.seconds:8.1f} s")
    failed = sum(not one.passed for one in results)
    print(f"\n{len(results) - failed} steps passed, {failed} failed", flush=True)
    return 1 if failed else 0


# --- outside --------------------------------------------------------------------------------------------------------


def lacking() -> str | None:
    """None, or why this machine cannot play the newcomer."""
    if os.geteuid() != 0:
        return "This makes a root file system and enters it: it needs root."
    wanted = {"debootstrap": "debootstrap", "unshare": "util-linux", "tar": "tar", "git": "git"}
    missing = [package for program, package in wanted.items() if not shutil.which(program)]
    if missing:
        return f"Missing here: apt-get install {' '.join(missing)}"
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", PORT))
        except OSError:
            return f"Port {PORT} is taken, perhaps by an Argus of this machine (make down): the newcomer's needs it."
    return None


def megabytes(folder: Path) -> int:
    return int(subprocess.run(["du", "-sm", folder], capture_output=True, text=True, check=True).stdout.split()[0])


def remove(folder: Path) -> None:
    for _ in range(50):  # processes of the namespaces may still be on their way out
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)
    print(f"{folder} could not be removed.", file=sys.stderr)


def play(user: str, release: str, cache: Path | None, mirror: str | None, tiers: list[str]) -> int:
    folder = Path(tempfile.mkdtemp(prefix="argus-newcomer-"))
    root = folder / "root"
    try:
        folder.chmod(0o755)
        root.mkdir()
        print(f"== an empty Debian {release} with {', '.join(PACKAGES)}", flush=True)
        started = time.monotonic()
        make_base(root, release, cache, mirror)
        furnish(root, user)
        print(f"    {megabytes(root)} MB, {time.monotonic() - started:.0f} s; the newcomer is {user}", flush=True)
        namespaces = ["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
        again = [sys.executable, __file__, "--inside", str(root), "--as", user, *tiers]
        code = subprocess.run([*namespaces, *again], stdin=subprocess.DEVNULL).returncode
        print(f"The system has {megabytes(root)} MB in the end.")
        return code
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    finally:
        remove(folder)


def stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(description="The README's two commands on an empty Debian.")
    parser.add_argument("tiers", nargs="*", metavar="tier", help="only these tiers of tests")
    parser.add_argument("--as", dest="user", choices=("root", "user"), default="root", help="who the newcomer is")
    parser.add_argument("--cache", type=Path, help="a folder that keeps the empty system for the next time")
    parser.add_argument("--mirror", help="where debootstrap gets Debian from, if not from its own default")
    parser.add_argument("--release", default=platform.freedesktop_os_release().get("VERSION_CODENAME"))
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        with contextlib.suppress(KeyboardInterrupt):
            return inside(given.inside, given.user, given.tiers)
        return 130
    if reason := lacking():
        print(reason, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, stop)
    return play(given.user, given.release, given.cache, given.mirror, given.tiers)


if __name__ == "__main__":
    sys.exit(main())
