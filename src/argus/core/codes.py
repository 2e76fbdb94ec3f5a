"""Every error code, whole: what programs get, and what people and agents read about it.

One entry per code: category, default severity, HTTP status, suggested actions, and the words about it, of which
`scripts/errors.py` makes docs/errors.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Category(StrEnum):
    INFRASTRUCTURE = "infrastructure"
    CONTAINER = "container"
    NETWORK = "network"
    SYSTEM = "system"


class Severity(StrEnum):
    FATAL = "fatal"
    RECOVERABLE = "recoverable"
    WARNING = "warning"


class Retry(StrEnum):
    """Whether the same request can succeed another time."""

    NO = "no: the same request is answered the same way"
    LATER = "later, with nothing changed"
    MENDED = "after the cause is mended"


class Code(StrEnum):
    DOCKER_UNAVAILABLE = "DOCKER_UNAVAILABLE"
    DISK_SPACE_LOW = "DISK_SPACE_LOW"
    PORT_CONFLICT = "PORT_CONFLICT"
    PORT_EXHAUSTION = "PORT_EXHAUSTION"
    CONTAINER_OOM = "CONTAINER_OOM"
    CONTAINER_CRASH = "CONTAINER_CRASH"
    CONTAINER_RESTART_EXHAUSTED = "CONTAINER_RESTART_EXHAUSTED"
    HEALTH_CHECK_TIMEOUT = "HEALTH_CHECK_TIMEOUT"
    NETWORK_UNREACHABLE = "NETWORK_UNREACHABLE"
    DNS_RESOLUTION_FAILED = "DNS_RESOLUTION_FAILED"
    CIRCUIT_OPEN = "CIRCUIT_OPEN"
    ORPHAN_DETECTED = "ORPHAN_DETECTED"
    CLEANUP_FAILED = "CLEANUP_FAILED"
    CONFIG_NOT_FOUND = "CONFIG_NOT_FOUND"
    CONFIG_INVALID = "CONFIG_INVALID"
    INVALID_STATE = "INVALID_STATE"
    SERVICE_NOT_FOUND = "SERVICE_NOT_FOUND"
    SUITE_NOT_FOUND = "SUITE_NOT_FOUND"
    CONTAINER_NOT_FOUND = "CONTAINER_NOT_FOUND"
    CONTAINER_NOT_RUNNING = "CONTAINER_NOT_RUNNING"
    MOCK_NOT_FOUND = "MOCK_NOT_FOUND"
    NAME_CONFLICT = "NAME_CONFLICT"
    IMAGE_NOT_FOUND = "IMAGE_NOT_FOUND"
    DOCKER_REFUSED = "DOCKER_REFUSED"
    BUILD_FAILED = "BUILD_FAILED"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    SERVICE_DOWN = "SERVICE_DOWN"
    INFRASTRUCTURE_EVENT = "INFRASTRUCTURE_EVENT"
    RESTART_BUDGET_EXHAUSTED = "RESTART_BUDGET_EXHAUSTED"
    AGENT_NOT_FOUND = "AGENT_NOT_FOUND"
    AGENT_HUNG = "AGENT_HUNG"
    PANE_NOT_FOUND = "PANE_NOT_FOUND"
    PANE_NOT_READY = "PANE_NOT_READY"
    HANDOFF_TIMEOUT = "HANDOFF_TIMEOUT"
    MCP_FAILED = "MCP_FAILED"
    INVALID_REQUEST = "INVALID_REQUEST"
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    CONFLICT = "CONFLICT"
    TOO_LARGE = "TOO_LARGE"
    UNSUPPORTED_TYPE = "UNSUPPORTED_TYPE"
    MISDIRECTED = "MISDIRECTED"
    GATE_REFUSED = "GATE_REFUSED"
    NO_DAEMON = "NO_DAEMON"
    ALREADY_RUNNING = "ALREADY_RUNNING"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    STORE_CORRUPT = "STORE_CORRUPT"
    CLOCK_JUMP = "CLOCK_JUMP"


@dataclass(frozen=True, slots=True)
class Entry:
    """A code, whole: what programs get, and what people and agents read about it (docs/errors.md)."""

    category: Category
    severity: Severity
    status: int
    actions: tuple[str, ...]
    means: str
    when: str
    """Where it comes from."""
    retry: Retry
    agent: str
    """What an agent does; what a person does is in the actions."""
    message: str
    details: dict[str, Any]
    """With `message` an example."""


_I, _C, _N, _S = Category.INFRASTRUCTURE, Category.CONTAINER, Category.NETWORK, Category.SYSTEM
_F, _R, _W = Severity.FATAL, Severity.RECOVERABLE, Severity.WARNING

# fmt: off
REGISTRY: dict[Code, Entry] = {
    Code.DOCKER_UNAVAILABLE: Entry(
        _I, _F, 503, ("start_docker", "check_docker_socket"),
        means="The Docker engine does not answer.",
        when=(
            "`argus env` work, and the preflight check before it, when the engine is stopped, hangs, or may not "
            "be asked."
        ),
        retry=Retry.LATER,
        agent=(
            "Do not blame your work. Wait for `argus context` to say that the engine is back, or ask your person "
            "to start it; then call again."
        ),
        message="the Docker engine at /var/run/docker.sock cannot be reached: No such file or directory",
        details={"place": "/var/run/docker.sock"},
    ),
    Code.DISK_SPACE_LOW: Entry(
        _I, _F, 503, ("free_disk_space", "prune_images", "lower_threshold"),
        means="There is too little room for what is to be done.",
        when=(
            "Preflight, setup and build, when less is free than `resilience.preflight.diskSpaceThreshold`, or "
            "the engine itself has no room."
        ),
        retry=Retry.MENDED,
        agent=(
            "Remove what you made and no longer need (`argus env clean`); else ask your person. Never prune what "
            "is not yours."
        ),
        message="2.1 GB free where Docker keeps its data, 10.0 GB needed",
        details={"availableBytes": 2100000000, "requiredBytes": 10000000000},
    ),
    Code.PORT_CONFLICT: Entry(
        _N, _R, 409, ("stop_port_occupant", "use_other_port"),
        means="A port that is needed is taken.",
        when="The start of Argus; a setup whose `portConflictStrategy` is `fail`.",
        retry=Retry.MENDED,
        agent=(
            "Read `details.pid`. If the process is yours, end it; else let the port be replaced "
            "(`portConflictStrategy: auto`) and read the mapping in the answer."
        ),
        message="port 7117 on 127.0.0.1 is taken by python (pid 4711)",
        details={"port": 7117, "pid": 4711, "program": "python"},
    ),
    Code.PORT_EXHAUSTION: Entry(
        _N, _F, 503, ("free_ports", "widen_port_range"),
        means="No free port was found in the range that may be used.",
        when="A setup, when every port that was tried for a service is taken.",
        retry=Retry.MENDED,
        agent="Clean environments that you left up; else ask for a wider `isolation.portRange`.",
        message="no free port for api: 100 were tried",
        details={"service": "api", "port": 8080, "attempts": 100},
    ),
    Code.CONTAINER_OOM: Entry(
        _C, _R, 503, ("raise_memory_limit", "read_logs"),
        means="A container was ended because it took more memory than its limit.",
        when="Setup, and while an environment is guarded; the limit and the peak are in the details.",
        retry=Retry.MENDED,
        agent=(
            "Read the peak in the details. Make your change take less, or raise the memory limit in the "
            "e2e.yaml, and set up again."
        ),
        message="api used more than its 64 MiB",
        details={"service": "api", "limitBytes": 67108864},
    ),
    Code.CONTAINER_CRASH: Entry(
        _C, _R, 503, ("read_logs", "check_command"),
        means="A container's program ended by itself.",
        when="Setup, before the container was ready, and while an environment is guarded.",
        retry=Retry.MENDED,
        agent=(
            "Read the last lines of its log in the details: it is most likely your change. Mend it, build, set "
            "up again."
        ),
        message="api ended with exit code 1",
        details={"service": "api", "exitCode": 1},
    ),
    Code.CONTAINER_RESTART_EXHAUSTED: Entry(
        _C, _F, 503, ("read_logs", "fix_container", "raise_max_restarts"),
        means="A container was restarted as often as it may be, and keeps ending.",
        when="The guardian of an environment, after `maxRestarts`; each restart's diagnostics are in the details.",
        retry=Retry.MENDED,
        agent=(
            "Compare the diagnostics of the restarts: what is the same in all of them is the cause. Mend it; do "
            "not raise the limit."
        ),
        message="api was restarted 3 times and keeps ending",
        details={"service": "api", "attempts": 3, "cause": "CONTAINER_CRASH"},
    ),
    Code.HEALTH_CHECK_TIMEOUT: Entry(
        _N, _R, 503, ("read_logs", "raise_timeout", "check_health_endpoint"),
        means="Something runs and did not answer its health check in time.",
        when="A service's check, and a setup that waits until a container is ready.",
        retry=Retry.LATER,
        agent=(
            "Read the log that is in the details. If it is only slow to start, raise the timeout; if it hangs, "
            "it is your change."
        ),
        message="api did not become healthy within 60 s",
        details={"service": "api", "timeoutSeconds": 60},
    ),
    Code.NETWORK_UNREACHABLE: Entry(
        _N, _R, 503, ("check_network", "read_topology"),
        means="One container cannot reach another, or a mock.",
        when="Setup, when the network of an environment is verified; the topology is in the details.",
        retry=Retry.MENDED,
        agent=(
            "Read the topology: most often a service or a mock is not on the network that you think it is. "
            "Correct the e2e.yaml."
        ),
        message="api cannot reach payments at 172.20.0.1:9001",
        details={"from": "api", "to": "payments"},
    ),
    Code.DNS_RESOLUTION_FAILED: Entry(
        _N, _R, 503, ("check_host_name", "check_dns"),
        means="A host name has no address.",
        when="A service's check, and the network verification of an environment.",
        retry=Retry.LATER,
        agent="Check the spelling first. A name of a container only resolves on its own network.",
        message="db.internal cannot be resolved",
        details={"host": "db.internal"},
    ),
    Code.CIRCUIT_OPEN: Entry(
        _I, _R, 503, ("wait_for_probe", "reset_circuit", "fix_cause"),
        means="So many calls failed that none is let through for a while. Nothing was tried.",
        when="Everything behind a circuit breaker: the Docker engine, and each MCP server by itself.",
        retry=Retry.LATER,
        agent=(
            "Do not call again in a loop. Wait for `details.retryInSeconds`; one probe is let through then. "
            "Reset it only when the cause is mended."
        ),
        message="docker:shop failed 5 times in a row and is not asked for 24 s more",
        details={
            "breaker": "docker:shop", "failures": 5, "lastFailure": "the engine did not answer within 10 s",
            "retryInSeconds": 24.0,
        },
    ),
    Code.ORPHAN_DETECTED: Entry(
        _C, _W, 409, ("clean_orphans",),
        means="Containers, networks or volumes of a run that is dead are still there.",
        when="Preflight, as a warning; setup removes them unless `cleanOrphans` is off.",
        retry=Retry.LATER,
        agent="Go on: a setup takes them away. Only resources with this project's labels are ever touched.",
        message="2 resources of dead runs are left",
        details={"containers": 1, "networks": 1},
    ),
    Code.CLEANUP_FAILED: Entry(
        _C, _W, 503, ("retry_clean", "remove_by_hand"),
        means="Something of an environment could not be removed; the rest was.",
        when="`argus env clean`, and the end of a setup that failed.",
        retry=Retry.LATER,
        agent="Clean once more. If the same one stays, tell your person which: it is named in the details.",
        message="1 of 6 resources could not be removed",
        details={"failed": ["volume argus-shop-data"]},
    ),
    Code.CONFIG_NOT_FOUND: Entry(
        _S, _F, 404, ("check_path", "create_config"),
        means="A configuration file, or a name in one, is not there, or may not be read.",
        when=(
            "A named argus.yaml or e2e.yaml that does not exist; an agent's config that `agents.configs` does "
            "not have."
        ),
        retry=Retry.MENDED,
        agent="Check the path and the folder you are in; `argus env init` shows what was found from there.",
        message="there is no file /home/ada/shop/e2e.yaml",
        details={"file": "/home/ada/shop/e2e.yaml"},
    ),
    Code.CONFIG_INVALID: Entry(
        _S, _F, 400, ("fix_config", "read_schema"),
        means="A configuration file was read and says something that is not accepted.",
        when=(
            "Start, reload, `argus check`, and everything that reads an e2e.yaml; every mistake is listed with "
            "its line. The start of an agent whose `cwd` is not a folder."
        ),
        retry=Retry.MENDED,
        agent=(
            "Correct every entry of `details.errors`, then `argus check FILE`. On a reload the old configuration "
            "stays in force."
        ),
        message="argus.yaml:4: health.services[0].port: this is needed",
        details={"errors": [{"path": "health.services[0].port", "line": 4, "message": "this is needed"}]},
    ),
    Code.INVALID_STATE: Entry(
        _S, _R, 409, ("read_status", "retry_later"),
        means="What was asked does not fit how things are just now.",
        when=(
            "A restart of what is being restarted, tests of an environment that is not up, a respawn of an agent "
            "that lives."
        ),
        retry=Retry.LATER,
        agent=(
            "Read the state that the message names (`argus status`, `argus env status`), bring about the right "
            "one, call again."
        ),
        message="web is being restarted already",
        details={"act": "0a5c3a44c0ff"},
    ),
    Code.SERVICE_NOT_FOUND: Entry(
        _S, _R, 404, ("list_services", "check_name"),
        means="There is no service of that name.",
        when="Everything that names a service, of argus.yaml or of an e2e.yaml.",
        retry=Retry.NO,
        agent="List them (`argus services list`) and use a name from there; do not guess a second time.",
        message="there is no service 'wev'",
        details={"service": "wev"},
    ),
    Code.SUITE_NOT_FOUND: Entry(
        _S, _R, 404, ("list_suites", "check_name"),
        means="The e2e.yaml has no suite of that id.",
        when="`argus env run-suite`.",
        retry=Retry.NO,
        agent="`argus env init` lists the suites.",
        message="there is no suite 'smok'",
        details={"suite": "smok"},
    ),
    Code.CONTAINER_NOT_FOUND: Entry(
        _C, _R, 404, ("read_status", "check_name"),
        means="There is no container of that name in this environment.",
        when="`argus env logs`, and steps of tests that look into a container.",
        retry=Retry.NO,
        agent="`argus env status` lists them. One that was removed by hand comes back with the next setup.",
        message="there is no container 'api2'",
        details={"container": "api2"},
    ),
    Code.CONTAINER_NOT_RUNNING: Entry(
        _C, _R, 409, ("read_status", "run_setup"),
        means="The container is there and does not run.",
        when="What needs to act inside a container: steps of tests, file checks, probes.",
        retry=Retry.LATER,
        agent="Read why in `argus env status` and its log; the guardian may be bringing it back just now.",
        message="api does not run",
        details={"container": "api"},
    ),
    Code.MOCK_NOT_FOUND: Entry(
        _S, _R, 404, ("read_status", "check_name"),
        means="The environment has no mock of that name.",
        when="`argus env mock-requests`.",
        retry=Retry.NO,
        agent="`argus env status` lists the mocks.",
        message="there is no mock 'paymets'",
        details={"mock": "paymets"},
    ),
    Code.NAME_CONFLICT: Entry(
        _C, _R, 409, ("rename", "remove_by_hand"),
        means="Docker has something of that name which is not this environment's.",
        when="Setup and preflight, for containers, networks and volumes.",
        retry=Retry.MENDED,
        agent="It is somebody else's, so leave it. Choose another name or another `project` in the e2e.yaml.",
        message="the network shop is there already",
        details={"kind": "network", "name": "shop"},
    ),
    Code.IMAGE_NOT_FOUND: Entry(
        _C, _R, 404, ("build_image", "check_name"),
        means="The engine does not have the image.",
        when="Setup, and an image that cannot be pulled.",
        retry=Retry.MENDED,
        agent="If this project builds it: `argus env build`. Else check its spelling.",
        message="there is no image 'shop:dev'",
        details={"image": "shop:dev"},
    ),
    Code.DOCKER_REFUSED: Entry(
        _C, _R, 409, ("read_details", "fix_config"),
        means="The engine understood and said no; trying again changes nothing.",
        when="Any work with the engine: a bad option, a mount that may not be made.",
        retry=Retry.MENDED,
        agent="Read `details.said`, the engine's own words, and correct the e2e.yaml.",
        message="the Docker engine refused: invalid mount config",
        details={"said": "invalid mount config", "status": 400},
    ),
    Code.BUILD_FAILED: Entry(
        _C, _R, 400, ("read_build_log", "fix_dockerfile"),
        means="An image could not be built.",
        when="`argus env build`, and a setup that builds first.",
        retry=Retry.MENDED,
        agent="Read the end of `details.output`: it is most likely your change or the Dockerfile.",
        message="shop:dev: the build failed",
        details={"output": "npm ERR! missing script: build"},
    ),
    Code.INTERNAL_ERROR: Entry(
        _S, _F, 500, ("read_daemon_log", "report_bug"),
        means="Argus met something that it should not have met.",
        when="Anywhere; the log of the daemon has the traceback.",
        retry=Retry.LATER,
        agent="Try once more. If it happens again, tell your person and go on without it.",
        message="Argus failed: KeyError: 'file'",
        details={},
    ),
    Code.SERVICE_DOWN: Entry(
        _I, _R, 503, ("read_incident", "restart_service"),
        means="A service that is watched is down, and that is confirmed.",
        when="An observation more than a refusal: events, incidents, notifications, `argus context`.",
        retry=Retry.LATER,
        agent=(
            "Work that needs it cannot pass now. Read the incident: Argus may be restarting it. Ask for a "
            "restart at most once."
        ),
        message="web is down: connection refused",
        details={"service": "web", "incident": "c30e09443b50"},
    ),
    Code.INFRASTRUCTURE_EVENT: Entry(
        _I, _F, 503, ("check_machine", "wait_for_end"),
        means=(
            "Several services fail together: the machine, the network or what they share is the cause, not each "
            "of them."
        ),
        when=(
            "When `correlatedFailureThreshold` services fail within their intervals; nothing is restarted while "
            "it lasts."
        ),
        retry=Retry.LATER,
        agent="Do not restart anything and do not change code because of these failures. Wait until it has ended.",
        message="3 services fail together: api, db, web",
        details={"services": ["api", "db", "web"]},
    ),
    Code.RESTART_BUDGET_EXHAUSTED: Entry(
        _I, _R, 409, ("find_cause", "wait_for_budget", "raise_budget"),
        means="The restarts of this hour are used up.",
        when="A restart that Argus would do, or that somebody asks for.",
        retry=Retry.LATER,
        agent=(
            "More restarts would not help. Find the cause: logs, the last change, the incident. It is told to "
            "your person already."
        ),
        message="web was not restarted: budget",
        details={
            "service": "web", "gate": "budget",
            "hint": "all 2 restarts of this hour are spent; at 03:09 UTC there is room again",
        },
    ),
    Code.AGENT_NOT_FOUND: Entry(
        _S, _R, 404, ("list_agents", "check_name"),
        means="There is no agent of that id.",
        when="Everything that names an agent.",
        retry=Retry.NO,
        agent="`argus agents list`. After a respawn the id has the next number.",
        message="there is no agent 'shop-green007'",
        details={"agent": "shop-green007"},
    ),
    Code.AGENT_HUNG: Entry(
        _S, _R, 503, ("look_at_agent", "stop_agent"),
        means="An agent's process lives and does nothing: no beat, no output, no use of the processor.",
        when="An observation: events, notifications, `argus status`.",
        retry=Retry.LATER,
        agent="It is about another agent, or about you before you were respawned. Nothing to do.",
        message="shop-green001 has been silent for 240 s",
        details={"agent": "shop-green001", "silentSeconds": 240.0},
    ),
    Code.PANE_NOT_FOUND: Entry(
        _S, _R, 404, ("list_sessions", "check_name"),
        means="No agent is seen in the tmux session that is meant.",
        when="Typing into a session, a handoff.",
        retry=Retry.MENDED,
        agent="Check the session's name: targets are exact. An agent that was closed has to be started again first.",
        message="no agent is seen in a tmux session shop-ps",
        details={"project": "shop"},
    ),
    Code.PANE_NOT_READY: Entry(
        _S, _R, 409, ("look_at_agent", "retry_later"),
        means=(
            "The agent is there and cannot be typed to now: it works, asks something, or somebody has typed half "
            "a line."
        ),
        when="Typing into a session, a handoff. Nothing was typed.",
        retry=Retry.LATER,
        agent="Wait until it is idle; a person's half-typed line is never overwritten.",
        message="nothing was typed: a line is half typed",
        details={"project": "shop", "reason": "a line is half typed"},
    ),
    Code.HANDOFF_TIMEOUT: Entry(
        _S, _R, 503, ("look_at_agent", "hand_off_by_hand"),
        means="A session was asked for its handoff and did not write it in time. Nothing was cleared.",
        when="A handoff, by hand or because the context was nearly full.",
        retry=Retry.LATER,
        agent="If you are that session: write the document to the path that was named, whole, and say so.",
        message="no handoff was written within 10 minutes",
        details={"project": "shop"},
    ),
    Code.MCP_FAILED: Entry(
        _I, _R, 503, ("check_mcp_server", "retry_later"),
        means="Another MCP server, or the model that was asked, gave no usable answer.",
        when="`argus call` and `argus ask`; `details.cause` or `details.reason` says whose fault it was.",
        retry=Retry.LATER,
        agent=(
            "Read the cause. `refused` is about your arguments; a server that fails is behind a breaker, so do "
            "not loop."
        ),
        message="the MCP server github: it ended with status 1",
        details={"server": "github", "reason": "ended"},
    ),
    Code.INVALID_REQUEST: Entry(
        _S, _R, 400, ("fix_request", "read_openapi"),
        means="The request is not one that can be understood.",
        when="Every door: wrong fields, wrong values, wrong use of the command line (exit code 2).",
        retry=Retry.NO,
        agent="Correct the fields that `details.errors` names. The same request will be refused again.",
        message="for: this is needed",
        details={"errors": [{"field": "for", "message": "this is needed"}]},
    ),
    Code.UNAUTHORIZED: Entry(
        _S, _R, 401, ("send_token", "print_token"),
        means="There is no token, or one that is not known.",
        when="Every page of the API but /healthz, the page's own files and its login.",
        retry=Retry.NO,
        agent="Use the token in ARGUS_TOKEN. Do not look for another one.",
        message="the token is missing",
        details={},
    ),
    Code.FORBIDDEN: Entry(
        _S, _R, 403, ("use_other_token", "same_origin"),
        means="The token is good and may not do this.",
        when="An agent's token outside of its own project or above its rights; a page of another origin.",
        retry=Retry.NO,
        agent="It is meant. Ask your person instead of trying another way.",
        message="this needs a token that may change settings; this one is of the kind agent",
        details={},
    ),
    Code.NOT_FOUND: Entry(
        _S, _R, 404, ("check_path", "read_openapi"),
        means="There is nothing under that path or id.",
        when="Unknown pages of the API, incidents, spawns, stop requests, MCP servers and tools.",
        retry=Retry.NO,
        agent="List what there is; ids do not change.",
        message="there is no incident 'abc'",
        details={"id": "abc"},
    ),
    Code.METHOD_NOT_ALLOWED: Entry(
        _S, _R, 405, ("read_openapi",),
        means="The page is there and takes another method.",
        when="The API; `details.allow` names the right one.",
        retry=Retry.NO,
        agent="Use the method in `details.allow`.",
        message="GET is not for /api/reload; POST is",
        details={"allow": "POST"},
    ),
    Code.CONFLICT: Entry(
        _S, _R, 409, ("read_status", "retry_later"),
        means="Somebody else was first, or something is there already.",
        when=(
            "A claim that is taken, an answered stop request, a file that would be overwritten, a limit of how "
            "many there may be."
        ),
        retry=Retry.LATER,
        agent="Read what is in the way. If it is another agent's work, leave it to that agent.",
        message="stop request 7 is answered already: approved",
        details={"id": 7},
    ),
    Code.TOO_LARGE: Entry(
        _S, _R, 413, ("send_less",),
        means="More was sent than is taken.",
        when="Bodies above 1 MiB; a shell's environment that is too large to be sent along.",
        retry=Retry.NO,
        agent="Send less: a path instead of a file's content.",
        message="the body has more than 1 MiB",
        details={"limit": 1048576},
    ),
    Code.UNSUPPORTED_TYPE: Entry(
        _S, _R, 415, ("send_json",),
        means="The body is not JSON by its Content-Type.",
        when="The API.",
        retry=Retry.NO,
        agent="Send `Content-Type: application/json`.",
        message="a body is application/json, not text/plain",
        details={"type": "text/plain"},
    ),
    Code.MISDIRECTED: Entry(
        _S, _R, 421, ("use_loopback_name",),
        means="The request names a host that this Argus is not.",
        when="The API; it keeps other pages from reaching Argus by a name of theirs.",
        retry=Retry.NO,
        agent="Use http://127.0.0.1 with the port, as `argus status --json` says it.",
        message="Argus does not answer to the host 'argus.example'",
        details={"host": "argus.example"},
    ),
    Code.GATE_REFUSED: Entry(
        _S, _R, 409, ("read_gate", "ask_person"),
        means="A rule that you or your person set says no. Nothing was done.",
        when=(
            "Restarts and respawns: autonomy, maintenance, a dependency that is down, an infrastructure event, a "
            "grace period, an outage in which it was restarted already (a person may restart it again)."
        ),
        retry=Retry.LATER,
        agent=(
            "It is a correct answer, not a failure. `details.gate` names the rule and `details.hint` says how it "
            "opens: by itself, or by what a person does. Do not go round it."
        ),
        message="web was not restarted: autonomy",
        details={
            "service": "web", "gate": "autonomy",
            "hint": "restart requires moderate+; argus autonomy moderate allows it",
        },
    ),
    Code.NO_DAEMON: Entry(
        _S, _R, 503, ("start_daemon",),
        means="No Argus runs on this state folder, it is about to end, or it does not answer.",
        when=(
            "Commands with ARGUS_NO_AUTOSTART=1, a daemon that could not start or stops just now (exit code 3). With "
            "details.pid it is stopped, hangs, or ended before it had answered: details.hint says what to do."
        ),
        retry=Retry.LATER,
        agent="Start it with `argus up --detach` if you may; else go on without it and say so.",
        message="no Argus runs on this state folder",
        details={"folder": "/home/ada/.local/state/argus"},
    ),
    Code.ALREADY_RUNNING: Entry(
        _S, _R, 409, ("use_running_daemon", "stop_daemon", "use_other_home"),
        means="Another Argus runs on this state folder or this store.",
        when="The start of Argus.",
        retry=Retry.NO,
        agent="Use the one that runs: `argus status`.",
        message="another Argus (pid 4711) runs on this state folder",
        details={"pid": 4711},
    ),
    Code.STORE_UNAVAILABLE: Entry(
        _S, _F, 503, ("check_disk", "check_store", "retry_later"),
        means="The record cannot be read or written, so nothing is done: no act without a record.",
        when="Start, and every change while the disk is full or the database is away. It recovers by itself.",
        retry=Retry.LATER,
        agent="Wait. What you asked was not done; ask again when `argus status` is well.",
        message="the store cannot be opened: database is locked",
        details={"path": "/home/ada/.local/state/argus/argus.db"},
    ),
    Code.STORE_CORRUPT: Entry(
        _S, _F, 503, ("look_at_set_aside_store", "check_disk"),
        means="The record was damaged and was set aside; a new one was begun.",
        when="The start of Argus. For one hour every restart counts as spent.",
        retry=Retry.LATER,
        agent="Nothing to do: restarts are refused for an hour.",
        message="the store was damaged and is kept as argus.db.corrupt-1794818295718",
        details={"kept": "argus.db.corrupt-1794818295718"},
    ),
    Code.CLOCK_JUMP: Entry(
        _S, _W, 503, ("check_clock",),
        means="Time did not pass as it should: sleep, a step of the clock, or a stall.",
        when="An observation: an event. Nothing that was seen before counts; nothing is restarted because of it.",
        retry=Retry.LATER,
        agent="Nothing to do. Do not trust durations that you measured across it.",
        message="the clock was set forward by 7200 s",
        details={"kind": "step", "seconds": 7200.0},
    ),
}
# fmt: on
