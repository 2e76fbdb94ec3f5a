"""The CLI's copy of the operations is current."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from argus.cli.manifest import VERBS
from argus.ops import OPERATIONS

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "manifest.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("manifest_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_manifest_is_what_the_operations_say(script: ModuleType):
    assert script.TARGET.read_text(encoding="utf-8") == script.manifest()


def test_every_verb_of_an_operation_is_in_the_manifest():
    said = sorted((one.verb, one.name) for one in OPERATIONS if one.verb)
    assert sorted((verb, entry["name"]) for verb, entries in VERBS.items() for entry in entries) == said


def test_every_field_of_a_path_is_required_or_has_what_stands_for_it_and_is_known_to_the_manifest():
    for entries in VERBS.values():
        for entry in entries:
            fields = {field["name"]: field for field in entry["fields"]}
            for name in [part[1:-1] for part in entry["path"].split("/") if part.startswith("{")]:
                assert fields[name]["in"] == "path"
                assert fields[name]["required"] == (fields[name]["default"] is None)
