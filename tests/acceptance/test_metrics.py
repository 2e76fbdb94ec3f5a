"""What a Prometheus would read."""

from __future__ import annotations

import os
import signal

from prometheus_client.parser import text_string_to_metric_families as parsed

from tests.acceptance.harness import Argus, WebServer, eventually, watched


def read(argus: Argus) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    reply = argus.rest("GET", "/metrics")
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = [sample for family in parsed(reply.body.decode()) for sample in family.samples]
    found = {(one.name, tuple(sorted(one.labels.items()))): one.value for one in samples}
    assert len(found) == len(samples), "no sample stands twice"
    return found


def of(service: str, type: str = "http") -> tuple[tuple[str, str], ...]:
    return (("service", service), ("type", type))


def test_services_agents_and_argus_itself(argus: Argus, web: WebServer) -> None:
    odd = {**watched("odd-one", "http://127.0.0.1:1/"), "failuresBeforeAction": 2}
    argus.configure([web.service(), odd], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    argus.wait_until("odd-one", "down")
    argus.rest("POST", "/api/heartbeat", {"agent_id": "a1"})
    found = read(argus)
    assert found["argus_service_up", of("web")] == 1
    assert found["argus_service_up", of("odd-one")] == 0
    assert found["argus_service_failures", of("odd-one")] >= 2
    assert found["argus_service_latency_seconds", of("web")] > 0
    assert found["argus_restart_budget_left", ()] == 2
    assert found["argus_autonomy", (("level", "observe"),)] == 1
    assert found["argus_autonomy", (("level", "full"),)] == 0
    assert found["argus_agents", (("state", "alive"),)] == 1
    assert found["argus_agent_silence_seconds", (("agent", "a1"),)] >= 0
    assert found["argus_store_writable", ()] == 1
    assert found["process_resident_memory_bytes", ()] > 1_000_000
    os.kill(web.pid, signal.SIGKILL)
    eventually(lambda: read(argus)["argus_service_up", of("web")] == 0, "the metric follows")


def test_metrics_need_a_token_that_may_read(argus: Argus) -> None:
    argus.configure([])
    argus.up()
    assert argus.rest("GET", "/metrics", token=False).status == 401
    report = argus.cli("token", "--report").stdout.strip()
    headers = {"Authorization": f"Bearer {report}"}
    assert argus.rest("GET", "/metrics", token=False, headers=headers).status == 403
