"""`make install-check`: the wheel, installed as people install it, for every Python that is here.

    python scripts/install_check.py [--only uv|pipx] [--wheel] [version ...]

Builds the wheel, then installs it by the two lines of README.md, with uv and with pipx, into an empty home for each of
Python 3.11, 3.12 and 3.13 that runs here, and uses it: the version, the doctor, the README's own configuration and
those of docs/coming-from.md, up, status, completion, down, and away again. Tools, caches and the wheel lie in build/. A
Python that is not here is said to be missing, and is no failure. The last line counts; the exit code is 0 when
everything that was tried passed. `--wheel` only builds.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
TOOLS = BUILD / "install-tools"
VERSIONS = ("3.11", "3.12", "3.13")
LIMIT = 600.0


class Failed(Exception):
    """A step, and what it said."""


@dataclass(frozen=True)
class Home:
    """Somebody's, with nothing in it."""

    folder: Path
    env: dict[str, str]

    def run(self, *words: str, within: Path | None = None) -> str:
        try:
            ran = subprocess.run(
                words,
                cwd=within or self.folder,
                env=self.env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failed(f"{' '.join(words)}: {error}") from error
        if ran.returncode:
            raise Failed(f"{' '.join(words)}: exit {ran.returncode}\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
        return ran.stdout


def own_environ(folder: Path) -> dict[str, str]:
    """Nothing of whoever runs this, but the way to packages."""
    passed_on = ("proxy", "pip_", "uv_", "ssl_cert")
    kept = {name: text for name, text in os.environ.items() if any(word in name.lower() for word in passed_on)}
    caches = {
        "UV_CACHE_DIR": str(BUILD / "install-cache" / "uv"),
        "PIP_CACHE_DIR": str(BUILD / "install-cache" / "pip"),
    }
    places = {
        "HOME": str(folder),
        "PATH": f"{folder}/.local/bin:{TOOLS}/bin:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
    }
    return {**kept, **caches, **places, "UV_PYTHON_DOWNLOADS": "never", "PYTHONDONTWRITEBYTECODE": "1"}


def tools() -> None:
    """uv and pipx, in a folder of their own."""
    if (TOOLS / "bin" / "uv").exists() and (TOOLS / "bin" / "pipx").exists():
        return
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(TOOLS)]
    subprocess.run([*words, "uv", "pipx"], check=True, timeout=LIMIT)


def wheel() -> Path:
    folder = BUILD / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    words = [str(TOOLS / "bin" / "uv"), "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)]
    subprocess.run(words, check=True, timeout=LIMIT, env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"})
    (made,) = folder.glob("*.whl")
    return made


def python(version: str) -> str | None:
    """The real program of that version: a name may be a shim that is not there for an empty home."""
    candidates = [f"python{version}", f"/usr/bin/python{version}"]
    candidates += [str(one) for one in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    for candidate in candidates:
        words = [candidate, "-c", "import sys, venv, ensurepip; print(sys.executable, *sys.version_info[:2], sep='|')"]
        try:
            said = subprocess.run(words, capture_output=True, text=True, timeout=60)
        except OSError:
            continue
        place, _, found = said.stdout.strip().partition("|")
        if said.returncode == 0 and found.replace("|", ".") == version:
            return place
    return None


def readme_line(program: str) -> str:
    """How README.md says to install it."""
    (line,) = set(re.findall(rf"`({program} [^`]*install [^`]+\.whl[^`]*)`", (ROOT / "README.md").read_text("utf-8")))
    return str(line)


def by_uv(home: Home, interpreter: str) -> Callable[[], str]:
    home.env["UV_PYTHON"] = interpreter
    home.run("sh", "-c", readme_line("uv"), within=ROOT)
    return lambda: home.run(str(TOOLS / "bin" / "uv"), "tool", "uninstall", "--quiet", "argusd")


def by_pipx(home: Home, interpreter: str) -> Callable[[], str]:
    home.env.update(PYTHONPATH=str(TOOLS), PIPX_DEFAULT_PYTHON=interpreter)
    pipx = (sys.executable, "-m", "pipx")
    home.run("sh", "-c", readme_line("pipx"), within=ROOT)
    del home.env["PYTHONPATH"]

    def away() -> str:
        home.env["PYTHONPATH"] = str(TOOLS)
        return home.run(*pipx, "uninstall", "argusd")

    return away


WAYS = {"uv": by_uv, "pipx": by_pipx}


def blocks() -> list[str]:
    """Every argus.yaml that a newcomer would copy."""
    texts = [(ROOT / page).read_text("utf-8") for page in ("README.md", "docs/coming-from.md")]
    found = [block for text in texts for block in re.findall(r"^```yaml\n(.*?)^```$", text, re.S | re.M)]
    return [block for block in found if not block.startswith("# e2e.yaml")]


def use(home: Home, version: str) -> None:
    """As somebody does who has just installed it."""
    argus = str(home.folder / ".local" / "bin" / "argus")
    if not home.run(argus, "--version").startswith("argus"):
        raise Failed("it does not say its version")
    examined = {one["name"]: one for one in json.loads(home.run(argus, "doctor", "--json"))["checks"]}
    for name in ("PYTHON", "PACKAGE", "PROGRAM", "STATE_FOLDER"):
        if examined[name]["state"] != "ok":
            raise Failed(f"the doctor says: {examined[name]}")
    if not examined["PYTHON"]["detail"].startswith(f"{version}."):
        raise Failed(f"it runs on another Python: {examined['PYTHON']['detail']}")
    for block in blocks():
        (home.folder / "argus.yaml").write_text(block, "utf-8")
        home.run(argus, "check")
    home.run(argus, "completion", "bash")
    (home.folder / "argus.yaml").write_text("server: {port: 0}\n")
    try:
        home.run(argus, "up", "--detach")
        home.run(argus, "status")
    finally:
        home.run(argus, "down")


def attempt(way: str, version: str, interpreter: str) -> str:
    """What went wrong; empty when nothing did."""
    with tempfile.TemporaryDirectory(prefix="argus-home-") as folder:
        home = Home(Path(folder), own_environ(Path(folder)))
        try:
            away = WAYS[way](home, interpreter)
            use(home, version)
            away()
            if (home.folder / ".local" / "bin" / "argus").exists():
                raise Failed("argus is still there when it was uninstalled")
        except Failed as failed:
            return str(failed)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(WAYS))
    parser.add_argument("--wheel", action="store_true")
    parser.add_argument("versions", nargs="*", default=VERSIONS)
    given = parser.parse_args()
    tools()
    built = wheel()
    print(f"{built.relative_to(ROOT)}, {built.stat().st_size / 1e6:.1f} MB", flush=True)
    if given.wheel:
        return 0
    tried = failed = missing = 0
    for version in given.versions:
        interpreter = python(version)
        for way in [given.only] if given.only else WAYS:
            started = time.monotonic()
            if interpreter is None:
                missing += 1
                print(f"{way:<5} {version}  missing: no Python {version} runs here", flush=True)
                continue
            tried += 1
            wrong = attempt(way, version, interpreter)
            failed += bool(wrong)
            print(
                f"{way:<5} {version}  {'FAILED' if wrong else 'ok':<7} {time.monotonic() - started:6.1f} s", flush=True
            )
            if wrong:
                print(wrong)
    print(f"{tried - failed} passed, {failed} failed, {missing} missing")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
