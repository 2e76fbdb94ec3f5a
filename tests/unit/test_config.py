"""argus.yaml: what it may say, and everything that is wrong with it, at once, with its place."""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus import config, config_file
from argus.config import Config
from argus.core.autonomy import Level
from argus.core.depending import Kind
from argus.core.errors import ArgusError, Code
from argus.services.checks import HttpService, TcpService


def refused(text: str) -> ArgusError:
    with pytest.raises(ArgusError) as caught:
        config.read(text, "argus.yaml")
    assert caught.value.code is Code.CONFIG_INVALID
    assert caught.value.details["file"] == "argus.yaml"
    return caught.value


def places(text: str) -> list[tuple[str, int | None]]:
    return [(one["path"], one["line"]) for one in refused(text).details["errors"]]


def one_service(**keys: Any) -> str:
    service = {"name": "a", "type": "tcp", "port": 80, **keys}
    return json.dumps({"health": {"services": [{key: value for key, value in service.items() if value != ...}]}})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an-empty-file"),
        pytest.param("# nothing yet\n", id="only-a-comment"),
        pytest.param("---\n", id="an-empty-document"),
        pytest.param("{}", id="an-empty-mapping"),
        pytest.param("server:\nstore:\nautonomy:\nhealth:\nnotify:\nagents:\n", id="sections-without-anything-in-them"),
        pytest.param("server: {}\nhealth: {}\nnotify: {}\n", id="sections-that-are-empty-mappings"),
    ],
)
def test_what_is_left_out_has_its_default(text: str):
    assert config.read(text, "argus.yaml") == Config()


def test_no_file_is_all_defaults():
    loaded = config.load(None)
    assert loaded == Config()
    assert (loaded.server.host, loaded.server.port, loaded.autonomy) == ("127.0.0.1", 7117, Level.OBSERVE)
    assert (loaded.health.enabled, loaded.health.services, loaded.health.failures_before_action) == (True, (), 3)
    assert (loaded.health.verify_after, loaded.health.restart_budget.max_per_hour) == (30.0, 2)
    assert (loaded.health.correlated_failure_threshold, loaded.health.correlated_failure_share) == (3, 0.02)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("health:\n  services:\n", "health.services", id="a-list-whose-entries-were-all-commented-out"),
        pytest.param("notify:\n  channels:\n", "notify.channels", id="channels-that-were-all-commented-out"),
        pytest.param("health:\n  restartBudget:\n", "health.restartBudget", id="an-empty-section-within-a-section"),
    ],
)
def test_what_is_empty_further_down_has_its_default_too(text: str, path: str):
    assert config.read(text, path) == Config()


FILE = """\
server: {host: 127.0.0.1, port: 7117}
store: {retention: 30d}
autonomy: moderate
health:
  failuresBeforeAction: 2
  verifyAfter: 45s
  restartBudget: {maxPerHour: 0}
  correlatedFailureThreshold: 4
  correlatedFailureShare: 0.5
  services:
    - {name: api, type: http, url: "http://localhost:8100/", interval: 1m30s, timeout: 500ms,
       expectStatus: 200, expectBody: ok, headers: {Accept: text/plain}, method: HEAD, dependsOn: [db],
       failuresBeforeAction: 1, restart: {command: [/opt/api/restart.sh, --now], timeout: 20s}}
    - {name: db, type: tcp, host: db.local, port: 5432, restart: none}
notify:
  channels: [{url: "ntfys://topic", tiers: [1]}]
"""


@pytest.mark.req("INFRA-01.1", "INFRA-01.2")
def test_everything_a_file_says_is_taken_over():
    loaded = config.read(FILE, "argus.yaml")
    api, db = loaded.health.services
    assert loaded.autonomy is Level.MODERATE
    assert (loaded.store.retention, Config().store.retention) == (30 * 86400.0, 90 * 86400.0)
    assert (loaded.health.failures_before_action, loaded.health.verify_after) == (2, 45.0)
    assert (loaded.health.restart_budget.max_per_hour, loaded.health.correlated_failure_threshold) == (0, 4)
    assert loaded.health.correlated_failure_share == 0.5
    assert isinstance(api, HttpService)
    assert (api.name, api.url, api.interval, api.timeout) == ("api", "http://localhost:8100/", 90.0, 0.5)
    assert (api.expect_status, api.expect_body, api.headers, api.method) == (
        200,
        "ok",
        {"Accept": "text/plain"},
        "HEAD",
    )
    assert (api.depends_on, api.failures_before_action) == (("db",), 1)
    assert api.restart is not None
    assert (api.restart.command, api.restart.timeout) == (("/opt/api/restart.sh", "--now"), 20.0)
    assert isinstance(db, TcpService)
    assert (db.host, db.port, db.interval, db.timeout, db.restart) == ("db.local", 5432, 60.0, 5.0, None)
    channel = loaded.notify.channels[0]
    assert (channel.url.get_secret_value(), channel.tiers) == ("ntfys://topic", (1,))
    assert loaded.notices(None) == ["health.services: /opt/api/restart.sh is not there: it restarts api"]


