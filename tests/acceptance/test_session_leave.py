"""What an agent asks leave for, on the real Claude Code, answered from outside: by the command line, in a browser."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from argus.core.failpoints import TypingPlace
from tests.acceptance.browser import CHROMIUM, page_of
from tests.acceptance.harness import DEADLINE, eventually
from tests.acceptance.test_agent_programs import bench
from tests.acceptance.test_session_waits import DIALOG
from tests.acceptance.test_sessions import Desk, desk

__all__ = ["bench", "desk"]


def asks(desk: Desk, name: str) -> dict[str, Any]:
    """It wants to make that file, and is known to."""
    desk.model.command = f"curl --version > {name}"
    desk.say(f"make {name}")
    desk.shows(DIALOG)

    def asked() -> dict[str, Any] | None:
        prompt = desk.session["prompt"]
        return prompt if prompt and name in prompt["text"] else None

    return dict(eventually(asked, f"{name} is asked for"))


def made(desk: Desk, name: str) -> bool:
    return (desk.bench.project / name).exists()


def answer(desk: Desk, said: str, prompt: str, **more: Any) -> tuple[int, dict[str, Any]]:
    ran = desk.argus.cli("sessions", "answer", "shop", said, "--prompt", prompt, "--json", **more)
    return ran.code, json.loads(ran.stdout or ran.stderr)


def test_only_the_question_that_was_seen_is_allowed_or_denied_and_only_by_a_person(desk: Desk) -> None:
    desk.up()
    assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    first = prompt = asks(desk, "first.txt")
    assert (prompt["question"], prompt["can_allow"], prompt["can_deny"]) == (DIALOG, True, True)
    assert prompt["choices"][0] == "1. Yes"
    assert f"prompt {prompt['id']}" in desk.argus.cli("sessions", "list").stdout

    code, refused = answer(desk, "allow", "0" * 16)
    assert (code != 0, refused["error"]["code"]) == (True, "CONFLICT")
    token = desk.argus.cli("token", "--agent", "a1").stdout.strip()
    code, refused = answer(desk, "allow", prompt["id"], env={"ARGUS_TOKEN": token})
    assert (code != 0, refused["error"]["code"]) == (True, "FORBIDDEN")
    assert desk.session["prompt"] == prompt
    assert desk.argus.journal("session_answered") == []

    code, done = answer(desk, "allow", prompt["id"])
    assert (code, done["answered"], done["certain"]) == (0, True, True)
    eventually(lambda: made(desk, "first.txt"), "it was done")
    told = desk.argus.journal("session_answered")[-1].data
    assert (told["answer"], told["outcome"], told["by"]) == ("allow", "answered", "cli")
    assert "first.txt" in told["question"]
    rows = desk.argus.get("/api/audit?project=shop&type=context")["checks"]
    assert any(row["action_taken"].startswith("answered: allow to ") for row in rows)
    code, refused = answer(desk, "allow", prompt["id"])
    assert (code != 0, refused["error"]["code"]) == (True, "CONFLICT"), "it is gone"
    assert "❯" in desk.screen()
    desk.becomes(state="idle")

    prompt = asks(desk, "second.txt")
    assert answer(desk, "deny", prompt["id"])[0] == 0
    desk.becomes(state="idle", prompt=None)
    assert not made(desk, "second.txt")
    # It was allowed once, and nothing beyond that: the same is asked again, and is another question. Whoever still has
    # the one before in front of him does not answer this one.
    again = asks(desk, "first.txt")
    code, refused = answer(desk, "allow", first["id"])
    assert (code != 0, refused["error"]["code"]) == (True, "CONFLICT")
    assert desk.session["prompt"]["id"] == again["id"] != first["id"]
    assert answer(desk, "deny", again["id"])[0] == 0


def test_an_argus_that_is_killed_while_it_answers_does_not_answer_again(desk: Desk) -> None:
    desk.argus.env["ARGUS_FAILPOINT"] = TypingPlace.ANSWERED.value
    desk.up()
    del desk.argus.env["ARGUS_FAILPOINT"]
    desk.begin()
    prompt = asks(desk, "once.txt")
    assert desk.argus.cli("sessions", "answer", "shop", "allow", "--prompt", prompt["id"]).code != 0
    eventually(lambda: made(desk, "once.txt"), "the key was taken")
    desk.argus.up()
    told = desk.argus.wait_for("session_answered").data
    assert (told["outcome"], told["prompt"]) == ("interrupted", prompt["id"])
    desk.becomes(state="idle")
    assert len(desk.argus.journal("session_answered")) == 1


def confirm(page: Page, button: str, verb: str) -> str:
    page.locator("main").get_by_role("button", name=button).first.click()
    dialog = page.get_by_role("dialog")
    said = str(dialog.inner_text())
    dialog.get_by_role("button", name=verb, exact=True).click()
    return said


@pytest.mark.req("IF-04")
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_in_a_browser_leave_is_given_and_denied_a_line_is_typed_and_the_work_is_handed_on(desk: Desk) -> None:
    expect.set_options(timeout=DEADLINE * 1000)
    desk.up()
    assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    desk.becomes(state="idle")
    with page_of(desk.argus) as page:
        page.evaluate("location.hash = '#/sessions/shop'")
        page.get_by_role("button", name="Type…").click()
        page.get_by_role("dialog").get_by_role("textbox").fill("look at the basket")
        page.get_by_role("dialog").get_by_role("button", name="Type it").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        eventually(lambda: "look at the basket" in desk.model.typed(), "it is asked")
        desk.becomes(state="idle")

        asks(desk, "yes.txt")
        expect(page.locator("main")).to_contain_text("curl --version > yes.txt")
        said = confirm(page, "Allow once…", "Allow once")
        assert "curl --version > yes.txt" in said
        expect(page.get_by_role("dialog")).to_have_count(0)
        eventually(lambda: made(desk, "yes.txt"), "it was done")
        expect(page.get_by_role("button", name="Allow once…")).to_have_count(0)
        assert desk.argus.journal("session_answered")[-1].data["by"] == "page"
        desk.becomes(state="idle")

        # From the overview; and what was open on the page when it changed in the terminal is refused.
        page.evaluate("location.hash = '#/overview'")
        asks(desk, "no.txt")
        page.locator("main").get_by_role("button", name="Deny…").click()
        number = re.search(r"(\d)\. No", desk.screen())
        assert number
        desk.tmux("send-keys", "-t", "=shop-ps:", number[1])
        desk.becomes(state="idle", prompt=None)
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Deny", exact=True).click()
        expect(dialog.get_by_role("alert")).to_contain_text("CONFLICT")
        page.keyboard.press("Escape")
        asks(desk, "never.txt")
        confirm(page, "Deny…", "Deny")
        expect(dialog).to_have_count(0)
        desk.becomes(state="idle", prompt=None)
        assert not made(desk, "never.txt")

        page.evaluate("location.hash = '#/sessions/shop'")
        confirm(page, "Hand off…", "Hand off")
        handoff = page.locator("section[aria-labelledby=handoff]")
        expect(handoff).to_contain_text("done")
        assert desk.argus.journal("handoff_started")[-1].data["by"] == "page"
        assert desk.argus.journal("handoff_done")
        page.evaluate("location.hash = '#/timeline'")
        expect(page.locator("ol.story")).to_contain_text("denied by page")
