"""What engines say, and what is made of it. The texts are theirs, old and new ones."""

import json
from typing import Any

import pytest

from argus.core.circuit import Verdict
from argus.core.errors import ArgusError, Code
from argus.host.engine import reading, writing
from argus.host.engine.building import Lines, command
from argus.host.engine.guard import judge
from argus.host.engine.names import is_image
from argus.host.engine.printed import MOST, Printed
from argus.host.engine.refusals import full, refusal
from argus.host.engine.resources import Binding, Building, HealthCheck, Making, Mount
from argus.host.engine.seam import EngineRefused, EngineUnavailable
from argus.host.engine.wire import Answer

ID = "b49144a7e8239029fd4a3347f0e5e17554c7750333ccf029e3d2e2a83dd16a5a"


def answer(status: int, message: str) -> Answer:
    return Answer(status, json.dumps({"message": message}).encode())


@pytest.mark.parametrize(
    ("status", "message", "port"),
    [
        (500, "driver failed: Bind for 0.0.0.0:8080 failed: port is already allocated", 8080),
        (500, "Error starting userland proxy: listen tcp4 0.0.0.0:8081: bind: address already in use", 8081),
        (500, "Error starting userland proxy: listen tcp6 [::1]:8082: bind: address already in use", 8082),
        (500, "failed to bind host port for 0.0.0.0:8083:172.18.0.2:80/tcp: address already in use", 8083),
        (500, "failed to bind host port 127.0.0.1:8084/tcp: address already in use", 8084),
        (500, "Bind for :::8085 failed: port is already allocated", 8085),
        (500, "something: port is already allocated", None),
    ],
)
def test_a_taken_port_is_found_in_the_words(status: int, message: str, port: int | None):
    error = refusal(answer(status, message))
    assert isinstance(error, ArgusError)
    assert (error.code, error.details) == (Code.PORT_CONFLICT, {"port": port})
    assert judge(error) is Verdict.ANSWERED


@pytest.mark.parametrize(
    ("status", "message", "code", "verdict"),
    [
        (404, "No such container: web", Code.CONTAINER_NOT_FOUND, Verdict.ANSWERED),
        (404, "Cannot kill container: web: No such container: web", Code.CONTAINER_NOT_FOUND, Verdict.ANSWERED),
        (404, "No such image: nope:1", Code.IMAGE_NOT_FOUND, Verdict.ANSWERED),
        (
            409,
            f"Cannot kill container: web: Container {ID} is not running",
            Code.CONTAINER_NOT_RUNNING,
            Verdict.ANSWERED,
        ),
        (500, "mkdir /var/lib/docker/x: no space left on device", Code.DISK_SPACE_LOW, Verdict.ANSWERED),
        (404, "network shop not found", None, Verdict.ANSWERED),
        (403, "network shop id 1 has active endpoints", None, Verdict.ANSWERED),
        (400, "invalid mount config", None, Verdict.ANSWERED),
        (500, "failed to set up container networking: Address already in use", None, Verdict.NOTHING),
        (500, "OCI runtime create failed: exec: /x: no such file or directory: unknown", None, Verdict.NOTHING),
        (
            500,
            'connection error: desc = "transport: Error while dialing dial unix /x.sock: refused": unavailable',
            Code.DOCKER_UNAVAILABLE,
            Verdict.FAILED,
        ),
        (500, "failed to create task: transport is closing: unavailable", Code.DOCKER_UNAVAILABLE, Verdict.FAILED),
        (503, "the engine is busy", Code.DOCKER_UNAVAILABLE, Verdict.FAILED),
    ],
)
def test_a_refusal_says_whose_fault_it_is(status: int, message: str, code: Code | None, verdict: Verdict):
    error = refusal(answer(status, message), container="web", image="nope:1")
    assert judge(error) is verdict
    if code is None:
        assert isinstance(error, EngineRefused)
        assert (error.message, error.status) == (message, status)
    else:
        assert isinstance(error, ArgusError)
        assert error.code is code


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ([b"\1\0\0\0\0\0\0\4one\n", b"\2\0\0\0\0\0\0\4two\n"], ["one", "two"]),
        ([b"\1\0\0", b"\0\0\0\0", b"\7on", b"e\ntwo"], ["one", "two"]),
        ([b"\1\0\0\0\0\0\0\0", b"\1\0\0\0\0\0\0\1\n"], [""]),
        ([], []),
    ],
    ids=["framed", "in-any-pieces", "empty-frames", "nothing"],
)
def test_printed_lines_come_out_of_their_frames(pieces: list[bytes], lines: list[str]):
    printed = Printed(is_framed=True)
    for piece in pieces:
        printed.take(piece)
    assert printed.lines(10) == lines
    one_by_one = Printed(is_framed=True)
    for byte in b"".join(pieces):
        one_by_one.take(bytes([byte]))
    assert one_by_one.lines(10) == lines


