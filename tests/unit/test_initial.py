"""The first configuration: from a survey to a file that loads, whatever was found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus import config
from argus.host.ports import Listener
from argus.host.survey import Pane, Port, Survey, unit_of
from argus.initial import render

FOUND = Survey(
    ports=(
        Port(Listener("0.0.0.0", 8100, 1, "node"), True, "api.service"),
        Port(Listener("::1", 5432, 2, "postgres"), False),
        Port(Listener("127.0.0.1", 7117, 3, "argus"), True),
    ),
    units=("api.service", "miner.service"),
    labels=("com.xmr-miner",),
    panes=(Pane("green ps", "claude", "/work/gr: een"),),
    agents=("claude",),
)


def test_what_was_found_is_watched_and_nothing_is_restartable():
    text = render(FOUND, own_ports={7117}, restartable=False)
    services = {one.name: one for one in config.read(text, "argus.yaml").health.services}
    assert sorted(services) == ["node-8100", "postgres-5432"]
    assert not any(one.restart for one in services.values())
    assert "unit api.service" in text
    assert "# - {name: miner, type: process" in text


def test_asked_for_what_a_unit_runs_is_restartable():
    text = render(FOUND, own_ports={7117}, restartable=True)
    services = {one.name: one for one in config.read(text, "argus.yaml").health.services}
    assert services["node-8100"].restart is not None
    assert services["postgres-5432"].restart is None


def test_a_unit_of_the_users_own_is_restarted_as_such():
    found = Survey(
        ports=(Port(Listener("127.0.0.1", 80, 1, "node"), True, "api.service", True),), units=("api.service",)
    )
    text = render(found, own_ports={7117}, restartable=True)
    (one,) = config.read(text, "argus.yaml").health.services
    assert (one.systemd_unit, one.systemd_user) == ("api.service", True)
    assert "# - {name: api, type: process" in text, "the system's unit of that name is another one"


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        pytest.param("0::/system.slice/api.service", ("api.service", False), id="of-the-system"),
        pytest.param("0::/system.slice/system-w.slice/w@1.service", ("w@1.service", False), id="an-instance"),
        pytest.param(
            "0::/user.slice/user-7.slice/user@7.service/app.slice/own.service", ("own.service", True), id="of-the-user"
        ),
        pytest.param(
            "0::/user.slice/user-8.slice/user@8.service/app.slice/own.service", ("", False), id="of-another-user"
        ),
        pytest.param(
            "0::/user.slice/user-7.slice/user@7.service/app.slice/term.scope", ("", False), id="of-a-desktop"
        ),
        pytest.param("0::/user.slice/user-7.slice/session-3.scope", ("", False), id="of-a-login"),
        pytest.param(
            "0::/machine.slice/systemd-nspawn@a.service/payload/system.slice/api.service",
            ("systemd-nspawn@a.service", False), id="in-a-container-of-a-unit",
        ),
        pytest.param(
            "3:cpu,cpuacct:/\n1:name=systemd:/system.slice/api.service\n0::/", ("api.service", False), id="two-kinds"
        ),
        pytest.param("4:memory:/some.service\n0::/", ("", False), id="a-group-that-is-not-systemds"),
        pytest.param("0::/", ("", False), id="no-systemd"),
        pytest.param("", ("", False), id="no-control-groups"),
    ],
)  # fmt: skip
def test_which_unit_a_process_belongs_to(path: str, unit: tuple[str, bool]):
    assert unit_of(path, 7) == unit


def test_nothing_found_is_a_file_too():
    assert config.read(render(Survey(), own_ports={7117}, restartable=False), "argus.yaml").health.services == ()


def test_what_is_offered_in_comments_loads_as_well():
    text = render(FOUND, own_ports={7117}, restartable=False)
    offered = "\n".join(line.replace("    # - ", "    - ", 1) for line in text.splitlines())
    assert len(config.read(offered, "argus.yaml").health.services) == 4


@given(st.text(min_size=1, max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_names_from_outside_cannot_break_the_file(program: str, session: str, folder: str):
    odd = Survey(
        ports=(Port(Listener("127.0.0.1", 80, 1, program), False),),
        panes=(Pane(" ".join(session.split()), "claude", " ".join(folder.split())),),
    )
    (one,) = config.read(render(odd, own_ports={7117}, restartable=False), "argus.yaml").health.services
    assert one.port_number == 80