FIRST_FORMAT = {
    "health": {
        "enabled": True,
        "services": [
            {"name": "site", "type": "http", "url": "http://localhost:8070/", "intervalMs": 60000, "timeoutMs": 2500},
            {"name": "db", "type": "tcp", "port": 5432, "intervalMs": 1500.5},
        ],
        "consecutiveFailsBeforeAlert": 5,
        "restartBudget": {"maxPerHour": 1},
        "correlatedFailureThreshold": 3,
    }
}


def test_the_keys_of_the_first_format_stay_good():
    loaded = config.read(json.dumps(FIRST_FORMAT, indent=2), "argus.yaml").health
    assert [(one.interval, one.timeout) for one in loaded.services] == [(60.0, 2.5), (1.5005, 5.0)]
    assert (loaded.failures_before_action, loaded.restart_budget.max_per_hour) == (5, 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("- a\n", [("", 1)], id="a-list-instead-of-sections"),
        pytest.param("\njust words\n", [("", 2)], id="a-text-instead-of-sections"),
        pytest.param("a: [1\n", [("", 2)], id="not-yaml"),
        pytest.param("server:\n  prot: 80\n", [("server.prot", 2)], id="a-misspelt-key"),
        pytest.param("sever: {}\n", [("sever", 1)], id="a-misspelt-section"),
        pytest.param("server:\n  max_per_hour: 1\n", [("server.max_per_hour", 2)], id="snake-case"),
        pytest.param("server:\n  port: 1\n  port: 2\n", [("server.port", 3)], id="a-key-that-stands-twice"),
        pytest.param("server:\n\n  port: 65536\n", [("server.port", 3)], id="a-port-too-high"),
        pytest.param("server: {port: '80'}\n", [("server.port", 1)], id="a-port-that-is-text"),
        pytest.param("server: {auth: none}\n", [("server.auth", 1)], id="no-authentication"),
        pytest.param("server: {host: ''}\n", [("server.host", 1)], id="no-host"),
        pytest.param("health: 3\n", [("health", 1)], id="a-number-instead-of-a-section"),
        pytest.param("autonomy: on\n", [("autonomy", 1)], id="on-is-a-text-and-no-level"),
        pytest.param("health:\n  enabled: no\n", [("health.enabled", 2)], id="no-is-a-text-and-not-false"),
        pytest.param("store: {retention: 0s}\n", [("store.retention", 1)], id="a-retention-of-nothing"),
        pytest.param(
            "health: {restartBudget: {maxPerHour: 1001}}\n",
            [("health.restartBudget.maxPerHour", 1)],
            id="a-budget-that-cannot-be-counted",
        ),
        pytest.param("health: {verifyAfter: 30}\n", [("health.verifyAfter", 1)], id="a-duration-without-a-unit"),
        pytest.param("health: {verifyAfter: 0s}\n", [("health.verifyAfter", 1)], id="a-duration-of-nothing"),
        pytest.param("health: {verifyAfter: -5s}\n", [("health.verifyAfter", 1)], id="a-negative-duration"),
        pytest.param("health: {verifyAfter: 5 s}\n", [("health.verifyAfter", 1)], id="a-duration-with-a-blank"),
        pytest.param("health: {verifyAfter: 30m1h}\n", [("health.verifyAfter", 1)], id="a-duration-back-to-front"),
        pytest.param("health: {verifyAfter: true}\n", [("health.verifyAfter", 1)], id="a-duration-that-is-true"),
        pytest.param("health: {verifyAfter: [1s]}\n", [("health.verifyAfter", 1)], id="a-duration-that-is-a-list"),
        pytest.param(
            "health: {failuresBeforeAction: 0}\n", [("health.failuresBeforeAction", 1)], id="no-failures-before-action"
        ),
        pytest.param(
            "health: {failuresBeforeAction: 1.5}\n", [("health.failuresBeforeAction", 1)], id="half-a-failure"
        ),
        pytest.param(
            "health: {consecutiveFailsBeforeAlert: 0}\n",
            [("health.consecutiveFailsBeforeAlert", 1)],
            id="no-failures-in-the-first-format",
        ),
        pytest.param(
            "health:\n  failuresBeforeAction: 3\n  consecutiveFailsBeforeAlert: 3\n",
            [("health", 1)],
            id="one-thing-in-both-formats",
        ),
        pytest.param(
            "health:\n  restartBudget:\n    maxPerHour: -1\n", [("health.restartBudget.maxPerHour", 3)], id="a-debt"
        ),
        pytest.param(
            "health: {correlatedFailureThreshold: 1}\n",
            [("health.correlatedFailureThreshold", 1)],
            id="one-failing-together",
        ),
        pytest.param(
            "health: {correlatedFailureShare: 1.1}\n", [("health.correlatedFailureShare", 1)], id="more-than-all"
        ),
        pytest.param(
            "health: {correlatedFailureShare: nan}\n", [("health.correlatedFailureShare", 1)], id="not-a-number"
        ),
        pytest.param("health: {services: {a: b}}\n", [("health.services", 1)], id="a-mapping-of-services"),
        pytest.param("health:\n  services:\n    - 3\n", [("health.services[0]", 3)], id="a-service-that-is-a-number"),
        pytest.param("notify: {channels: [{url: topic}]}\n", [("notify.channels[0].url", 1)], id="no-apprise-url"),
        pytest.param(
            "notify: {channels: [{url: 'json://h', tiers: [1, 4]}]}\n",
            [("notify.channels[0].tiers[1]", 1)],
            id="tier-four",
        ),
        pytest.param(
            "notify: {channels: [{url: 'json://h', tiers: []}]}\n", [("notify.channels[0].tiers", 1)], id="no-tiers"
        ),
        pytest.param("agents: []\n", [("agents", 1)], id="a-list-where-a-later-section-is-a-mapping"),
    ],
)
def test_a_wrong_file_is_refused_with_path_and_line(text: str, found: list[tuple[str, int | None]]):
    assert places(text) == found


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        pytest.param({"name": ...}, "name", id="without-a-name"),
        pytest.param({"name": ""}, "name", id="an-empty-name"),
        pytest.param({"name": 3}, "name", id="a-name-that-is-a-number"),
        pytest.param({"name": "-f"}, "name", id="a-name-like-an-option"),
        pytest.param({"name": "../a"}, "name", id="a-name-like-a-path"),
        pytest.param({"name": "$(x)"}, "name", id="a-name-like-shell-text"),
        pytest.param({"name": "a\nb"}, "name", id="a-name-of-two-lines"),
        pytest.param({"name": "x" * 101}, "name", id="a-name-without-end"),
        pytest.param({"type": ...}, "", id="without-a-type"),
        pytest.param({"type": "carrier-pigeon"}, "", id="a-type-nobody-knows"),
        pytest.param({"port": ...}, "port", id="without-a-port"),
        pytest.param({"port": 0}, "port", id="port-zero"),
        pytest.param({"port": 65536}, "port", id="a-port-too-high"),
        pytest.param({"port": "22:22"}, "port", id="a-port-mapping"),
        pytest.param({"port": 80.0}, "port", id="a-port-with-a-fraction"),
        pytest.param({"host": ""}, "host", id="an-empty-host"),
        pytest.param({"url": "http://x/"}, "url", id="a-key-of-another-type"),
        pytest.param({"interval": 60}, "interval", id="an-interval-without-a-unit"),
        pytest.param({"interval": "0s"}, "interval", id="an-interval-of-nothing"),
        pytest.param({"timeout": "-1s"}, "timeout", id="a-negative-timeout"),
        pytest.param({"intervalMs": 0}, "intervalMs", id="an-interval-of-no-milliseconds"),
        pytest.param({"timeoutMs": -5}, "timeoutMs", id="a-negative-number-of-milliseconds"),
        pytest.param({"failuresBeforeAction": 0}, "failuresBeforeAction", id="no-failures"),
        pytest.param({"failuresBeforeAction": True}, "failuresBeforeAction", id="true-failures"),
        pytest.param({"dependsOn": ["b", "b"]}, "dependsOn", id="a-dependency-named-twice"),
        pytest.param({"dependsOn": "b"}, "dependsOn", id="a-dependency-that-is-no-list"),
        pytest.param({"restart": "docker"}, "restart", id="a-way-to-restart-that-is-no-mapping"),
        pytest.param({"restart": {}}, "restart.command", id="a-restart-without-a-command"),
        pytest.param({"restart": {"command": []}}, "restart.command", id="an-empty-command"),
        pytest.param({"restart": {"command": [""]}}, "restart.command", id="a-program-without-a-name"),
        pytest.param({"restart": {"command": "reboot now"}}, "restart.command", id="a-command-as-shell-text"),
        pytest.param({"restart": {"command": ["x"], "timeout": 5}}, "restart.timeout", id="a-timeout-without-a-unit"),
    ],
)
def test_a_wrong_service_is_refused_at_its_key(keys: dict[str, Any], path: str):
    assert places(one_service(**keys)) == [(f"health.services[0]{'.' if path else ''}{path}", 1)]


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        pytest.param({"url": ...}, "url", id="without-a-url"),
        pytest.param({"url": "ftp://h/"}, "url", id="another-protocol"),
        pytest.param({"url": "http:///x"}, "url", id="a-url-without-a-host"),
        pytest.param({"url": "http://h:99999/"}, "url", id="a-port-too-high"),
        pytest.param({"url": "http://h:0/"}, "url", id="port-zero"),
        pytest.param({"url": "http://[::1/"}, "url", id="half-an-address"),
        pytest.param({"url": "http://h/ x"}, "url", id="a-url-with-a-blank"),
        pytest.param({"url": "http://h/\r\nX: y"}, "url", id="a-url-that-smuggles-a-header"),
        pytest.param({"url": "http://a:b@h/\r\nX: y"}, "url", id="the-same-behind-a-password"),
        pytest.param({"url": "http://a:b\n@h/"}, "url", id="a-password-of-two-lines"),
        pytest.param({"headers": {"X": "a\r\nY: b"}}, "headers", id="a-header-that-smuggles-another"),
        pytest.param({"headers": {"a b": "c"}}, "headers", id="a-header-name-with-a-blank"),
        pytest.param({"headers": {"": "c"}}, "headers", id="a-header-without-a-name"),
        pytest.param({"method": "DELETE"}, "method", id="a-method-that-changes-things"),
        pytest.param({"expectStatus": 99}, "expectStatus", id="a-status-that-is-none"),
        pytest.param({"expectStatus": "200"}, "expectStatus", id="a-status-that-is-text"),
        pytest.param({"port": 80}, "port", id="a-key-of-another-type"),
    ],
)
def test_a_wrong_http_service_is_refused_at_its_key(keys: dict[str, Any], path: str):
    text = one_service(**{"type": "http", "url": "http://h/", "port": ..., **keys})
    assert places(text) == [(f"health.services[0].{path}", 1)]


