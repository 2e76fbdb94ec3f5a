"""Argus: the supervisor for machines on which AI coding agents work alone."""

__version__ = "0.1.0"
