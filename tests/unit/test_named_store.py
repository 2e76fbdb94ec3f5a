"""Which store a URL names, and what is loaded for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from argus.core.errors import ArgusError, Code
from argus.core.redact import MASK, Redactor
from argus.store import named


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("", "/home/x/argus.db", id="none-is-a-file-in-the-state-folder"),
        pytest.param("sqlite:////data/a.db", "/data/a.db", id="four-slashes"),
        pytest.param("sqlite:///data/a.db", "/data/a.db", id="three-slashes"),
    ],
)
def test_a_sqlite_url_names_a_file(url: str, expected: str):
    assert named.path(url, Path("/home/x")) == Path(expected)


@pytest.mark.parametrize(
    "url",
    ["mysql://host/db", "sqlite:", "sqlite:///", "a.db", "postgresql://u:p/w@host/db", "postgres://u:p#w@host/db"],
)
def test_what_names_no_store_is_an_error_of_the_configuration(url: str):
    with pytest.raises(ArgusError) as caught:
        named.check(url, Redactor())
    assert caught.value.code is Code.CONFIG_INVALID
    assert [one["path"] for one in caught.value.details["errors"]] == ["store.url"]


@pytest.mark.parametrize(
    "said", ["s3cret/word", "s3cret%2Fword", "postgresql://u:s3cret%2Fword@host/db"], ids=["plain", "encoded", "url"]
)
def test_the_password_is_known_in_every_form(said: str):
    redactor = Redactor()
    named.check("postgresql://u:s3cret%2Fword@host/db", redactor)
    assert "s3cret" not in redactor.text(f"it said {said} twice")
    assert MASK in redactor.text(said)


def test_who_uses_sqlite_loads_nothing_of_postgresql():
    code = "import sys, argus.assembly; sys.exit(any(name.startswith('asyncpg') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