OF_EVERY_TYPE: dict[str, dict[str, Any]] = {
    "http": {"url": "http://h/"},
    "tcp": {"port": 80},
    "process": {"processName": "x"},
    "docker": {"containers": ["x"]},
    "command": {"command": ["true"]},
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an-interval-of-nothing": ({"interval": "0s"}, "interval"),
    "the-same-in-milliseconds": ({"intervalMs": 0}, "intervalMs"),
    "an-interval-that-cannot-be-kept": ({"interval": "99ms"}, "interval"),
    "one-of-less-than-a-millisecond": ({"intervalMs": 0.0001}, "intervalMs"),
    "a-timeout-without-a-unit": ({"timeout": 5}, "timeout"),
    "no-failures": ({"failuresBeforeAction": 0}, "failuresBeforeAction"),
    "a-dependency-that-is-no-name": ({"dependsOn": ["-f"]}, "dependsOn[0]"),
    "a-minute-that-is-none": ({"maintenance": [{"cron": "61 * * * *", "duration": "1h"}]}, "maintenance[0].cron"),
    "a-window-without-its-length": ({"maintenance": [{"cron": "1 * * * *"}]}, "maintenance[0].duration"),
    "a-budget-below-none": ({"restartBudget": {"maxPerHour": -1}}, "restartBudget.maxPerHour"),
    "a-command-as-shell-text": ({"restart": {"command": "reboot now"}}, "restart.command"),
    "an-argument-that-is-a-number": ({"restart": {"command": ["x", 1]}}, "restart.command[1]"),
    "a-unit-like-an-option": ({"restart": {"systemd": "-f"}}, "restart.systemd"),
    "a-label-like-an-option": ({"restart": {"launchd": "-f"}}, "restart.launchd"),
    "a-restart-within-no-time": ({"restart": {"docker": ["x"], "timeout": "0s"}}, "restart.timeout"),
    "a-key-nobody-knows": ({"colour": "red"}, "colour"),
    "the-name-of-the-type-as-a-key": ({"http": 1, "tcp": 1, "process": 1, "docker": 1}, "http tcp process docker"),
    "without-a-name": ({"name": ...}, "name"),
}


