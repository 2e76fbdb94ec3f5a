"""An empty Debian with systemd, made once by debootstrap from this machine's mirror, and kept as a file in .venv."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

SBIN = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PACKAGES = "systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,python3"
"""python3 for the libraries that any Python needs, and for an Argus that runs on Debian's own."""
_LIMIT = 300.0
_ANSWER = 15.0

# In memory: nothing is synced to a disk, and what an interrupted one leaves goes with the namespace.
_BUILD = r"""
set -e
folder=$1 file=$2
shift 2
mount -t tmpfs -o mode=755 none "$folder"
debootstrap --variant=minbase "$@"
cd "$folder"
rm -rf var/cache/apt/* var/lib/apt/lists/* usr/share/doc/* usr/share/man/* usr/share/locale/*
tar -cf "$file" .
"""


class Impossible(Exception):
    """Why there can be none here."""


def missing() -> str:
    """What is not here; empty when everything is. Only the making of it can tell whether the mirror answers."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "a systemd of the tests' own needs root on Linux"
    path = environ()["PATH"]
    for program, package in (("debootstrap", "debootstrap"), ("unshare", "util-linux"), ("pivot_root", "mount")):
        if shutil.which(program, path=path) is None:
            return f"{program} is missing (Debian: apt-get install {package})"
    if not any(line.split()[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines()):
        return "a systemd of the tests' own cannot take the place of a root that is no mount (this is a chroot)"
    return "" if _release() else "the tests do not know which Debian this machine is"


def environ() -> dict[str, str]:
    return {**os.environ, "PATH": f"{os.environ.get('PATH', os.defpath)}:{SBIN}"}


def kept() -> Path:
    """The file: the kept one, or one that is made now, within five minutes."""
    recipe = hashlib.sha256(f"{PACKAGES}{_BUILD}".encode()).hexdigest()[:8]
    file = Path(sys.prefix) / f"debian-{_release()}-{platform.machine()}-{recipe}.tar"
    # Another worker may be making it.
    with (Path(sys.prefix) / "debian.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            for old in file.parent.glob("debian-*.tar"):
                old.unlink()
            _make(file)
    return file


def _make(file: Path) -> None:
    mirror, release = _mirror(), _release()
    try:
        # debootstrap itself would wait for minutes.
        urllib.request.urlopen(f"{mirror}/dists/{release}/InRelease", timeout=_ANSWER).close()
    except OSError as error:
        raise Impossible(f"the mirror does not answer: {error}") from error
    new = file.with_suffix(".new")
    with tempfile.TemporaryDirectory(prefix="argus-debian-") as folder, tempfile.TemporaryFile() as said:
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", _BUILD, "sh"]
        try:
            subprocess.run(
                [*words, folder, str(new), f"--include={PACKAGES}", release, folder, mirror],
                env=environ(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                timeout=_LIMIT,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            new.unlink(missing_ok=True)
            said.seek(0)
            last = said.read().decode(errors="replace").strip().splitlines()[-3:]
            raise Impossible(f"debootstrap made no Debian: {error}; {' '.join(last)}") from error
        new.replace(file)


def _release() -> str:
    """The machine's own: its Python has to run there."""
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    except OSError:
        return ""


def _mirror() -> str:
    """Where this machine has its packages from."""
    words = ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages"]
    try:
        said = subprocess.run(words, capture_output=True, text=True, timeout=_ANSWER, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Impossible(f"apt-get does not say where packages are: {error}") from error
    for line in said.splitlines():
        release, _, place = line.partition(" ")
        if release == _release():
            return place.rstrip("/")
    raise Impossible(f"no mirror of {_release()} is in apt's list")
