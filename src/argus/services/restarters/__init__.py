"""The ways to restart something. A restarter's settings model is the restarter: adding one is one file and one line."""

from __future__ import annotations

from argus.services.restarters.command import CommandRestarter

Restarter = CommandRestarter

__all__ = ["CommandRestarter", "Restarter"]