@pytest.mark.parametrize("kind", OF_EVERY_TYPE)
@pytest.mark.parametrize(("keys", "paths"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_at_its_key_in_every_type_of_service(kind: str, keys: dict[str, Any], paths: str):
    text = one_service(**{"type": kind, "port": ..., **OF_EVERY_TYPE[kind], **keys})
    assert [place for place, _ in places(text)] == [f"health.services[0].{path}" for path in paths.split()]


@pytest.mark.parametrize("kind", OF_EVERY_TYPE)
def test_a_key_that_is_written_wrong_is_named_beside_the_one_that_is_missing(kind: str):
    text = one_service(**{"type": kind, "port": ..., **OF_EVERY_TYPE[kind], "restart": {"comand": ["x"]}})
    with pytest.raises(ArgusError) as refused:
        config.read(text, "argus.yaml")
    found = {one["path"]: one["message"] for one in refused.value.details["errors"]}
    assert found.keys() == {"health.services[0].restart.command", "health.services[0].restart.comand"}
    assert '"command"' in found["health.services[0].restart.comand"]


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param({"interval": "5s", "intervalMs": 5000}, id="one-thing-in-both-formats"),
        pytest.param({"timeoutMs": "5s"}, id="milliseconds-that-are-text"),
        pytest.param({"timeoutMs": True}, id="milliseconds-that-are-true"),
    ],
)
def test_a_service_that_contradicts_itself_is_named_by_a_path_the_file_has(keys: dict[str, Any]):
    assert places(one_service(**keys)) == [("health.services[0]", 1)]


@pytest.mark.parametrize("keys", [{"interval": "100ms"}, {"intervalMs": 100}, {"timeout": "1ms"}])
def test_short_times_that_can_be_kept_are_taken(keys: dict[str, Any]):
    config.read(one_service(**keys), "argus.yaml")


EVERYTHING_WRONG = """\
sever: 1
server:
  port: -1
  port: 2
health:
  verifyAfter: 3
  services:
    - name: -a
      type: tcp
      port: x
    - type: http
      name: b
"""


