"""After a restart of Argus: what the record says, who of them still lives, and starts that were cut off."""

from __future__ import annotations

from argus.agents import book
from argus.agents.book import DOMAIN
from argus.agents.keeper import STOP, Keeper
from argus.agents.messages import Look
from argus.agents.model import Agent, Origin, Process, State
from argus.agents.starts import RESPAWN, SPAWN
from argus.agents.tools import Tools
from argus.store import kept
from argus.store.records import Act, CloseAct


async def restore(keeper: Keeper, tools: Tools) -> None:
    ledger, store = keeper.ledger, tools.store
    for document in await store.documents(DOMAIN, live=False):
        tombstone = book.read(document.data)
        ledger.book.put(tombstone)
        ledger.forget(tombstone)
    for document in await store.documents(DOMAIN):
        ledger.book.put(book.read(document.data))
    for id in tools.runs():
        ledger.book.use(id)
    ledger.unknown_until = await kept.set_aside(store, tools.clock)
    for act in await store.acts(kind=RESPAWN):
        ledger.respawned(act.subject, act.begun)
    starts: dict[str, Act] = {}
    for act in await store.open_acts():
        agent = ledger.book.get(str(act.intent.get("agent", "")))
        if act.kind in (SPAWN, RESPAWN) and agent is not None and agent.state is State.SPAWNING:
            starts[agent.id] = act
        elif act.kind in (SPAWN, RESPAWN, STOP):
            await store.commit(CloseAct(act.id, "unverified", tools.clock.wall(), {"interrupted": True}))
    for agent in ledger.book:
        _take_up(keeper, agent, starts.get(agent.id), tools)


def _is_here(keeper: Keeper, process: Process) -> bool:
    return keeper.ledger.is_here(process.host, process.boot_id, process.space)


def _take_up(keeper: Keeper, agent: Agent, act: Act | None, tools: Tools) -> None:
    where = act.intent if act is not None else {}
    place = (str(where.get(key, "")) for key in ("host", "boot", "space"))
    if where.get("host") and not keeper.ledger.is_here(*place):
        return  # on another machine: it is not ours to start, nor to say that it is dead
    if act is not None:
        # Whether it began is not known. Carried out once more, its run folder lets only one through.
        keeper.starts.carry_out(agent, act)
    elif agent.state is State.DEAD:
        keeper.queue.put_nowait(Look(agent.id))
    elif agent.origin is not Origin.FOREIGN and (agent.process is None or _is_here(keeper, agent.process)):
        keeper.launches.take_up(agent)
