"""e2e.yaml: what it may say, in every form, and everything that is wrong with it, at once, with its place."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.environments.rig import NOW, load, places, project, refused, service, warned

from argus.core.errors import ArgusError, Code
from argus.environments.e2e import loading, model, names
from argus.environments.e2e.mounts import Mount
from argus.environments.e2e.published import Port
from argus.environments.e2e.resilience import Resilience
from argus.environments.planning import plan

EVERYTHING = """\
version: "1"
project: {name: Shop of things, description: A shop, version: "2.1"}
x-base: &base
  build: &build {dockerfile: docker/Dockerfile, context: ., image: "shop:{{env.TAG}}", args: {LEVEL: debug}}
services:
  - name: db
    build: {<<: *build, image: "shop-db:e2e"}
    container: {name: shop-db, ports: ["5433:5432"], volumes: ["data:/var/lib/db", "./seed:/seed:ro", /scratch]}
  - <<: *base
    name: web
    container:
      name: shop-web
      ports:
        - 3000:3000
        - "127.0.0.1:8080:80/tcp"
        - "9229"
        - "[::1]:53:53/udp"
        - "7000-7002:8000-8002"
      environment: {DATABASE: "postgres://db:5432/shop", EMPTY: ""}
      healthcheck: {path: /health, port: 80, interval: 5s, timeout: 1500ms, retries: 15, startPeriod: 1m}
    vars: {base_url: "http://localhost:3000", api: "{{config.base_url}}/api"}
    dependsOn: [db]
mocks:
  payments:
    port: 9081
    containerPort: 8081
    routes:
      - method: POST
        path: /charge/:id
        response:
          {status: 201, headers: {x-made: yes}, body: {id: "{{uuid}}", of: "{{request.params.id}}"}, delay: 100ms}
        when: {body: {amount: 100}, headers: {x-key: k}, query: {currency: eur}}
      - {method: GET, path: /ping}
  mail: {port: 9082, openapi: ./mail.yaml, mode: record, validate: true, target: "https://mail.example.com",
         recordingsDir: ./kept, maxDepth: 5, overrides: [{method: GET, path: /x, response: {body: [1, null]}}]}
  cache: {port: 6379, image: "registry.example.com:5000/cache:7", volumes: ["./c:/c"], args: "--save '' -v"}
tests:
  retry: {maxAttempts: 3, delay: 1s, backoff: exponential, backoffMultiplier: 1.5}
  parallel: {enabled: true, concurrency: 4}
  suites:
    - {name: API, id: api, file: tests/api.yaml}
    - {name: Py, id: py, runner: pytest, file: tests/, config: pytest.ini, retry: {maxAttempts: 1, delay: "250"}}
    - {name: Sh, id: sh, runner: shell, command: ./check.sh, parallel: true, concurrency: 2}
    - {name: Node, id: node, runner: vitest, config: vitest.config.ts}
    - {name: Browser, id: browser, runner: playwright}
    - {name: Any, id: any, runner: exec, command: make it so}
network: {name: shop-net}
isolation: {namespace: shop, portRange: [9000, 9999]}
repos: [{name: shop, path: .}, {name: lib, url: "git@example.com:lib.git", branch: main}]
resilience:
  preflight: {enabled: false, diskSpaceThreshold: 500 MB, cleanOrphans: false}
  container: {restartOnFailure: false, maxRestarts: 0, restartDelay: 500ms, restartBackoff: linear}
  network: {portConflictStrategy: fail, verifyConnectivity: false}
  circuitBreaker: {enabled: false, failureThreshold: 20, resetTimeoutMs: 0}
