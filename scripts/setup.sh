#!/bin/sh
# Makes .venv and installs Argus and its tools into it, at the versions of requirements-dev.lock.
# Needs Python 3.11 or newer, nothing else. PYTHON=... names the Python to use.
# --venv-only stops before anything is installed.
set -eu
cd "$(dirname "$0")/.."

venv=.venv
stamp=$venv/.stamp
scratch=$(mktemp -d)
log=$scratch/log
trap 'rm -rf "$scratch"' EXIT
trap 'say "Interrupted: the next make begins the set-up anew."; exit 130' HUP INT TERM

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
# Whoever builds a Python for himself, as pyenv does, gets one that is not optimised unless he asks for it, and everything
# takes a fifth longer. Those of distributions are, though their settings do not say so.
is_fast() { "$1" -c 'import sys, sysconfig
asked = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
sys.exit(not asked and sys.base_prefix != "/usr")' >/dev/null 2>&1; }
identity() { "$1" -c 'import sys; print(sys.base_prefix, sys.version)' 2>/dev/null; }

# Every program of this name on the PATH.
everywhere() { (
    IFS=:
    for folder in $PATH; do
        [ ! -x "$folder/$1" ] || say "$folder/$1"
    done
) }

# The newest Python that can make an environment, of several a fast one; failing that, the newest that runs.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        runs "$PYTHON" || die "PYTHON=$PYTHON does not run, or is older than Python 3.11."
        say "$PYTHON"
        return
    fi
    bare=
    for name in python3.13 python3.12 python3.11 python3; do
        able=
        everywhere "$name" >"$scratch/pythons"
        while read -r candidate; do
            runs "$candidate" || continue
            if ! has_venv "$candidate"; then
                [ -n "$bare" ] || bare=$candidate
            elif is_fast "$candidate"; then
                say "$candidate"
                return
            else
                [ -n "$able" ] || able=$candidate
            fi
        done <"$scratch/pythons"
        if [ -n "$able" ]; then say "$able"; return; fi
    done
    [ -n "$bare" ] || die "Argus needs Python 3.11 or newer, and none was found. Install one, or name it: make up PYTHON=/path/to/python3"
    say "$bare"
}

# Debian keeps pip out of its Python, in packages of their own. Fetching one and unpacking it needs no root and changes
# nothing outside .venv; the package lists are our own too, for the machine's may be missing or old.
pip_of_debian() {
    command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || return 1
    say "Fetching pip from Debian, because python3-venv is not installed ..."
    mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial"
    apt() { quiet apt-get -q -o Dir::State::Lists="$scratch/lists" -o Dir::Cache="$scratch/cache" -o Acquire::Languages=none \
        -o APT::Sandbox::User= "$@"; }
    apt update && (cd "$scratch" && apt download python3-pip-whl) || return 1
    quiet dpkg-deb -x "$scratch"/python3-pip-whl_*.deb "$scratch/pip" || return 1
    for wheel in "$scratch"/pip/usr/share/python-wheels/pip-*.whl; do
        quiet env PYTHONPATH="$wheel" "$venv/bin/python" -m pip install --no-index --no-deps "$wheel" || return 1
    done
}

make_venv() {
    if has_venv "$1"; then
        quiet "$1" -m venv --clear "$venv" || { rm -rf "$venv"; die ".venv could not be made, see above."; }
    elif ! quiet "$1" -m venv --clear --without-pip "$venv" || ! pip_of_debian; then
        rm -rf "$venv"
        case ${1##*/} in
            python3.*) package=${1##*/}-venv ;;
            *) package=python3-venv ;;
        esac
        die "$1 cannot make virtual environments here. On Debian, run this once and try again: sudo apt-get install $package"
    fi
}

# Without the stamp a set-up began and did not end. What it left may be half of a package: begin anew.
usable_venv() {
    [ -e "$stamp" ] && runs "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1 || return 1
    [ -z "${PYTHON:-}" ] || [ "$(identity "$PYTHON")" = "$(identity "$venv/bin/python")" ]
}

if [ -n "${PYTHON:-}" ]; then python=$(find_python); fi
if ! usable_venv; then
    python=$(find_python)
    say "Making .venv with $("$python" -V) ..."
    make_venv "$python"
fi
[ "${1:-}" != --venv-only ] || exit 0

say "Installing Argus into .venv ..."
rm -f "$stamp"
pip() { quiet "$venv/bin/python" -m pip --disable-pip-version-check --no-input "$@"; }
pip install --require-hashes -r requirements-dev.lock || die "The packages of requirements-dev.lock could not be installed, see above."
pip install --no-deps -e . || die "Argus itself could not be installed, see above."
say "${PYTHON:-}" >"$stamp"
