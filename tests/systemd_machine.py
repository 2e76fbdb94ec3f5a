"""A systemd of the tests' own: the first process of a Debian in namespaces of its own. Only the network is shared.

Each gets a copy of the Debian in memory. Everything ends with the namespaces, whatever runs in them. The installed
`argus` is there too, at its place of outside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import psutil

from argus.host.seam import Ran
from tests.debian import SBIN, Impossible, environ, kept

ROOT = Path(__file__).resolve().parent.parent
_LIMIT = 60.0

# Without what reaches beyond the namespaces: settings and modules of the kernel, and the package index. And without
# what empties /tmp, where folders of outside are.
_BOOT = r"""
set -e
new=$1 base=$2
shift 2
mount --make-rprivate /
mount -t tmpfs -o mode=755 none "$new"
tar -C "$new" -xpf "$base"
mount -t proc proc "$new/proc"
mount --bind "$new/proc/sys" "$new/proc/sys"
mount -o remount,bind,ro "$new/proc/sys"
mount --bind /sys "$new/sys"
mount -o remount,bind,ro "$new/sys"
mount -t cgroup2 none "$new/sys/fs/cgroup"
mount -t tmpfs -o mode=755 none "$new/dev"
for node in null zero full random urandom tty; do
    : > "$new/dev/$node"
    mount --bind "/dev/$node" "$new/dev/$node"
done
mkdir "$new/dev/pts" "$new/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 none "$new/dev/pts"
ln -s pts/ptmx "$new/dev/ptmx"
for place in dev/shm run tmp; do mount -t tmpfs -o mode=1777 none "$new/$place"; done
chmod 755 "$new/run"
ln -sf /dev/null "$new/etc/tmpfiles.d/tmp.conf"
for unit in systemd-modules-load.service systemd-tmpfiles-clean.timer apt-daily.timer apt-daily-upgrade.timer; do
    ln -sf /dev/null "$new/etc/systemd/system/$unit"
done
for folder; do
    mkdir -p "$new$folder"
    mount --bind "$folder" "$new$folder"
