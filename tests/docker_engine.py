"""A Docker engine of the tests' own, in namespaces of its own: it touches no network, mount or process outside, and
what is left of it ends with them. Spoken to in plain HTTP, so that what is tested does not test itself."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import http.client
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil

IMAGE = "argus-test:1"
_LIMIT = 60.0
_APPLETS = ("sh", "sleep", "dd", "chroot", "cat", "env", "test", "true", "false", "httpd", "mkdir", "touch", "rm")
_NET_NAMESPACE = 0x40000000
_INIT = "import os,signal\nsignal.signal(17, lambda *_: None)\nprint(flush=True)\nwhile True:\n try: os.waitpid(-1, 0)\n except ChildProcessError: signal.pause()"  # noqa: E501
"""The first process of the namespace: buries what others leave, and everything ends with it."""


def missing() -> str:
    """Why there can be no engine here; empty when there can."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])
    wanted = {"dockerd": "docker.io", "busybox": "busybox-static", "nsenter": "util-linux", "ip": "iproute2"}
    for program, package in wanted.items():
        if shutil.which(program, path=path) is None:
            return f"{program} is missing (Debian: apt-get install {package})"
    busybox = Path(shutil.which("busybox", path=path) or "")
    if b"/ld-" in busybox.read_bytes()[:4096]:
        return "busybox is not static (Debian: apt-get install busybox-static)"
    return "" if os.geteuid() == 0 else "a Docker engine of the tests' own needs root"


class Refused(Exception):
    pass


