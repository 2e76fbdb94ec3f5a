"""Progress of one call: counted up, in words, without secrets, and never in the way of the work."""

from __future__ import annotations

import asyncio
from typing import Any

from argus.core.redact import Redactor
from argus.live import overhear
from argus.mcp.progress import reported
from argus.testing import run_simulated

SECRET = "wJalrXUtnFEMI-K7MDENG"


class Client:
    def __init__(self) -> None:
        self.heard: list[tuple[float, str]] = []
        self.at: list[float] = []
        redactor = Redactor()
        redactor.learn(SECRET)
        self.clean = redactor.value

    async def report(self, steps: float, text: str) -> None:
        self.heard.append((steps, text))
        self.at.append(asyncio.get_running_loop().time())


def builds(line: str) -> None:
    overhear("build", "build_output", {"project": "shop", "service": "api", "line": line})


def test_a_thousand_lines_a_second_are_told_a_few_times_in_growing_numbers_and_end_with_the_last() -> None:
    client = Client()

    async def work(_: Any) -> None:
        async with reported(client.report, client.clean):
            for number in range(3000):
                builds(f"step {number}")
                await asyncio.sleep(0.001)

    run_simulated(work)
    steps = [one for one, _ in client.heard]
    assert steps == sorted(set(steps))
    assert client.heard[-1] == (3000, "step 2999")
    assert 5 < len(steps) < 20
    assert min(b - a for a, b in zip(client.at[:-1], client.at[1:-1], strict=False)) > 0.24


def test_only_what_this_call_tells_is_heard() -> None:
    client, other = Client(), Client()

    async def one(client: Client, line: str) -> None:
        async with reported(client.report, client.clean), asyncio.TaskGroup() as group:
            group.create_task(said_later(line))

    async def said_later(line: str) -> None:
        await asyncio.sleep(1)
        builds(line)

    async def work(_: Any) -> None:
        builds("nobody's")
        await asyncio.gather(one(client, "mine"), one(other, "theirs"))
        builds("afterwards")

    run_simulated(work)
    assert [text for _, text in client.heard] == ["mine"]
    assert [text for _, text in other.heard] == ["theirs"]


def test_a_client_that_does_not_read_does_not_hold_the_work_up() -> None:
    client, done = Client(), []

    async def stuck(steps: float, text: str) -> None:
        await asyncio.Event().wait()

    async def work(loop: Any) -> None:
        began = loop.time()
        async with reported(stuck, client.clean):
            for number in range(100):
                builds(str(number))
                await asyncio.sleep(0.1)
            done.append(loop.time() - began)
        done.append(loop.time() - began)

    run_simulated(work)
    assert done[0] < 10.5
    assert done[1] < 12


def test_a_client_that_has_gone_does_not_hold_the_work_up() -> None:
    client, said = Client(), []

    async def gone(steps: float, text: str) -> None:
        said.append(text)
        raise ConnectionError

    async def work(_: Any) -> None:
        async with reported(gone, client.clean):
            for number in range(10):
                builds(str(number))
                await asyncio.sleep(1)
        said.append("done")

    run_simulated(work)
    assert said == ["0", "done"]


def test_silence_is_told_too_so_that_nobody_gives_up_on_it() -> None:
    client = Client()

    async def work(_: Any) -> None:
        async with reported(client.report, client.clean):
            builds("compiling")
            await asyncio.sleep(25)

    run_simulated(work)
    assert [steps for steps, _ in client.heard] == [1, 2, 3]
    assert client.heard[0][1] == "compiling"
    assert client.heard[1][1].startswith("compiling (after 10")


def test_no_secret_is_told() -> None:
    client = Client()

    async def work(_: Any) -> None:
        async with reported(client.report, client.clean):
            builds(f"the key is {SECRET}, password=hunter2hunter2")

    run_simulated(work)
    ((_, text),) = client.heard
    assert "the key is" in text
    assert SECRET not in text
    assert "hunter2" not in text


def test_what_nobody_has_words_for_is_not_told() -> None:
    client = Client()

    async def work(_: Any) -> None:
        async with reported(client.report, client.clean):
            overhear("services", "reading", {"service": "web"})
            overhear("build", "build_output", {"no": "line"})

    run_simulated(work)
    assert client.heard == []
