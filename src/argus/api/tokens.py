"""Tokens for others than the person. Each carries its claims, proven by the root token.

Nothing is kept: such a token outlives a restart of Argus, as the agents that hold it do, and all of them end when the
root token is replaced.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets

from argus.ops.caller import Caller, Role

_MARK = "argus"
_SESSION = "page."
"""Before what is proven, so that no token can be taken for a session of the page: claims of tokens hold no dot."""
_LONGEST = 4096
_KEPT = 4096
"""More than there are agents at work: a proof costs more than the rest of a heartbeat's way through the door."""


class Tokens:
    def __init__(self, root: str) -> None:
        # A key of its own, so that no proof is ever made with the very token that travels in headers.
        self._key = hmac.digest(root.encode(), b"argus: tokens for others", hashlib.sha256)
        self._known: dict[str, Caller] = {}
        """Good ones that came before: hooks send the same one at every step."""

    def make(self, role: Role, agent: str | None = None, project: str | None = None) -> str:
        said = {"role": role.value, "agent": agent, "project": project}
        claims = _encoded(json.dumps({key: value for key, value in said.items() if value}).encode())
        return f"{_MARK}.{claims}.{self._proof(claims)}"

    def read(self, token: str) -> Caller | None:
        """Whose it is; None for one that was not made here."""
        known = self._known.get(token)
        if known is None and (known := self._prove(token)) is not None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[token] = known
        return known

    def make_session(self, until: float) -> str:
        """For the page. As nothing is kept, it outlives a restart of Argus too, and a page that is open goes on."""
        claims = f"{int(until)}.{secrets.token_urlsafe(24)}"
        return f"{claims}.{self._proof(_SESSION + claims)}"

    def is_session(self, given: str, now: float) -> bool:
        claims, _, proof = given[:_LONGEST].rpartition(".")
        if not hmac.compare_digest(proof.encode("utf-8", "replace"), self._proof(_SESSION + claims).encode()):
            return False
        return int(claims.partition(".")[0]) > now

    def _prove(self, token: str) -> Caller | None:
        mark, _, rest = token.partition(".")
        claims, _, proof = rest.partition(".")
        if mark != _MARK or len(token) > _LONGEST:
            return None
        if not hmac.compare_digest(proof.encode("utf-8", "replace"), self._proof(claims).encode()):
            return None
        try:
            said = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
            role, agent, project = Role(said["role"]), said.get("agent"), said.get("project")
        except (ValueError, KeyError, TypeError, binascii.Error):
            return None  # made by an Argus that knew more kinds
        return Caller(f"agent:{agent}" if agent else role.value, role, agent, project)

    def _proof(self, claims: str) -> str:
        return _encoded(hmac.digest(self._key, claims.encode("utf-8", "replace"), hashlib.sha256))


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