def test_everything_that_is_wrong_is_said_at_once_in_the_order_of_the_file():
    assert places(EVERYTHING_WRONG) == [
        ("sever", 1),
        ("server.port", 3),
        ("server.port", 4),
        ("health.verifyAfter", 6),
        ("health.services[0].name", 8),
        ("health.services[0].port", 10),
        ("health.services[1].url", 11),
    ]


EVERY_NAME_WRONG = """\
server: {port: -1}
health:
  services:
    - {name: api, type: tcp, port: 1, dependsOn: [dbb, cache]}
    - {name: db, type: tcp, port: x, dependsOn: [api, nope]}
    - {name: db, type: tcp, port: 3}
    - {name: a, type: tcp, port: 4, dependsOn: [b]}
    - {name: b, type: tcp, port: 5, dependsOn: [a]}
    - {name: c, type: tcp, port: 6, dependsOn: db}
agents:
  configs:
    one:
      command: [x]
      dependsOn: [nope, "agent:x", "service:aip", "", "environment:", api]
sessions:
  projects:
    p: {path: /p, dependsOn: [what, api]}
environments:
  - {path: /shop, dependsOn: [aip, "environment:x"]}
  - 5
"""


def test_every_name_that_leads_nowhere_is_said_at_once_beside_what_else_is_wrong():
    found = [(one["path"], one["line"]) for one in refused(EVERY_NAME_WRONG).details["errors"]]
    one = "agents.configs.one.dependsOn"
    assert found == [
        ("server.port", 1),
        *[("health.services[0].dependsOn", 4)] * 2,
        ("health.services[1].port", 5),
        ("health.services[1].dependsOn", 5),
        ("health.services[2].name", 6),
        ("health.services[3].dependsOn", 7),
        ("health.services[5].dependsOn", 9),
        *[(f"{one}[{place}]", 14) for place in (3, 4)],
        *[(one, 14)] * 3,
        ("sessions.projects.p.dependsOn", 17),
        ("environments[0].dependsOn[1]", 19),
        ("environments[0].dependsOn", 19),
        ("environments[1]", 20),
    ]


def test_whatever_a_service_is_called_every_part_can_depend_on_it():
    said = "health: {services: [{name: 'web:8080', type: tcp, port: 1}, {name: b, type: tcp, port: 2, dependsOn: [X]}]}"
    said += "\nagents: {configs: {one: {command: [x], dependsOn: [X, 'service:web:8080']}}}"
    loaded = config.read(said.replace("[X", "['web:8080'"), "argus.yaml")
    assert [str(one) for one in loaded.agents.configs["one"].needs] == ["service web:8080"] * 2


def test_what_may_be_meant_for_an_environment_is_told_how_that_is_written():
    error = refused("agents: {configs: {one: {command: [x], dependsOn: ['env:shop']}}}").details["errors"][0]
    assert error["message"].endswith(
        "which is no service of health.services; an environment is written environment:NAME"
    )


def test_what_stands_in_something_that_is_wrong_as_a_whole_is_passed_over():
    text = "sessions: {projects: {p: {path: /p, sessoin: 1, dependsOn: ['x:y', [], {}]}, q: 5}, handoff: 5}"
    assert ("sessions.projects.q", 1) in places(text)
    assert places(
        "health: {services: [5, {name: [], dependsOn: [b]}], dependsOn: 5}\nagents: {configs: [{dependsOn: [b]}]}"
    )


@pytest.mark.parametrize("kind", Kind)
def test_a_service_is_not_called_as_other_kinds_of_dependencies_are_written(kind: Kind):
    text = one_service(name=f"{kind.value}:x")
    assert places(text) == [("health.services[0].name", 1)]
    assert kind.value in refused(text).details["errors"][0]["message"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(as_data(text), SCHEMA)


@pytest.mark.parametrize("name", ["web:8080", "environment", "environments:x", "my-service:x"])
def test_a_service_may_have_any_other_colon_in_its_name(name: str):
    text = one_service(name=name)
    assert config.read(text, "argus.yaml").health.services[0].name == name
    jsonschema.validate(as_data(text), SCHEMA)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(one_service(dependsOn="b"), "a list is expected", id="a-list"),
        pytest.param("environments: [5]", "a mapping is expected", id="a-mapping"),
        pytest.param("server: 5", "a mapping is expected", id="a-section"),
        pytest.param("agents: {configs: {a: {command: [5]}}}", "text is expected", id="text"),
        pytest.param("health: {enabled: 5}", "true or false is expected", id="a-truth"),
        pytest.param("server: {port: x}", "a whole number is expected", id="a-whole-number"),
        pytest.param("server: {port: 70000}", "must be less than or equal to 65535", id="a-bound"),
        pytest.param("server: {auth: none}", "must be 'token'", id="one-of-a-few"),
    ],
)
def test_what_is_expected_is_said_in_the_words_of_the_file(text: str, message: str):
    (found,) = refused(text).details["errors"]
    assert found["message"] == message


