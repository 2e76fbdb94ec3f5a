"""argus.yaml: where it is, what it may say, and everything that is wrong with it, at once."""

from __future__ import annotations

import contextlib
import difflib
import functools
import stat
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from argus import yaml_lines
from argus.agents.settings import Agents
from argus.bridge.settings import Bridge
from argus.core.autonomy import Level
from argus.core.depending import Kind, thing
from argus.core.errors import NO_FILE, NOT_TO_BE_READ, ArgusError, Code
from argus.environments import declared
from argus.environments.settings import EnvironmentEntry
from argus.host import oneself, processes
from argus.host.dns import is_this_machine
from argus.host.oneself import Oneself
from argus.host.processes import NoProcess
from argus.notify.settings import Notify
from argus.schema import Port, PositiveDuration, Section, lasting
from argus.services import absent
from argus.services.checks import BaseService as Service
from argus.services.checks import ProcessService
from argus.services.restarters import DockerRestarter, LaunchdRestarter, SystemdRestarter
from argus.services.settings import Health
from argus.sessions.settings import Sessions
from argus.yaml_lines import Document, Problem

_LARGEST = 16 * 1024 * 1024
"""Bytes of a configuration: a hundred thousand services, and no more memory than they need."""
_FIRST_FORMAT = {
    "interval": "intervalMs",
    "timeout": "timeoutMs",
    "failuresBeforeAction": "consecutiveFailsBeforeAlert",
}
"""What the file may have said where the model says something else."""
_SERVICES = ("health", "services")


class Server(Section):
    host: str = Field(
        default="127.0.0.1", min_length=1, description="Where Argus listens; loopback unless told otherwise."
    )
    port: Port = Field(default=7117, description="The port of the API and the page; 0 takes any free one.")
    auth: Literal["token"] = Field(default="token", description="How callers prove who they are.")


class StoreSection(Section):
    url: SecretStr | None = Field(
        default=None,
        description="sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE; "
        "a SQLite file in the state folder when left out. ARGUS_STORE in the environment goes before it.",
    )
    retention: PositiveDuration = lasting(
        "90d",
        "How long events, ended incidents and finished acts are kept. The newest 10,000 events and 1,000 of the others "
        "stay whatever their age, and what is open stays until it is over; beyond 1,000,000 events the oldest go "
        "sooner.",
    )


class Config(Section):
    """Everything has a default: an empty file, or none, is a working Argus."""

    server: Server = Field(default_factory=Server, description="The API and the page.")
    store: StoreSection = Field(default_factory=StoreSection, description="The record.")
    autonomy: Level = Field(default=Level.OBSERVE, description="How much Argus may do by itself.")
    health: Health = Field(default_factory=Health, description="The services that are watched.")
    notify: Notify = Field(default_factory=Notify, description="Who is told.")
    agents: Agents = Field(default_factory=Agents, description="The agents that Argus starts and keeps going.")
    sessions: Sessions = Field(default_factory=Sessions, description="The sessions that supervise work.")
    bridge: Bridge = Field(default_factory=Bridge, description="Other MCP servers, asked through Argus.")
    environments: list[EnvironmentEntry] = Field(
        default_factory=list, description="Files of environments, with what they need that is not in them."
    )

    def notices(self, file: Path | None) -> list[str]:
        """What is not wrong, and will surprise somebody; `file` is where it was read."""
        needed = {f"agents.configs.{name}.dependsOn": one.needs for name, one in self.agents.configs.items()}
        needed |= {f"sessions.projects.{name}.dependsOn": one.needs for name, one in self.sessions.projects.items()}
        folder = str((file or Path()).absolute().parent)
        restarts = absent.notices(self.health.services if self.health.enabled else (), folder)
        return [*restarts, *declared.notices(self.environments, needed, folder, _bytes)]


def load(path: Path | None, *, port: int | None = None) -> Config:
    """`port` is where Argus will really listen, when that was said elsewhere than in the file."""
    if path is None:
        return Config()
    try:
        text = _bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise yaml_lines.error([Problem((), None, f"not UTF-8: {error.reason}")], str(path)) from None
    except OSError as error:
        refused = ArgusError(Code.CONFIG_NOT_FOUND, f"{path} cannot be read: {error.strerror}", file=str(path))
        refused.actions = None if isinstance(error, FileNotFoundError) else NOT_TO_BE_READ
        raise refused from None
    return read(text, str(path), port=port)


def refused(path: Path | None, found: Mapping[yaml_lines.Path, str]) -> ArgusError:
    """What is wrong with a file that reads well. It is read again for its lines, which only a mistake costs."""
    lines = Document(None)
    with contextlib.suppress(OSError, UnicodeDecodeError, yaml_lines.Broken, ArgusError):
        lines = yaml_lines.parse(_bytes(path).decode("utf-8")) if path else lines
    problems = [Problem(place, lines.line(place), message) for place, message in found.items()]
    return yaml_lines.error(problems, str(path or "argus.yaml"))


