"""Secrets of the configuration leave through no sink."""

from __future__ import annotations

import pytest

from tests.acceptance.harness import Argus, Hook, WebServer
from tests.faults import Injection

_CANARY = "canary-7Kq2vXw9"


def everything(argus: Argus, incident: str) -> dict[str, str]:
    """Whatever Argus says or writes, but its own copy of the secrets: the configuration file."""
    sinks = {
        path: argus.rest("GET", path).body.decode()
        for path in (
            "/api/state",
            "/api/services",
            "/api/services/web",
            "/api/incidents",
            f"/api/incidents/{incident}",
            "/api/context",
            "/api/events?last=10000&follow=false",
            "/openapi.json",
            "/docs",
        )
    }
    for words in (("status",), ("services",), ("events",), ("context",), ("explain", incident), ("check",)):
        for form in ((), ("--json",)):
            ran = argus.cli(*words, *form)
            sinks[" ".join((*words, *form))] = ran.stdout + ran.stderr
    for path in argus.home.rglob("*"):
        if path.is_file():
            sinks[path.name] = path.read_bytes().decode("utf-8", "replace")
    return sinks


@pytest.mark.fault("AP4")
def test_a_secret_in_a_channel_or_a_url_appears_nowhere(
    argus: Argus, web: WebServer, hook: Hook, injected: Injection
) -> None:
    # What knows the secrets may print them as they are, with nothing before them that tells what they are.
    printed = "; ".join(f"echo login with {_CANARY}-{one} failed" for one in ("userinfo", "channel", "other", "query"))
    told = {"command": ["sh", "-c", f"{printed}; exit 1", f"redis://:{_CANARY}-other@localhost"]}
    entry = web.service("fail", headers={"Authorization": f"Bearer {_CANARY}-header"}, restart=told)
    entry["url"] = entry["url"].replace("http://", f"http://user:{_CANARY}-userinfo@")
    channel = hook.url.replace("json://", f"json://user:{_CANARY}-channel@")
    nowhere = f"json://127.0.0.1:9/{_CANARY}-path?token={_CANARY}-query"
    argus.configure([entry], channels=[channel, nowhere])
    started = argus.cli("up", "--detach", "--json")
    assert argus.find()
    argus.wait_until("web", "up")
    with injected:
        web.kill()
        incident = argus.wait_for("service_escalated", "web").data["incident"]
        hook.wait_for("SERVICE STILL DOWN: web")
        argus.wait_for("notification_delayed")
    sinks = {**everything(argus, incident), "up": started.stdout + started.stderr, "hook": str(hook.messages)}
    argus.down()
    # What the program itself prints goes by itself into a file that only its owner may read: it may be a server.
    of_the_program = argus.home / "logs" / "restart-web.log"
    assert of_the_program.stat().st_mode & 0o077 == 0
    del sinks[of_the_program.name]
    sinks["logs"] = "".join(path.read_text() for path in (argus.home / "logs").iterdir() if path != of_the_program)
    assert "[redacted] failed" in sinks[f"explain {incident}"]
    assert {name for name, text in sinks.items() if _CANARY in text} == set()


def test_a_wrong_file_is_refused_without_saying_its_secrets(argus: Argus) -> None:
    argus.write(
        "server: {port: 0}\n"
        "health:\n"
        "  services:\n"
        f"    - {{name: web, type: http, url: 'ftp://user:{_CANARY}@127.0.0.1/'}}\n"
        "notify:\n"
        f"  channels: [{{url: 'nonsense{_CANARY}'}}, {{url: 'nosuchscheme://{_CANARY}/'}}, {{url: ['{_CANARY}']}}]\n"
    )
    for words in (("check",), ("check", "--json"), ("up", "--detach"), ("up", "--detach", "--json")):
        ran = argus.cli(*words)
        assert ran.code == 2
        assert _CANARY not in ran.stdout + ran.stderr

    argus.write(f"server: {{port: 0}}\nnotify:\n  channels: [{{url: 'nosuchscheme://{_CANARY}/'}}]\n")
    ran = argus.cli("up", "--detach", "--json")
    assert (ran.code, ran.error["code"]) == (2, "CONFIG_INVALID")
    assert _CANARY not in ran.stdout + ran.stderr


@pytest.mark.fault("AP4")
def test_the_token_is_told_by_no_face_but_its_own(argus: Argus, web: WebServer, injected: Injection) -> None:
    argus.configure([web.service()])
    argus.up()
    argus.wait_until("web", "up")
    with injected:
        web.kill()
        incident = argus.wait_for("service_down", "web").data["incident"]
    wrong = argus.rest("GET", f"/api/services/{argus.token}")
    sinks = {**everything(argus, incident), "an error about it": wrong.body.decode()}
    sinks.pop("token")
    assert {name for name, text in sinks.items() if argus.token in text} == set()