def test_what_is_kept_of_the_printed_lines_is_bounded_and_the_last():
    printed = Printed(is_framed=False)
    for number in range(300_000):
        printed.take(b"%d\r\n" % number)
    lines = printed.lines(1_000_000)
    assert lines[-1] == "299999"
    assert sum(len(line) + 2 for line in lines) <= MOST


def test_lines_of_a_build_are_told_whole_and_in_bounds():
    told: list[str] = []
    lines = Lines(told.append)
    for piece in (b"on", b"e\r\n\ntwo\n", b"x" * 100_000, b"x\n", b"ERROR: end", b""):
        lines.take(piece)
    lines.end()
    lines.end()
    assert told == ["one", "", "two", "x" * 8192, "ERROR: end"]
    assert lines.last == "ERROR: end"


INSPECTED: dict[str, Any] = {
    "Id": ID,
    "Name": "/web",
    "Created": "2026-11-15T19:18:43.194191316Z",
    "State": {"Status": "running", "StartedAt": "2026-11-15T19:18:44+00:00", "FinishedAt": "0001-01-01T00:00:00Z"},
    "NetworkSettings": {
        "Ports": {
            "80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "8080"}, {"HostIp": "::", "HostPort": "8080"}],
            "81/tcp": None,
            "53/udp": [{"HostIp": "127.0.0.1", "HostPort": "5353"}],
        }
    },
}


def test_a_container_is_read_also_where_much_is_missing():
    made = reading.made(INSPECTED)
    assert made.created == pytest.approx(1794770323.194191)
    assert (made.started, made.finished) == (1794770324.0, None)
    assert made.ports == (Binding(53, 5353, "127.0.0.1", "udp"), Binding(80, 8080))
    assert (made.labels, made.networks, made.memory_limit, made.image) == ({}, {}, None, "")


@pytest.mark.parametrize(
    "said", [None, [], {}, {"Id": ID}, {**INSPECTED, "State": None}, {**INSPECTED, "Created": "x"}]
)
def test_a_container_that_is_described_otherwise_is_an_engine_that_cannot_be_asked(said: Any):
    with pytest.raises(EngineUnavailable):
        reading.made(said)


@pytest.mark.parametrize(
    ("said", "memory", "peak"),
    [
        ({"usage": 1000, "max_usage": 2000, "limit": 9, "stats": {"total_inactive_file": 400}}, 600, 2000),
        ({"usage": 1000, "limit": 9, "stats": {"inactive_file": 100}}, 900, None),
        ({}, None, None),
    ],
    ids=["cgroup-v1", "cgroup-v2", "not-running"],
)
def test_memory_is_what_cannot_be_given_up(said: Any, memory: int | None, peak: int | None):
    used = reading.usage({"memory_stats": said})
    assert (used.memory, used.peak) == (memory, peak)


def test_an_event_says_labels_apart_from_the_rest():
    attributes = {"name": "web", "image": "x", "exitCode": "137", "signal": "9", "argusai.project": "shop"}
    said = {
        "Type": "container",
        "Action": "die",
        "Actor": {"ID": ID, "Attributes": attributes},
        "timeNano": 1_500_000_000,
    }
    told = reading.happening(said)
    assert (told.name, told.exit_code, told.labels, told.at) == ("web", 137, {"argusai.project": "shop"}, 1.5)
    assert told.attributes == attributes


def test_a_container_is_described_as_the_engine_wants_it():
    making = Making(
        "web",
        "shop:1",
        ports=(Binding(80, 8080), Binding(80, 0, "127.0.0.1")),
        mounts=(Mount("/a", "/b", True), Mount("/a:b", "/c"), Mount("data", "/d", kind="volume")),
        labels={"run": "1"},
        entrypoint=(),
        health=HealthCheck(("CMD", "true"), interval=1.5, retries=3),
    )
    said = writing.body(making)
    assert said["HostConfig"]["PortBindings"] == {
        "80/tcp": [{"HostIp": "", "HostPort": "8080"}, {"HostIp": "127.0.0.1", "HostPort": ""}]
    }
    assert said["HostConfig"]["Binds"] == ["/a:/b:ro"]
    assert [one["Source"] for one in said["HostConfig"]["Mounts"]] == ["/a:b", "data"]
    assert said["HostConfig"]["Mounts"][1]["VolumeOptions"] == {"Labels": {"run": "1"}}
    assert said["Entrypoint"] == [""]
    assert said["Healthcheck"] == {"Test": ["CMD", "true"], "Interval": 1_500_000_000, "Retries": 3}
    assert "Cmd" not in said


