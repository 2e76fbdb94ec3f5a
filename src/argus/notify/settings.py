"""The section `notify` of argus.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr, field_validator, model_validator

from argus.core.patterns import TIME_OF_DAY
from argus.schema import PositiveDuration, Section, lasting

Tier = Annotated[int, Field(ge=1, le=3, strict=True)]
Time = Annotated[str, Field(pattern=TIME_OF_DAY)]


class RateLimit(Section):
    messages: int = Field(default=10, ge=1, le=1000, strict=True, description="So many messages at most…")
    per: PositiveDuration = lasting("1m", "…in this time. What comes beyond goes out together as soon as it may.")


class QuietHours(Section):
    """Local time. Tiers 2 and 3 wait until they are over; tier 1 does not."""

    begin: Time = Field(alias="from", description='Such as "22:00".')
    end: Time = Field(alias="to", description='Such as "07:00"; before `from`, it is on the next day.')

    @model_validator(mode="after")
    def _last_a_while(self) -> QuietHours:
        if self.begin == self.end:
            raise ValueError("from and to are the same: quiet hours begin and end")
        return self


class Channel(Section):
    url: SecretStr = Field(description="An Apprise URL: ntfy, Slack, SMS, e-mail and many more.")
    tiers: tuple[Tier, ...] = Field(default=(1, 2), min_length=1, description="1 urgent, 2 important, 3 informative.")
    rate_limit: RateLimit = Field(default_factory=RateLimit, description="How many messages it takes.")
    quiet_hours: QuietHours | None = Field(
        default=None, description="When only urgent ones go out; else the section's."
    )
    digest_every: PositiveDuration = lasting("1h", "Informative messages are collected for so long, and go out as one.")

    @field_validator("url")
    @classmethod
    def _has_a_scheme(cls, url: SecretStr) -> SecretStr:
        scheme, mark, rest = url.get_secret_value().partition("://")
        if not mark or not rest or not scheme.replace("+", "").isalnum():
            raise ValueError("an Apprise URL looks like ntfys://topic or json://host/path")
        return url


class Notify(Section):
    channels: tuple[Channel, ...] = Field(default=(), description="Where messages go.")
    quiet_hours: QuietHours | None = Field(default=None, description="When only urgent messages go out.")

    def resolved(self) -> tuple[Channel, ...]:
        """The channels with what the section says for all of them."""
        return tuple(
            one if one.quiet_hours else one.model_copy(update={"quiet_hours": self.quiet_hours})
            for one in self.channels
        )
