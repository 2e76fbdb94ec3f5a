"""The parts of `make newcomer` that need neither root nor an empty machine."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "newcomer.py"


@pytest.fixture(scope="module")
def newcomer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("newcomer_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made  # its dataclasses look themselves up
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    ("fails", "code", "said", "right"),
    [
        pytest.param(False, 0, "Argus is up", True, id="passes"),
        pytest.param(False, 2, "Argus is up", False, id="fails-and-should-not"),
        pytest.param(True, 2, "Argus is up", True, id="fails-as-it-should"),
        pytest.param(True, 0, "Argus is up", False, id="passes-and-should-not"),
        pytest.param(False, 0, "", False, id="says-nothing"),
        pytest.param(True, -2, "", False, id="fails-without-a-word"),
    ],
)
def test_a_step_is_judged_by_its_end_and_its_words(newcomer, fails: bool, code: int, said: str, right: bool):
    step = newcomer.Step("make up", "make up", fails=fails, says="is up")
    assert (newcomer.judge(step, code, said) is None) is right


def test_only_the_way_to_the_packages_is_passed_on(newcomer):
    wanted = {"http_proxy": "a", "HTTPS_PROXY": "b", "no_proxy": "c", "PIP_INDEX_URL": "d", "PIP_CERT": "/e"}
    others = {
        "HOME": "/root",
        "PIP_FIND_LINKS": "/wheels",
        "LANG": "de_DE.UTF-8",
        "VIRTUAL_ENV": "/x",
        "my_http_proxy": "y",
    }
    assert newcomer.passed_on({**wanted, **others}) == wanted


def test_a_step_runs_as_the_newcomer_with_nothing_of_this_machine(newcomer):
    step = newcomer.Step("make up", "make up", folder="a b", online=False)
    command = newcomer.command_for(step, "user", {"http_proxy": "a"})
    assert command[:2] == ["unshare", "--net"]
    entered = command[command.index("chroot") :]
    assert entered[1:4] == ["--userspec=user:user", "--groups=user", "/"]
    assert entered[4:6] == ["/usr/bin/env", "-i"]
    assert {"HOME=/home/user", "http_proxy=a"} <= set(entered)
    assert entered[-1].startswith("cd '/home/user/a b' ")


def test_the_tiers_reach_make_test_and_the_two_commands_come_first_and_last(newcomer):
    steps = newcomer.steps(["unit", "contract"], may_install=True)
    assert [one.script for one in steps if one.vital] == [steps[0].script, "make up"]
    assert steps[-1].script == "make test TIERS='unit contract'"


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
def test_one_failed_step_fails_the_run(newcomer, capsys, passed: bool, code: int):
    step = newcomer.Step("make up", "make up")
    assert newcomer.summarise([newcomer.Result(step, True, 1.0), newcomer.Result(step, passed, 1.0)]) == code
    assert f"{2 - code} steps passed, {code} failed" in capsys.readouterr().out
