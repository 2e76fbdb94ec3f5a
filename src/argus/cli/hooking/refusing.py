"""Settings of somebody else's program that are left alone, and what to do then."""

from __future__ import annotations

from argus.core.errors import IN_SETTINGS, ArgusError, Code


def refused(message: str, file: str, *, code: Code = Code.CONFIG_INVALID, hint: str = "") -> ArgusError:
    """About this file, and not about argus.yaml, which the same codes are about elsewhere."""
    error = ArgusError(code, message, file=file, hint=" ".join(filter(None, (hint, "Nothing was changed."))))
    error.actions = IN_SETTINGS[code]
    return error
