"""How much memory a container used at most, and what is kept of what it printed."""

from pathlib import Path

import pytest

from argus.environments.guarding.diagnosing import bounded
from argus.host.cgroups import Cgroups

ID = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("place", "file"),
    [
        (f"memory/docker/{ID}", "memory.max_usage_in_bytes"),
        (f"memory/system.slice/docker-{ID}.scope", "memory.max_usage_in_bytes"),
        (f"docker/{ID}", "memory.peak"),
        (f"system.slice/docker-{ID}.scope", "memory.peak"),
    ],
)
def test_the_kernel_keeps_it_where_engines_put_their_containers(tmp_path: Path, place: str, file: str):
    group = tmp_path / place
    group.mkdir(parents=True)
    (group / file).write_text("4096\n")
    found = Cgroups(str(tmp_path))
    assert found.peak(ID) == 4096
    (group / file).write_text("8192\n")
    assert found.peak(ID) == 8192
    (group / file).unlink()
    assert found.peak(ID) is None


@pytest.mark.parametrize("id", ["", "..", "docker", f"../{ID}", ID[:12]])
def test_nothing_but_a_whole_id_is_looked_for(tmp_path: Path, id: str):
    (tmp_path / "docker").mkdir()
    assert Cgroups(str(tmp_path)).peak(id) is None


def test_only_so_much_is_kept_of_what_it_printed():
    lines = [f"line {n}" for n in range(200)]
    assert bounded(lines) == tuple(lines[-100:])
    (short,) = bounded(["x" * 10_000])
    assert len(short) < 1000
    assert sum(map(len, bounded(["y" * 499] * 100))) <= 32 * 1024
