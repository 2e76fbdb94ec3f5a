"""Every configuration that the documentation shows is one that Argus takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("coming-from", "services", "agents", "dependencies")
PAGES = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in NAMES)]
ALL = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in re.finditer(r"^```yaml\n(.*?)^```", text, re.M | re.S):
            line = text.count("\n", 0, block.start()) + 1
            found.append((f"{page.name}:{line}", block[1]))
    return found


@pytest.mark.parametrize("text", [pytest.param(text, id=place) for place, text in blocks()])
def test_an_example_is_accepted_by_argus_check(text: str, tmp_path: Path) -> None:
    file = tmp_path / ("e2e.yaml" if text.startswith("# e2e.yaml") else "argus.yaml")
    file.write_text(text, encoding="utf-8")
    (tmp_path / "Dockerfile").write_text("FROM scratch\n", encoding="utf-8")
    env = {**os.environ, "HOME": str(tmp_path), "ARGUS_HOME": str(tmp_path / "state")}
    words = [str(Path(sys.executable).with_name("argus")), "check", str(file), "--json"]
    ran = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout
    said = json.loads(ran.stdout)
    # The files of environments that an example names, and the programs of its restarts, are its reader's.
    readers = ("environments[", "under `environments`", "health.services: ")
    lacking = [one for one in said["notices"] if not any(words in one for words in readers)]
    assert (said["valid"], lacking, said.get("warnings", [])) == (True, [], [])


def test_the_first_environment_that_is_shown_is_accepted_as_it_is_written(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    (tmp_path / "e2e.yaml").write_text(re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)[0], encoding="utf-8")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ARGUS_HOME": str(tmp_path / "state")}
    words = [str(Path(sys.executable).with_name("argus")), "check", "e2e.yaml", "--json"]
    ran = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout
    assert "cannot be resolved" not in ran.stdout


def test_every_way_here_has_an_example_and_is_listed() -> None:
    text = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.M)[2:]
    assert len(sections) == 8
    for section in sections:
        title = section.partition("\n")[0]
        assert "```yaml" in section, title
        assert f"[{title[0].lower()}{title[1:]}](#" in text or f"[{title}](#" in text, title


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)|(?:src|srcset)=\"([^\"]+)\"", text):
        named = target[0] or target[1]
        assert (page.parent / named).exists(), f"{page.name} -> {named}"