def _bytes(path: Path) -> bytes:
    """A named pipe would be waited for, and a device read, for ever."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        odd = ArgusError(Code.CONFIG_NOT_FOUND, f"{path} is there and is no file", file=str(path))
        odd.actions = NO_FILE
        raise odd
    if found.st_size > _LARGEST:
        message = f"the file has {found.st_size} bytes; at most {_LARGEST} are read"
        raise yaml_lines.error([Problem((), None, message)], str(path))
    with path.open("rb") as file:
        return file.read(_LARGEST)


def read(text: str, file: str, *, port: int | None = None) -> Config:
    try:
        document = yaml_lines.parse(text)
    except yaml_lines.Broken as broken:
        raise yaml_lines.error(broken.problems, file) from None
    if document.value is None and not document.problems:
        return Config()
    if not isinstance(document.value, dict):
        raise yaml_lines.error([Problem((), document.line(()), "the file is a mapping of sections")], file)
    document.value = _without_empty(document.value)
    problems = list(document.problems)
    try:
        config = Config.model_validate(document.value)
        problems += _itself(config, document, config.server.port if port is None else port)
    except ValidationError as invalid:
        config = Config()
        problems += _problems(invalid, document)
    problems += _naming(document, {problem.path for problem in problems})
    if problems:
        raise yaml_lines.error(sorted(problems, key=lambda problem: problem.line or 0), file)
    return config


def _without_empty(value: Any) -> Any:
    """An empty section is all its defaults, as an empty file is: `services:` with every entry commented out."""
    if isinstance(value, dict):
        return {key: _without_empty(one) for key, one in value.items() if one is not None}
    return [_without_empty(one) for one in value] if isinstance(value, list) else value


def json_schema() -> dict[str, Any]:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema(by_alias=True)}
    for one in (schema, *schema.get("$defs", {}).values()):
        for key, field in one.get("properties", {}).items():
            if key not in one.get("required", ()):
                one["properties"][key] = _or_empty(field)
    return schema


def _or_empty(field: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {key: field.pop(key) for key in ("title", "description", "default") if key in field}
    choices = field.get("anyOf", [field])
    return {**said, "anyOf": choices if {"type": "null"} in choices else [*choices, {"type": "null"}]}


def _problems(invalid: ValidationError, document: Document) -> list[Problem]:
    found: dict[tuple[str | int, ...], Problem] = {}
    for one in invalid.errors(include_url=False):
        path = _place(one["loc"], document.value, missing=one["type"] == "missing")
        found.setdefault(path, Problem(path, document.line(path), _message(one, path)))
    return list(found.values())


def _place(location: tuple[int | str, ...], value: Any, *, missing: bool) -> tuple[str | int, ...]:
    """pydantic's location without the names of union members, which the file does not have."""
    path: list[str | int] = []
    for place, part in enumerate(location):
        # What follows a service's number is its type. Some types are named like a key: `command` is both.
        if place == len(_SERVICES) + 1 and location[: len(_SERVICES)] == _SERVICES:
            continue
        if isinstance(value, dict):
            other = _FIRST_FORMAT.get(str(part), str(part))
            part = other if other in value and part not in value else part
            if part not in value and not (missing and place == len(location) - 1):
                continue
            value = value.get(str(part))
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part] if part < len(value) else None
        else:
            continue
        path.append(part)
    return tuple(path)


def _message(one: ErrorDetails, path: tuple[str | int, ...]) -> str:
    match one["type"]:
        case "extra_forbidden":
            known, key = sorted(_known_keys()), str(path[-1]) if path else ""
            if key in known:  # elsewhere in the file it would be good
                return "unknown key here; argus schema argus says where it may stand"
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.7)
            return "unknown key" + (f'; did you mean "{close[0]}"?' if close else "; argus schema argus lists them")
        case "union_tag_not_found":
            return "type is required: http, tcp, process, docker or command"
        case "union_tag_invalid":
            return f'type "{one["ctx"]["tag"]}" is not known; known are {one["ctx"]["expected_tags"]}'
    return yaml_lines.in_words(one["type"], str(one["msg"]), one.get("ctx", {}))


def _itself(config: Config, document: Document, own_port: int) -> list[Problem]:
    """Argus is nothing that Argus may look at or act on."""
    problems: list[Problem] = []
    itself = oneself.find()
    for place, service in enumerate(config.health.services):
        if (service.port_number == own_port and is_this_machine(service.host_name)) or _names(service, itself):
            path = (*_SERVICES, place, "name")
            message = f'"{service.name}" is Argus itself, which never watches or restarts itself'
            problems.append(Problem(path, document.line(path), message))
    return problems


