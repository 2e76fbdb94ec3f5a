"""Where mocks are listened for, and what is told where they cannot be."""

from collections.abc import Iterable

import pytest

from argus.core.clock import SystemClock
from argus.core.errors import ArgusError, Code
from argus.environments.mocking.definition import Placed, Rule, Served
from argus.environments.mocking.serving import Mocks
from argus.host.doors import Answerer, Came, CannotListen, Closed, Goes

GATEWAY = "172.18.0.1"


class Hall:
    """Doors that open where they may, and know who stands in them."""

    def __init__(self, *taken: tuple[str, int], elsewhere: str = "") -> None:
        self.taken = set(taken)
        self.elsewhere = elsewhere
        self.open: dict[tuple[str, int], Answerer] = {}

    async def listen(self, addresses: Iterable[tuple[str, int]], answer: Answerer) -> "Opened":
        for host, port in addresses:
            if host == self.elsewhere:
                raise CannotListen(host, port, Closed.ELSEWHERE, "Cannot assign requested address")
            if (host, port) in self.taken:
                raise CannotListen(host, port, Closed.TAKEN, "Address already in use")
        several = dict.fromkeys(addresses, answer)
        self.open |= several
        return Opened(self, set(several))

    async def ask(self, path: str, method: str = "GET", body: bytes = b"", *, too_large: bool = False) -> Goes:
        return await self.open["127.0.0.1", 9081](Came(method, path, "", [], body, too_large))


class Opened:
    def __init__(self, hall: Hall, at: set[tuple[str, int]]) -> None:
        self._hall, self._at = hall, at

    async def close(self) -> None:
        for one in self._at:
            del self._hall.open[one]


def placed(gateway: str = GATEWAY, port: int = 9081, name: str = "pay") -> Placed:
    return Placed(Served(name, 80, rules=(Rule("GET", "/", body="paid"),)), port, gateway)


async def test_a_mock_listens_on_the_loopback_and_at_the_gateway_and_nowhere_else() -> None:
    hall = Hall()
    mocks = Mocks(hall.listen, SystemClock())
    await mocks.serve("run", [placed()])
    assert set(hall.open) == {("127.0.0.1", 9081), (GATEWAY, 9081)}
    await mocks.serve("other", [placed("172.19.0.1", 9082)])
    await mocks.keep({"other"})
    assert set(hall.open) == {("127.0.0.1", 9082), ("172.19.0.1", 9082)}


@pytest.mark.parametrize("gateway", ["", "0.0.0.0", "127.0.0.1", "::", "fd00::1", "gateway"])
async def test_a_network_without_a_gateway_is_never_all_addresses(gateway: str) -> None:
    hall = Hall()
    with pytest.raises(ArgusError) as caught:
        await Mocks(hall.listen, SystemClock()).serve("run", [placed(gateway)])
    assert caught.value.code is Code.NETWORK_UNREACHABLE
    assert hall.open == {}


async def test_a_gateway_on_another_machine_and_a_taken_port_are_told_apart_and_nothing_stays_open() -> None:
    hall = Hall(elsewhere="172.30.0.1")
    mocks = Mocks(hall.listen, SystemClock())
    with pytest.raises(ArgusError) as caught:
        await mocks.serve("run", [placed(), placed("172.30.0.1", 9082, "mail")])
    assert (caught.value.code, caught.value.details["gateway"]) == (Code.NETWORK_UNREACHABLE, "172.30.0.1")
    hall.taken = {(GATEWAY, 9082)}
    with pytest.raises(ArgusError) as caught:
        await mocks.serve("run", [placed(), placed(port=9082, name="mail")])
    assert (caught.value.code, caught.value.details["port"]) == (Code.PORT_CONFLICT, 9082)
    assert hall.open == {}
    assert mocks.logs("run") == {}


async def test_what_every_mock_answers_is_in_nobodys_log() -> None:
    hall = Hall()
    mocks = Mocks(hall.listen, SystemClock())
    await mocks.serve("run", [placed()])
    assert (await hall.ask("/_mock/health")).status == 200
    assert (await hall.ask("/")).body == b"paid"
    assert (await hall.ask("/", too_large=True)).status == 413
    assert [one.status for one in mocks.logs("run")["pay"].all()] == [200, 413]
    assert b'"path": "/"' in (await hall.ask("/_mock/requests")).body
    assert (await hall.ask("/_mock/requests/clear", "POST")).status == 200
    assert mocks.logs("run")["pay"].all() == []
