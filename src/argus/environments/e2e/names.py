"""Names as Docker takes them. Pure."""

from __future__ import annotations

import re

from argus.core.names import LETTER

_CONTAINER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
CONTAINER_SCHEMA = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$", "maxLength": 200}
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_LABEL = r"[A-Za-z0-9-]+"
_HOST = (
    rf"(?:localhost|{_LABEL}(?:\.{_LABEL})+|{_LABEL}(?:\.{_LABEL})*:[0-9]{{1,5}}|\[[0-9a-fA-F:]+\](?::[0-9]{{1,5}})?)"
)
_IMAGE = re.compile(
    rf"(?:{_HOST}/)?{_COMPONENT}(?:/{_COMPONENT})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?(?:@sha256:[0-9a-f]{{64}})?"
)
_LONGEST = 255
_LONGEST_CALLED = 200
CALLED_SCHEMA = {"type": "string", "minLength": 1, "maxLength": _LONGEST_CALLED}


def called(name: str) -> str:
    """What people call a service. Where Docker needs a name of it, it is made legal."""
    if len(name) > _LONGEST_CALLED or not name.isprintable():
        raise ValueError(f"a name has at most {_LONGEST_CALLED} characters, and all of them can be printed")
    return name


def container(name: str) -> str:
    """Of a container, a network, or what others reach it by."""
    if not _CONTAINER.fullmatch(name):
        raise ValueError(
            f"a name starts with a {LETTER} or a digit, goes on with letters, digits and _ . -, "
            "and has at most 200 characters"
        )
    return name


def image(name: str) -> str:
    # Components that could be cut in many ways are tried in all of them: the length is looked at first.
    if len(name) > _LONGEST or not _IMAGE.fullmatch(name):
        raise ValueError('not the name of an image, such as "shop:e2e" or "registry.example.com/team/shop:1.2"')
    return name


def is_container(name: str) -> bool:
    return _CONTAINER.fullmatch(name) is not None


def is_image(name: str) -> bool:
    return len(name) <= _LONGEST and _IMAGE.fullmatch(name) is not None


def part(value: str, *, lower: bool = False) -> str:
    """What a variable's value becomes where it stands inside a name: `feature/Login` is `feature-Login`."""
    made = re.sub(r"[^A-Za-z0-9_.-]+", "-", value).strip("-.")
    return re.sub(r"[._-]{2,}", "-", made.lower()) if lower else made