def _naming(document: Document, wrong: Set[yaml_lines.Path]) -> list[Problem]:
    """What no single value can show: names that stand twice, dependencies that lead nowhere or in a circle. Read from
    the file as it is written, so that they are named beside whatever else is `wrong` with it."""
    problems: list[Problem] = []
    places: dict[str, int] = {}
    depends_on: dict[str, tuple[str, ...]] = {}

    def problem(path: yaml_lines.Path, message: str) -> None:
        problems.append(Problem(path, document.line(path), message))

    services = [(place, one) for place, one in _entries(document.value, *_SERVICES) if isinstance(one.get("name"), str)]
    for place, service in services:
        name = service["name"]
        if name in places:
            first = document.line((*_SERVICES, places[name], "name"))
            problem((*_SERVICES, place, "name"), f'"{name}" stands twice, first in line {first}')
        places.setdefault(name, place)
        depends_on[name] = _written(service, (*_SERVICES, place), wrong)
    for place, service in services:
        for other in _written(service, (*_SERVICES, place), wrong):
            if other not in places:
                message = f'"{service["name"]}" depends on "{other}", which does not exist{_meant(other, places)}'
                problem((*_SERVICES, place, "dependsOn"), message)
    for path, dependant in _dependants(document.value):
        for other in _named_services(_written(dependant, path, wrong)):
            if other not in places:
                hint = _meant(other, places) or ("; an environment is written environment:NAME" if ":" in other else "")
                message = f'it depends on "{other}", which is no service of health.services{hint}'
                problem((*path, "dependsOn"), message)
    for circle in _circles(depends_on):
        line = document.line((*_SERVICES, places[circle[1]], "dependsOn"))
        text = f"the dependencies form a circle: {' -> '.join(circle)} (see also line {line})"
        problem((*_SERVICES, places[circle[0]], "dependsOn"), text)
    return problems


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f'; did you mean "{close[0]}"?' if close else ""


def _dependants(value: Any) -> Iterator[tuple[yaml_lines.Path, dict[str, Any]]]:
    """Of the other parts, with their places."""
    for section in (("agents", "configs"), ("sessions", "projects"), ("environments",)):
        for key, one in _entries(value, *section):
            yield (*section, key), one


def _named_services(written: Iterable[str]) -> Iterator[str]:
    for one in written:
        with contextlib.suppress(ValueError):  # not reached: it stands in something that is wrong as a whole
            named = thing(one)
            if named.kind is Kind.SERVICE:
                yield named.name


def _entries(value: Any, *path: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The mappings of a list or of a mapping, with what they stand under there."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    several = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return ((key, one) for key, one in several if isinstance(one, dict))


def _written(one: dict[str, Any], path: yaml_lines.Path, wrong: Set[yaml_lines.Path]) -> tuple[str, ...]:
    """What it depends on, as far as it can be read: of what is wrong by itself it was said."""
    path, several = (*path, "dependsOn"), one.get("dependsOn")
    if path in wrong or not isinstance(several, list):
        return ()
    return tuple(name for place, name in enumerate(several) if isinstance(name, str) and (*path, place) not in wrong)


def _names(service: Service, itself: Oneself) -> bool:
    """Whether it names the process, unit, label or container that Argus runs as, to look at or to act on."""
    if any(itself.is_container(name) for name in _containers(service)):
        return True
    acts_on = service.restart
    labels = {service.launchd_label, acts_on.launchd if isinstance(acts_on, LaunchdRestarter) else None}
    if itself.label and itself.label in labels:
        return True
    units = {service.systemd_unit, acts_on.systemd if isinstance(acts_on, SystemdRestarter) else None}
    if any(unit in itself.units or f"{unit}.service" in itself.units for unit in units if unit):
        return True
    if isinstance(service, ProcessService) and service.pid_file:
        try:
            return processes.of_file(service.pid_file) == itself.pid
        except NoProcess:
            return False
    return isinstance(service, ProcessService) and service.process_name in itself.names


def _containers(service: Service) -> tuple[str, ...]:
    """By name, to look at or to act on. What a label means, only the engine knows."""
    acted_on = service.restart.docker if isinstance(service.restart, DockerRestarter) else ()
    return (*(service.containers or ()), *(acted_on if isinstance(acted_on, tuple) else ()))


def _circles(names: Mapping[str, tuple[str, ...]]) -> Iterator[list[str]]:
    """At least one through every two that are in one together."""
    done: set[str] = set()
    for start in names:
        trail: list[str] = []
        stack: list[tuple[str, int]] = [(start, 0)]
        while stack:
            name, following = stack.pop()
            if following == 0:
                if name in trail:
                    yield [*trail[trail.index(name) :], name]
                    continue
                if name in done:
                    continue
                trail.append(name)
            others = [other for other in names.get(name, ()) if other in names]
            if following < len(others):
                stack += [(name, following + 1), (others[following], 0)]
            else:
                trail.remove(name)
                done.add(name)


def _keys(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        own = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
        return own.union(*(_keys(value) for value in schema.values()))
    return set().union(*(_keys(value) for value in schema)) if isinstance(schema, list) else set()


@functools.cache
def _known_keys() -> frozenset[str]:
    """Worked out for the first mistake: it takes a tenth of the time in which Argus starts."""
    return frozenset(_keys(Config.model_json_schema(by_alias=True)))