class Engine:
    def __init__(self, *, room: str = "", space: str = "", keeps: bool = True) -> None:
        """`space`: how much it has on its disk, as `64m`. `room`: the same, seen also by whoever is `entering`.
        `keeps`: its containers live on without it; else they die with it, as they do by default."""
        self._keeps = keeps
        self._room = room
        self._space = space
        self.folder = Path(tempfile.mkdtemp(prefix="argus-dk-"))
        self.socket = str(self.folder / "sock")
        self.url = f"unix://{self.socket}"
        self._group = f"argus-test-{uuid.uuid4().hex[:8]}"
        self._environ = {**os.environ, "PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin"}
        self._mounts: subprocess.Popen[bytes] | None = None
        self._spaces: subprocess.Popen[bytes] | None = None
        self._enter: subprocess.Popen[bytes] | None = None
        try:
            self._make_spaces()
            self.start()
            self._import()
        except BaseException:
            self.end()
            raise

    # --- its life

    def _make_spaces(self) -> None:
        if self._room:
            self._make_room()
        words = [*self._in_room(), "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        self._spaces = subprocess.Popen(
            [*words, sys.executable, "-I", "-S", "-c", _INIT], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        assert self._spaces.stdout is not None
        assert self._spaces.stdout.readline(), "no namespaces can be made here"
        # An engine of the machine's own has its containerd there, which would be used.
        self.inside("sh", "-c", "ip link set lo up; ! test -d /run/containerd || mount -t tmpfs none /run/containerd")
        if self._space:
            (self.folder / "data").mkdir()
            self.inside("mount", "-t", "tmpfs", "-o", f"size={self._space}", "none", str(self.folder / "data"))

    def _make_room(self) -> None:
        """A mount that others do not see, and that ends with the one who holds it."""
        data = self.folder / "data"
        data.mkdir()
        mount = f"mount -t tmpfs -o size={self._room} none {data} && echo && exec sleep infinity"
        self._mounts = subprocess.Popen(
            ["unshare", "--mount", "--kill-child", "--fork", "sh", "-c", mount],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        assert self._mounts.stdout is not None
        assert self._mounts.stdout.readline(), "nothing can be mounted here"

    def _in_room(self) -> list[str]:
        if self._mounts is None:
            return []
        (holder,) = psutil.Process(self._mounts.pid).children()
        return ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "--"]

    @contextlib.contextmanager
    def held(self, port: int, protocol: str = "tcp") -> Iterator[int]:
        """A program beside it, in its network, has the port meanwhile; its pid."""
        kind, listen = ("SOCK_STREAM", "s.listen()") if protocol == "tcp" else ("SOCK_DGRAM", "pass")
        words = (
            f"import socket,signal;s=socket.socket(socket.AF_INET,socket.{kind});"
            f"s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1);s.bind(('',{port}));{listen};"
            "print(flush=True);signal.pause()"
        )
        target = self._nsenter()[1]
        with subprocess.Popen(
            ["nsenter", target, "--net", "--", sys.executable, "-I", "-S", "-c", words], stdout=subprocess.PIPE
        ) as program:
            assert program.stdout is not None
            try:
                assert program.stdout.readline(), "the port cannot be had"
                yield program.pid
            finally:
                program.kill()

    def inside(self, *words: str) -> None:
        """A command in its namespaces."""
        subprocess.run([*self._nsenter(), *words], env=self._environ, check=True, timeout=_LIMIT)

    def _nsenter(self) -> list[str]:
        assert self._spaces is not None
        (first,) = psutil.Process(self._spaces.pid).children()
        return ["nsenter", f"--target={first.pid}", "--net", "--mount", "--pid", "--"]

    def start(self) -> None:
        words = [
            "dockerd",
            f"--host={self.url}",
            f"--data-root={self.folder / 'data'}",
            f"--exec-root={self.folder / 'exec'}",
            f"--pidfile={self.folder / 'pid'}",
            f"--cgroup-parent=/{self._group}",
            "--storage-driver=vfs",
            "--bridge=none",
            "--iptables=false",
            "--ip6tables=false",
            "--ip-forward=false",
            "--ip-masq=false",
            *(["--live-restore"] if self._keeps else []),
        ]
        Path(self.socket).unlink(missing_ok=True)
        (self.folder / "pid").unlink(missing_ok=True)  # of one that was killed
        with (self.folder / "log").open("ab") as log:
            self._enter = subprocess.Popen(
                [*self._nsenter(), *words], env=self._environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        until = time.monotonic() + _LIMIT
        while not self._answers():
            if self._enter.poll() is not None or time.monotonic() > until:
                raise Refused(f"the engine does not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return bool(self.ask("GET", "/_ping") == "OK")
        return False

    @property
    def process(self) -> psutil.Process:
        assert self._enter is not None
        (dockerd,) = psutil.Process(self._enter.pid).children()
        return dockerd

    @property
    def runs(self) -> bool:
        assert self._enter is not None
        return self._enter.poll() is None

    def freeze(self) -> None:
        assert self._enter is not None
        self.process.send_signal(signal.SIGSTOP)
        # Whoever waits for it stops with it. Waited for, because a SIGCONT before that would be lost on him.
        while psutil.Process(self._enter.pid).status() != psutil.STATUS_STOPPED:
            time.sleep(0.01)

    def thaw(self) -> None:
        assert self._enter is not None
        self.process.send_signal(signal.SIGCONT)
        self._enter.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        assert self._enter is not None
        self.process.kill()
        self._enter.wait(_LIMIT)

    def clean(self) -> None:
        """As it was at first, whatever a test did."""
        assert self._enter is not None
        if self._enter.poll() is not None:
            self.start()
        self.thaw()
        until = time.monotonic() + _LIMIT
        while left := self.ask("GET", "/containers/json?all=1"):
            for one in left:
                try:
                    self.ask("DELETE", f"/containers/{one['Id']}?force=1&v=1")
                except Refused:  # a build that was ended removes its own at the same time
                    if time.monotonic() > until:
                        raise
        for one in self.ask("GET", "/networks"):
            if one["Name"] not in ("bridge", "host", "none"):
                self._remove(f"/networks/{one['Id']}")
        for one in self.ask("GET", "/volumes")["Volumes"] or ():
            self._remove(f"/volumes/{one['Name']}?force=1")

    def _remove(self, what: str) -> None:
        try:
            self.ask("DELETE", what)
        except Refused as refused:
            if ": 404 " not in str(refused):  # what was asked of it while it was frozen may be done meanwhile
                raise

    def end(self) -> None:
        try:
            if self._enter is not None and self._enter.poll() is None:
                self.clean()
                self.process.terminate()
                self._enter.wait(_LIMIT)
        finally:
            if self._spaces is not None:
                self._spaces.kill()  # and, with it, the namespaces and all that runs in them
                self._spaces.wait(_LIMIT)
                assert self._spaces.stdout is not None
                self._spaces.stdout.close()
            if self._mounts is not None:
                self._mounts.kill()
                self._mounts.wait(_LIMIT)
                assert self._mounts.stdout is not None
                self._mounts.stdout.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            for group in glob.glob(f"/sys/fs/cgroup/{self._group}") + glob.glob(f"/sys/fs/cgroup/*/{self._group}"):
                with contextlib.suppress(OSError):
                    os.rmdir(group)

    @property
    def entering(self) -> list[str]:
        """Words before a command that runs where this engine publishes its ports."""
        if self._mounts is None:
            return ["nsenter", f"--net={self._net}", "--"]
        # Whoever enters other mounts stands at their root, and has to go back to where it stood.
        script = f'exec nsenter {self._in_room()[1]} --net={self._net} -- env -C "$PWD" "$@"'
        return ["sh", "-c", script, "sh"]

    @property
    def _net(self) -> str:
        assert self._spaces is not None
        (first,) = psutil.Process(self._spaces.pid).children()
        return f"/proc/{first.pid}/ns/net"

    def connect(self, host: str, port: int) -> socket.socket:
        """A connection to what listens where this engine publishes its ports."""
        made: list[socket.socket | OSError] = []

        def work() -> None:
            # A thread can stand in another network than its process, and what it opens stays there.
            with open(self._net) as net:
                assert ctypes.CDLL(None, use_errno=True).setns(net.fileno(), _NET_NAMESPACE) == 0
            try:
                made.append(socket.create_connection((host, port), timeout=_LIMIT))
            except OSError as error:
                made.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        (found,) = made
        if isinstance(found, OSError):
            raise found
        return found

    # --- what it is asked

    def ask(self, method: str, target: str, body: Any = None) -> Any:
        kind, said = self._said(method, target, json.dumps(body).encode() if body else None)
        return json.loads(said) if kind == "application/json" and said else said

    def _said(self, method: str, target: str, body: bytes | None = None) -> tuple[str, str]:
        connection = http.client.HTTPConnection("docker", timeout=_LIMIT)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(_LIMIT)
        try:
            connection.sock.connect(self.socket)
            connection.request(method, target, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            said = response.read().decode(errors="replace")  # logs have their lengths between the lines
            if response.status >= 400:
                raise Refused(f"{method} {target}: {response.status} {said}")
            return response.getheader("Content-Type", ""), said
        finally:
            connection.close()

    def _import(self, name: str = IMAGE, *command: str, volume: str = "", health: str = "") -> None:
        """An image from this machine's own busybox: no registry is needed."""
        busybox = shutil.which("busybox", path=self._environ["PATH"])
        assert busybox is not None
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            tar.add(os.path.realpath(busybox), "bin/busybox")
            for applet in _APPLETS:
                link = tarfile.TarInfo(f"bin/{applet}")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(link)
        repository, _, tag = name.partition(":")
        changes = ["ENV PATH=/bin", *([f"CMD {json.dumps(command)}"] if command else [])]
        changes += [f"VOLUME {volume}"] if volume else []
        changes += [f"HEALTHCHECK --interval=1s --retries=1 CMD {health}"] if health else []
        query = urlencode({"fromSrc": "-", "repo": repository, "tag": tag, "changes": changes}, doseq=True)
        self._said("POST", f"/images/create?{query}", packed.getvalue())

    def image(self, name: str, *command: str, volume: str = "", health: str = "") -> str:
        """The same with a command of its own, a place for which it asks for a volume, and a health check."""
        self._import(name, *command, volume=volume, health=health)
        return name

    def create(self, name: str, *command: str, host: dict[str, Any] | None = None, **more: Any) -> str:
        """A container, by default one that runs until it is ended; returns its id."""
        # A shell that ends at once when it is asked to; sleep, as the first process, would not hear it.
        words = list(command) or ["sh", "-c", "trap exit TERM; while :; do sleep 600 & wait; done"]
        body = {"Image": IMAGE, "Cmd": words, "HostConfig": {"NetworkMode": "none", **(host or {})}, **more}
        made: str = self.ask("POST", f"/containers/create?{urlencode({'name': name})}", body)["Id"]
        return made

    def run(self, name: str, *command: str, host: dict[str, Any] | None = None, **more: Any) -> str:
        made = self.create(name, *command, host=host, **more)
        self.ask("POST", f"/containers/{made}/start")
        return made

    def exhaust(self, name: str, limit: int) -> None:
        """A container that has run out of memory. Not in the moment of its start: that goes unnoticed by the engine."""
        words = "trap 'dd if=/dev/zero of=/dev/null bs=200M; exit $?' USR1; while :; do sleep 600 & wait; done"
        self.run(name, "sh", "-c", words, host={"Memory": limit, "MemorySwap": limit})
        while self.state(name)["Running"]:
            with contextlib.suppress(Refused):  # it may have ended by now
                self.ask("POST", f"/containers/{name}/kill?signal=USR1")
            time.sleep(0.05)

    def execute(self, name: str, *command: str) -> None:
        """Begun, and not waited for."""
        made = self.ask("POST", f"/containers/{name}/exec", {"Cmd": list(command)})["Id"]
        self.ask("POST", f"/exec/{made}/start", {"Detach": True})

    def stop(self, name: str) -> None:
        """As a person does with `docker stop`."""
        self.ask("POST", f"/containers/{name}/stop")

    def kill_container(self, name: str) -> None:
        self.ask("POST", f"/containers/{name}/kill")
        self.ask("POST", f"/containers/{name}/wait")

    def state(self, name: str) -> dict[str, Any]:
        said: dict[str, Any] = self.ask("GET", f"/containers/{name}/json")["State"]
        return said

    def starts(self, name: str) -> int:
        """How often it was started in the life of this engine."""
        return self.happened(name, "start")

    def happened(self, name: str, event: str) -> int:
        """How often, in the life of this engine."""
        # By its id: there may have been others of the name.
        id = self.ask("GET", f"/containers/{name}/json")["Id"]
        filters = json.dumps({"container": [id], "event": [event]})
        query = urlencode({"since": 1, "until": f"{time.time():.9f}", "filters": filters})
        return len(self._said("GET", f"/events?{query}")[1].splitlines())
