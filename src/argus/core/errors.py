"""Error codes, their registry and the structured form that programs and agents act on.

A failed probe is an observation. An `ArgusError` means that Argus could not do what it was asked to do.
One line per code: category, default severity, HTTP status, suggested actions.
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
    category: Category
    severity: Severity
    status: int
    actions: tuple[str, ...]


_I, _C, _N, _S = Category.INFRASTRUCTURE, Category.CONTAINER, Category.NETWORK, Category.SYSTEM
_F, _R, _W = Severity.FATAL, Severity.RECOVERABLE, Severity.WARNING

REGISTRY: dict[Code, Entry] = {
    Code.DOCKER_UNAVAILABLE: Entry(_I, _F, 503, ("start_docker", "check_docker_socket")),
    Code.DISK_SPACE_LOW: Entry(_I, _F, 503, ("free_disk_space", "prune_images", "lower_threshold")),
    Code.PORT_CONFLICT: Entry(_N, _R, 409, ("stop_port_occupant", "use_other_port")),
    Code.PORT_EXHAUSTION: Entry(_N, _F, 503, ("free_ports", "widen_port_range")),
    Code.CONTAINER_OOM: Entry(_C, _R, 503, ("raise_memory_limit", "read_logs")),
    Code.CONTAINER_CRASH: Entry(_C, _R, 503, ("read_logs", "check_command")),
    Code.CONTAINER_RESTART_EXHAUSTED: Entry(_C, _F, 503, ("read_logs", "fix_container", "raise_max_restarts")),
    Code.HEALTH_CHECK_TIMEOUT: Entry(_N, _R, 503, ("read_logs", "raise_timeout", "check_health_endpoint")),
    Code.NETWORK_UNREACHABLE: Entry(_N, _R, 503, ("check_network", "read_topology")),
    Code.DNS_RESOLUTION_FAILED: Entry(_N, _R, 503, ("check_host_name", "check_dns")),
    Code.CIRCUIT_OPEN: Entry(_I, _R, 503, ("wait_for_probe", "reset_circuit", "fix_cause")),
    Code.ORPHAN_DETECTED: Entry(_C, _W, 409, ("clean_orphans",)),
    Code.CLEANUP_FAILED: Entry(_C, _W, 503, ("retry_clean", "remove_by_hand")),
    Code.CONFIG_NOT_FOUND: Entry(_S, _F, 404, ("check_path", "create_config")),
    Code.CONFIG_INVALID: Entry(_S, _F, 400, ("fix_config", "read_schema")),
    Code.INVALID_STATE: Entry(_S, _R, 409, ("read_status", "retry_later")),
    Code.SERVICE_NOT_FOUND: Entry(_S, _R, 404, ("list_services", "check_name")),
    Code.SUITE_NOT_FOUND: Entry(_S, _R, 404, ("list_suites", "check_name")),
    Code.CONTAINER_NOT_FOUND: Entry(_C, _R, 404, ("read_status", "check_name")),
    Code.CONTAINER_NOT_RUNNING: Entry(_C, _R, 409, ("read_status", "run_setup")),
    Code.MOCK_NOT_FOUND: Entry(_S, _R, 404, ("read_status", "check_name")),
    Code.NAME_CONFLICT: Entry(_C, _R, 409, ("rename", "remove_by_hand")),
    Code.IMAGE_NOT_FOUND: Entry(_C, _R, 404, ("build_image", "check_name")),
    Code.DOCKER_REFUSED: Entry(_C, _R, 409, ("read_details", "fix_config")),
    Code.BUILD_FAILED: Entry(_C, _R, 400, ("read_build_log", "fix_dockerfile")),
    Code.INTERNAL_ERROR: Entry(_S, _F, 500, ("read_daemon_log", "report_bug")),
    Code.SERVICE_DOWN: Entry(_I, _R, 503, ("read_incident", "restart_service")),
    Code.INFRASTRUCTURE_EVENT: Entry(_I, _F, 503, ("check_machine", "wait_for_end")),
    Code.RESTART_BUDGET_EXHAUSTED: Entry(_I, _R, 409, ("find_cause", "wait_for_budget", "raise_budget")),
    Code.AGENT_NOT_FOUND: Entry(_S, _R, 404, ("list_agents", "check_name")),
    Code.AGENT_HUNG: Entry(_S, _R, 503, ("look_at_agent", "stop_agent")),
    Code.PANE_NOT_FOUND: Entry(_S, _R, 404, ("list_sessions", "check_name")),
    Code.PANE_NOT_READY: Entry(_S, _R, 409, ("look_at_agent", "retry_later")),
    Code.HANDOFF_TIMEOUT: Entry(_S, _R, 503, ("look_at_agent", "hand_off_by_hand")),
    Code.MCP_FAILED: Entry(_I, _R, 503, ("check_mcp_server", "retry_later")),
    Code.INVALID_REQUEST: Entry(_S, _R, 400, ("fix_request", "read_openapi")),
    Code.UNAUTHORIZED: Entry(_S, _R, 401, ("send_token", "print_token")),
    Code.FORBIDDEN: Entry(_S, _R, 403, ("use_other_token", "same_origin")),
    Code.NOT_FOUND: Entry(_S, _R, 404, ("check_path", "read_openapi")),
    Code.METHOD_NOT_ALLOWED: Entry(_S, _R, 405, ("read_openapi",)),
    Code.CONFLICT: Entry(_S, _R, 409, ("read_status", "retry_later")),
    Code.TOO_LARGE: Entry(_S, _R, 413, ("send_less",)),
    Code.UNSUPPORTED_TYPE: Entry(_S, _R, 415, ("send_json",)),
    Code.MISDIRECTED: Entry(_S, _R, 421, ("use_loopback_name",)),
    Code.GATE_REFUSED: Entry(_S, _R, 409, ("read_gate", "ask_person")),
    Code.NO_DAEMON: Entry(_S, _R, 503, ("start_daemon",)),
    Code.ALREADY_RUNNING: Entry(_S, _R, 409, ("use_running_daemon", "stop_daemon", "use_other_home")),
    Code.STORE_UNAVAILABLE: Entry(_S, _F, 503, ("check_disk", "check_store", "retry_later")),
    Code.STORE_CORRUPT: Entry(_S, _F, 503, ("look_at_set_aside_store", "check_disk")),
    Code.CLOCK_JUMP: Entry(_S, _W, 503, ("check_clock",)),
}

IN_ENVIRONMENTS: dict[Code, tuple[str, ...]] = {
    Code.PORT_CONFLICT: ("stop_port_occupant", "use_other_host_port", "allow_other_ports"),
    Code.CONFIG_NOT_FOUND: ("check_path", "create_environment_file"),
    Code.CONTAINER_NOT_FOUND: ("read_environment", "check_name"),
    Code.CONTAINER_NOT_RUNNING: ("read_environment", "run_setup"),
    Code.SERVICE_NOT_FOUND: ("list_environment_services", "check_name"),
    Code.MOCK_NOT_FOUND: ("read_environment", "check_name"),
    Code.INVALID_STATE: ("run_setup", "read_environment"),
}
"""What is suggested where an e2e.yaml is meant, and not argus.yaml, its services or its port."""

IN_SETTINGS: dict[Code, tuple[str, ...]] = {
    Code.CONFIG_INVALID: ("fix_settings", "use_other_settings"),
    Code.INVALID_REQUEST: ("use_other_settings", "check_path"),
}
"""What is suggested where the settings of an agent's program are meant, and not argus.yaml."""

