"""A real browser on the page, logged in as a person would be."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.acceptance.harness import DEADLINE, Argus

CHROMIUM = shutil.which("chromium")
ALONE = ["--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
"""It is to ask Argus, and nobody else."""


@contextlib.contextmanager
def page_of(argus: Argus, **context: Any) -> Iterator[Page]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ALONE, chromium_sandbox=os.geteuid() != 0)
        try:
            page = browser.new_context(**context).new_page()
            page.set_default_timeout(DEADLINE * 1000)
            page.goto(argus.cli("open").stdout.strip())
            yield page
        finally:
            browser.close()


def only_when_told(page: Page) -> None:
    """From here on it looks at the state when something tells it to, and not because some seconds went by."""
    page.add_init_script(
        "const real = setInterval; setInterval = (act, every) => (every < 10_000 ? real(act, every) : 0)"
    )
    page.reload()
