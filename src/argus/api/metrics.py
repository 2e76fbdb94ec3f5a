"""Prometheus metrics: what is in memory, as text. No histogram: with thousands of services a scrape would cost seconds.

Written here and not by a client library: these are lines of a name, labels and a number, made from what is known
anyway, and kept nowhere twice.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from argus.agents.model import State
from argus.core import breaker
from argus.core.autonomy import Level
from argus.ops.house import House
from argus.services.model import Status

TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PAGE = resource.getpagesize()


def text(house: House) -> str:
    return "\n".join([*_house(house), *_services(house), *_agents(house), *_process(house), ""])


Sample = tuple[dict[str, str], float]


def _metric(name: str, kind: str, help: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{name}{{{inside}}} {value!r}" if inside else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _house(house: House) -> Iterator[str]:
    watch = house.watch
    left, most = watch.budget()
    yield from _metric("argus_info", "gauge", "Argus itself.", [({"version": house.facts.version}, 1)])
    levels: list[Sample] = [({"level": one.value}, float(one is house.autonomy.level)) for one in Level]
    yield from _metric("argus_autonomy", "gauge", "1 for the level in force.", levels)
    yield from _metric("argus_restart_budget_left", "gauge", "Restarts left in this sliding hour.", [({}, left)])
    yield from _metric("argus_restart_budget", "gauge", "Restarts that one hour allows.", [({}, most)])
    event = float(watch.infrastructure_event is not None)
    yield from _metric("argus_infrastructure_event", "gauge", "1 while one is open.", [({}, event)])
    held = [({"breaker": name}, one.breaker) for name, one in house.breakers.circuits.items()]
    open_ones: list[Sample] = [(labels, float(one.state is not breaker.State.CLOSED)) for labels, one in held]
    yield from _metric("argus_breaker_open", "gauge", "1 while it is open or half-open.", open_ones)
    well = float(house.store.problem is None and not house.notes.waiting)
    yield from _metric("argus_store_writable", "gauge", "0 while the record is away or behind.", [({}, well)])
    yield from _metric("argus_store_waiting", "gauge", "Records that wait to be written.", [({}, house.notes.waiting)])


def _services(house: House) -> Iterator[str]:
    watch = house.watch
    named = [({"service": name, "type": getattr(watch.services[name], "type", "")}, watch.healths[name])
             for name in sorted(watch.services)]  # fmt: skip
    judged = [(labels, one) for labels, one in named if one.status not in (Status.PENDING, Status.UNKNOWN)]
    yield from _metric(
        "argus_service_up", "gauge", "1 when it answers, 0 when it is down; absent while nobody knows.",
        ((labels, float(one.status.alive)) for labels, one in judged),
    )  # fmt: skip
    yield from _metric(
        "argus_service_degraded", "gauge", "1 when it answers with errors.",
        ((labels, float(one.status is Status.DEGRADED)) for labels, one in judged),
    )  # fmt: skip
    yield from _metric(
        "argus_service_failures", "gauge", "Consecutive failures.",
        ((labels, float(one.failures)) for labels, one in named),
    )  # fmt: skip
    yield from _metric(
        "argus_service_flapping", "gauge", "1 while it goes up and down.",
        ((labels, float(one.flapping is not None)) for labels, one in named),
    )  # fmt: skip
    yield from _metric(
        "argus_service_latency_seconds", "gauge", "Of the last check that was answered.",
        ((labels, one.last.seen.latency) for labels, one in named if one.last and one.last.seen.latency is not None),
    )  # fmt: skip
    yield from _metric(
        "argus_service_certificate_end_seconds", "gauge", "When its certificate ends, as Unix time.",
        ((labels, one.last.seen.tls_expires) for labels, one in named if one.last and one.last.seen.tls_expires),
    )  # fmt: skip


def _agents(house: House) -> Iterator[str]:
    agents = house.crew.agents
    counts = Counter(one.state for one in agents)
    shown = [state for state in State if not state.is_over]
    yield from _metric(
        "argus_agents", "gauge", "Agents by state.", (({"state": one.value}, float(counts[one])) for one in shown)
    )
    yield from _metric(
        "argus_agent_silence_seconds", "gauge", "Since its last sign of life.",
        (({"agent": one.id}, round(house.crew.silence(one), 3)) for one in agents),
    )  # fmt: skip


def _process(house: House) -> Iterator[str]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    yield from _metric(
        "process_cpu_seconds_total", "counter", "Processor time used.", [({}, used.ru_utime + used.ru_stime)]
    )
    tasks = len(asyncio.all_tasks())
    yield from _metric(
        "argus_tasks", "gauge", "Tasks of the event loop; they do not grow by themselves.", [({}, tasks)]
    )
    yield from _metric("process_start_time_seconds", "gauge", "As Unix time.", [({}, house.facts.started)])
    try:
        resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except OSError:
        return
    yield from _metric("process_resident_memory_bytes", "gauge", "Memory in use.", [({}, resident)])
