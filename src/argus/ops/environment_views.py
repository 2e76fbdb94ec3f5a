"""What operations on environments answer, and how it is made of what the environments say."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from argus.core.clock import milliseconds, rfc3339
from argus.core.errors import Code, Severity
from argus.environments.guarding.guardian import Seen as Guarded
from argus.environments.looking import Seen
from argus.environments.mocking import definition
from argus.environments.mocking.log import Seen as Request
from argus.environments.mocking.serving import HERE
from argus.environments.networking.matrix import Report
from argus.environments.orphans import Cleanup, Resource
from argus.environments.ports import PortMapping
from argus.environments.raising import Up
from argus.environments.report import HealthReport, Overall, Verdict
from argus.environments.runs import Run
from argus.host.engine.resources import Binding
from argus.ops.circuits import CircuitView, ProblemView, problem_view
from argus.ops.house import House
from argus.ops.operation import Answer


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


def in_milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)


def report_view(found: HealthReport) -> HealthReportView:
    return HealthReportView.model_validate(found.public())


def _resource(one: Resource) -> ResourceView:
    return ResourceView.model_validate(one.public())


def cleanup_view(house: House, done: Cleanup) -> CleanupView:
    return CleanupView(
        found=[_resource(one) for one in done.found],
        removed=[_resource(one) for one in done.removed],
        failed=[FailedView.model_validate({**one.public(), "error": house.clean(why)}) for one, why in done.failed],
        duration=in_milliseconds(done.seconds),
    )


def mapping_views(found: tuple[PortMapping, ...]) -> list[PortMappingView]:
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


def part_view(seen: Seen | Up, run: Run | None, *, unknown: bool = False) -> PartView:
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


def guard_view(house: House, seen: Guarded) -> GuardView:
    return GuardView(
        state=seen.state.value,
        restarts=seen.restarts,
        max_restarts=seen.most,
        next_attempt=rfc3339(seen.next_attempt) if seen.next_attempt is not None else None,
        reason=house.clean(seen.why) or None,
        crash_loop=seen.is_loop,
        incident=seen.trouble.incident if seen.trouble else None,
        last_error=problem_view(house, seen.problem) if seen.problem else None,
    )


def verification_view(found: Report | None) -> NetworkVerificationView | None:
    return NetworkVerificationView.model_validate(found.public()) if found else None


def request_view(house: House, one: Request) -> MockRequestView:
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
        duration=in_milliseconds(one.seconds),
    )
