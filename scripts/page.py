"""`make page`: builds the page from dashboard/ into src/argus/api/static. --check: was that forgotten?

Only building needs Node. What was built is committed, with a hash of the sources it was made from.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "dashboard"
BUILT = ROOT / "src" / "argus" / "api" / "static"
STAMP = "built.json"
LICENCES = "licences.txt"
_LEFT_OUT = {"node_modules", "dist"}
_PARTS = ("preact", "uplot")
"""What of others is in the built script; their licences go with it."""


def _digest(*files: Path, base: Path) -> str:
    whole = hashlib.sha256()
    for file in files:
        body = file.read_bytes()
        whole.update(f"{file.relative_to(base).as_posix()}\0{len(body)}\0".encode() + body)
    return whole.hexdigest()


def _sources() -> list[Path]:
    found = (file for file in SOURCE.rglob("*") if file.is_file())
    return sorted(file for file in found if not _LEFT_OUT & set(file.relative_to(SOURCE).parts))


def _stamp() -> dict[str, object]:
    built = sorted(file for file in BUILT.iterdir() if file.name != STAMP)
    return {
        "source": _digest(*_sources(), base=SOURCE),
        "built": {file.name: _digest(file, base=BUILT) for file in built},
    }


def _run(*words: str) -> None:
    done = subprocess.run(words, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(words)} failed")


def build() -> None:
    if shutil.which("npm") is None:
        sys.exit("building the page needs Node and npm; using Argus does not")
    _run("npm", "ci")
    _run("npm", "run", "check")
    _run("npm", "run", "build")
    for file in BUILT.iterdir():
        file.unlink()
    for file in sorted((SOURCE / "dist").iterdir()):
        shutil.copyfile(file, BUILT / file.name)
    said = ((SOURCE / "node_modules" / one / "LICENSE").read_text(encoding="utf-8") for one in _PARTS)
    licences = "\n\n".join(f"{one}\n\n{text.strip()}" for one, text in zip(_PARTS, said, strict=True))
    (BUILT / LICENCES).write_text(f"app.js and style.css hold parts of these.\n\n{licences}\n", encoding="utf-8")
    (BUILT / STAMP).write_text(json.dumps(_stamp(), indent=1) + "\n", encoding="utf-8")
    print("The page is current.")


def check() -> None:
    try:
        said = json.loads((BUILT / STAMP).read_text(encoding="utf-8"))
    except FileNotFoundError:
        said = None
    if said != _stamp():
        sys.exit("the page in src/argus/api/static is not what dashboard/ says: make page")


if __name__ == "__main__":
    check() if "--check" in sys.argv[1:] else build()
