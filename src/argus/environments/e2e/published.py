"""Published ports as Docker writes them: `8080`, `8080:80`, `127.0.0.1:8080:80/tcp`, `9000-9002:9000-9002`. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_RANGE = r"[0-9]{1,9}(?:-[0-9]{1,9})?"
_ADDRESS = r"\[[0-9A-Fa-f:.]+\]|[0-9]+(?:\.[0-9]+){3}"
_FORM = re.compile(
    rf"(?:(?P<address>{_ADDRESS}):)?(?:(?P<host>{_RANGE}):)?(?P<inside>{_RANGE})(?:/(?P<protocol>[A-Za-z]+))?"
)
_MOST = 100
SCHEMA = {
    "type": "string",
    "pattern": rf"^(({_ADDRESS}):)?({_RANGE}:)?{_RANGE}(/(tcp|udp|sctp))?$",
    "examples": ["3000:3000", "127.0.0.1:8080:80/tcp", "8080"],
}


@dataclass(frozen=True, slots=True)
class Port:
    host: int
    """The wanted one; setup may have to take another."""
    container: int
    address: str = ""
    """Where it is bound on the host; empty is everywhere."""
    protocol: str = "tcp"

    def __str__(self) -> str:
        address = f"[{self.address}]:" if ":" in self.address else f"{self.address}:" if self.address else ""
        return f"{address}{self.host}:{self.container}/{self.protocol}"


def read(text: str) -> tuple[Port, ...]:
    """One port alone is the same inside and outside."""
    form = _FORM.fullmatch(text.strip())
    if form is None:
        raise ValueError('not a port; write for instance "3000:3000", "127.0.0.1:8080:80/tcp" or "8080"')
    protocol = (form["protocol"] or "tcp").lower()
    if protocol not in ("tcp", "udp", "sctp"):
        raise ValueError("the protocol is tcp, udp or sctp")
    address = (form["address"] or "").strip("[]")
    if address:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            raise ValueError("what stands before the ports is not an IP address") from None
    inside = _range(form["inside"])
    host = _range(form["host"]) if form["host"] else inside
    if len(host) != len(inside):
        raise ValueError("the range outside and the range inside are not of the same length")
    return tuple(Port(out, into, address, protocol) for out, into in zip(host, inside, strict=True))


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    low, high = int(first), int(last or first)
    if not (1 <= low <= 65535 and 1 <= high <= 65535):
        raise ValueError("a port is 1 to 65535")
    if high < low:
        raise ValueError("a range of ports begins with the smaller one")
    if high - low >= _MOST:
        raise ValueError(f"a range of ports has at most {_MOST}")
    return range(low, high + 1)
