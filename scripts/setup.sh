#!/bin/sh
# Makes .venv and installs Argus and its tools into it, at the versions of requirements-dev.lock.
# Needs Python 3.11 or newer, nothing else. PYTHON=... names the Python to use.
# --venv-only stops before anything is installed.
set -eu
cd "$(dirname "$0")/.."

venv=.venv
stamp=$venv/.stamp
log=$(mktemp)
trap 'rm -f "$log"' EXIT

say() { printf '%s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# Runs a command and shows what it said only when it fails.
quiet() {
    if "$@" >"$log" 2>&1; then return 0; fi
    cat "$log" >&2
    return 1
}

# A name on the PATH proves nothing (pyenv leaves names that fail when run): it has to run, and to be new enough.
runs() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
has_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }
identity() { "$1" -c 'import sys; print(sys.base_prefix, sys.version)' 2>/dev/null; }

# The newest Python that can make an environment; failing that, the newest that runs.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        runs "$PYTHON" || die "PYTHON=$PYTHON does not run, or is older than Python 3.11."
        say "$PYTHON"
        return
    fi
    bare=
    for candidate in python3.13 python3.12 python3.11 python3; do
        runs "$candidate" || continue
        if has_venv "$candidate"; then say "$candidate"; return; fi
        [ -n "$bare" ] || bare=$candidate
    done
    [ -n "$bare" ] || die "Argus needs Python 3.11 or newer, and none was found. Install one, or name it: make up PYTHON=/path/to/python3"
    say "$bare"
}

# Debian keeps the part of Python that makes environments in a package of its own.
need_venv() {
    has_venv "$1" && return
    case $1 in
        */* | python3) package=python3-venv ;;
        *) package=$1-venv ;;
    esac
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
        die "$1 cannot make virtual environments here. On Debian, run this once and try again: sudo apt-get install $package"
    fi
    say "Installing $package, which Debian's Python needs to make .venv ..."
    export DEBIAN_FRONTEND=noninteractive
    quiet apt-get update -q || die "apt-get update failed, see above."
    quiet apt-get install -q -y --no-install-recommends "$package" || die "$package could not be installed, see above."
    has_venv "$1" || die "$1 still cannot make virtual environments, though $package is installed. Name another Python: make up PYTHON=/path/to/python3"
}

usable_venv() {
    runs "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1 || return 1
    [ -z "${PYTHON:-}" ] || [ "$(identity "$PYTHON")" = "$(identity "$venv/bin/python")" ]
}

if [ -n "${PYTHON:-}" ]; then python=$(find_python); fi
if ! usable_venv; then
    python=$(find_python)
    need_venv "$python"
    say "Making .venv with $("$python" -V) ..."
    quiet "$python" -m venv --clear "$venv" || { rm -rf "$venv"; die ".venv could not be made, see above."; }
fi
[ "${1:-}" != --venv-only ] || exit 0

say "Installing Argus into .venv ..."
pip() { quiet "$venv/bin/python" -m pip --disable-pip-version-check --no-input "$@"; }
pip install --require-hashes -r requirements-dev.lock || die "The packages of requirements-dev.lock could not be installed, see above."
pip install --no-deps -e '.[notify,postgres]' || die "Argus itself could not be installed, see above."
say "${PYTHON:-}" >"$stamp"
