"""A PostgreSQL server of the tests' own: its folder and socket are private, it listens on no port."""

from __future__ import annotations

import asyncio
import contextlib
import glob
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import asyncpg
import psutil

PASSWORD = "canary-of-the-database"
_LIMIT = 180
_DATABASES = itertools.count(1)


def find_programs() -> Path | None:
    """Where `postgres` is: on the PATH, or where Debian puts it."""
    places = [os.environ.get("PATH", os.defpath), *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]
    found = shutil.which("postgres", path=os.pathsep.join(places))
    return Path(found).parent if found else None


class Server:
    def __init__(self, programs: Path) -> None:
        self._programs = programs
        # PostgreSQL refuses to run as root. pytest's own folders are closed to the user it then runs as.
        self._as_user: dict[str, Any] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="argus-pg-"))
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.folder.chmod(0o711)
        self._data = self.folder / "data"
        self.running = False
        self._run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "-D", self._data)
        (self._data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
        self.start()
        asyncio.run(self._execute("postgres", f"CREATE ROLE argus LOGIN PASSWORD '{PASSWORD}'"))

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c shared_buffers=16MB"
        log = self.folder / "log"
        self._run("pg_ctl", "start", "-w", "-t", str(_LIMIT), "-D", self._data, "-l", log, "-o", options)
        self.running = True

    def stop(self, how: str = "fast") -> None:
        self._run("pg_ctl", "stop", "-w", "-t", str(_LIMIT), "-m", how, "-D", self._data)
        self.running = False

    def end(self) -> None:
        try:
            if self.running:
                self.stop()
        finally:
            shutil.rmtree(self.folder)

    @property
    def pid(self) -> int:
        return int((self._data / "postmaster.pid").read_text().splitlines()[0])

    def new_database(self) -> str:
        """A URL of an empty one, for a user that owns it and nothing else."""
        name = f"argus_{next(_DATABASES)}"
        asyncio.run(self._execute("postgres", f"CREATE DATABASE {name} OWNER argus"))
        return self.url(name)

    def url(self, database: str, *, password: str = PASSWORD, folder: Path | None = None) -> str:
        return f"postgresql://argus:{password}@/{database}?host={folder or self.folder}"

    def execute(self, url: str, sql: str) -> None:
        """In a database of `new_database`."""
        asyncio.run(self._execute(url.rpartition("?")[0].rpartition("/")[2], sql))

    def freeze(self) -> None:
        """The server and everybody who works for it: a stopped postmaster alone only takes no new connections."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        master = psutil.Process(self.pid)
        for process in (master, *master.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    async def _execute(self, database: str, sql: str) -> None:
        db = await asyncpg.connect(user="postgres", database=database, host=str(self.folder))
        try:
            await db.execute(sql)
        finally:
            await db.close()

    def _run(self, program: str, *arguments: object) -> None:
        # Into a file, not a pipe: the server keeps what it was started with, and the pipe would never end.
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                [str(self._programs / program), *map(str, arguments)],
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                timeout=_LIMIT * 2,
                check=False,
                **self._as_user,
            )
            said.seek(0)
            assert done.returncode == 0, f"{program}: {said.read().decode(errors='replace')[-2000:]}"
