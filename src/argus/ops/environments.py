"""Operations on environments: what one e2e.yaml describes, brought up and taken away."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from argus.core.clock import milliseconds, rfc3339
from argus.core.errors import IN_ENVIRONMENTS, ArgusError, Code, Severity
from argus.environments.guarding.guardian import Seen as Guarded
from argus.environments.looking import Seen
from argus.environments.mocking import definition
from argus.environments.mocking.asking import Filter
from argus.environments.mocking.log import Seen as Request
from argus.environments.mocking.serving import HERE
from argus.environments.networking.matrix import Report
from argus.environments.orphans import Cleanup, Resource
from argus.environments.ports import PortMapping
from argus.environments.preflight import DISK, ORPHANS
from argus.environments.raising import Up
from argus.environments.report import HealthReport, Overall, Verdict
from argus.environments.runs import Run
from argus.environments.tools import Asked, Shell
from argus.host.engine.resources import Binding
from argus.ops.caller import Role, Scope
from argus.ops.circuits import CircuitReset, CircuitView, ProblemView, circuit_view, problem_view, reset
from argus.ops.house import House
from argus.ops.operation import CLI_FOLDER, CLI_SHELL, Answer, Ask, operation
from argus.schema import PositiveDuration

_ENGINE = (Code.DOCKER_UNAVAILABLE, Code.CIRCUIT_OPEN, Code.DISK_SPACE_LOW, Code.DOCKER_REFUSED)
CONFIG = (Code.CONFIG_NOT_FOUND, Code.CONFIG_INVALID, Code.FORBIDDEN)


NO_NUL = r"^[^\x00]*$"
"""No path, and no argument or variable of a program, can hold one."""
_Value = Annotated[str, Field(pattern=NO_NUL)]


class ShellAsk(Ask):
    """Where the caller works, so that builds and commands behave as in its own shell. Kept in memory only."""

    folder: str = Field(max_length=4096, pattern=NO_NUL)
    environ: dict[Annotated[str, Field(pattern=r"^[^\x00=]+$")], _Value] = Field(
        json_schema_extra={"additionalProperties": False}  # other names than these are refused
    )


class Environment(Ask):
    project_path: str = Field(
        max_length=4096,
        pattern=NO_NUL,
        description="The project's folder",
        json_schema_extra={"cli": CLI_FOLDER, "format": "path"},
    )
    config_file: str | None = Field(
        default=None,
        max_length=4096,
        pattern=NO_NUL,
        description="Instead of the folder's e2e.yaml",
        json_schema_extra={"format": "path", "short": "-f"},
    )
    shell: ShellAsk | None = Field(
        default=None, description="The caller's folder and environment", json_schema_extra={"cli": CLI_SHELL}
    )


class BuildAsk(Environment):
    no_cache: bool = Field(default=False, strict=True, description="Build every layer anew")
    service: str | None = Field(default=None, max_length=200, pattern=NO_NUL, description="Only this one")
    use_existing: bool = Field(default=False, strict=True, description="Leave an image alone that is there")


class SetupAsk(Environment):
    timeout: PositiveDuration | None = Field(default=None, description='The whole of it, such as "5m"')


class ContainerLogsAsk(Environment):
    container: str = Field(max_length=200, pattern=NO_NUL, description="A service's, a mock's or a container's name")
    lines: int = Field(default=100, ge=1, le=10_000, description="How many, from the end")
    since: PositiveDuration | None = Field(default=None, description='Only of the last, such as "10m"')


class CleanAsk(Environment):
    force: bool = Field(default=False, strict=True, description="Also volumes, and what dead runs of the project left")


class MockRequestsAsk(Environment):
    mock_name: str | None = Field(default=None, max_length=200, pattern=NO_NUL, description="Only of this one")
    method: str | None = Field(default=None, max_length=50, pattern=NO_NUL, description="Only with this method")
    path: str | None = Field(default=None, max_length=4096, pattern=NO_NUL, description="Only paths that begin so")
    since: PositiveDuration | None = Field(default=None, description='Only of the last, such as "10m"')
    limit: int = Field(default=100, ge=1, le=500, description="How many, the newest")
    clear: bool = Field(default=False, strict=True, description="Forget them all once they are shown")


class PreflightAsk(Environment):
    skip_disk_check: bool = Field(default=False, strict=True, description="Do not look at the disk")
    skip_orphan_check: bool = Field(default=False, strict=True, description="Do not look for leftovers")
    auto_fix: bool = Field(default=False, strict=True, description="Remove leftovers, then look again")


class CheckView(Answer):
    name: str
    status: Verdict
    message: str
    code: Code | None
    severity: Severity | None
    details: dict[str, Any]
    suggested_actions: list[str]
    duration: float = Field(description="Milliseconds")


class HealthReportView(Answer):
    overall: Overall
    checks: list[CheckView]
    timestamp: int
    duration: float = Field(description="Milliseconds")


class ResourceView(Answer):
    type: str = Field(description="container, network or volume")
    name: str
    id: str = Field(description="A volume has none but its name")
    created_at: str | None
    project: str | None
    run_id: str | None


class FailedView(ResourceView):
    error: str


class CleanupView(Answer):
    found: list[ResourceView]
    removed: list[ResourceView]
    failed: list[FailedView]
    duration: float = Field(description="Milliseconds")


class PortMappingView(Answer):
    service: str
    original_port: int
    actual_port: int
    reassigned: bool


class PortView(Answer):
    container_port: int
    host_port: int
    host: str
    protocol: str


class GuardView(Answer):
    state: str = Field(
        description="well, waiting (for its next start), starting, left alone, failed, exhausted, or unwatched: it was "
        "well, and cannot be looked at just now"
    )
    restarts: int = Field(description="Since it was set up, or was last well for ten minutes")
    max_restarts: int
    next_attempt: str | None
    reason: str | None = Field(description="Why it is not well, or is left alone")
    crash_loop: bool
    incident: str | None = Field(description="Of its failure, until it is well; argus explain shows its story")
    last_error: ProblemView | None = Field(description="With the diagnostics of every attempt once it is exhausted")


class PartView(Answer):
    name: str
    container: str
    image: str
    state: str = Field(description="As the engine says; absent when there is no such container, unknown when not asked")
    health: str | None
    exit_code: int | None
    oom_killed: bool
    started: str | None
    ports: list[PortView]
    networks: dict[str, str]
    guard: GuardView | None = Field(default=None, description="What the guardian does about it, once it is up")


class InitView(Answer):
    project: str
    folder: str
    config_file: str
    network: str
    services: list[str]
    mocks: list[str]
    images: dict[str, str] = Field(description="What `build` makes, by service")
    suites: list[dict[str, Any]]
    warnings: list[str]


class BuiltView(Answer):
    service: str
    image: str
    id: str
    duration: float = Field(description="Milliseconds")
    existed: bool


class BuildView(Answer):
    images: list[BuiltView]
    preflight: HealthReportView | None


class ReachedView(Answer):
    from_: str = Field(alias="from", description="The service that looked, from inside its own network")
    service: str
    hostname: str
    port: int | None = Field(description="null: only its name was looked up")
    reachable: bool = Field(description="Connected; or refused, which is an answer, unless it is a mock")
    listening: bool | None = Field(description="Whether somebody accepts connections there")
    dns_resolved: bool
    dns: str = Field(description="ok, or what the name server said instead")
    addresses: list[str]
    latency_ms: float | None
    error: str | None


class TopologyView(Answer):
    network_name: str
    containers: list[str]
    networks: dict[str, list[str]] = Field(description="Which containers are on which networks")


class NetworkVerificationView(Answer):
    results: list[ReachedView] = Field(description="Every service to every other service and mock")
    all_reachable: bool
    network_topology: TopologyView
    timestamp: int = Field(description="Milliseconds since 1970")
    duration: float = Field(description="Milliseconds")


class SetupView(Answer):
    run_id: str
    network: str
    services: list[PartView]
    mocks: list[PartView]
    preflight: HealthReportView | None
    port_mappings: list[PortMappingView]
    network_verification: NetworkVerificationView | None = Field(description="null: it was not asked for")
    orphan_cleanup: CleanupView
    total_duration: float = Field(description="Milliseconds")
    warnings: list[str] = Field(description="What of the file is left out")


class StatusView(Answer):
    project: str
    folder: str
    state: str = Field(description="none, setting up, up, cleaning, interrupted or failed")
    since: str | None
    run_id: str | None
    network: str | None
    services: list[PartView]
    mocks: list[PartView]
    port_mappings: list[PortMappingView]
    circuit_breaker: CircuitView
    warnings: list[str] = Field(description="What of the file is left out")
    problem: ProblemView | None = Field(description="Why the engine could not be asked")
    config_problem: ProblemView | None = Field(description="Why the file could not be read: what is on record is shown")


class ContainerLogsView(Answer):
    container: str
    state: str
    lines: list[str]
    truncated: bool = Field(description="Whether there was more of it than fits: 256 KiB, the newest lines")


class MockRequestView(Answer):
    mock: str
    method: str
    path: str
    query: dict[str, Any]
    headers: dict[str, str] = Field(description="Values of those that are named like secrets are masked")
    body: Any = Field(description="What its JSON or form says, else text; null: there was none")
    body_bytes: int
    body_cut: bool = Field(description="Whether it was longer than what is kept: 16 KiB")
    route: str | None = Field(description="Which answered; null: none, and the answer was 404")
    status: int
    timestamp: int = Field(description="Milliseconds since 1970")
    duration: float = Field(description="Milliseconds")


class MockRequestsView(Answer):
    requests: list[MockRequestView] = Field(description="The oldest first")
    total: int = Field(
        description="Of these mocks since they were last cleared; with a filter, of the 500 of each that are kept"
    )
    mocks: list[str] = Field(description="Whose: those that Argus answers itself, and that are up")
    cleared: bool


class PreflightView(Answer):
    health_report: HealthReportView
    circuit_breaker_state: CircuitView
    auto_fix_applied: bool
    fixed: CleanupView
    found: HealthReportView | None = Field(description="What was seen before anything was mended")


# From what came to what is meant, and back.


def asked(house: House, ask: Environment) -> Asked:
    shell = ask.shell and Shell(ask.shell.folder, ask.shell.environ)
    folder = os.path.realpath(os.path.join((shell or house.shell).folder, ask.project_path))
    caller = house.caller
    # The file decides as much as the folder: whose containers are meant stands in it.
    for named in (folder, os.path.realpath(os.path.join(folder, ask.config_file or "."))):
        if caller.role is Role.AGENT and not _is_inside(named, caller.project):
            message = "an agent uses the environments of its own project"
            raise ArgusError(Code.FORBIDDEN, message, project=caller.project, asked=named)
    within = os.path.realpath(caller.project or "/nowhere") if caller.role is Role.AGENT else None
    return Asked(folder, ask.config_file, shell or house.shell, within)


def _is_inside(folder: str, project: str | None) -> bool:
    own = os.path.realpath(project) if project else None
    return own is not None and (folder == own or folder.startswith(own.rstrip("/") + "/"))


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)


def _report(found: HealthReport) -> HealthReportView:
    return HealthReportView.model_validate(found.public())


def _resource(one: Resource) -> ResourceView:
    return ResourceView.model_validate(one.public())


def _cleanup(house: House, done: Cleanup) -> CleanupView:
    return CleanupView(
        found=[_resource(one) for one in done.found],
        removed=[_resource(one) for one in done.removed],
        failed=[FailedView.model_validate({**one.public(), "error": house.clean(why)}) for one, why in done.failed],
        duration=_milliseconds(done.seconds),
    )


def _mappings(found: tuple[PortMapping, ...]) -> list[PortMappingView]:
    return [
        PortMappingView(
            service=one.service, original_port=one.original, actual_port=one.actual, reassigned=one.reassigned
        )
        for one in found
    ]


def _ports(bindings: tuple[Binding, ...]) -> list[PortView]:
    return [
        PortView(container_port=one.container_port, host_port=one.host_port, host=one.host, protocol=one.protocol)
        for one in bindings
    ]


def _part(seen: Seen | Up, run: Run | None, *, unknown: bool = False) -> PartView:
    view = _as_container(seen, unknown=unknown)
    served = run.served.get(seen.part.name) if run else None
    if served is None:
        return view
    placed = definition.read(served)
    answered = PortView(container_port=placed.mock.inside, host_port=placed.port, host=HERE, protocol="tcp")
    return view.model_copy(update={"ports": [answered]})


def _as_container(seen: Seen | Up, *, unknown: bool) -> PartView:
    made, part = seen.made, seen.part
    container = made.name if made else part.container
    if made is None:
        return PartView(
            name=part.name,
            container=container,
            image=part.image,
            state="unknown" if unknown else "absent",
            health=None,
            exit_code=None,
            oom_killed=False,
            started=None,
            ports=[],
            networks={},
        )
    ended = made.state in ("exited", "dead")
    return PartView(
        name=part.name,
        container=container,
        image=made.image,
        state=made.state,
        health=made.health,
        exit_code=made.exit_code if ended else None,
        oom_killed=made.oom_killed,
        started=rfc3339(made.started) if made.started is not None else None,
        ports=_ports(made.ports),
        networks=dict(made.networks),
    )


def _guard(house: House, seen: Guarded) -> GuardView:
    return GuardView(
        state=seen.state.value,
        restarts=seen.restarts,
        max_restarts=seen.most,
        next_attempt=rfc3339(seen.next_attempt) if seen.next_attempt is not None else None,
        reason=seen.why or None,
        crash_loop=seen.is_loop,
        incident=seen.trouble.incident if seen.trouble else None,
        last_error=problem_view(house, seen.problem) if seen.problem else None,
    )


def _verification(found: Report | None) -> NetworkVerificationView | None:
    return NetworkVerificationView.model_validate(found.public()) if found else None


# The operations.


@operation(
    "environments.init", "POST /api/environments/init", verb="env init", tool="argus_init",
    scope=Scope.ENVIRONMENT, read_only=True, errors=CONFIG,
)  # fmt: skip
async def init(house: House, ask: Environment) -> InitView:
    """Reads a project's e2e.yaml and says what it describes: services, mocks, images to build, test suites.

    Changes nothing. Begin here to see what there is; no other operation needs it. CONFIG_NOT_FOUND: there is no such
    file. CONFIG_INVALID: all errors of the file are reported at once, each with its place; unknown keys are warnings.
    """
    loaded = await house.environments.load(asked(house, ask))
    plan = loaded.blueprint
    return InitView(
        project=plan.project,
        folder=plan.folder,
        config_file=loaded.file,
        network=plan.network,
        services=[one.name for one in plan.parts if not one.is_mock],
        mocks=[one.name for one in plan.parts if one.is_mock],
        images={one.service: one.image for one in plan.builds},
        suites=[{"id": one.id, "name": one.name, "runner": one.runner} for one in loaded.suites],
        warnings=list(loaded.warnings),
    )


@operation(
    "environments.preflight_check", "POST /api/environments/preflight_check", verb="env preflight",
    tool="argus_preflight_check", scope=Scope.ENVIRONMENT, destructive=True, idempotent=True, errors=CONFIG,
)  # fmt: skip
async def preflight_check(house: House, ask: PreflightAsk) -> PreflightView:
    """Looks whether this machine is ready for an environment: engine, disk, leftovers, ports, network.

    Changes nothing, unless `autoFix` is set: then leftovers of dead runs of this project are removed, its volumes among
    them, and everything is looked at again. An engine that does not answer is a failed check, not an error. Ask it when
    a build or a setup is refused; both look at the same by themselves before they begin.
    """
    skip = frozenset(
        name for name, skipped in ((DISK, ask.skip_disk_check), (ORPHANS, ask.skip_orphan_check)) if skipped
    )
    report, fixed, circuit = await house.environments.preflight(asked(house, ask), skip=skip, fix=ask.auto_fix)
    cleanup = fixed.cleanup or Cleanup()
    return PreflightView(
        health_report=_report(report),
        circuit_breaker_state=circuit_view(house, circuit),
        auto_fix_applied=bool(cleanup.removed),
        fixed=_cleanup(house, cleanup),
        found=_report(fixed.before) if fixed.before else None,
    )


@operation(
    "environments.build", "POST /api/environments/build", verb="env build", tool="argus_build",
    scope=Scope.ENVIRONMENT, ends_with_caller=True, open_world=True,
    errors=(*CONFIG, *_ENGINE, Code.SERVICE_NOT_FOUND, Code.BUILD_FAILED),
)  # fmt: skip
async def build(house: House, ask: BuildAsk) -> BuildView:
    """Builds the images of an environment's services.

    Changes nothing but images: it makes them, under the names that the file gives. Needed before `setup` where services
    have a `build`. A build that fails is BUILD_FAILED with the end of its output; DISK_SPACE_LOW and DOCKER_UNAVAILABLE
    say what the machine lacks. Takes minutes; ends when the caller goes away.
    """
    built, report = await house.environments.build(
        asked(house, ask), service=ask.service, no_cache=ask.no_cache, use_existing=ask.use_existing
    )
    images = [
        BuiltView(
            service=one.service, image=one.image, id=one.id, duration=_milliseconds(one.seconds), existed=one.existed
        )
        for one in built
    ]
    return BuildView(images=images, preflight=_report(report) if report else None)


@operation(
    "environments.setup", "POST /api/environments/setup", verb="env setup", tool="argus_setup",
    scope=Scope.ENVIRONMENT, destructive=True, ends_with_caller=True, open_world=True,
    errors=(
        *CONFIG, *_ENGINE, Code.PORT_CONFLICT, Code.PORT_EXHAUSTION, Code.NAME_CONFLICT, Code.IMAGE_NOT_FOUND,
        Code.CONTAINER_CRASH, Code.CONTAINER_OOM, Code.CONTAINER_NOT_FOUND, Code.HEALTH_CHECK_TIMEOUT,
        Code.NETWORK_UNREACHABLE, Code.DNS_RESOLUTION_FAILED, Code.STORE_UNAVAILABLE, Code.CONFLICT, Code.NO_DAEMON,
    ),
)  # fmt: skip
async def setup(house: House, ask: SetupAsk) -> SetupView:
    """Brings an environment up: network, volumes, then every service as soon as those it depends on are ready.

    Changes the engine: it makes containers, a network and volumes, replaces this environment's own earlier run and
    removes what dead runs of the project left. Ports that are taken are replaced by free ones (see portMappings).
    Returns when all are ready, which may take minutes. When it fails, or the caller goes away, what it made is removed
    again, and the error says what was wrong: IMAGE_NOT_FOUND wants a `build`, CONTAINER_CRASH and HEALTH_CHECK_TIMEOUT
    carry the logs, CIRCUIT_OPEN means that the engine failed too often.
    """
    done = await house.environments.setup(asked(house, ask), timeout=ask.timeout)
    return SetupView(
        run_id=done.run.id,
        network=done.raised.network,
        services=[_part(one, done.run) for one in done.raised.parts if not one.part.is_mock],
        mocks=[_part(one, done.run) for one in done.raised.parts if one.part.is_mock],
        preflight=_report(done.report) if done.report else None,
        port_mappings=_mappings(done.mappings),
        network_verification=_verification(done.verification),
        orphan_cleanup=_cleanup(house, done.cleanup),
        total_duration=_milliseconds(done.seconds),
        warnings=list(done.raised.warnings),
    )


@operation(
    "environments.status", "POST /api/environments/status", verb="env status", tool="argus_status",
    scope=Scope.ENVIRONMENT, read_only=True, errors=CONFIG,
)  # fmt: skip
async def status(house: House, ask: Environment) -> StatusView:
    """Shows how an environment stands: its run, its containers and ports, its circuit breaker.

    Changes nothing. Look here for the ports on which services answer, and for what the guardian does about a container
    that is not well. When the engine cannot be asked, the containers are `unknown` and `problem` says why.
    """
    picture, circuit = await house.environments.status(asked(house, ask))
    run, wrong = picture.run, picture.config_problem
    unknown = picture.problem is not None
    guarded = house.environments.guarded(picture)

    def part(one: Seen) -> PartView:
        guard = guarded.get(one.part.name)
        shown = _part(one, run, unknown=unknown)
        return shown.model_copy(update={"guard": _guard(house, guard)}) if guard else shown

    return StatusView(
        project=picture.blueprint.project,
        folder=picture.blueprint.folder,
        state=run.state.value if run else "none",
        since=rfc3339(run.since) if run else None,
        run_id=run.id if run else None,
        network=run.network or None if run else None,
        services=[part(one) for one in picture.parts if not one.part.is_mock],
        mocks=[part(one) for one in picture.parts if one.part.is_mock],
        port_mappings=_mappings(run.mappings) if run else [],
        circuit_breaker=circuit_view(house, circuit),
        warnings=list(picture.warnings),
        problem=problem_view(house, picture.problem) if picture.problem else None,
        config_problem=problem_view(house, wrong) if wrong else None,
    )


@operation(
    "environments.logs", "POST /api/environments/logs", verb="env logs", places=("container",), tool="argus_logs",
    scope=Scope.ENVIRONMENT, read_only=True, errors=(*CONFIG, *_ENGINE, Code.CONTAINER_NOT_FOUND),
)  # fmt: skip
async def logs(house: House, ask: ContainerLogsAsk) -> ContainerLogsView:
    """Shows the last lines that a container of an environment printed.

    Changes nothing. Secrets are masked. CONTAINER_NOT_FOUND names the containers that there are; of an environment that
    is not up there are none.
    """
    since = house.clock.wall() - ask.since if ask.since else None
    made, lines = await house.environments.logs(asked(house, ask), ask.container, ask.lines, since)
    cleaned = [house.clean(line) for line in lines]
    return ContainerLogsView(container=made.name, state=made.state, lines=cleaned, truncated=lines.is_cut)


@operation(
    "environments.mock_requests", "POST /api/environments/mock_requests", verb="env mock-requests",
    tool="argus_mock_requests", scope=Scope.ENVIRONMENT, destructive=True, idempotent=True,
    errors=(*CONFIG, Code.MOCK_NOT_FOUND),
)  # fmt: skip
async def mock_requests(house: House, ask: MockRequestsAsk) -> MockRequestsView:
    """Shows what was asked of an environment's mocks: the newest requests, and how each was answered.

    Only of mocks without an `image`, which Argus answers itself. Changes nothing, unless `clear` is set: then what was
    seen so far is forgotten. Kept in memory: a daemon that was restarted begins anew. MOCK_NOT_FOUND names the mocks.
    """
    since = house.clock.wall() - ask.since if ask.since else None
    wanted = Filter(ask.mock_name, ask.method, ask.path, since, ask.limit)
    told = await house.environments.mock_requests(asked(house, ask), wanted, clear=ask.clear)
    return MockRequestsView(
        requests=[_request(house, one) for one in told.requests],
        total=told.total,
        mocks=list(told.served),
        cleared=ask.clear,
    )


def _request(house: House, one: Request) -> MockRequestView:
    return MockRequestView(
        mock=one.mock,
        method=one.method,
        path=house.clean(one.path),
        query=house.clean_value(one.query),
        headers=house.clean_value(one.headers),
        body=house.clean_value(one.body),
        body_bytes=one.body_bytes,
        body_cut=one.body_cut,
        route=one.route,
        status=one.status,
        timestamp=milliseconds(one.at),
        duration=_milliseconds(one.seconds),
    )


@operation(
    "environments.clean", "POST /api/environments/clean", verb="env clean", tool="argus_clean",
    scope=Scope.ENVIRONMENT, destructive=True, idempotent=True,
    errors=(*CONFIG, *_ENGINE, Code.CLEANUP_FAILED, Code.STORE_UNAVAILABLE),
)  # fmt: skip
async def clean(house: House, ask: CleanAsk) -> CleanupView:
    """Takes an environment away: its containers and its network; with `force` its volumes and other leftovers too.

    Changes the engine, for good. Touches nothing of other projects, nothing of live runs in other folders, and nothing
    without this project's label. Of an environment that is not up there is nothing to take away, which is no error.
    What cannot be removed is CLEANUP_FAILED, with all the rest gone: ask again once what it names is mended.
    """
    done = await house.environments.clean(asked(house, ask), force=ask.force)
    done.raise_failures()
    return _cleanup(house, done)


@operation(
    "environments.reset_circuit", "POST /api/environments/reset_circuit", verb="env reset-circuit",
    tool="argus_reset_circuit", scope=Scope.ENVIRONMENT, idempotent=True, errors=CONFIG,
)  # fmt: skip
async def reset_circuit(house: House, ask: Environment) -> CircuitReset:
    """Lets one call through a project's open circuit breaker; it closes when that succeeds.

    Changes that breaker alone. A closed or half-open one is left as it is, and that is said. Call it when CIRCUIT_OPEN
    stands in the way and what failed has been mended; else the next failure opens it again.
    """
    circuit = await house.environments.circuit_to_reset(asked(house, ask))
    return await reset(house, circuit)


_ALL = (init, preflight_check, build, setup, status, logs, mock_requests, clean, reset_circuit)
OPERATIONS = tuple(replace(one, advice=IN_ENVIRONMENTS) for one in _ALL)