@pytest.mark.parametrize("name", ["web", "web:1", "host:5000/shop/web:1", "web@sha256:0123", "a.b/c-d_e:1.2"])
def test_names_of_images(name: str):
    assert is_image(name)


@pytest.mark.parametrize("name", ["", "-web", "a//b", "a/../b", "../x", "a b", "a/", "web?x", "web\n"])
def test_what_cannot_be_the_name_of_an_image(name: str):
    assert not is_image(name)


def test_a_build_is_told_nothing_that_it_could_take_for_an_option(tmp_path):
    (tmp_path / "docker").touch(mode=0o755)
    environ = {"PATH": str(tmp_path)}
    asked = Building("web:1", "/x/Dockerfile", "/x", {"--rm": "-f"}, {"-l": "a=b"}, no_cache=True)
    assert command(asked, environ)[1:] == [
        "build",
        "--file=/x/Dockerfile",
        "--tag=web:1",
        "--build-arg=--rm=-f",
        "--label=-l=a=b",
        "--force-rm",
        "--no-cache",
        "/x",
    ]
    with pytest.raises(EngineRefused):
        command(Building("--rm", "/x/Dockerfile", "/x"), environ)
    for dockerfile, context in (("Dockerfile", "/x"), ("/x/Dockerfile", "-")):
        with pytest.raises(ValueError, match="absolute"):
            command(Building("web:1", dockerfile, context), environ)


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        pytest.param("Step 1/2\nreturned a non-zero code: 3\n", "returned a non-zero code: 3", id="the-last-line"),
        pytest.param(
            "ERROR: BuildKit is enabled but the buildx component is missing or broken.\n"
            "       Install the buildx component to build images with BuildKit:\n"
            "       https://docs.docker.com/go/buildx/\n",
            "ERROR: BuildKit is enabled but the buildx component is missing or broken.",
            id="not-only-where-to-read-more",
        ),
        pytest.param(
            "ERROR: failed to solve: exit code: 1\n\nView build details: docker-desktop://x/y\n",
            "ERROR: failed to solve: exit code: 1",
            id="not-where-to-look-at-it",
        ),
        pytest.param("https://only.example/\n", "https://only.example/", id="unless-there-is-nothing-else"),
    ],
)
def test_why_a_build_failed_is_said_by_the_line_that_says_it(printed: str, why: str):
    lines = Lines(lambda line: None)
    lines.take(printed.encode())
    assert lines.why == why


def test_a_full_disk_is_told_by_the_line_that_says_so():
    error = full("DEPRECATED: The legacy builder is deprecated\nStep 1/2\ndd: /big: No space left on device\n")
    assert error is not None
    assert error.message == "the Docker engine has no space left: dd: /big: No space left on device"


@pytest.mark.parametrize(
    ("printed", "most", "lines", "is_cut"),
    [
        pytest.param("a\nb\n", 10, ["a", "b"], False, id="all-of-it"),
        pytest.param("a\nb\n", 1, ["b"], False, id="as-many-as-were-asked-for"),
        pytest.param("x" * MOST + "\na\nb\n", 10, ["a", "b"], True, id="without-half-a-line"),
        pytest.param("x" * MOST + "\na\nb\n", 2, ["a", "b"], False, id="what-is-cut-was-not-asked-for"),
        pytest.param("x" * (MOST + 1), 1, ["x" * MOST], True, id="half-a-line-where-there-is-no-other"),
        pytest.param("", 10, [], False, id="nothing"),
    ],
)
def test_the_newest_lines_are_kept_and_say_when_older_ones_are_not(
    printed: str, most: int, lines: list[str], is_cut: bool
):
    taken = Printed(is_framed=False)
    for at in range(0, len(printed), 100_000):
        taken.take(printed[at : at + 100_000].encode())
    found = taken.lines(most)
    assert (found, found.is_cut) == (lines, is_cut)
