"""What the preflight is good for. `make recovery` asks the same of more faults, and more often."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.yard import Yard
from tests.docker_engine import Engine
from tests.recovery.campaign import IMAGE, SCRIPT, judged


@pytest.fixture
def frail(mortal: Engine, tmp_path: Path) -> Iterator[Yard]:
    made = Yard(tmp_path / "argus", mortal)
    made.configure([])
    mortal.image(IMAGE, "sh", "-c", SCRIPT)
    made.up()
    yield made
    made.end()


@pytest.mark.req("SC-R02")
def test_a_setup_that_would_go_wrong_in_the_middle_is_refused_before(frail: Yard) -> None:
    for how, without in (("disk too full", "went on unwarned"), ("engine away", "failed")):
        assert judged(frail, how, 0, preflight=False) == without
        assert judged(frail, how, 1, preflight=True) == "refused before"
