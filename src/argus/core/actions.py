"""What is suggested where something was refused. The identifiers are the contract; the sentences are for people."""

from __future__ import annotations

from argus.core.codes import Code

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

ABOUT_CONFIGS = ("check_name", "add_agent")
"""What is suggested where an agent's config was not found, and the file that would name it was."""

WITHOUT_A_FOLDER = ("name_project", "set_cwd")
IN_A_WRONG_FOLDER = ("set_cwd", "name_project")
"""What is suggested where an agent's config has no cwd and a start names no project, and where its cwd is no folder."""

ABOUT_SESSIONS = ("list_sessions", "check_name")
ABOUT_SPAWNS = ("list_spawns",)
ABOUT_BREAKERS = ("list_breakers",)
"""What is suggested where one of these was not found, and not a path of the API."""

ABOUT_INCIDENTS = ("list_incidents",)
ABOUT_STORIES = ("list_incidents", "list_codes")
"""The same of what `argus explain` was asked for, which may be either."""

IN_DATABASE = ("check_database", "retry_later")
"""What is suggested where the store is in PostgreSQL, and neither a file nor our disk."""

ON_A_SHARED_STORE = ("end_other", "use_other_store")
"""Where the Argus that is in the way stands on another state folder: no command in ours reaches it."""

IN_THE_STORES_VARIABLE = ("fix_store_variable",)
"""Where ARGUS_STORE is wrong, and no file."""

IN_THE_WAY = ("move_away",)
OF_A_NEWER = ("install_newer",)
"""What is suggested where neither the disk nor time mends it: something lies where a file of ours belongs, or a newer
Argus wrote it."""

NOT_TO_BE_READ = ("make_readable", "check_path")
NO_FILE = ("check_path",)
"""Of a configuration that is there: to write another one is no help."""

FROM_NOWHERE = ("go_elsewhere",)
"""Of a command in a folder that is gone."""

HELD_UP = ("end_by_force",)
"""Of a daemon that lives and does not answer, or does not end."""

OF_A_COMMAND = ("read_help",)
"""Of a command that was used wrongly, whatever form it answers in: no request was ever sent."""

NOT_WHOLE = ("install_again",)
"""Of an installation that lacks something."""

WITH_A_WRONG_TOKEN = ("check_token",)
"""Of a command of ours, which has shown the token it has."""

ACTIONS: dict[str, str] = {
    "add_agent": "Add it under agents.configs in argus.yaml, then: argus reload.",
    "allow_other_ports": "Let taken ports be replaced: resilience.network.portConflictStrategy: auto.",
    "ask_for_less": "Ask for less at once, or say more plainly what is wanted.",
    "ask_person": "A person who runs Argus can do what the hint says; an agent asks that person, or waits until the "
    "gate opens.",
    "read_details": "Read what was said: it is in the details.",
    "build_image": "Build the images: argus env build; or pull it: docker pull IMAGE.",
    "check_clock": "Check the machine's clock and its time synchronisation.",
    "check_command": "Check the container's command and its exit code.",
    "check_database": "Check that PostgreSQL answers at store.url, has room, and lets Argus write.",
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
    "check_token": "Correct or unset ARGUS_TOKEN where it is set; else a new start takes the one in the state folder: "
    "argus down && argus up --detach.",
    "clean_orphans": "Remove the orphans: argus env preflight --auto-fix.",
    "create_config": "Write an argus.yaml; argus schema argus lists what it may say.",
    "create_environment_file": "Write an e2e.yaml; argus schema e2e lists what it may say.",
    "end_by_force": "End it by force: argus down --force; what it started goes on.",
    "end_other": "End the other Argus where it runs, with its own state folder: ARGUS_HOME=FOLDER argus down.",
    "find_cause": "Find out why it keeps failing; restarting has not helped.",
    "fix_cause": "Repair what the recorded failures name.",
    "fix_config": "Correct the named places in the file, then: argus check FILE.",
    "fix_container": "Repair what makes the container exit; its diagnostics are in the details.",
    "fix_dockerfile": "Correct the Dockerfile or its context.",
    "fix_mcp_file": "Correct the server in the file that details.source names.",
    "fix_request": "Correct the named fields and send the request again.",
    "fix_schema": "Make the JSON schema fit what can be answered, or ask for text.",
    "fix_settings": "Correct what is named in the settings file; then repeat the command.",
    "fix_store_variable": "Correct ARGUS_STORE in the environment, or unset it: then store.url counts.",
    "free_disk_space": "Free disk space on the named file system.",
    "free_ports": "Stop programs that hold ports of the range.",
    "go_elsewhere": "Go to a folder that exists: cd FOLDER.",
    "hand_off_by_hand": "Write the handoff by hand, then clear the session.",
    "install_claude": "Install Claude Code, or name it: bridge.program in argus.yaml.",
    "install_again": "See what is lacking, and the command that installs this Argus again: argus doctor.",
    "install_newer": "Install the newer Argus again; this one cannot read what that one wrote.",
    "list_agents": "See which agents there are: argus agents list.",
    "list_breakers": "See which breakers there are: argus breakers list.",
    "list_codes": "See which error codes there are: argus explain codes.",
    "list_environment_services": "See which services the e2e.yaml has: argus env init.",
    "list_incidents": "See which incidents there are: argus incidents.",
    "list_mcp_servers": "See which MCP servers there are, and what is wrong: argus bridge servers.",
    "list_mcp_tools": "See the tools of an MCP server with their schemas: argus bridge tools SERVER.",
    "list_services": "See which services there are: argus services list.",
    "list_sessions": "See which sessions there are: argus sessions list.",
    "list_spawns": "See which spawns there are: argus spawns list.",
    "list_suites": "See which suites the e2e.yaml has: argus env init.",
    "look_at_agent": "Look at what the agent is doing in its terminal.",
    "look_at_set_aside_store": "The damaged store was kept beside the new one; look at it before deleting it.",
    "lower_threshold": "Lower resilience.preflight.diskSpaceThreshold if the space is enough.",
    "make_readable": "Let this user read it (chmod, chown), or name another file: --config FILE.",
    "move_away": "Move what the message names to another place, then repeat the command.",
    "name_project": "Name the folder where it is to work: --project-path DIR (argus agent run: --project DIR).",
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
    "read_help": "Correct the command; its --help says what it takes.",
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
    "set_cwd": "Set cwd of that agent in agents.configs of argus.yaml to a folder that is there, then: argus reload.",
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
    "use_other_store": "Use another store: store.url in argus.yaml, or ARGUS_STORE.",
    "use_other_token": "Use a token that is allowed to do this.",
    "use_running_daemon": "Use the Argus that is running: argus status.",
    "wait_for_budget": "Wait until the sliding hour has room again.",
    "wait_for_end": "Wait until the infrastructure event has ended; nothing is restarted before.",
    "wait_for_limit": "Wait until the limit is over; the message says when, where that is known.",
    "wait_for_probe": "Wait until the breaker lets its next probe through.",
    "widen_port_range": "Widen isolation.portRange.",
}
