"""Durations and sizes as people write them: `30s`, `1h30m`, `2GB`."""

from __future__ import annotations

import re

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kmgt]?)i?b?", re.IGNORECASE | re.ASCII)

# Each unit once and from large to small, as `duration` reads it. That ten years are the most no pattern can say.
DURATION_PATTERN = "^(?!$)" + "".join(rf"([0-9]+(\.[0-9]+)?{unit})?" for unit in ("d", "h", "m", "s", "ms")) + "$"
POSITIVE_DURATION_PATTERN = DURATION_PATTERN.replace("(?!$)", "(?![0.dhms]*$)")
SIZE_PATTERN = r"^[0-9]+(\.[0-9]+)?\s*[kKmMgGtT]?[iI]?[bB]?$"


def duration(text: str) -> float:
    """Seconds. Parts stand from large to small, each unit once: `1h30m`, never `30m1h`."""
    rest, total, last = text.strip(), 0.0, float("inf")
    if not rest:
        raise ValueError('a duration needs a unit, such as "30s", "5m" or "1h30m"')
    while rest:
        part = _PART.match(rest)
        unit = _SECONDS[part[2]] if part else 0.0
        if part is None or unit >= last:
            raise ValueError(f'"{text[:40]}" is not a duration; write for instance "500ms", "30s", "5m" or "1h30m"')
        total, last, rest = total + float(part[1]) * unit, unit, rest[part.end() :]
    if total > 10 * 365 * 86400:
        raise ValueError(f'"{text[:40]}" is longer than ten years')
    return total


def size(text: str) -> int:
    """Bytes, in powers of 1024, as Docker and most people mean them."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'"{text[:40]}" is not a size; write for instance "512MB" or "2GB"')
    return int(float(match[1]) * _BYTES[match[2].lower()])


def spoken(seconds: float) -> str:
    """The shortest form a person reads at a glance: `45s`, `2m`, `1h5m`, `3d`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m"
    hours, minutes = whole // 3600, whole % 3600 // 60
    if hours < 48:
        return f"{hours}h{minutes}m" if minutes else f"{hours}h"
    return f"{hours // 24}d"


def stretch(seconds: float) -> str:
    """How long something lasted: "down for 0s" would say that it was not down."""
    return spoken(seconds) if seconds >= 1.0 else "a moment"


def written(seconds: float) -> str:
    """The exact form that `duration` reads back."""
    milliseconds = round(max(0.0, seconds) * 1000)
    if milliseconds == 0:
        return "0s"
    text = ""
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, milliseconds = divmod(milliseconds, length)
        text += f"{count}{unit}" if count else ""
    return text
