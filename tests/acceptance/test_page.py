"""The page: served without a token, from nowhere else, and opened by a link that works once."""

from __future__ import annotations

import gzip
import re
from http.cookies import SimpleCookie

import pytest
from playwright.sync_api import expect

from tests.acceptance.browser import CHROMIUM, page_of
from tests.acceptance.harness import Argus, Reply


@pytest.fixture
def running(argus: Argus) -> Argus:
    argus.configure()
    argus.up()
    return argus


def policy(reply: Reply) -> dict[str, list[str]]:
    parts = [part.split() for part in reply.headers["Content-Security-Policy"].split(";")]
    return {words[0]: words[1:] for words in parts}


def test_the_page_needs_no_token_and_nothing_from_elsewhere(running: Argus) -> None:
    page = running.rest("GET", "/", token=False)
    assert page.status == 200
    assert page.headers.get_content_type() == "text/html"
    text = page.body.decode()
    rules = policy(page)
    assert rules["default-src"] == ["'none'"]
    assert rules["frame-ancestors"] == ["'none'"]
    for kind in ("script-src", "style-src", "img-src", "connect-src"):
        assert rules[kind] == ["'self'"], kind
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert rules["require-trusted-types-for"] == ["'script'"]
    assert page.headers["X-Content-Type-Options"] == "nosniff"

    links = re.findall(r"""(?:src|href)=["']([^"']+)""", text)
    assert links
    bodies = [text]
    for link in links:
        assert link.startswith("/")
        assert not link.startswith("//")
        part = running.rest("GET", link, token=False)
        assert part.status == 200, link
        bodies.append(part.body.decode())
    for body in bodies:
        elsewhere = set(re.findall(r"(?:https?:)?//[a-z0-9][a-z0-9.-]*\.[a-z]{2,}", body)) - {"http://www.w3.org"}
        assert elsewhere == set()
    assert running.token not in "".join(bodies)


def session(reply: Reply) -> SimpleCookie:
    return SimpleCookie(reply.headers["Set-Cookie"])


def test_the_link_logs_in_once_and_its_cookie_opens_the_api(running: Argus) -> None:
    link = running.cli("open").stdout.strip()
    assert link.startswith(f"{running.url}/login?code=")
    path = link.removeprefix(running.url)
    first = running.rest("GET", path, token=False)
    assert (first.status, first.headers["Location"]) == (303, "/")
    ((name, morsel),) = session(first).items()
    assert morsel["httponly"]
    assert morsel["samesite"].lower() == "strict"
    assert morsel.value != running.token

    cookie = {"Cookie": f"{name}={morsel.value}"}
    assert running.rest("GET", "/api/state", token=False, headers=cookie).status == 200
    changed = running.rest("PUT", "/api/autonomy", {"level": "cautious"}, token=False, headers=cookie)
    assert changed.json == {"level": "cautious"}
    assert running.journal("autonomy_changed")[-1].data["by"] == "page"
    crossed = running.rest(
        "PUT", "/api/autonomy", {"level": "full"}, token=False, headers={**cookie, "Origin": "http://evil.example"}
    )
    assert (crossed.status, crossed.error["code"]) == (403, "FORBIDDEN")

    second = running.rest("GET", path, token=False)
    assert (second.status, second.error["code"]) == (401, "UNAUTHORIZED")
    assert "Set-Cookie" not in second.headers
    wrong = {"Cookie": f"{name}={morsel.value}x"}
    assert running.rest("GET", "/api/state", token=False, headers=wrong).status == 401


def test_a_browser_that_is_logged_in_stays_so_when_argus_was_started_again(running: Argus) -> None:
    reply = running.rest("GET", running.cli("open").stdout.strip().removeprefix(running.url), token=False)
    ((name, morsel),) = session(reply).items()
    running.kill()
    running.up()
    cookie = {"Cookie": f"{name}={morsel.value}"}
    assert running.rest("GET", "/api/state", token=False, headers=cookie).status == 200


def test_the_page_is_small_and_says_nothing_of_its_build(running: Argus) -> None:
    parts = [running.rest("GET", path, token=False).body for path in ("/", "/app.js", "/style.css", "/favicon.svg")]
    assert sum(len(gzip.compress(part)) for part in parts) < 150_000
    assert running.rest("GET", "/built.json", token=False).status == 401


def test_a_wrong_link_logs_nobody_in(running: Argus) -> None:
    for query in ("", "?code=", "?code=nonsense", "?code=%00", "?other=1"):
        reply = running.rest("GET", f"/login{query}", token=False)
        assert (reply.status, reply.error["code"]) == (401, "UNAUTHORIZED"), query
        assert "Set-Cookie" not in reply.headers


def test_the_link_of_the_start_works_too(running: Argus) -> None:
    running.down()
    link = running.up()["open"].removeprefix(running.url)
    assert running.rest("GET", link, token=False).status == 303
    assert running.rest("GET", link, token=False).status == 401


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_who_opens_a_link_again_is_told_that_it_was_used(running: Argus) -> None:
    link = running.cli("open").stdout.strip()
    with page_of(running) as page:
        page.goto(link)
        page.context.clear_cookies()
        page.goto(link)
        expect(page.locator("main")).to_contain_text("That link was used or is too old")
        expect(page.locator("main")).to_contain_text("argus open")
        page.reload()
        expect(page.locator("h1")).to_have_text("Not logged in")
        expect(page.locator("main")).not_to_contain_text("That link")