done
mkdir "$new/outside"
cd "$new"
pivot_root . outside
umount -l outside
rmdir outside
exec env -i container=argus-test PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /sbin/init
"""


class Machine:
    def __init__(self, *shared: Path, base: Path | None = None) -> None:
        """`shared`: folders that are the same inside and outside; `base`: another Debian than this machine's."""
        self._group = _groups() / f"argus-systemd-{uuid.uuid4().hex[:8]}"
        self.folder = Path(tempfile.mkdtemp(prefix="argus-sd-"))
        self._spaces: subprocess.Popen[bytes] | None = None
        self._units: dict[str, bool] = {}
        try:
            self._start(base or kept(), [ROOT, Path(sys.prefix), Path(sys.base_prefix), *shared])
            self._wait()
            self._first_files = self._files()
        except BaseException:
            self.end()
            raise

    def _start(self, base: Path, shared: list[Path]) -> None:
        try:
            self._group.mkdir()
        except OSError as error:
            raise Impossible(f"no control group can be made here: {error}") from error
        (self.folder / "root").mkdir()
        folders = [str(one) for one in dict.fromkeys(shared) if not one.is_relative_to("/usr")]
        # First into a group of its own, then into the namespace: that group is the root of all that systemd sees.
        enter = 'echo $$ > "$1/cgroup.procs"; shift; exec unshare "$@"'
        spaces = ["--cgroup", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
        inside = ["sh", "-c", _BOOT, "sh", str(self.folder / "root"), str(base), *folders]
        with (self.folder / "log").open("wb") as log:
            self._spaces = subprocess.Popen(
                ["sh", "-c", enter, "sh", str(self._group), *spaces, *inside],
                env=environ(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _wait(self) -> None:
        assert self._spaces is not None
        until = time.monotonic() + _LIMIT
        said = ""
        while said not in ("running", "degraded"):
            if self._spaces.poll() is not None or time.monotonic() > until:
                log = (self.folder / "log").read_text(errors="replace")[-1000:].strip()
                raise Impossible(f"systemd does not start here ({said}): {log}")
            time.sleep(0.05)
            said = self.run("systemctl", "is-system-running").stdout.strip() if self._booted() else ""

    def _booted(self) -> bool:
        """Only then are the namespaces the ones to enter."""
        try:
            return self.first.name() == "systemd" and self.path("run/systemd/private").exists()
        except (psutil.Error, ValueError, OSError):
            return False

    @property
    def first(self) -> psutil.Process:
        assert self._spaces is not None
        (first,) = psutil.Process(self._spaces.pid).children()
        return first

    def path(self, name: str) -> Path:
        """A file inside, seen from outside."""
        return Path(f"/proc/{self.first.pid}/root/{name}")

    def words(self, folder: Path | str, *command: str) -> list[str]:
        """The command that runs that command inside, in a folder."""
        enter = ["nsenter", f"--target={self.first.pid}", "--mount", "--pid", "--ipc", "--uts", "--cgroup", "--"]
        return [*enter, "env", f"--chdir={folder}", *command]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        told = {"PATH": SBIN, "XDG_RUNTIME_DIR": "/run/user/0"}
        words = self.words("/", *command)
        return subprocess.run(words, env=told, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LIMIT)

    def said(self, *command: str) -> Ran:
        """As Argus hears it: errors too."""
        ran = self.run("sh", "-c", 'exec "$@" 2>&1', "sh", *command)
        return Ran(ran.returncode, ran.stdout, 0.0)

    def do(self, *command: str) -> str:
        ran = self.run(*command)
        assert ran.returncode == 0, ran
        return ran.stdout.strip()

    # --- units

    def write(self, unit: str, *lines: str, user: bool = False) -> None:
        self._units[unit] = user
        file = self.path(f"etc/systemd/{'user' if user else 'system'}/{unit}")
        file.write_text("\n".join([*lines, ""]), encoding="utf-8")
        self.do("systemctl", *_whose(user), "daemon-reload")

    def remove(self, unit: str) -> None:
        self.path(f"etc/systemd/system/{unit}").unlink()
        self.do("systemctl", "daemon-reload")

    def show(self, unit: str, name: str, *, user: bool = False) -> str:
        return self.do("systemctl", *_whose(user), "show", f"--property={name}", "--value", "--", unit)

    def kill(self, unit: str, *, user: bool = False) -> None:
        """The unit's main process, as if it crashed; returns when systemd knows."""
        pid = self.show(unit, "MainPID", user=user)
        self.do("sh", "-c", f"kill -KILL {pid}")
        until = time.monotonic() + _LIMIT
        while self.show(unit, "MainPID", user=user) == pid:
            assert time.monotonic() < until, f"systemd does not notice that {unit} is dead"
            time.sleep(0.02)

    def _files(self) -> set[Path]:
        """Of units, and what masks them."""
        folders = (self.path(f"etc/systemd/{whose}") for whose in ("system", "user"))
        return {file for folder in folders for file in folder.iterdir() if file.is_symlink() or file.is_file()}

    def freeze(self) -> None:
        self.first.suspend()

    def thaw(self) -> None:
        self.first.resume()

    def user_manager(self) -> None:
        """Root's own manager, as if root were logged in."""
        self.do("loginctl", "enable-linger", "root")
        until = time.monotonic() + _LIMIT
        while self.run("systemctl", "--user", "is-system-running").stdout.strip() != "running":
            assert time.monotonic() < until, "there is no manager of root's own"
            time.sleep(0.05)

    # --- the end

    def clean(self) -> None:
        """Without the units that were written; ends what they run."""
        self.thaw()
        for unit, user in self._units.items():
            every = os.path.basename(unit).replace("@.", "@*.")  # of a template, all instances
            self.run("systemctl", *_whose(user), "kill", "--signal=KILL", "--", every)
            self.run("systemctl", *_whose(user), "stop", "--", every)
        for file in self._files() - self._first_files:
            file.unlink()
        for user in set(self._units.values()):
            self.do("systemctl", *_whose(user), "daemon-reload")
            self.do("systemctl", *_whose(user), "reset-failed")
        self._units.clear()

    def end(self) -> None:
        if self._spaces is not None:
            self._spaces.kill()  # and, with it, the namespaces and all that runs in them
            self._spaces.wait(_LIMIT)
        until = time.monotonic() + _LIMIT
        while self._group.exists():
            try:
                for place, _, _ in os.walk(self._group, topdown=False):
                    os.rmdir(place)
            except OSError:  # the kernel is still burying
                assert time.monotonic() < until, f"{self._group} cannot be removed"
                time.sleep(0.02)
        shutil.rmtree(self.folder, ignore_errors=True)


def _whose(user: bool) -> list[str]:
    return ["--user"] if user else []


def _groups() -> Path:
    """Where the second kind of control groups is: systemd needs no more of it than the names."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(place)
    raise Impossible("there are no control groups of the second kind here")
