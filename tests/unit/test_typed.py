"""All of Argus is typed, and says so to whoever imports it. That the types are right, `make check` shows."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import argus

SOURCE = Path(argus.__file__).parent
ROOT = Path(__file__).resolve().parents[2]


def untyped(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            named = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
            for one in named:
                if one.annotation is None and one.arg not in ("self", "cls"):
                    yield f"{node.name}({one.arg}), line {node.lineno}"
            if node.returns is None:
                yield f"what {node.name} returns, line {node.lineno}"


@pytest.mark.req("NFR-R07")
def test_every_function_says_what_it_takes_and_returns():
    found = {
        str(file.relative_to(SOURCE)): names
        for file in SOURCE.rglob("*.py")
        if (names := list(untyped(ast.parse(file.read_text(encoding="utf-8")))))
    }
    assert found == {}


@pytest.mark.req("NFR-R07")
def test_the_types_are_shipped_and_checked_strictly():
    assert (SOURCE / "py.typed").is_file()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert settings["strict"] is True


def test_what_is_not_typed_is_found():
    assert list(untyped(ast.parse("def f(a, *b: int): ..."))) == ["f(a), line 1", "what f returns, line 1"]
