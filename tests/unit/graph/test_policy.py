"""What is at the root of what is broken, and who has to hear of it."""

from __future__ import annotations

import pytest

from argus.core.depending import Broken, Thing, thing
from argus.graph import words
from argus.graph.model import Standing, Told
from argus.graph.policy import Back, Lost, broken, news, reaches

DB, API, WEB, SHOP = thing("db"), thing("service:api"), thing("web"), thing("environment:shop")


def world(**standing: Standing):
    return lambda one: standing.get(one.name)


def up(*below: Thing, borne: bool = False) -> Standing:
    return Standing(False, depends_on=below, is_borne=borne)


def down(*below: Thing, since: float = 1.0) -> Standing:
    return Standing(True, since, depends_on=below)


@pytest.mark.parametrize(
    ("look", "needs", "roots"),
    [
        (world(db=up()), [DB], []),
        (world(db=down()), [DB], [DB]),
        (world(db=down(), api=down(DB)), [API], [DB]),
        (world(db=down(), api=down(DB), web=down(API)), [WEB, API, DB], [DB]),
        # One that answers although what it depends on is down is not broken.
        (world(db=down(), api=up(DB)), [API], []),
        # An environment falls with what it needs: nobody looks whether it works without.
        (world(db=down(), shop=up(DB, borne=True)), [SHOP], [DB]),
        (world(db=up(), shop=Standing(True, 5.0, depends_on=(DB,), is_borne=True)), [SHOP], [SHOP]),
        # Nobody knows of it: nobody says that it is down.
        (world(), [DB, SHOP], []),
        (world(db=down(since=9.0), web=down(since=3.0)), [DB, WEB], [WEB, DB]),
        # A circle, which no configuration may have, ends.
        (world(db=down(API), api=down(DB)), [DB], [API]),
    ],
)
def test_the_roots_of_what_is_broken(look, needs, roots):
    assert [root.thing for root in broken(needs, look)] == roots


def test_it_is_reached_through_what_is_between():
    look = world(api=up(DB), shop=up(API, borne=True), db=up())
    assert reaches([SHOP], DB, look)
    assert not reaches([DB], SHOP, look)
    assert not reaches([SHOP], WEB, look)


def test_everybody_hears_of_each_root_once_and_once_that_all_is_back():
    db, web = Broken(DB, 1.0), Broken(WEB, 2.0)
    told = Told("agent:one", {"db": {"since": 1.0}})
    assert news((db,), None) == Lost((db,))
    assert news((db,), told) is None
    assert news((db, web), told) == Lost((web,))
    assert news((), told) == Back(("db",))
    assert news((), None) is None
    over = Told("agent:one", {"db": {"since": 1.0}}, said=("db",), is_back=True)
    assert news((), over) is None
    # Down again before it has heard that it was back: that is news.
    assert news((db,), over) == Lost((db,))


def test_what_is_said_names_what_since_when_what_is_done_and_when_to_go_on():
    line = words.lost((Broken(DB, 100.0, 'connection\n"refused"', "is restarting it"),), 165.0)
    assert line == (
        "[argus] service db is down since 1m (\"connection 'refused'\"); Argus: is restarting it. "
        "Do not work around it and do not restart it yourself: go on with what does not need it, or wait. "
        "You will be told when it is back."
    )
    assert words.back(["db", "environment:shop"]) == "[argus] db and environment:shop are back. Go on with your work."


@pytest.mark.parametrize("written", ["", "room:x", "service:", "environment: ", ":"])
def test_what_names_nothing_is_refused(written: str):
    with pytest.raises(ValueError, match=r"names nothing|environment:NAME"):
        thing(written)