def two(first: str, second: str) -> str:
    return (
        f"health:\n  services:\n    - {{name: a, type: tcp, port: 1{first}}}\n    - {{{second}, type: tcp, port: 2}}\n"
    )


@pytest.mark.parametrize(
    ("text", "place", "other"),
    [
        pytest.param(two("", "name: a"), ("health.services[1].name", 4), "line 3", id="a-name-that-stands-twice"),
        pytest.param(
            two(", dependsOn: [b]", "name: b, dependsOn: [a]"),
            ("health.services[0].dependsOn", 3),
            "line 4",
            id="a-circle-of-two",
        ),
        pytest.param(
            two(", dependsOn: [a]", "name: b"), ("health.services[0].dependsOn", 3), "a -> a", id="a-circle-of-one"
        ),
        pytest.param(
            two(", dependsOn: [bb]", "name: b"),
            ("health.services[0].dependsOn", 3),
            '"bb"',
            id="a-dependency-that-does-not-exist",
        ),
    ],
)
def test_names_and_dependencies_are_refused_with_both_places(text: str, place: tuple[str, int], other: str):
    found = refused(text).details["errors"]
    assert [(one["path"], one["line"]) for one in found] == [place]
    assert other in found[0]["message"]


def test_a_circle_anywhere_is_found_and_a_diamond_is_none():
    def registry(**depends: list[str]) -> str:
        services = [
            {"name": name, "type": "tcp", "port": place + 1, "dependsOn": others}
            for place, (name, others) in enumerate(depends.items())
        ]
        return json.dumps({"health": {"services": services}})

    assert config.read(registry(a=["b", "c"], b=["d"], c=["d"], d=[]), "argus.yaml")
    assert len(refused(registry(a=["b"], b=["c"], c=["d"], d=["b"])).details["errors"]) == 1


def test_all_circles_are_named():
    two_apart = "health: {services: [\n" + "".join(
        f"  {{name: {name}, type: tcp, port: 1, dependsOn: [{', '.join(others)}]}},\n"
        for name, others in {"a": "b", "b": "a", "c": "da", "d": "c"}.items()
    )
    found = refused(two_apart + "]}\n").details["errors"]
    assert [one["message"].partition(": ")[2].partition(" (")[0] for one in found] == ["a -> b -> a", "c -> d -> c"]


@pytest.mark.req("INFRA-02.5")
@pytest.mark.parametrize(
    "service",
    [
        pytest.param({"type": "tcp", "port": 7117}, id="its-port-on-the-default-host"),
        pytest.param({"type": "tcp", "port": 7117, "host": "localhost"}, id="its-port-on-localhost"),
        pytest.param({"type": "tcp", "port": 7117, "host": "::1"}, id="its-port-on-the-other-loopback"),
        pytest.param({"type": "http", "url": "http://127.0.0.1:7117/healthz"}, id="its-url"),
        pytest.param({"type": "http", "url": "http://LOCALHOST:7117/"}, id="its-url-in-capitals"),
        pytest.param({"type": "http", "url": "http://[::1]:7117/"}, id="its-url-on-the-other-loopback"),
        pytest.param({"type": "http", "url": "http://0.0.0.0:7117/"}, id="its-url-on-any-address"),
    ],
)
def test_argus_itself_is_refused(service: dict[str, Any]):
    text = json.dumps({"health": {"services": [{"name": "me", **service}]}})
    assert places(text) == [("health.services[0].name", 1)]


