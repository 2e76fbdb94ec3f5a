"""Which MCP servers there are for a caller: those of argus.yaml, and of `.mcp.json` files as Claude Code reads them.

The files lie in the caller's folder and above it: up to its repository's root, or without one to the home folder, or to
the root of the file system. argus.yaml goes before them all, the nearer file before the farther, and last comes the one
next to argus.yaml. A bad file is said and passed over; it never keeps the others from being used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from argus.bridge.definition import Definition
from argus.bridge.expanding import Missing, expanded
from argus.bridge.settings import NO_NAME, Bridge, McpServer, is_name
from argus.core.redact import is_named_like_one, looks_like_one, password_of, passwords_in
from argus.host.readers import Readers, contents

FILE = ".mcp.json"
_LARGEST = 1024 * 1024
_MOST = 200
"""Servers of one file."""
_ABOVE = 64
_READ = 5.0
"""Seconds in which the files have to be read: they may lie on a disk that hangs."""
_KINDS = {"stdio": "stdio", "http": "http", "streamable-http": "http"}


@dataclass(frozen=True, slots=True)
class Found:
    servers: dict[str, Definition]
    notices: tuple[str, ...] = ()
    """What is wrong with which file."""


class Definitions:
    def __init__(
        self, settings: Bridge, file: str | None, environ: Mapping[str, str], learn: Callable[[str], None]
    ) -> None:
        self._own = environ
        """Ours, which the servers for everybody are given."""
        self._learn = learn
        self._readers = Readers("mcp-files")
        self._read: dict[str, tuple[tuple[int, ...], Any]] = {}
        """What stood in a file, while it is the same."""
        self._learnt: set[str] = set()
        self.configure(settings, file)

    def configure(self, settings: Bridge, file: str | None) -> None:
        self._file = file
        folder = os.path.dirname(os.path.abspath(file)) if file else ""
        self._folder = folder
        self._for_all = {
            name: self._configured(name, one, folder, file or "argus.yaml") for name, one in settings.servers.items()
        }

    async def known(self, folder: str, environ: Mapping[str, str], within: str | None = None) -> dict[str, Definition]:
        return (await self.find(folder, environ, within)).servers

    async def find(self, folder: str, environ: Mapping[str, str], within: str | None = None) -> Found:
        """`within`: no file above this folder is read, for who may not leave its own project."""
        try:
            found = await self._readers.run(folder, lambda: self._look(folder, environ, within), timeout=_READ)
        except TimeoutError:
            notice = f"the {FILE} files of {folder} could not be read within {_READ:g} s"
            return Found(dict(self._for_all), (notice,))
        for one in found.servers.values():
            self._learn_secrets(one)
        return found

    def close(self) -> None:
        self._readers.close()

    def _look(self, folder: str, environ: Mapping[str, str], within: str | None) -> Found:
        servers: dict[str, Definition] = {}
        notices: list[str] = []
        # The farthest first: what comes later goes before it.
        if self._folder:
            self._take(os.path.join(self._folder, FILE), self._own, servers, notices, for_all=True)
        for place in reversed(list(_upwards(folder, environ, within))):
            path = os.path.join(place, FILE)
            if _is_foreign(path, folder):
                notices.append(f"{path}: it belongs to somebody else and is not read")
            else:
                self._take(path, environ, servers, notices)
        return Found({**servers, **self._for_all}, tuple(notices))

    def _take(
        self,
        path: str,
        environ: Mapping[str, str],
        servers: dict[str, Definition],
        notices: list[str],
        *,
        for_all: bool = False,
    ) -> None:
        try:
            said = self._contents(path)
        except FileNotFoundError:
            return
        except OSError as error:
            notices.append(f"{path}: {error.strerror or error}")
            return
        except (ValueError, RecursionError) as error:
            notices.append(f"{path}: {error}")
            return
        for name, one in list(said.items())[:_MOST]:
            servers[name] = _written(name[:100], one, path, environ, for_all=for_all)
        if len(said) > _MOST:
            notices.append(f"{path}: has {len(said)} servers; the first {_MOST} are taken")

    def _contents(self, path: str) -> dict[str, Any]:
        seen = os.stat(path)
        mark = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        known = self._read.get(path)
        if known is None or known[0] != mark:
            if len(self._read) >= 1000:
                self._read.clear()
            known = self._read[path] = mark, _servers(path)
        if isinstance(known[1], str):
            raise ValueError(known[1])
        return dict(known[1])

    def _configured(self, name: str, one: McpServer, folder: str, source: str) -> Definition:
        said = {
            "command": one.command,
            "args": list(one.args),
            "env": {key: value.get_secret_value() for key, value in one.env.items()},
            "cwd": one.cwd,
            "url": one.url,
            "headers": {key: value.get_secret_value() for key, value in one.headers.items()},
        }
        made = {key: value for key, value in said.items() if value is not None}
        definition = _written(name, made, source, self._own, for_all=True, folder=folder or os.getcwd())
        self._learn_secrets(definition)
        return definition

    def _learn_secrets(self, one: Definition) -> None:
        """Not all that it is given is one: an address or a folder must stay readable everywhere else."""
        for name, value in (*one.environ.items(), *one.headers.items()):
            parts = (value, value.rpartition(" ")[2])
            found = [part for part in parts if is_named_like_one(name) or looks_like_one(part)]
            for secret in {*found, *passwords_in(value), password_of(value)} - self._learnt:
                self._learnt.add(secret)
                self._learn(secret)


def _upwards(folder: str, environ: Mapping[str, str], within: str | None) -> Iterator[str]:
    home = os.path.realpath(environ.get("HOME") or "/")
    here = os.path.realpath(folder)
    for _ in range(_ABOVE):
        yield here
        above = os.path.dirname(here)
        is_last = here in (home, within) or above == here or os.path.lexists(os.path.join(here, ".git"))
        if is_last:
            return
        here = above


def _is_foreign(path: str, folder: str) -> bool:
    """Whether a file above the folder was put there by somebody else: what it says would be run."""
    try:
        owner = os.stat(path).st_uid
        return owner not in (0, os.getuid(), os.stat(folder).st_uid)
    except OSError:
        return False  # there is none


def _servers(path: str) -> dict[str, Any] | str:
    """What is wrong with it, in words, where something is."""
    text = contents(path, _LARGEST)
    if len(text) > _LARGEST:
        return f"it is larger than {_LARGEST // 1024} KiB"
    try:
        said = json.loads(text)
    except RecursionError:
        return "it is nested too deep"
    except ValueError as error:
        return f"it is no JSON: {error}"
    servers = said.get("mcpServers") if isinstance(said, dict) else None
    if not isinstance(servers, dict):
        return 'it has no "mcpServers": {NAME: {...}}'
    return servers


def _written(
    name: str, said: Any, source: str, environ: Mapping[str, str], *, for_all: bool = False, folder: str = ""
) -> Definition:
    """As one server of a `.mcp.json` says it."""
    try:
        return _understood(name, said, source, environ, for_all, folder or os.path.dirname(source))
    except ValueError as error:
        url = str(said["url"]) if isinstance(said, dict) and "url" in said else ""
        return Definition(name, source, url=url, problem=str(error), for_all=for_all)


def _understood(
    name: str, said: Any, source: str, environ: Mapping[str, str], for_all: bool, folder: str
) -> Definition:
    if not is_name(name):
        raise ValueError(NO_NAME)
    if not isinstance(said, dict):
        raise ValueError("it is no object with `command` or `url`")
    kind = said.get("type") or ("http" if "url" in said else "stdio")
    if kind not in _KINDS:
        raise ValueError(f"the type {str(kind)[:40]!r} is not supported: use stdio or http (streamable HTTP)")

    def text(key: str) -> str:
        value = said.get(key)
        if not isinstance(value, str) or not value or "\0" in value:
            raise ValueError(f"`{key}` is missing, or no text")
        return expand(value, key)

    def expand(value: str, where: str) -> str:
        try:
            return expanded(value, environ)
        except Missing as missing:
            raise ValueError(f"`{where}` needs the variable {missing}, which is not set") from None

    def texts(key: str) -> dict[str, str]:
        value = said.get(key) or {}
        if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
            raise ValueError(f"`{key}` is no object of texts")
        return {one: expand(text, f"{key}.{one}") for one, text in value.items()}

    if _KINDS[kind] == "http":
        url = text("url")
        if not url.startswith(("http://", "https://")):
            raise ValueError("`url` does not begin with http:// or https://")
        return Definition(name, source, url=url, headers=texts("headers"), for_all=for_all)
    args = said.get("args") or []
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        raise ValueError("`args` is no list of texts")
    where = os.path.join(folder, os.path.expanduser(text("cwd"))) if said.get("cwd") else folder
    command = (text("command"), *(expand(one, "args") for one in args))
    return Definition(name, source, command, texts("env"), where, for_all=for_all)
