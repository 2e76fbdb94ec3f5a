"""Completion in real shells: a person types, presses Tab and Enter, and the shell runs what came of it."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.acceptance.harness import PROGRAM, Argus

SHELLS = ("bash", "zsh", "fish")
_LIMIT = 30.0
_BEGIN = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
_READY = {
    # What a command shows of itself must not look like what it prints.
    "bash": "bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; source <(argus completion bash)",
    "zsh": "unsetopt zle_bracketed_paste beep 2> /dev/null; autoload -Uz compinit && compinit -u -D && "
    "source <(argus completion zsh)",
}


class Typed:
    """A shell in a terminal of its own."""

    def __init__(self, shell: str, argus: Argus) -> None:
        self._master, slave = pty.openpty()
        env = {**argus.env, "PATH": f"{Path(PROGRAM).parent}:{argus.env['PATH']}", "TERM": "dumb", "PS1": "> "}
        self._shell = subprocess.Popen(
            _BEGIN[shell], stdin=slave, stdout=slave, stderr=slave, env=env, cwd=argus.folder, start_new_session=True
        )
        os.close(slave)
        self.said = ""
        self.run(_READY[shell])
        # From here on the program only says what it was given; `command argus`, which the script runs, is the real one.
        self.run("argus() { printf '<%s>' \"$@\"; echo; }")

    def run(self, line: str) -> str:
        """What it printed, up to the end of the command."""
        self.said = ""
        os.write(self._master, f"{line}\n".encode())
        os.write(self._master, b"echo the-''end\n")
        until = time.monotonic() + _LIMIT
        while "the-end" not in self.said:
            assert time.monotonic() < until, self.said
            if select.select([self._master], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    self.said += os.read(self._master, 65536).decode(errors="replace")
        return self.said

    def end(self) -> None:
        self._shell.kill()
        self._shell.wait()
        os.close(self._master)


def _shell(name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not here (Debian: apt-get install {name})")


@pytest.fixture(params=SHELLS)
def completed(request: pytest.FixtureRequest, argus: Argus) -> Iterator[Callable[[str], str]]:
    """What stands on the line when Tab was pressed at its end, as the program is given it."""
    name: str = request.param
    _shell(name)
    argus.configure([{"name": "web shop", "type": "tcp", "port": 1, "interval": "1h"}])
    if name == "fish":
        yield lambda line: _in_fish(argus, line)
        return
    typed = Typed(name, argus)

    def complete(line: str) -> str:
        said = typed.run(f"{line}\t")
        return next((one.strip() for one in said.splitlines() if one.startswith("<")), "")

    yield complete
    typed.end()


def _in_fish(argus: Argus, line: str) -> str:
    """Fish says by itself what a Tab would offer."""
    env = {**argus.env, "PATH": f"{Path(PROGRAM).parent}:{argus.env['PATH']}"}
    ask = "argus completion fish | source; complete -C $argv[1]"
    ran = subprocess.run(
        ["fish", "--no-config", "-c", ask, line], env=env, cwd=argus.folder, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran
    offered = [one.partition("\t")[0] for one in ran.stdout.splitlines()]
    words = line.split()[1:-1] if not line.endswith(" ") else line.split()[1:]
    return "".join(f"<{word}>" for word in [*words, *(offered if len(offered) == 1 else [])])


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        pytest.param("argus stat", "<status>", id="a-command"),
        pytest.param("argus completi", "<completion>", id="a-command-that-needs-no-daemon"),
        pytest.param("argus services resta", "<services><restart>", id="a-command-below-another"),
        pytest.param("argus autonomy mod", "<autonomy><moderate>", id="one-of-a-few-values"),
        pytest.param("argus explain la", "<explain><last>", id="the-newest-incident"),
        pytest.param("argus explain GATE_R", "<explain><GATE_REFUSED>", id="an-error-code"),
        pytest.param("argus up --det", "<up><--detach>", id="an-option"),
        pytest.param("argus check argus.y", "<check><argus.yaml>", id="a-file"),
        pytest.param(
            "argus --config argus.yaml agents spa", "<--config><argus.yaml><agents><spawn>", id="after-a-value"
        ),
        pytest.param("argus hooks install --agent=cl", "<hooks><install><--agent=claude>", id="behind-an-equals-sign"),
        pytest.param("argus --config=argus.y", "<--config=argus.yaml>", id="a-file-behind-an-equals-sign"),
        pytest.param(
            "argus --config=argus.yaml agents spa", "<--config=argus.yaml><agents><spawn>", id="after-such-a-value"
        ),
    ],
)
def test_a_shell_completes(completed: Callable[[str], str], typed: str, becomes: str) -> None:
    assert completed(typed) == becomes


def test_a_folder_is_completed_behind_an_equals_sign(argus: Argus, completed: Callable[[str], str]) -> None:
    (argus.folder / "mine").mkdir()
    # Some shells keep the slash that they show behind a folder, and some take it away at Enter.
    said = completed("argus env status --project-path=mi").replace("/>", ">")
    assert said == "<env><status><--project-path=mine>"


def test_names_are_those_of_a_running_daemon(argus: Argus, completed: Callable[[str], str]) -> None:
    with argus.config.open("a", encoding="utf-8") as file:
        file.write("agents: {configs: {SNTGreen: {command: [sleep, '60'], cwd: /tmp}}}\n")
    argus.up()
    assert completed("argus services restart w") == "<services><restart><web shop>"
    assert completed("argus agents spawn SN") == "<agents><spawn><SNTGreen>"


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        pytest.param("argus services check db:m", "db:main", id="behind-a-colon"),
        pytest.param("argus services check d", "db:main", id="in-front-of-a-colon"),
        pytest.param("argus services check web\\ s", "web shop", id="behind-a-blank"),
        pytest.param('argus services check "web s', "web shop", id="behind-a-blank-in-quotes"),
        pytest.param("argus services check 'web s", "web shop", id="in-single-quotes"),
        pytest.param('argus services check "db:m', "db:main", id="a-colon-in-quotes"),
        pytest.param('argus services check "web shop" --js', "web shop><--json", id="behind-a-quoted-word"),
    ],
)
def test_bash_completes_names_that_it_would_split(argus: Argus, typed: str, becomes: str) -> None:
    _shell("bash")
    argus.configure([{"name": name, "type": "tcp", "port": 1, "interval": "1h"} for name in ("web shop", "db:main")])
    argus.up()
    shell = Typed("bash", argus)
    try:
        said = shell.run(f"{typed}\t")
    finally:
        shell.end()
    assert f"<services><check><{becomes}>" in said


def test_what_is_told_of_a_command_keeps_its_apostrophes(argus: Argus) -> None:
    said = argus.cli("completion", "fish").stdout
    assert "the user’s own" in said
    assert "users own" not in said


def test_without_a_daemon_there_are_no_names_and_none_is_started(argus: Argus, completed: Callable[[str], str]) -> None:
    assert "web shop" not in completed("argus services restart w")
    assert not argus.home.exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_one_that_its_shell_can_read(argus: Argus, shell: str) -> None:
    _shell(shell)
    ran = argus.cli("completion", shell)
    assert ran.code == 0
    read = subprocess.run([shell, "-n"], input=ran.stdout, text=True, capture_output=True, timeout=60)
    assert (read.returncode, read.stderr) == (0, "")


def test_which_shell_has_to_be_said(argus: Argus) -> None:
    assert argus.cli("completion").code == 2
    assert argus.cli("completion", "tcsh").code == 2
