"""Which values of an e2e.yaml must not be shown."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.environments.rig import load, project, service

from argus.environments.e2e.hidden import secrets

KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nshort\n"


def of(environment: dict[str, str], **more: Any) -> dict[str, Any]:
    one = service(**more)
    one["container"]["environment"] = environment
    return project(service=one)


@pytest.mark.parametrize(
    ("said", "hidden"),
    [
        pytest.param(of({"DB_PASSWORD": "hunter2-x", "COLOUR": "blue-77"}), {"hunter2-x"}, id="by-its-name"),
        pytest.param(of({"DSN": "u:{{env.MY_SECRET}}@db"}), {"from-caller-1"}, id="used-under-another-name"),
        pytest.param(of({"TLS_PRIVATE_KEY": KEY}), {KEY, *KEY.splitlines()[:2]}, id="every-line-of-a-key"),
        pytest.param(of({"DB_PASSWORD_FILE": "/run/secrets/db"}), set(), id="not-where-it-is"),
        pytest.param(of({"API_TOKEN": "web-e2e"}), set(), id="not-a-name-of-the-environment"),
        pytest.param(of({"DATABASE_URL": "pg://shop:pw-%2F7341@db/x"}), {"pw-%2F7341", "pw-/7341"}, id="in-a-url"),
        pytest.param(of({}, vars={"api_key": "k-0123456"}), {"k-0123456"}, id="of-vars"),
    ],
)
def test_secrets_are_values_of_what_is_named_like_one(tmp_path: Path, said: dict[str, Any], hidden: set[str]):
    assert secrets(load(tmp_path, said, {"MY_SECRET": "from-caller-1", "OTHER_SECRET": "not-used-1"})) == hidden


def test_build_arguments_may_be_secrets(tmp_path: Path):
    one = service()
    one["build"]["args"] = {"NPM_TOKEN": "npm-0123456"}
    assert secrets(load(tmp_path, project(service=one))) == {"npm-0123456"}
