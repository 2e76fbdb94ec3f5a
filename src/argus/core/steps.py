"""What the steps of long work say, in words: on a terminal, in plain lines, and to an agent that waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Texts = Mapping[str, Callable[[Mapping[str, Any]], str]]


def _verdict(data: Mapping[str, Any]) -> str:
    return "FAILED" if data["status"] == "failed" else str(data["status"])


def _number(data: Mapping[str, Any]) -> str:
    return f"{data['number']}/{data['total']}"


def _why(data: Mapping[str, Any]) -> str:
    return f": {data['message']}" if data["status"] == "failed" and data["message"] else ""


TEXTS: Texts = {
    "build:build_started": lambda data: f"building {data['image']}",
    "build:build_output": lambda data: f"  {data['line']}",
    "build:build_finished": lambda data: f"built {data['image']} in {data['seconds']:g} s",
    "setup:waiting_for_turn": lambda data: "waiting: another change of this environment is under way",
    "setup:network_created": lambda data: f"network {data['network']}",
    "setup:service_starting": lambda data: f"{data['service']}: starting",
    "setup:service_waiting": lambda data: f"{data['service']}: waiting, {data['waitingFor']}",
    "setup:service_ready": lambda data: f"{data['service']}: ready after {data['seconds']:g} s",
    "resilience:preflight_check": lambda data: f"{data['name']}: {data['status']}, {data['message']}",
    "resilience:port_reassigned": lambda data: f"{data['service']}: port {data['original']} -> {data['actual']}",
    "resilience:network_check": lambda data: f"{data['service']}: {data['status']}",
    "resilience:cleanup_resource": lambda data: f"{data['resourceType']} {data['name']}: {data['action']}",
    "resilience:restart_attempt": lambda data: f"{data['container']}: {data['reason']}; restart {data['attempt']}",
    "resilience:restart_success": lambda data: f"{data['container']}: back after restart {data['attempt']}",
    "resilience:restart_exhausted": lambda data: f"{data['container']}: GIVEN UP after {data['attempts']} attempts",
    "services:restart_waits": lambda data: f"{data['service']}: waiting, {data['hint']}",
    "test:suite_started": lambda data: f"{data['suite']}: {data['runner']}",
    "test:suite_output": lambda data: f"{data['suite']}  | {data['line']}",
    "test:suite_retried": lambda data: f"{data['suite']}: again, attempt {data['attempt']}",
    "test:suite_ended": lambda data: f"{data['suite']}: {_verdict(data)} in {data['duration'] / 1000:.3g} s",
    "test:case_ended": lambda data: f"{data['suite']} {_number(data)} {_verdict(data)}  {data['case']}{_why(data)}",
}
PASSING: Texts = {
    "test:case_started": lambda data: f"{data['suite']} {_number(data)} {data['case']}",
    "test:suite_output": TEXTS["test:suite_output"],
}
"""What a terminal shows until the next comes."""


def said(event: str, data: Mapping[str, Any], texts: Texts = TEXTS) -> str:
    """`event`: channel and type. Empty: it is nothing to be told of, or does not hold what it should."""
    make = texts.get(event)
    try:
        return make(data) if make else ""
    except (KeyError, TypeError, ValueError):
        return ""
