"""The programs in the repository belong to the source beside them, and need nothing of the images they run in."""

import hashlib
import json
import struct
import sys
from pathlib import Path

import pytest

from argus.environments.helper import image

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import helper

_MACHINES = {"amd64": 62, "arm64": 183}
_INTERPRETER = 3


@pytest.mark.parametrize("architecture", helper.TARGETS)
def test_a_program_is_what_was_built_of_this_source(architecture: str) -> None:
    built = json.loads(helper.RECORD.read_text())
    program = (helper.INTO / helper.name(architecture)).read_bytes()
    assert built["source"] == helper.source_hash(), "the source is newer than the programs: make helper"
    assert built["programs"][architecture] == hashlib.sha256(program).hexdigest()


@pytest.mark.parametrize("architecture", helper.TARGETS)
def test_a_program_is_small_static_and_for_its_machine(architecture: str) -> None:
    program = (helper.INTO / helper.name(architecture)).read_bytes()
    assert program[:4] == b"\x7fELF"
    assert len(program) < 200_000
    assert struct.unpack_from("<H", program, 18)[0] == _MACHINES[architecture]
    (first,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    kinds = [struct.unpack_from("<I", program, first + n * size)[0] for n in range(count)]
    assert _INTERPRETER not in kinds


@pytest.mark.skipif(helper.compiler() is None, reason="the compiler is not here (make helper installs it)")
def test_built_again_it_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    using = helper.compiler()
    assert using is not None
    helper.build(tmp_path, using)
    for architecture in helper.TARGETS:
        name = helper.name(architecture)
        assert (tmp_path / name).read_bytes() == (helper.INTO / name).read_bytes()


def test_the_image_is_named_after_what_is_in_it() -> None:
    repository, _, tag = image.name().partition(":")
    assert repository == image.REPOSITORY
    assert len(tag) == 16
    assert image.name() == image.name()