@pytest.mark.req("INFRA-02.5")
@pytest.mark.parametrize("host", ["LOCALHOST", "localhost.", "127.1", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1", "[::1]"])
def test_argus_itself_is_refused_however_loopback_is_written(host: str):
    places(one_service(host=host, port=7117))


def test_another_port_or_another_machine_is_not_argus():
    for keys in ({"port": 7118}, {"port": 7117, "host": "db.local"}):
        assert config.read(one_service(**keys), "argus.yaml").health.services


def test_an_environment_is_its_path_or_more_and_one_that_is_not_there_is_said(tmp_path: Path):
    text = "health: {services: [{name: db, type: tcp, port: 1}]}\n"
    text += f"environments: [e2e.yaml, {{path: {tmp_path}, dependsOn: [db]}}]\n"
    read = config.read(text, "argus.yaml")
    assert [one.depends_on for one in read.environments] == [(), ("db",)]
    assert read.environments[1].file == str(tmp_path / "e2e.yaml")
    (tmp_path / "e2e.yaml").touch()
    assert read.notices(tmp_path / "argus.yaml") == [
        f"environments[1]: {tmp_path}/e2e.yaml is the file of environments[0] again; only the last one counts"
    ]
    elsewhere = tmp_path / "elsewhere"
    assert read.notices(elsewhere / "argus.yaml") == [f"environments[0]: there is no file {elsewhere}/e2e.yaml"]
    for wrong, place in (("[nothing]", ""), ("['environment:other']", "[0]")):
        assert places(text.replace("[db]", wrong)) == [(f"environments[1].dependsOn{place}", 2)]


@pytest.mark.parametrize(
    ("called", "needs", "said"),
    [
        pytest.param("shop", "environment:shop", "", id="one-that-is-there"),
        pytest.param("shop", "environment:shopp", 'did you mean "environment:shop"?', id="a-typing-mistake"),
        pytest.param("shop", "environment:bank", 'is called "bank"', id="one-that-may-come-from-elsewhere"),
        pytest.param("{{env.NAME}}", "environment:bank", "", id="nobody-knows-what-they-are-called"),
    ],
)
def test_who_depends_on_an_environment_that_nobody_knows_is_told(tmp_path: Path, called: str, needs: str, said: str):
    (tmp_path / "e2e.yaml").write_text(f'project: {{name: "{called}"}}\n')
    for section in ("agents: {configs: {one: {command: [x], ", f"sessions: {{projects: {{one: {{path: {tmp_path}, "):
        text = f"environments: [e2e.yaml]\n{section}dependsOn: ['{needs}']}}}}}}\n"
        found = config.read(text, "argus.yaml").notices(tmp_path / "argus.yaml")
        assert len(found) == bool(said)
        assert all(said in one and "one.dependsOn: " in one for one in found)


def test_a_secret_of_a_channel_does_not_stand_in_the_configuration_as_text():
    loaded = config.read("notify: {channels: [{url: 'ntfys://canary-secret@host/topic'}]}", "argus.yaml")
    assert "canary" not in repr(loaded)
    assert "canary" not in json.dumps(loaded.model_dump(mode="json"))


def test_a_wrong_channel_does_not_show_its_secret_in_the_error():
    error = refused("notify: {channels: [{url: 'ntfys//canary-secret@host/topic', tiers: [9]}]}")
    assert "canary" not in json.dumps(error.structured(0))


# Where the file is.


def test_the_order_in_which_files_are_looked_for(tmp_path: Path):
    folder, base = tmp_path / "folder", tmp_path / "base"
    environ = {"XDG_CONFIG_HOME": str(base), "HOME": str(tmp_path)}
    (base / "argus").mkdir(parents=True)
    folder.mkdir()
    assert config_file.find(None, environ, folder) is None
    users = base / "argus" / "argus.yaml"
    users.touch()
    assert config_file.find(None, environ, folder) == users
    here = folder / "argus.yaml"
    here.touch()
    assert config_file.find(None, environ, folder) == here
    named = folder / "named.yaml"
    named.touch()
    assert config_file.find(None, {**environ, "ARGUS_CONFIG": "named.yaml"}, folder) == named
    assert config_file.find(str(users), {**environ, "ARGUS_CONFIG": "named.yaml"}, folder) == users


def test_without_xdg_the_folder_is_dot_config(tmp_path: Path):
    users = tmp_path / ".config" / "argus" / "argus.yaml"
    users.parent.mkdir(parents=True)
    users.touch()
    assert config_file.find(None, {"HOME": str(tmp_path)}, tmp_path / "elsewhere") == users


@pytest.mark.parametrize("how", ["given", "environment"])
def test_a_file_that_was_named_must_exist(tmp_path: Path, how: str):
    (tmp_path / "argus.yaml").touch()
    given, environ = ("gone.yaml", {}) if how == "given" else (None, {"ARGUS_CONFIG": "gone.yaml"})
    with pytest.raises(ArgusError) as caught:
        config_file.find(given, environ, tmp_path)
    assert caught.value.code is Code.CONFIG_NOT_FOUND


@pytest.mark.parametrize("what", ["folder", "pipe", "device"])
def test_what_is_there_and_is_no_file_is_not_called_missing(tmp_path: Path, what: str):
    named = Path("/dev/null") if what == "device" else tmp_path / what
    if what == "folder":
        named.mkdir()
    elif what == "pipe":
        os.mkfifo(named)
    with pytest.raises(ArgusError) as caught:
        config_file.find(str(named), {}, tmp_path)
    assert caught.value.message == f"{named} is there and is no file"
    assert caught.value.actions == ("check_path",)


@pytest.mark.parametrize("how", ["given", "environment", "found"])
def test_a_file_that_somebody_else_keeps_closed_is_not_to_be_written_anew(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
):
    """Root may read anything, so the refusal is made by hand."""
    file = tmp_path / "argus.yaml"
    file.touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ArgusError) as caught:
        config_file.find(
            str(file) if how == "given" else None, {"ARGUS_CONFIG": str(file)} if how == "environment" else {}, tmp_path
        )
    assert caught.value.message == f"{file} may not be read"
    assert caught.value.actions == ("make_readable", "check_path")


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path):
    with pytest.raises(ArgusError) as caught:
        config.load(tmp_path)
    assert caught.value.code is Code.CONFIG_NOT_FOUND


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path):
    path = tmp_path / "argus.yaml"
    path.write_bytes(b"autonomy: \xff\xfe\n")
    with pytest.raises(ArgusError) as caught:
        config.load(path)
    assert caught.value.code is Code.CONFIG_INVALID


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path):
    path = tmp_path / "argus.yaml"
    path.write_bytes(b"\xef\xbb\xbfautonomy: full\n")
    assert config.load(path).autonomy is Level.FULL


