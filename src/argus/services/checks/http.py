"""http: any answer means that the process lives; a 5xx is degraded; what was expected and did not come is down."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field, field_validator, model_validator

from argus.host.seam import Host, HttpReply, HttpRequest, ProbeFailed
from argus.services.checks.base import Service
from argus.services.model import Seen, Status

_BODY = 64 * 1024
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class HttpService(Service):
    type: Literal["http"] = Field(description="Asks a URL.")
    url: str = Field(
        description="Where it answers. A user and password in it are sent as Basic authorization, and shown nowhere."
    )
    expect_status: int | None = Field(default=None, ge=100, le=599, strict=True, description="Any other is down.")
    expect_body: str | None = Field(default=None, description="Down unless the first 64 KiB contain it.")
    headers: dict[str, str] = Field(default_factory=dict, repr=False, description="Sent with the request.")
    method: Literal["GET", "HEAD", "POST", "OPTIONS"] = Field(default="GET", description="The request's method.")

    @model_validator(mode="before")
    @classmethod
    def _keep_credentials_out_of_the_url(cls, values: Any) -> Any:
        """A URL is shown and logged; a header is not. One that is given goes before, as it does for other clients."""
        if not isinstance(values, dict) or not isinstance(values.get("url"), str):
            return values
        url, headers = values["url"], values.get("headers", {})
        try:
            parts = urlsplit(url)
        except ValueError:
            return values  # it is no URL, which is said of it afterwards
        who, mark, _ = parts.netloc.rpartition("@")
        if not mark or not isinstance(headers, dict):
            return values
        if not any(str(name).lower() == "authorization" for name in headers):
            name, _, password = who.partition(":")
            secret = base64.b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode("ascii")
            headers = {**headers, "Authorization": f"Basic {secret}"}
        return {**values, "url": url.replace(f"//{who}@", "//", 1), "headers": headers}

    @field_validator("url")
    @classmethod
    def _is_a_url(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("a URL starts with http:// or https:// and names a host")
        try:
            port = parts.port
        except ValueError:
            raise ValueError("the port of a URL is a number from 1 to 65535") from None
        if port == 0 or any(ord(character) <= 32 or ord(character) == 127 for character in url):
            raise ValueError("a URL has no blanks, no control characters and no port 0")
        return url

    @field_validator("headers")
    @classmethod
    def _fit_on_the_wire(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not _TOKEN.fullmatch(name) or any(character in value for character in "\r\n\0"):
                raise ValueError(f"{name!r} is not a header that can be sent")
        return headers

    @property
    def host_name(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port_number(self) -> int:
        parts = urlsplit(self.url)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def place(self) -> str:
        return f"Port {self.port_number}"

    async def probe(self, host: Host) -> Seen:
        wanted = _BODY if self.expect_body is not None else 0
        try:
            reply = await host.http(HttpRequest(self.url, self.method, self.headers, wanted), timeout=self.timeout)
        except ProbeFailed as failure:
            return self.failed(failure)
        seen = self._judged(reply)
        return seen if reply.tls_expires is None else replace(seen, tls_expires=reply.tls_expires)

    def _judged(self, reply: HttpReply) -> Seen:
        answered = f"HTTP {reply.status}"
        if self.expect_status is not None and reply.status != self.expect_status:
            detail = f"{answered}, expected {self.expect_status}"
            return Seen(Status.DOWN, reply.latency, "unexpected status", detail, "SERVICE_DOWN")
        if self.expect_body is not None and self.expect_body.encode() not in reply.body:
            return Seen(
                Status.DOWN,
                reply.latency,
                "unexpected body",
                f"{answered}, the expected text is missing",
                "SERVICE_DOWN",
            )
        if reply.status >= 500 and self.expect_status is None:
            return Seen(Status.DEGRADED, reply.latency, answered, answered)
        return Seen(Status.UP, reply.latency, "", answered)