IN_BRIDGE: dict[Code, tuple[str, ...]] = {
    Code.NOT_FOUND: ("list_mcp_servers", "list_mcp_tools"),
    Code.INVALID_REQUEST: ("list_mcp_tools", "fix_request"),
    Code.CONFIG_INVALID: ("list_mcp_servers", "fix_mcp_file"),
}
"""What is suggested where another MCP server is meant, and the file that names it."""

IN_ANSWERS: dict[str, tuple[str, ...]] = {
    "answer_too_large": ("ask_for_less",),
    "refused": ("list_mcp_tools", "fix_request"),
}
"""What is suggested where an MCP server is well and gave no answer, by the reason."""

ABOUT_SESSIONS = ("list_sessions", "check_name")
ABOUT_SPAWNS = ("list_spawns",)
"""What is suggested where one of these was not found, and not a path of the API."""

# The identifiers are the contract; the sentences are for people.
ACTIONS: dict[str, str] = {
    "allow_other_ports": "Let taken ports be replaced: resilience.network.portConflictStrategy: auto.",
    "ask_for_less": "Ask for less at once, or say more plainly what is wanted.",
    "ask_person": "Ask the person who runs Argus, or wait until the gate opens.",
    "read_details": "Read what was said: it is in the details.",
    "build_image": "Build the images: argus env build; or pull it: docker pull IMAGE.",
    "check_clock": "Check the machine's clock and its time synchronisation.",
    "check_command": "Check the container's command and its exit code.",
    "check_disk": "Check that the disk is not full and is writable.",
    "check_dns": "Check the machine's resolver (/etc/resolv.conf) and its connection.",
    "check_docker_socket": "Check DOCKER_HOST and the permissions of the engine's socket.",
    "check_health_endpoint": "Check that the health endpoint answers within its timeout.",
    "check_host_name": "Check the spelling of the host name.",
    "check_machine": "Look at what the failing services share: network, disk, memory, the machine itself.",
    "check_mcp_server": "Check that the MCP server starts and answers.",
    "check_model": "Check the model's name and that claude is logged in: claude -p hello.",
    "check_name": "Check the spelling of the name.",
    "check_network": "Check that both ends are on the same network.",
    "check_path": "Check the path.",
    "check_store": "Check the store's file, its permissions and who else has it open.",
    "clean_orphans": "Remove the orphans: argus env preflight --auto-fix.",
    "create_config": "Write an argus.yaml; argus schema argus lists what it may say.",
    "create_environment_file": "Write an e2e.yaml; argus schema e2e lists what it may say.",
    "find_cause": "Find out why it keeps failing; restarting has not helped.",
    "fix_cause": "Repair what the recorded failures name.",
    "fix_config": "Correct the named places in the file, then: argus check FILE.",
    "fix_container": "Repair what makes the container exit; its diagnostics are in the details.",
    "fix_dockerfile": "Correct the Dockerfile or its context.",
    "fix_mcp_file": "Correct the server in the file that details.source names.",
    "fix_request": "Correct the named fields and send the request again.",
    "fix_schema": "Make the JSON schema fit what can be answered, or ask for text.",
    "fix_settings": "Correct what is named in the settings file; then repeat the command.",
    "free_disk_space": "Free disk space on the named file system.",
    "free_ports": "Stop programs that hold ports of the range.",
    "hand_off_by_hand": "Write the handoff by hand, then clear the session.",
    "install_claude": "Install Claude Code, or name it: bridge.program in argus.yaml.",
    "list_agents": "See which agents there are: argus agents list.",
    "list_environment_services": "See which services the e2e.yaml has: argus env init.",
    "list_mcp_servers": "See which MCP servers there are, and what is wrong: argus bridge servers.",
    "list_mcp_tools": "See the tools of an MCP server with their schemas: argus bridge tools SERVER.",
    "list_services": "See which services there are: argus services list.",
    "list_sessions": "See which sessions there are: argus sessions list.",
    "list_spawns": "See which spawns there are: argus spawns list.",
    "list_suites": "See which suites the e2e.yaml has: argus env init.",
    "look_at_agent": "Look at what the agent is doing in its terminal.",
    "look_at_set_aside_store": "The damaged store was kept beside the new one; look at it before deleting it.",
    "lower_threshold": "Lower resilience.preflight.diskSpaceThreshold if the space is enough.",
    "print_token": "Print the token: argus token.",
    "prune_images": "Remove unused images: docker image prune.",
    "raise_budget": "Raise health.restartBudget.maxPerHour in argus.yaml, then: argus reload.",
    "raise_max_concurrent": "Raise bridge.maxConcurrent in argus.yaml if the machine and the account can bear it.",
    "raise_max_restarts": "Raise resilience.container.maxRestarts.",
    "raise_max_turns": "Allow more turns: maxTurns.",
    "raise_memory_limit": "Raise the container's memory limit.",
    "raise_timeout": "Raise the timeout if it is only slow.",
    "read_build_log": "Read the build's output in the details.",
    "read_daemon_log": "Read argus.log in the logs folder of the state folder.",
    "read_environment": "Read how the environment stands: argus env status.",
    "read_gate": "Read which gate refused in details.gate; details.hint says how it opens.",
    "read_incident": "Read what was seen and done: argus explain INCIDENT.",
    "read_logs": "Read its logs.",
    "read_openapi": "Read what is accepted: GET /openapi.json.",
    "read_schema": "Read what is accepted: argus schema argus, or argus schema e2e.",
    "read_status": "Read the present state: argus status.",
    "read_topology": "Read the topology in the details.",
    "remove_by_hand": "Look at the named resource and remove it by hand.",
    "rename": "Choose another name.",
    "report_bug": "Report it with the daemon's log; this should not happen.",
    "reset_circuit": "When the cause is mended, let a probe through: argus env reset-circuit or argus breakers reset.",
    "restart_service": "Ask for a restart through the gates: argus services restart NAME.",
    "retry_clean": "Clean again.",
    "retry_later": "Try again a little later.",
    "run_setup": "Bring the environment up: argus env setup.",
    "same_origin": "Send the request from Argus's own page, or without an Origin header.",
    "send_json": "Send the body as application/json.",
    "send_less": "Send a smaller body (at most 1 MiB).",
    "send_token": "Send the header: Authorization: Bearer TOKEN.",
    "start_daemon": "Start Argus: argus up --detach.",
    "start_docker": "Start the Docker engine.",
    "stop_agent": "Stop the agent: argus agents stop ID.",
    "stop_daemon": "Stop the running Argus: argus down.",
    "stop_port_occupant": "Stop the program that holds the port; details name it where it can be seen.",
    "use_loopback_name": "Use http://127.0.0.1 or http://localhost, or name the host under server.host.",
    "use_other_host_port": "Use another host port: container.ports in the e2e.yaml.",
    "use_other_home": "Use another state folder: ARGUS_HOME=FOLDER.",
    "use_other_port": "Use another port: server.port in argus.yaml, or argus up --port N.",
    "use_other_settings": "Name another settings file: --settings FILE.",
    "use_other_token": "Use a token that is allowed to do this.",
    "use_running_daemon": "Use the Argus that is running: argus status.",
    "wait_for_budget": "Wait until the sliding hour has room again.",
    "wait_for_end": "Wait until the infrastructure event has ended; nothing is restarted before.",
    "wait_for_limit": "Wait until the limit is over; the message says when, where that is known.",
    "wait_for_probe": "Wait until the breaker lets its next probe through.",
    "widen_port_range": "Widen isolation.portRange.",
}