# The JSON Schema, for editors.

SCHEMA = config.json_schema()


def properties(schema: Any, where: str = "") -> list[tuple[str, dict[str, Any]]]:
    found = []
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            found += [(f"{where}.{name}", one) for name, one in schema["properties"].items()]
        for key, value in schema.items():
            found += properties(value, f"{where}.{key}")
    elif isinstance(schema, list):
        for place, value in enumerate(schema):
            found += properties(value, f"{where}[{place}]")
    return found


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_describes_every_key():
    found = properties(SCHEMA)
    assert len(found) > 30
    assert [name for name, one in found if not one.get("description")] == []


def as_data(text: str) -> Any:
    from argus import yaml_lines

    return yaml_lines.parse(text).value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{}", id="an-empty-file"),
        pytest.param(FILE, id="a-file-that-uses-everything"),
        pytest.param("agents: {heartbeat: {interval: 30s}}\nenvironments: [e2e.yaml]\n", id="later-sections"),
    ],
)
def test_the_schema_accepts_what_argus_accepts(text: str):
    assert config.read(text, "argus.yaml")
    jsonschema.validate(as_data(text), SCHEMA)


def test_the_schema_accepts_the_first_format_too():
    jsonschema.validate(FIRST_FORMAT, SCHEMA)


def test_the_schema_accepts_an_empty_section():
    jsonschema.validate(as_data("health:\nnotify:\n"), SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("sever: {}", id="a-misspelt-section"),
        pytest.param("server: {prot: 1}", id="a-misspelt-key"),
        pytest.param("autonomy: on", id="a-level-that-is-none"),
        pytest.param("health: {verifyAfter: 30}", id="a-duration-without-a-unit"),
        pytest.param("health: {services: [{name: a, type: tcp}]}", id="a-service-without-a-port"),
        pytest.param("health: {services: [{name: a, type: tcp, port: 1, restart: podman}]}", id="a-wrong-restart"),
        pytest.param("health: {services: [{name: a, type: pigeon, port: 1}]}", id="a-type-nobody-knows"),
        pytest.param("notify: {channels: [{url: 'json://h', tiers: [4]}]}", id="tier-four"),
    ],
)
def test_the_schema_refuses_what_argus_refuses(text: str):
    refused(text)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(as_data(text), SCHEMA)


def test_the_schema_does_not_require_what_has_a_default():
    jsonschema.validate(as_data("health: {services: [{name: a, type: tcp, port: 1}]}"), SCHEMA)


# Anything at all.


def read_or_refuse(text: str) -> None:
    refusal = None
    try:
        config.read(text, "argus.yaml")
    except ArgusError as error:
        refusal = error
    if refusal is not None:
        assert refusal.code is Code.CONFIG_INVALID
        assert json.loads(json.dumps(refusal.structured(0)))["details"]["errors"]


@given(st.text(max_size=300))
@settings(deadline=None)
def test_any_text_is_read_or_refused_and_never_anything_else(text: str):
    read_or_refuse(text)


PIECES = (
    "health:|services:|  |\n|- |name: a|{|}|[|]|, |: |&a |*a|!!str |type: tcp|port: 80|server:|? |> |'|\"|#|restart: |"
)
pieces = st.sampled_from([*PIECES.split("|"), "|", "dependsOn: [a]", "null", "1e999", "---\n", "%", "!x "])


@given(st.lists(pieces, max_size=40).map("".join))
@settings(deadline=None, max_examples=300)
def test_any_heap_of_pieces_of_yaml_is_read_or_refused(text: str):
    read_or_refuse(text)


KEYS = (
    "server health services notify channels url tiers name type restart command dependsOn intervalMs interval host "
    "port autonomy headers tcp http enabled"
)
keys = st.sampled_from(KEYS.split())
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["tcp", "http", "5s", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(keys, values, max_size=4))
@settings(deadline=None, max_examples=300)
def test_any_shape_of_values_is_read_or_refused(data: dict[str, Any]):
    read_or_refuse(json.dumps(data))


def test_json_is_yaml_and_a_repeated_key_in_it_is_found():
    assert places('{"server": {"port": 1},\n "server": {"port": 2}}') == [("server", 2)]


@pytest.mark.parametrize("keys", ["launchdLabel: com.argus", "restart: {launchd: com.argus}"])
def test_the_job_that_argus_runs_as_is_refused_however_it_is_named(monkeypatch: pytest.MonkeyPatch, keys: str):
    monkeypatch.setenv("XPC_SERVICE_NAME", "com.argus")
    entry = "health: {services: [{name: a, type: tcp, port: 1, %s}]}"
    assert "is Argus itself" in refused(entry % keys).message
    config.read(entry % keys.replace("argus", "other"), "argus.yaml")


def test_a_key_in_the_wrong_place_is_not_said_to_be_meant_by_itself():
    said = {one["path"]: one["message"] for one in refused("name: x\nhealt: {}\n").details["errors"]}
    assert '"name"' not in said["name"]
    assert "here" in said["name"]
    assert '"health"' in said["healt"]