history: {enabled: true, retention: {maxAge: 90d}}
dashboard: {port: 9095, presets: [{group: a, endpoints: []}]}
server: {url: "https://example.com"}
plugins: [./plugin.js]
"""


@pytest.mark.req("FR-R29")
def test_every_key_and_every_form_is_read(tmp_path: Path):
    loaded = load(tmp_path, EVERYTHING, {"TAG": "v1"})
    assert warned(loaded) == [("x-base", 3)]
    assert len(loaded.notices) == 1
    assert all(f"`{name}`" in loaded.notices[0] for name in ("history", "dashboard", "server", "plugins"))
    database, web = loaded.services
    assert (database.name, database.container, database.build.image) == ("db", "shop-db", "shop-db:e2e")
    assert database.mounts == (
        Mount("/var/lib/db", "data"),
        Mount("/seed", str(tmp_path / "seed"), ("ro",)),
        Mount("/scratch"),
    )
    assert (web.build.image, web.build.args, web.depends_on) == ("shop:v1", {"LEVEL": "debug"}, ("db",))
    assert web.ports == (
        Port(3000, 3000),
        Port(8080, 80, "127.0.0.1"),
        Port(9229, 9229),
        Port(53, 53, "::1", "udp"),
        *(Port(7000 + one, 8000 + one) for one in range(3)),
    )
    health = web.healthcheck
    assert health is not None
    assert (health.path, health.port, health.interval, health.timeout) == ("/health", 80, 5.0, 1.5)
    assert (health.retries, health.start_period, web.health_port) == (15, 60.0, 80)
    assert web.vars == {"base_url": "http://localhost:3000", "api": "http://localhost:3000/api"}
    assert loaded.variables.config == web.vars
    assert (loaded.network, loaded.namespace, loaded.base_url) == ("shop-net", "shop", "http://localhost:3000")
    assert loaded.config.isolation.port_range == (9000, 9999)
    assert [repo.branch for repo in loaded.config.repos] == [None, "main"]


def test_every_key_of_mocks_and_suites_is_read(tmp_path: Path):
    loaded = load(tmp_path, EVERYTHING, {"TAG": "v1"})
    payments, mail, cache = (loaded.mocks[name] for name in ("payments", "mail", "cache"))
    first, second = payments.routes
    assert (payments.inside, mail.inside) == (8081, 9082)
    assert (first.response.status, first.response.delay, first.response.headers) == (201, 0.1, {"x-made": "yes"})
    assert first.response.body == {"id": "{{uuid}}", "of": "{{request.params.id}}"}
    assert first.when is not None
    assert (first.when.body, first.when.headers, first.when.query) == (
        {"amount": 100},
        {"x-key": "k"},
        {"currency": "eur"},
    )
    assert (second.response.status, second.response.body, second.when) == (200, None, None)
    assert (mail.mode, mail.validate_requests, mail.target) == ("record", True, "https://mail.example.com")
    assert (mail.recordings_dir, mail.max_depth, mail.overrides[0].response.body) == ("./kept", 5, [1, None])
    assert (cache.image, cache.args, payments.mode) == ("registry.example.com:5000/cache:7", "--save '' -v", "auto")
    assert [suite.runner for suite in loaded.suites] == ["yaml", "pytest", "shell", "vitest", "playwright", "exec"]
    retry = loaded.suites[1].retry
    assert retry is not None
    assert (retry.delay, retry.max_attempts) == (0.25, 1)
    tests = loaded.config.tests
    assert tests is not None
    assert tests.retry is not None
    assert tests.parallel is not None
    assert (tests.retry.backoff_multiplier, tests.parallel.concurrency) == (1.5, 4)


@pytest.mark.req("FR-R29")
def test_every_key_of_resilience_is_read(tmp_path: Path):
    found = load(tmp_path, EVERYTHING, {"TAG": "v1"}).config.resilience
    assert (found.preflight.enabled, found.preflight.disk_space_threshold) == (False, 500 << 20)
    assert (found.preflight.clean_orphans, found.container.restart_on_failure) == (False, False)
    assert (found.container.max_restarts, found.container.restart_delay) == (0, 0.5)
    assert (found.container.restart_backoff, found.network.port_conflict_strategy) == ("linear", "fail")
    assert (found.network.verify_connectivity, found.circuit_breaker.enabled) == (False, False)
    assert (found.circuit_breaker.failure_threshold, found.circuit_breaker.reset_timeout_ms) == (20, 0)


@pytest.mark.req("FR-R30", "SC-R07")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="no-section"),
        pytest.param("resilience:\n", id="an-empty-section"),
        pytest.param("resilience: {}\n", id="an-empty-mapping"),
        pytest.param("resilience:\n  preflight:\n  container: {}\n  network:\n  circuitBreaker:\n", id="empty-parts"),
    ],
)
def test_without_resilience_everything_is_repaired_as_by_default(tmp_path: Path, text: str):
    found = load(tmp_path, "project: {name: shop}\n" + text).config.resilience
    assert found == Resilience()
    assert (found.preflight.enabled, found.preflight.disk_space_threshold) == (True, 2 << 30)
    assert (found.preflight.clean_orphans, found.container.restart_on_failure) == (True, True)
    assert (found.container.max_restarts, found.container.restart_delay) == (3, 2.0)
    assert (found.container.restart_backoff, found.network.port_conflict_strategy) == ("exponential", "auto")
    assert (found.network.verify_connectivity, found.circuit_breaker.enabled) == (True, True)
    assert (found.circuit_breaker.failure_threshold, found.circuit_breaker.reset_timeout_ms) == (5, 30_000)


def test_the_smallest_file_is_a_test_only_project(tmp_path: Path):
    loaded = load(tmp_path, "project: {name: shop}\nservices: []\nmocks:\ntests:\nnetwork:\n")
    assert (loaded.services, loaded.mocks, loaded.suites, loaded.base_url) == ((), {}, (), None)
    assert (loaded.config.version, loaded.warnings, loaded.notices) == ("1", (), ())
    assert (loaded.namespace, loaded.network) == ("shop", "argusai-shop-network")


def test_the_names_of_made_things_are_legal_whatever_the_project_is_called(tmp_path: Path):
    for name in ("Größe & Co.", "测试", "../..", "_x", "a b"):
        loaded = load(tmp_path, {"project": {"name": name}})
        assert names.is_container(loaded.network)


def test_what_is_left_out_of_a_service_has_its_default(tmp_path: Path):
    written = project(service=service())
    written["service"]["container"]["healthcheck"] = {"path": "health"}
    (one,) = load(tmp_path, written).services
    assert (one.name, one.build.context, one.vars, one.mounts, one.depends_on) == ("web-e2e", tmp_path, {}, (), ())
    assert one.healthcheck is not None
    assert (one.healthcheck.path, one.healthcheck.interval, one.healthcheck.timeout) == ("/health", 10.0, 5.0)
    assert (one.healthcheck.retries, one.healthcheck.start_period, one.health_port) == (10, 30.0, 80)


@pytest.mark.parametrize(
    ("sections", "names"),
    [
        pytest.param({"services": [service("a", name="a"), service("b", name="b")]}, ["a", "b"], id="a-list"),
        pytest.param({"services": {"a": service("a"), "b": service("b")}}, ["a", "b"], id="under-their-names"),
        pytest.param({"services": {"a": service("a", name="z")}}, ["z"], id="a-name-of-its-own-under-another"),
        pytest.param({"service": service("a")}, ["a-e2e"], id="only-one"),
        pytest.param({"service": service("a"), "services": []}, ["a-e2e"], id="an-empty-list-beside-it"),
        pytest.param({"service": service("a"), "services": {}}, ["a-e2e"], id="an-empty-mapping-beside-it"),
        pytest.param({"service": service("a"), "services": None}, ["a-e2e"], id="nothing-beside-it"),
    ],
)
def test_services_are(tmp_path: Path, sections: dict[str, Any], names: list[str]):
    loaded = load(tmp_path, project(**sections))
    assert [one.name for one in loaded.services] == names
    assert warned(loaded) == []


def test_services_go_before_service_and_that_is_said(tmp_path: Path):
    loaded = load(tmp_path, project(service=service("a"), services=[service("b", name="b")]))
    assert [one.name for one in loaded.services] == ["b"]
    assert warned(loaded) == [("service", 1)]


def test_unknown_keys_are_left_out_and_told_with_their_places(tmp_path: Path):
    text = """\