# What the CLI answers with; everything else is 1: the thing asked about is not well.
_EXIT = {
    Code.NO_DAEMON: 3,
    Code.GATE_REFUSED: 4,
    Code.RESTART_BUDGET_EXHAUSTED: 4,
    Code.CONFIG_INVALID: 2,
    Code.CONFIG_NOT_FOUND: 2,
    Code.INVALID_REQUEST: 2,
    Code.SERVICE_NOT_FOUND: 2,
    Code.AGENT_NOT_FOUND: 2,
    Code.SUITE_NOT_FOUND: 2,
    Code.CONTAINER_NOT_FOUND: 2,
    Code.MOCK_NOT_FOUND: 2,
    Code.IMAGE_NOT_FOUND: 2,
    Code.DOCKER_REFUSED: 1,
    Code.PANE_NOT_FOUND: 2,
    Code.NOT_FOUND: 2,
}


def exit_code(code: str) -> int:
    return _EXIT.get(Code(code), 1) if code in Code.__members__ else 1


class ArgusError(Exception):
    """Argus could not do what it was asked to do; `code` says what, `details` says with which values."""

    def __init__(self, code: Code, message: str, /, *, severity: Severity | None = None, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.severity = severity or REGISTRY[code].severity
        self.details = details
        self.actions: tuple[str, ...] | None = None
        """Where others fit than the code's own."""

    @property
    def status(self) -> int:
        return REGISTRY[self.code].status

    def adding(self, **details: Any) -> ArgusError:
        """The same, with more to say."""
        made = ArgusError(self.code, self.message, severity=self.severity, **{**self.details, **details})
        made.actions = self.actions
        return made

    def structured(self, timestamp: int) -> dict[str, Any]:
        """The form every face of Argus shows; `timestamp` is epoch milliseconds."""
        entry = REGISTRY[self.code]
        return {
            "code": self.code.value,
            "category": entry.category.value,
            "severity": self.severity.value,
            "message": self.message,
            "details": self.details,
            "suggestedActions": list(self.actions or entry.actions),
            "timestamp": timestamp,
        }
