"""From a folder to an environment: `.env`, YAML, `{{…}}`, validation, paths; and everything that is wrong, at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path as File
from typing import Any

from pydantic import ValidationError

from argus import yaml_lines
from argus.core.errors import ArgusError
from argus.environments.e2e import (
    assembling,
    checks,
    following,
    legal,
    paths,
    places,
    problems,
    published,
    source,
    unknown,
)
from argus.environments.e2e.environment import Environment
from argus.environments.e2e.following import Moved
from argus.environments.e2e.model import E2E, NOT_ACTED_ON
from argus.environments.e2e.places import Path
from argus.environments.e2e.source import Source
from argus.environments.e2e.variables import Substituted, Variables, resolve, settled, substitute
from argus.yaml_lines import Document, Problem

_WARNINGS = 500


def load(
    project: File,
    *,
    environ: Mapping[str, str],
    working: File,
    now: float,
    seed: str,
    file: str | None = None,
) -> Environment:
    """`environ` and `working` are the caller's, who is another process. `now` is epoch seconds; `seed` is chance, once
    for each run."""
    return _environment(source.open_(project, file, environ, working, now=now, seed=seed), {})


def with_ports(environment: Environment, moved: Moved) -> Environment:
    """The same environment on the ports that could be had: all that refers to them says the new ones."""
    return _environment(environment.source, moved)


def _environment(opened: Source, moved: Moved) -> Environment:
    document = opened.document
    if document.value is None and not document.problems:
        raise yaml_lines.error([Problem((), None, "the file is empty")], str(opened.file))
    if not isinstance(document.value, dict):
        found = [Problem((), document.line(()), "the file is a mapping of sections")]
        raise yaml_lines.error([*document.problems, *found], str(opened.file))
    variables = _variables(opened)
    made = _checked(opened, variables)
    if not moved:
        return made
    # What was read tells who had which port; with that, the variables that name them are others.
    followed = {one.name: following.follow(one.vars, one.name, made.owners(), moved) for one in made.services}
    config = dict(variables.config)
    for one in made.services:
        config |= followed[one.name]
    if made.services and "base_url" not in places.written_vars(document.value):
        config |= _base_url(made.services[0].ports, moved.get(made.services[0].name, {}))
    return assembling.moved_to(_checked(opened, replace(variables, config=config)), moved, followed)


def _variables(opened: Source) -> Variables:
    bare = Variables(env=opened.env, now=opened.now, seed=opened.seed)
    tree = opened.document.value
    config = settled(places.written_vars(tree), bare)
    if "base_url" not in places.written_vars(tree):
        config |= _base_url(_first_ports(tree, replace(bare, config=config)), {})
    return replace(bare, config=config)


def _first_ports(tree: Any, variables: Variables) -> tuple[published.Port, ...]:
    first = next(iter(places.services(tree)), None)
    ports = first.section("container").get("ports") if first else None
    text = ports[0] if isinstance(ports, list) and ports else None
    try:
        return published.read(resolve(text, variables.look_up) or "") if isinstance(text, str) else ()
    except ValueError:
        return ()


def _base_url(ports: tuple[published.Port, ...], moved: Mapping[int, int]) -> dict[str, str]:
    return {"base_url": f"http://localhost:{moved.get(ports[0].host, ports[0].host)}"} if ports else {}


def _checked(opened: Source, variables: Variables) -> Environment:
    document = opened.document
    substituted = substitute(document.value, variables)
    tree = substituted.value
    renamed = legal.make(document.value, tree, variables)
    found = paths.find(tree, opened.roots)
    wrong = list(document.problems)
    if substituted.too_large is not None:
        wrong.append(
            problems.at(substituted.too_large, "the file is too large once its variables are resolved", document)
        )
    config = None
    try:
        config = E2E.model_validate(tree)
    except ValidationError as invalid:
        wrong += problems.of(invalid, tree, document)
    told = {problem.path for problem in wrong}
    for path, message in (*checks.find(tree, document.line), *paths.outside(found, opened.roots)):
        if path not in told:
            wrong.append(problems.at(path, message, document))
    wrong = [_because(one, substituted.unresolved.get(one.path, ())) for one in wrong]
    warnings = _warnings(opened, substituted, renamed, found)
    if wrong or config is None:
        raise _refused(wrong, warnings, opened.file)
    return Environment(
        config=config,
        file=opened.file,
        project=opened.roots.project,
        working=opened.roots.working,
        services=tuple(assembling.services(config, found, opened)),
        mocks=config.mocks,
        warnings=warnings,
        notices=_notices(config),
        variables=variables,
        origins={name: _origin(name, opened, variables) for name in sorted(substituted.used)},
        source=opened,
    )


def _because(problem: Problem, unresolved: Iterable[str]) -> Problem:
    """A value is often wrong only because a variable in it has none."""
    said = [
        f"{name.removeprefix('env.')} is not set" if name.startswith("env.") else f"{{{{{name}}}}} cannot be resolved"
        for name in dict.fromkeys(unresolved)
    ]
    return replace(problem, message="; ".join([problem.message, *said]))


def _refused(wrong: list[Problem], warnings: tuple[Problem, ...], file: File) -> ArgusError:
    error = yaml_lines.error(sorted(wrong, key=lambda problem: problem.line or 0), str(file))
    # A key that is not known often explains one that is missing.
    error.details["warnings"] = [problem.public() for problem in warnings[:100]]
    return error


def _warnings(
    opened: Source, substituted: Substituted, renamed: list[legal.Renamed], found: dict[Path, paths.Found]
) -> tuple[Problem, ...]:
    document: Document = opened.document
    said = unknown.find(document.value)
    said += [(path, f'not legal for Docker as it was resolved; "{name}" is used') for path, name in renamed]
    for path, several in substituted.unresolved.items():
        words = ", ".join(f"{{{{{name}}}}}" for name in dict.fromkeys(several))
        said.append((path, f"{words} cannot be resolved and stays as written"))
    said += paths.missing(found)
    said += checks.runners(document.value)
    if document.value.get("service") is not None and document.value.get("services"):
        said.append((("service",), "not used: `services` goes before it"))
    found_at = [Problem(path, document.line(path), message) for path, message in said]
    found_at.sort(key=lambda problem: problem.line or 0)
    more = [Problem((), None, f"and {len(found_at) - _WARNINGS} more warnings")] if len(found_at) > _WARNINGS else []
    return (*opened.warnings, *found_at[:_WARNINGS], *more)


def _notices(config: E2E) -> tuple[str, ...]:
    there = [f"`{name}`" for name in NOT_ACTED_ON if getattr(config, name) is not None]
    there += [f"`mocks.{name}.{key}`" for name, mock in config.mocks.items() for key in mock.not_acted_on]
    return (f"accepted and not acted on: {', '.join(there)}",) if there else ()


def _origin(name: str, opened: Source, variables: Variables) -> str:
    if variables.look_up(name) is None:
        return "unresolved"
    if name.startswith("env."):
        return ".env" if name.removeprefix("env.") in opened.from_dotenv else "environment"
    return "vars" if name.startswith("config.") else "built-in"
