"""Which breaker stands between a project and an engine."""

from __future__ import annotations

import pytest

from argus.composing import breaker_name
from argus.core.names import check

OWN = {"DOCKER_HOST": "unix:///run/one.sock"}


@pytest.mark.parametrize(
    ("project", "theirs", "expected"),
    [
        pytest.param("shop", OWN, "docker:shop", id="the-daemons-own-engine"),
        pytest.param("shop", {"DOCKER_HOST": "tcp://ten:2375"}, "docker:shop@ten-2375-", id="another-engine"),
        pytest.param("shop", {"DOCKER_HOST": "unix:///run/two.sock"}, "docker:shop@run-two.sock-", id="another-socket"),
        pytest.param("shop", {"DOCKER_HOST": "what"}, "docker:shop", id="no-engine-at-all"),
        pytest.param("商店", OWN, "docker:unnamed-", id="a-name-of-other-letters"),
        pytest.param("s" * 300, {"DOCKER_HOST": "unix:///" + "x" * 300}, "docker:sss", id="a-long-one"),
    ],
)
def test_a_breaker_is_named_after_its_project_and_another_engine(project: str, theirs: dict[str, str], expected: str):
    name = breaker_name(project, theirs, OWN)
    assert check(name).startswith(expected)
    assert name == expected or expected.endswith("-") or len(project) > 50
