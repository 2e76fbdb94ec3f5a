"""A test file: its text into cases, and everything that is wrong with one, with its file, case and line.

Only a file that cannot be read, is no YAML, or has no name or no cases is wrong as a whole. Whatever else is wrong is
wrong with one case, and the others are run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

from pydantic import ValidationError

from argus import yaml_lines
from argus.core.errors import ArgusError, Code
from argus.environments.e2e import places, problems, source
from argus.environments.e2e.places import Path
from argus.environments.testing import strange
from argus.environments.testing.model import Case, Preparing, Suite
from argus.environments.testing.results import Failure
from argus.environments.testing.showing import clean, cut
from argus.yaml_lines import Document, Problem

_LONGEST_NAME = 200
_MOST = 20
"""Mistakes of one case that are told."""


@dataclass(frozen=True, slots=True)
class Written:
    """A case, or a step of setup or teardown, as it stands in the file."""

    path: Path
    name: str
    line: int | None
    tree: Any = field(repr=False)
    wrong: tuple[Problem, ...] = ()
    """What the YAML itself has wrong there."""


@dataclass(frozen=True, slots=True)
class TestFile:
    __test__ = False  # not one of pytest's

    file: str
    name: str
    sequential: bool
    variables: Mapping[str, Any] = field(repr=False)
    setup: tuple[Written, ...]
    cases: tuple[Written, ...]
    teardown: tuple[Written, ...]
    warnings: tuple[str, ...]
    document: Document = field(repr=False)

    def failure(self, problem: Problem) -> Failure:
        where = f"{self.file}:{problem.line}" if problem.line else self.file
        path = yaml_lines.dotted(problem.path)
        return Failure(clean(f"{where}: {path}: {problem.message}"), clean(path), code=Code.CONFIG_INVALID.value)


class Unfit(Exception):
    """A case that cannot be run as it is written."""

    def __init__(self, failures: list[Failure]) -> None:
        super().__init__(f"{len(failures)} mistakes")
        self.failures = tuple(failures[:_MOST])


def load(file: File) -> TestFile:
    """Raises ArgusError. It reads a file, and a large one takes a while: not for the loop."""
    return parse(source.text(file), str(file))


def parse(text: str, file: str) -> TestFile:
    try:
        document = yaml_lines.parse(text)
    except yaml_lines.Broken as broken:
        raise yaml_lines.error(broken.problems, file) from None
    if not isinstance(document.value, dict):
        said = "the file is empty" if document.value is None else "the file is a mapping: a name and cases"
        raise yaml_lines.error([*document.problems, Problem((), document.line(()), said)], file)
    inside: dict[Path, list[Problem]] = {}
    wrong: list[Problem] = []
    for one in document.problems:
        key = one.path[:2]
        is_a_cases = len(key) == 2 and key[0] in ("setup", "cases", "teardown") and isinstance(key[1], int)
        (inside.setdefault(key, []) if is_a_cases else wrong).append(one)
    try:
        suite = Suite.model_validate(document.value)
    except ValidationError as invalid:
        raise yaml_lines.error([*wrong, *problems.of(invalid, document.value, document)], file) from None
    if wrong:
        raise yaml_lines.error(wrong, file)

    def several(key: str, trees: list[Any]) -> tuple[Written, ...]:
        return tuple(_written(document, (key, place), tree, inside) for place, tree in enumerate(trees))

    return TestFile(
        file=file,
        name=cut(suite.name, _LONGEST_NAME),
        sequential=suite.sequential,
        variables=suite.variables,
        setup=several("setup", suite.setup),
        cases=several("cases", suite.cases),
        teardown=several("teardown", suite.teardown),
        warnings=tuple(_warning(document, path, said) for path, said in strange.find(document.value)),
        document=document,
    )


def _written(document: Document, path: Path, tree: Any, inside: dict[Path, list[Problem]]) -> Written:
    said = tree.get("name") if isinstance(tree, dict) else None
    # Of a list of cases by number; of the others too, for they rarely have names.
    word = "case" if path[0] == "cases" else str(path[0])
    has_one = isinstance(said, str | int | float) and str(said).strip()
    name = str(said) if has_one else f"{word} {int(path[1]) + 1}"
    return Written(path, cut(name, _LONGEST_NAME), document.line(path), tree, tuple(inside.get(path, ())))


def _warning(document: Document, path: Path, said: str) -> str:
    line = document.line(path)
    return clean(f"line {line}: {yaml_lines.dotted(path)}: {said}")


class _Within(Document):
    """A part of a document, as if it were one."""

    def __init__(self, whole: Document, path: Path) -> None:
        super().__init__(places.at(whole.value, path))
        self._whole = whole
        self._path = path

    def line(self, path: Path) -> int | None:
        return self._whole.line((*self._path, *path))


def understand(file: TestFile, written: Written, tree: Any) -> Preparing:
    """`tree` is what is written, with its variables resolved. Raises Unfit, with everything that is wrong."""
    found = list(written.wrong)
    if not isinstance(tree, dict):
        found.append(Problem(written.path, written.line, "a case is a mapping: a name and a step"))
        raise Unfit([file.failure(one) for one in found])
    for key in ("waitHealthy",):
        tree = {**tree, key: {}} if key in tree and tree[key] is None else tree
    within = _Within(file.document, written.path)
    case: Preparing | None = None
    model = Case if written.path[0] == "cases" else Preparing
    wrong: list[Problem] = []
    try:
        case = Preparing.model_validate(tree)
    except ValidationError as invalid:
        wrong = problems.of(invalid, tree, within)
    told = {one.path for one in wrong}
    for path, said in strange.mistakes(tree, case, is_case=model is Case):
        if path not in told:
            wrong.append(problems.at(path, said, within))
    found += [Problem((*written.path, *one.path), one.line, one.message) for one in wrong]
    if found or case is None:
        raise Unfit([file.failure(one) for one in sorted(found, key=lambda one: one.line or 0)])
    return case


def error_of(error: ArgusError) -> Failure:
    """A file that is wrong as a whole, as what became of its suite."""
    details = error.details.get("errors") or []
    said = [f"line {one['line']}: {one['path']}: {one['message']}" for one in details[1:_MOST]]
    return Failure(clean("\n".join([error.message, *said])), code=error.code.value)
