"""Everything that is measured. A new row is a file in `work/` and a line here.

Not in the folder itself: a contender imports its own file from there, and must not load all the others with it.
"""

from benchmarks.plan import Work
from benchmarks.work import (
    breaker,
    calls,
    checks,
    commands,
    growth,
    guardian,
    hanging,
    heartbeats,
    idle,
    journal,
    libraries,
    many,
    paced,
    ports,
    preflight,
    refusal,
    removal,
    repair,
    requests,
    respawn,
    sse,
    transcripts,
    typing,
)

WORK: dict[str, Work] = {
    "journal": Work("journal", journal.measure),
    "postgres": Work("postgres", journal.measure_postgres),
    "sse": Work("sse", sse.measure),
    "requests": Work("requests", requests.measure),
    "heartbeats": Work("heartbeats", heartbeats.measure),
    "respawn": Work("respawn", respawn.measure, packages=("supervisor",)),
    "commands": Work("commands", commands.measure),
    "idle": Work("idle", idle.measure),
    "checks": Work("checks", checks.measure),
    "paced": Work("paced", paced.measure),
    "many": Work("many", many.measure),
    "growth": Work("growth", growth.measure),
    "hanging": Work("hanging", hanging.measure),
    "repair": Work("repair", repair.measure),
    "repair-docker": Work("repair-docker", repair.measure_docker),
    "guardian": Work("guardian", guardian.measure),
    "breaker": Work("breaker", breaker.measure, packages=("circuitbreaker", "aiobreaker", "purgatory")),
    "calls": Work("calls", calls.measure),
    "transcripts": Work("transcripts", transcripts.measure),
    "typing": Work("typing", typing.measure),
    "refusal": Work("refusal", refusal.measure),
    "preflight": Work("preflight", preflight.measure),
    "ports": Work("ports", ports.measure),
    "removal": Work("removal", removal.measure),
    "libraries": Work("libraries", libraries.measure),
}
