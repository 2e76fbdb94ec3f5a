"""Operations on environments: what one e2e.yaml describes, brought up and taken away."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from argus.core.clock import rfc3339
from argus.core.cutting import cleaned
from argus.core.errors import IN_ENVIRONMENTS, ArgusError, Code
from argus.core.patterns import IN_ENVIRONMENT, NO_NUL
from argus.environments.looking import Seen
from argus.environments.mocking.asking import Filter
from argus.environments.orphans import Cleanup
from argus.environments.preflight import DISK, ORPHANS
from argus.environments.tools import Asked, Shell
from argus.ops.caller import Role, Scope
from argus.ops.circuits import CircuitReset, circuit_view, problem_view, reset
from argus.ops.environment_views import (
    BuildView,
    BuiltView,
    CleanupView,
    ContainerLogsView,
    InitView,
    MockRequestsView,
    PartView,
    PreflightView,
    SetupView,
    StatusView,
    cleanup_view,
    guard_view,
    in_milliseconds,
    mapping_views,
    part_view,
    report_view,
    request_view,
    verification_view,
)
from argus.ops.house import House
from argus.ops.operation import CLI_FOLDER, CLI_SHELL, Ask, operation
from argus.schema import PositiveDuration

_ENGINE = (Code.DOCKER_UNAVAILABLE, Code.CIRCUIT_OPEN, Code.DISK_SPACE_LOW, Code.DOCKER_REFUSED)
CONFIG = (Code.CONFIG_NOT_FOUND, Code.CONFIG_INVALID, Code.FORBIDDEN)


"""No path, and no argument or variable of a program, can hold one."""
_Value = Annotated[str, Field(pattern=NO_NUL)]


class ShellAsk(Ask):
    """Where the caller works, so that builds and commands behave as in its own shell. Kept in memory only."""

    folder: str = Field(max_length=4096, pattern=NO_NUL)
    environ: dict[Annotated[str, Field(pattern=IN_ENVIRONMENT)], _Value] = Field(
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
    return Asked(folder, ask.config_file, shell or house.shell, within, caller.agent or "")


def _is_inside(folder: str, project: str | None) -> bool:
    own = os.path.realpath(project) if project else None
    return own is not None and (folder == own or folder.startswith(own.rstrip("/") + "/"))


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
        health_report=report_view(report),
        circuit_breaker_state=circuit_view(house, circuit),
        auto_fix_applied=bool(cleanup.removed),
        fixed=cleanup_view(house, cleanup),
        found=report_view(fixed.before) if fixed.before else None,
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
            service=one.service, image=one.image, id=one.id, duration=in_milliseconds(one.seconds), existed=one.existed
        )
        for one in built
    ]
    return BuildView(images=images, preflight=report_view(report) if report else None)


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
        services=[part_view(one, done.run) for one in done.raised.parts if not one.part.is_mock],
        mocks=[part_view(one, done.run) for one in done.raised.parts if one.part.is_mock],
        preflight=report_view(done.report) if done.report else None,
        port_mappings=mapping_views(done.mappings),
        network_verification=verification_view(done.verification),
        orphan_cleanup=cleanup_view(house, done.cleanup),
        total_duration=in_milliseconds(done.seconds),
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
        shown = part_view(one, run, unknown=unknown)
        return shown.model_copy(update={"guard": guard_view(house, guard)}) if guard else shown

    return StatusView(
        project=picture.blueprint.project,
        folder=picture.blueprint.folder,
        state=run.state.value if run else "none",
        since=rfc3339(run.since) if run else None,
        run_id=run.id if run else None,
        network=run.network or None if run else None,
        services=[part(one) for one in picture.parts if not one.part.is_mock],
        mocks=[part(one) for one in picture.parts if one.part.is_mock],
        port_mappings=mapping_views(run.mappings) if run else [],
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
    return ContainerLogsView(
        container=made.name, state=made.state, lines=cleaned(lines, house.clean), truncated=lines.is_cut
    )


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
        requests=[request_view(house, one) for one in told.requests],
        total=told.total,
        mocks=list(told.served),
        cleared=ask.clear,
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
    return cleanup_view(house, done)


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