project: {name: shop, owner: me}
sevices: []
service:
  build: {dockerfile: D, image: i, target: x}
  container:
    name: n
    ports: []
    healthCheck: {path: /}
    environment: {anything: goes}
mocks:
  m:
    port: 1
    routes:
      - {method: GET, path: /, response: {body: {free: form}, code: 3}, when: {body: {a: {b: c}}, cookie: x}}
tests: {suites: [{name: a, id: a, kind: b}]}
resilience: {preflight: {checkPorts: true}}
history: {whatever: true}
"""
    loaded = load(tmp_path, text)
    assert warned(loaded) == [
        ("project.owner", 1),
        ("sevices", 2),
        ("service.build.target", 4),
        ("service.container.healthCheck", 8),
        ("mocks.m.routes[0].response.code", 14),
        ("mocks.m.routes[0].when.cookie", 14),
        ("tests.suites[0].kind", 15),
        ("resilience.preflight.checkPorts", 16),
    ]
    messages = {warning.path[-1]: warning.message for warning in loaded.warnings}
    assert '"services"' in messages["sevices"]
    assert '"healthcheck"' in messages["healthCheck"]


def test_everything_that_is_wrong_is_told_at_once_with_path_and_line(tmp_path: Path):
    text = """\
version: 1
project: {description: x}
services:
  api:
    build: {image: "Not An Image", context: 3}
    container:
      name: -illegal
      ports: ["70000:80", "a:b", 80]
      environment: {PORT: 3000, EMPTY: }
      volumes: ["relative/path:/x", "a:b"]
      healthcheck: {path: /, interval: 10, retries: -1, port: 0}
    dependsOn: [nobody]
