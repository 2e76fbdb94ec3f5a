"""The section `notify` of argus.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from argus.schema import Section

Tier = Annotated[int, Field(ge=1, le=3, strict=True)]


class Channel(Section):
    url: SecretStr = Field(description="An Apprise URL: ntfy, Slack, SMS, e-mail and many more.")
    tiers: tuple[Tier, ...] = Field(default=(1, 2), min_length=1, description="1 urgent, 2 important, 3 informative.")

    @field_validator("url")
    @classmethod
    def _has_a_scheme(cls, url: SecretStr) -> SecretStr:
        scheme, mark, rest = url.get_secret_value().partition("://")
        if not mark or not rest or not scheme.replace("+", "").isalnum():
            raise ValueError("an Apprise URL looks like ntfys://topic or json://host/path")
        return url


class Notify(Section):
    channels: tuple[Channel, ...] = Field(default=(), description="Where messages go.")
