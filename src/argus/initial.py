"""The first argus.yaml, written from what was found: commented, and with nothing that Argus would restart unasked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set

from argus.core.names import made_of
from argus.host.survey import Port, Survey

_HEAD = """\
# Written by `argus init` from what was found on this machine. All keys: docs/configuration.md, or `argus schema`.
# Nothing here is restarted by Argus: say how (`restart`), and raise `autonomy`, where you want that.
autonomy: observe        # observe: look and tell; cautious; moderate: also repair within limits; full
health:
  services:"""


def render(found: Survey, *, own_ports: Set[int], restartable: bool) -> str:
    """`restartable`: what systemd, launchd or docker can restart, Argus may."""
    services = [
        *(_port(one, restartable) for one in found.ports if one.listener.port not in own_ports),
        *(_container(name, restartable) for name in found.containers),
    ]
    lines = [_HEAD + ("" if services else " []"), *services, *_others(found, restartable), *_agents(found)]
    return "\n".join(lines) + "\n"


def _port(one: Port, restartable: bool) -> str:
    listener = one.listener
    name = _text(made_of(listener.program[:60], str(listener.port), otherwise="port"))
    place = (
        f"type: http, url: {_text(f'http://{listener.netloc}/')}"
        if one.speaks_http
        else f"type: tcp, host: {_text(listener.address)}, port: {listener.port}"
    )
    if one.unit and restartable:
        place += f", systemdUnit: {_text(one.unit)}" + (", systemdUser: true" if one.of_user else "")
    entry = f"    - {{name: {name}, {place}}}"
    return f"{entry}   # unit {one.unit}" if one.unit and not restartable else entry


def _container(name: str, restartable: bool) -> str:
    rest = "" if restartable else ", restart: none"
    return f"    - {{name: {_text(made_of('container', name))}, type: docker, containers: [{_text(name)}]{rest}}}"


def _others(found: Survey, restartable: bool) -> Iterator[str]:
    """Units and jobs that listen nowhere: offered, because nobody wants all of them."""
    listening = {one.unit for one in found.ports if not one.of_user}
    rest = "" if restartable else ", restart: none"
    units = [name for name in found.units if name not in listening]
    if units or found.labels:
        yield "    # Also running; take away the # to watch one:"
    for unit in units:
        name = _text(made_of(unit.removesuffix(".service")))
        yield f"    # - {{name: {name}, type: process, systemdUnit: {_text(unit)}{rest}}}"
    for label in found.labels:
        yield f"    # - {{name: {_text(made_of(label))}, type: process, launchdLabel: {_text(label)}{rest}}}"


def _agents(found: Survey) -> Iterator[str]:
    names = found.agents or ("claude",)
    yield '# Agents that Argus may start and keep going: argus agents spawn NAME --task "..."'
    yield "# agents:"
    yield "#   configs:"
    for name in names:
        yield f'#     {name.capitalize()}: {{command: [{name}, "{{{{task}}}}"], cwd: ~/work/project, tmux: true}}'
    if found.panes:
        yield "# Sessions of agents that run in tmux now:"
        yield "# sessions:"
        yield "#   projects:"
        for pane in found.panes:
            place = f"{{path: {_text(pane.folder)}, agent: {pane.program}, session: {_text(pane.session)}}}"
            yield f"#     {made_of(pane.session)}: {place}"


def _text(value: str) -> str:
    """Quoted where YAML could read something else; JSON's quoting is YAML's."""
    return value if re.fullmatch(r"[A-Za-z][A-Za-z0-9_./-]*", value) and not value.endswith("/") else json.dumps(value)