mocks: {m: {port: none, mode: guess, target: "ftp://x"}}
tests:
  suites: [{name: "", id: a, runner: ""}, {id: a}]
  retry: {maxAttempts: 11, delay: soon}
isolation: {portRange: [80, 90]}
resilience:
  container: {maxRestarts: 11, restartOnFailure: perhaps}
  circuitBreaker: {failureThreshold: 0, resetTimeoutMs: -1}
  preflight: {diskSpaceThreshold: much}
network: []
plugin: x
"""
    error = refused(tmp_path, text)
    assert sorted(places(error)) == sorted(
        [
            ("version", 1),
            ("project.name", 2),
            ("services.api.build.dockerfile", 5),
            ("services.api.build.image", 5),
            ("services.api.build.context", 5),
            ("services.api.container.name", 7),
            ("services.api.container.ports[0]", 8),
            ("services.api.container.ports[1]", 8),
            ("services.api.container.ports[2]", 8),
            ("services.api.container.environment.PORT", 9),
            ("services.api.container.environment.EMPTY", 9),
            ("services.api.container.volumes[0]", 10),
            ("services.api.container.volumes[1]", 10),
            ("services.api.container.healthcheck.interval", 11),
            ("services.api.container.healthcheck.retries", 11),
            ("services.api.container.healthcheck.port", 11),
            ("services.api.dependsOn[0]", 12),
            ("mocks.m.port", 13),
            ("mocks.m.mode", 13),
            ("mocks.m.target", 13),
            ("tests.suites[0].name", 15),
            ("tests.suites[0].runner", 15),
            ("tests.suites[1].name", 15),
            ("tests.suites[1].id", 15),
            ("tests.retry.maxAttempts", 16),
            ("tests.retry.delay", 16),
            ("isolation.portRange[0]", 17),
            ("isolation.portRange[1]", 17),
            ("resilience.container.maxRestarts", 19),
            ("resilience.container.restartOnFailure", 19),
            ("resilience.circuitBreaker.failureThreshold", 20),
            ("resilience.circuitBreaker.resetTimeoutMs", 20),
            ("resilience.preflight.diskSpaceThreshold", 21),
            ("network", 22),
        ]
    )
    assert ("plugin", 23) in [(one["path"], one["line"]) for one in error.details["warnings"]]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("", ("", None), id="nothing"),
        pytest.param("# nothing yet\n", ("", None), id="only-a-comment"),
        pytest.param("- a\n", ("", 1), id="a-list"),
        pytest.param("shop\n", ("", 1), id="a-word"),
        pytest.param("project: {name: a\n", ("", 2), id="no-yaml"),
        pytest.param("services: 3\nproject: {name: a}\n", ("services", 1), id="services-that-are-a-number"),
        pytest.param("services: [3]\nproject: {name: a}\n", ("services[0]", 1), id="a-service-that-is-a-number"),
        pytest.param("services: {map: 3}\nproject: {name: a}\n", ("services.map", 1), id="a-service-called-map"),
        pytest.param("project: {name: a}\nproject: {name: b}\n", ("project", 2), id="a-section-twice"),
        pytest.param("project: [a]\n", ("project", 1), id="a-list-instead-of-a-mapping"),
        pytest.param("tests: {}\nproject: {name: a}\n", ("tests.suites", 1), id="tests-without-suites"),
        pytest.param("a: &a [*a]\nproject: {name: a}\n", None, id="a-list-that-holds-itself"),
    ],
)
def test_what_is_no_environment_is_refused_with_its_place(tmp_path: Path, text: str, place: tuple[str, int] | None):
    found = places(refused(tmp_path, text))
    assert len(found) == 1
    assert place is None or found == [place]


def test_an_error_shows_what_is_written_and_never_what_a_variable_stood_for(tmp_path: Path):
    written = project(mocks={"m": {"port": "{{env.PASSWORD}}"}, "n": {"port": 1, "image": "{{env.PASSWORD}}!"}})
    error = refused(tmp_path, written, {"PASSWORD": "hunter2 hunter2"})
    assert places(error) == [("mocks.m.port", 1), ("mocks.n.image", 1)]
    assert "hunter2" not in str(error.details) + error.message
    assert "{{env.PASSWORD}}" in error.message


def test_the_values_of_the_callers_environment_are_not_shown_by_the_environment(tmp_path: Path):
    loaded = load(
        tmp_path,
        project(service=service(vars={"key": "{{env.PASSWORD}}"})),
        {"PASSWORD": "hunter2"},
    )
    assert loaded.services[0].vars == {"key": "hunter2"}
    assert "hunter2" not in repr(loaded)
    assert loaded.origins == {"env.PASSWORD": "environment"}


def test_where_there_is_no_file_the_error_says_where_it_was_looked_for(tmp_path: Path):
    for file, looked in ((None, ["e2e.yaml", "e2e.yml"]), ("other.yaml", ["other.yaml"])):
        with pytest.raises(ArgusError) as caught:
            loading.load(tmp_path, file=file, environ={}, working=tmp_path, now=NOW, seed="")
        assert caught.value.code is Code.CONFIG_NOT_FOUND
        assert caught.value.details["lookedFor"] == [str(tmp_path / one) for one in looked]


def test_e2e_yml_is_found_too_and_a_named_file_goes_before(tmp_path: Path):
    (tmp_path / "e2e.yml").write_text("project: {name: short}\n")
    (tmp_path / "other.yaml").write_text("project: {name: other}\n")
    surroundings: dict[str, Any] = {"environ": {}, "working": tmp_path, "now": NOW, "seed": ""}
    assert loading.load(tmp_path, **surroundings).config.project.name == "short"
    assert loading.load(tmp_path, file="other.yaml", **surroundings).config.project.name == "other"
    assert load(tmp_path, "project: {name: long}\n").config.project.name == "long"


def test_a_file_that_cannot_be_read_is_an_error_and_nothing_is_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder", "/dev/zero", "nul\0l"):
        with pytest.raises(ArgusError) as caught:
            loading.load(tmp_path, file=name, environ={}, working=tmp_path, now=NOW, seed="")
        assert caught.value.code is Code.CONFIG_NOT_FOUND


def test_a_file_that_is_too_large_or_not_utf_8_is_refused(tmp_path: Path):
    assert places(refused(tmp_path, "project: {name: a}\n" + "#" * (1 << 20))) == [("", None)]
    (tmp_path / "e2e.yaml").write_bytes(b"project:\n  name: \xff\n")
    with pytest.raises(ArgusError) as caught:
        loading.load(tmp_path, environ={}, working=tmp_path, now=NOW, seed="")
    assert caught.value.code is Code.CONFIG_INVALID
    assert places(caught.value) == [("", 2)]


_KEYS = sorted(
    {key for one in (model.bare_schema(), *model.bare_schema()["$defs"].values()) for key in one.get("properties", {})}
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["{{env.A}}", "{{config.a}}", "{{uuid}}", "8080:80", "a:/b", "10s", "..", "/"])
)
_TREES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=6), inner, max_size=6)
    ),
    max_leaves=30,
)


def outcome(folder: Path, text: Any) -> ArgusError | None:
    try:
        load(folder, text, {"A": "x y/z"})
    except ArgusError as error:
        return error
    return None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(sections=st.dictionaries(st.sampled_from(_KEYS), _TREES, max_size=8))
def test_garbage_is_loaded_or_refused_with_places(tmp_path: Path, sections: dict[str, Any]):
    error = outcome(tmp_path, sections)
    assert error is None or error.code is Code.CONFIG_INVALID
    found = error.details["errors"] if error else []
    assert (error is None) == (found == [])
    assert all(isinstance(one["path"], str) and one["message"] for one in found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text() | st.binary().map(lambda found: found.decode("latin-1")))
def test_any_text_is_loaded_or_refused(tmp_path: Path, text: str):
    error = outcome(tmp_path, text.encode("utf-8", "ignore").decode())
    assert error is None or error.code is Code.CONFIG_INVALID


def test_files_that_others_of_this_format_take_are_taken(tmp_path: Path):
    one = {"name": "API Server", **service()}
    one["container"]["healthcheck"] = {"path": "/", "retries": 0}
    tests = {"suites": [{"name": "Unit", "id": "unit", "runner": "jest"}]}
    loaded = load(
        tmp_path, project(services=[one, {"name": "测试", **service("db"), "dependsOn": ["API Server"]}], tests=tests)
    )
    assert [(part.name, part.alias) for part in plan(loaded).parts] == [("API Server", "API-Server"), ("测试", "")]
    assert warned(loaded) == [("tests.suites[0].runner", 1)]
    (health, _) = (part.health for part in plan(loaded).parts)
    assert health is not None
    assert health.patience == 45.0, "once, at least"
    mapped = load(tmp_path, project(services={"The API": service()}))
    assert [part.name for part in plan(mapped).parts] == ["The API"]
    for name in ("a\nb", "x" * 201):
        assert places(refused(tmp_path, project(services=[{"name": name, **service()}]))) == [("services[0].name", 1)]
