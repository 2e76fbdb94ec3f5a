"""An e2e.yaml in a folder of its own, loaded as a caller's request would load it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from argus.core.errors import ArgusError, Code
from argus.environments.e2e import loading
from argus.environments.e2e.environment import Environment

NOW = 1_771_286_400.0
"""2026-02-17, midnight UTC."""


def load(folder: Path, text: Any, env: Mapping[str, str] | None = None, **more: Any) -> Environment:
    """`text` is YAML, or anything that JSON can say."""
    written = text if isinstance(text, str) else json.dumps(text)
    (folder / "e2e.yaml").write_text(written, encoding="utf-8")
    surroundings = {"environ": env or {}, "working": folder, "now": NOW, "seed": "a run", **more}
    return loading.load(folder, **surroundings)


def refused(folder: Path, text: Any, env: Mapping[str, str] | None = None, **more: Any) -> ArgusError:
    with pytest.raises(ArgusError) as caught:
        load(folder, text, env, **more)
    assert caught.value.code is Code.CONFIG_INVALID
    assert caught.value.details["file"] == str(folder / "e2e.yaml")
    return caught.value


def places(error: ArgusError) -> list[tuple[str, int | None]]:
    return [(one["path"], one["line"]) for one in error.details["errors"]]


def warned(environment: Environment) -> list[tuple[str, int | None]]:
    """Without those about Dockerfiles, which most of these projects do not have."""
    public = [warning.public() for warning in environment.warnings]
    return [(one["path"], one["line"]) for one in public if not one["path"].endswith("build.dockerfile")]


def service(called: str = "web", /, **more: Any) -> dict[str, Any]:
    return {
        "build": {"dockerfile": "Dockerfile", "image": f"{called}:e2e"},
        "container": {"name": f"{called}-e2e", "ports": ["8080:80"]},
        **more,
    }


def project(**sections: Any) -> dict[str, Any]:
    return {"project": {"name": "shop"}, **sections}
