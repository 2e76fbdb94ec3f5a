"""What the engine says when it does not do what it was asked, as errors. It tells most things only in words."""

from __future__ import annotations

import json
import re
from typing import Any

from argus.core.cutting import beginning
from argus.core.errors import ArgusError, Code
from argus.host.engine.seam import EngineRefused, EngineUnavailable
from argus.host.engine.wire import Answer

_FULL = "no space left on device"
_ITS_OWN = re.compile(
    r": unavailable$|transport is closing|error while dialing|containerd is not running|daemon is shutting down"
    r"|context deadline exceeded",
    re.IGNORECASE,
)
"""The engine without its containerd, or on its way out."""
_BOUND = re.compile(
    r"bind for \S*:(\d+) failed|(?:listen (?:tcp|udp|sctp)[46]?|host port(?: for)?) (?:\[[^\]]*\]|[^:\s]*):(\d+)",
    re.IGNORECASE,
)
"""`Bind for 0.0.0.0:80 failed`, `listen tcp4 0.0.0.0:80: bind`, `failed to bind host port for 0.0.0.0:80:172.…`."""
_NO_CONTAINER = re.compile(r"no such container:? ?/?(\S*)", re.IGNORECASE)
_NO_IMAGE = re.compile(r"no such image", re.IGNORECASE)
_LONGEST = 500


def in_words(error: ArgusError | EngineRefused) -> ArgusError:
    """An engine that was asked and did not do it is an error with a code, whatever it was about."""
    if isinstance(error, ArgusError):
        return error
    message = f"the Docker engine refused: {error}"
    return ArgusError(Code.DOCKER_REFUSED, message, said=str(error), status=error.status)


def said(answer: Answer) -> str:
    try:
        words = json.loads(answer.body)["message"]
    except (ValueError, KeyError, TypeError):
        words = answer.body.decode("utf-8", "replace")
    return beginning(" ".join(str(words).split()), _LONGEST) or f"status {answer.status}"


def decoded(answer: Answer) -> Any:
    """The answer to a plain question. Whatever is wrong with that is the engine's own trouble."""
    words = said(answer) if answer.status != 200 else ""
    if words:
        raise full(words) or EngineUnavailable(
            f"the Docker engine answers {answer.status}: {words}", status=answer.status
        )
    try:
        return json.loads(answer.body)
    except ValueError:
        raise EngineUnavailable("the Docker engine's answer is not JSON") from None


def refusal(answer: Answer, *, container: str = "", image: str = "") -> Exception:
    """The answer to an order. Most often whoever gave it is at fault, also where the engine calls it its own."""
    words = said(answer)
    known = full(words) or taken(words) or _absent(answer.status, words, container, image)
    if known is not None:
        return known
    if answer.status == 503 or (answer.status >= 500 and _ITS_OWN.search(words)):
        return EngineUnavailable(f"the Docker engine answers {answer.status}: {words}", status=answer.status)
    if answer.status == 409 and "is not running" in words:
        return ArgusError(Code.CONTAINER_NOT_RUNNING, f"{container[:100]} does not run", container=container[:100])
    return EngineRefused(words, answer.status)


def full(words: str) -> ArgusError | None:
    said = next((line.strip() for line in words.splitlines() if _FULL in line.lower()), "")
    if not said:
        return None
    return ArgusError(
        Code.DISK_SPACE_LOW, f"the Docker engine has no space left: {beginning(said, _LONGEST)}", said=words
    )


def taken(words: str) -> ArgusError | None:
    bound = _BOUND.search(words)
    is_certain = "port is already allocated" in words
    if not is_certain and not (bound and "address already in use" in words.lower()):
        return None
    port = int(bound[1] or bound[2]) if bound else None
    return ArgusError(Code.PORT_CONFLICT, f"port {port or '?'} is taken: {words}", port=port)


def missing(container: str) -> ArgusError:
    name = container[:100]
    return ArgusError(Code.CONTAINER_NOT_FOUND, f"there is no container {name!r}", container=name)


def no_image(image: str) -> ArgusError:
    name = image[:300]
    return ArgusError(Code.IMAGE_NOT_FOUND, f"there is no image {name!r}", image=name)


def _absent(status: int, words: str, container: str, image: str) -> ArgusError | None:
    if status != 404:
        return None
    if _NO_IMAGE.search(words):
        return no_image(image)
    found = _NO_CONTAINER.search(words)
    return missing(found[1] or container) if found else None
