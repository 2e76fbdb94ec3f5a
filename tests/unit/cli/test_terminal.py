"""Keys of several bytes: read to their end, and no further."""

from __future__ import annotations

import pytest

from argus.cli.terminal import is_whole

KEYS = {
    "an-arrow": b"\x1b[A",
    "an-arrow-as-applications-get-it": b"\x1bOA",
    "an-arrow-with-control": b"\x1b[1;5C",
    "an-arrow-with-alt-as-some-send-it": b"\x1b\x1b[A",
    "a-function-key": b"\x1b[15~",
    "a-function-key-of-the-console": b"\x1b[[A",
    "a-letter-with-alt": b"\x1bq",
    "what-the-terminal-answers": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    "the-same-ended-by-a-bell": b"\x1b]11;rgb:0000/0000/0000\x07",
}


@pytest.mark.parametrize("key", [pytest.param(key, id=name) for name, key in KEYS.items()])
def test_a_key_is_whole_with_its_last_byte_and_not_before(key: bytes) -> None:
    assert is_whole(key)
    assert not any(is_whole(key[:end]) for end in range(1, len(key)))


def test_what_never_ends_is_not_waited_for_for_ever() -> None:
    assert is_whole(b"\x1b]" + b"x" * 1000)
