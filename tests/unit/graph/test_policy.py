"""What is at the root of what is broken, and who has to hear of it."""

from __future__ import annotations

import math

import pytest

from argus.core.depending import Broken, Thing, thing
from argus.graph import words
from argus.graph.model import Standing, Told, read
from argus.graph.policy import Back, Lost, broken, is_down_again, news, reaches, unsettled

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


def test_a_wide_net_and_a_long_chain_are_each_looked_at_once():
    """Along every way there would be 2^40 looks, and a chain of 5,000 is deeper than Python calls itself."""
    nets = {
        f"{layer}-{place}": down(*(thing(f"{layer + 1}-{other}") for other in (0, 1)), since=float(layer))
        for layer in range(40)
        for place in (0, 1)
    }
    chain = {f"link{n}": down(thing(f"link{n + 1}")) for n in range(5000)}
    every = {**nets, "40-0": down(), "40-1": up(), **chain, "link5000": down()}
    looks: list[str] = []

    def look(one: Thing) -> Standing | None:
        looks.append(one.name)
        assert len(looks) < 20_000
        return every.get(one.name)

    assert [root.thing.name for root in broken([thing("0-0"), thing("link0")], look)] == ["40-0", "link5000"]


def test_it_is_reached_through_what_is_between():
    look = world(api=up(DB), shop=up(API, borne=True), db=up())
    assert reaches([SHOP], DB, look)
    assert not reaches([DB], SHOP, look)
    assert not reaches([SHOP], WEB, look)


def test_nothing_is_reached_through_what_has_failed():
    look = world(api=up(DB), db=up())
    assert reaches([API], DB, look, lambda one: False)
    assert not reaches([API], DB, look, lambda one: one == API)
    assert not reaches([DB], DB, look, lambda one: one == DB)
    assert reaches([API, DB], DB, look, lambda one: one == API), "it needs it by itself as well"


def test_everybody_hears_of_each_root_once_and_once_that_it_is_back():
    db_down, both_down, web_down = world(db=down()), world(db=down(), web=down(since=2.0)), world(db=up(), web=down())
    told = Told("agent:one", {"db": {"since": 1.0}})
    both = told.losing({"web": {"since": 2.0}})
    assert news([DB, WEB], None, db_down) == Lost((Broken(DB, 1.0),))
    assert news([DB, WEB], told, db_down) is None
    assert news([DB, WEB], told, both_down) == Lost((Broken(WEB, 2.0),))
    assert news([DB, WEB], told, world(db=up())) == Back(("db",))
    assert news([DB], None, world(db=up())) is None
    # One of two is back: whoever waits can do something with it.
    assert news([DB, WEB], both, web_down) == Back(("db",))
    over = told.hearing(told.things).ending(["db"])
    assert over == Told("agent:one", back=("db",))
    assert news([DB], over, world(db=up())) is None
    # Down again before it has heard that it was back: that is news.
    assert news([DB], over, db_down) == Lost((Broken(DB, 1.0),))
    assert over.losing({"db": {}}) == Told("agent:one", {"db": {}})
    # While it goes up and down, nobody is told that it is back.
    assert news([DB], told, world(db=Standing(False, is_unsettled=True))) is None


def test_what_is_explained_by_something_else_by_now_is_not_back():
    told = Told("agent:one", {"api": {}, "db": {}})
    assert news([API], told, world(api=down(DB), db=down())) is None
    assert news([DB], told, world(api=down(DB), db=down())) == Back(("api",)), "nobody needs it any more"


def test_what_is_needed_no_longer_is_told_whatever_else_is_down_and_whether_or_not_it_goes_up_and_down():
    flaps = Standing(True, 1.0, is_unsettled=True)
    assert news([WEB], Told("agent:one", {"db": {}}), world(db=flaps, web=up())) == Back(("db",))
    assert news([], Told("agent:one", {"db": {}}), world(db=flaps)) == Back(("db",))
    # An environment that was taken down is not there any more, also where `dependsOn` still names it.
    told = Told("agent:one", {"environment:shop": {}, "db": {}})
    assert news([SHOP, DB], told, world(db=down())) == Back(("environment:shop",))


def test_nobody_is_told_of_a_root_that_may_be_another_in_a_moment():
    looking = Standing(True, 1.0, depends_on=(DB,), is_open=True)
    told = Told("agent:one", {"db": {}})
    assert news([API], None, world(api=looking, db=up())) is None
    assert broken([API], world(api=looking, db=up())), "it waits all the same"
    assert news([API], None, world(api=looking, db=down())) == Lost((Broken(DB, 1.0),))
    assert news([API, WEB], None, world(api=looking, db=up(), web=down())) == Lost((Broken(WEB, 1.0),))
    # Its root is back, and so may it be itself: that is one line.
    assert news([API, DB], told, world(api=looking, db=up())) is None
    assert news([API, DB], told, world(api=up(DB), db=up())) == Back(("db",))
    assert news([API, DB, WEB], told.losing({"web": {}}), world(api=looking, db=up(), web=up())) == Back(("web",))


@pytest.mark.parametrize(
    ("root", "leaf", "is_over"),
    [
        pytest.param((10.0, 50.0), (40.0, 60.0), True, id="both-were-seen-as-they-are-by-now"),
        pytest.param((10.0, 30.0), (40.0, 60.0), False, id="it-was-not-looked-at-since-what-needs-it-answers"),
        pytest.param((55.0, 58.0), (40.0, 50.0), False, id="what-needs-it-was-not-looked-at-since-it-fell"),
        pytest.param((10.0, 50.0), (math.inf, 60.0), False, id="what-needs-it-fails-and-is-not-confirmed"),
        pytest.param((10.0, -math.inf), (-math.inf, 60.0), False, id="it-was-never-looked-at"),
    ],
)
def test_who_answers_though_its_root_is_down_is_told_to_go_on_once_that_is_known(
    root: tuple[float, float], leaf: tuple[float, float], is_over: bool
):
    db = Standing(True, 1.0, changed=root[0], looked=root[1])
    look = world(db=db, api=down(DB), web=Standing(False, depends_on=(API,), changed=leaf[0], looked=leaf[1]))
    assert news([WEB], Told("agent:one", {"db": {}}), look) == (Back(("db",)) if is_over else None)
    assert is_down_again("db", [WEB], look) is not is_over


def test_what_is_down_in_the_way_again_is_not_said_to_be_back():
    assert is_down_again("db", [API], world(db=down(), api=down(DB)))
    assert not is_down_again("db", [API], world(db=up(), api=up(DB)))
    assert not is_down_again("db", [WEB], world(db=down(), web=up())), "nobody needs it any more"


def test_what_somebody_was_told_of_and_goes_up_and_down_is_waited_for_still():
    look = world(db=Standing(False, is_unsettled=True), api=up(DB), web=Standing(True, is_unsettled=True))
    assert unsettled(["db", "api"], (), look) == ["db"]
    assert unsettled(["db", "web"], (Broken(WEB, 1.0),), look) == ["db"], "of what is down that is said"


def test_what_was_never_heard_of_is_not_told_to_be_over():
    assert Told("agent:one", {"db": {}}).ending(["db"]) is None


@pytest.mark.parametrize("told", [Told("k", {"db": {}}, ("db",)), Told("k", {"db": {}}, (), ("web",))])
def test_what_was_told_is_read_as_it_was_written(told: Told):
    assert read("k", told.written()) == told


def test_what_an_earlier_argus_had_told_is_understood():
    kept = {"things": {"db": {}, "web": {}}, "said": ["db"], "back": True}
    assert read("k", kept) == Told("k", back=("db",))
    assert read("k", {**kept, "back": False}) == Told("k", {"db": {}, "web": {}}, ("db",))


def test_what_is_said_names_what_since_when_what_is_done_and_when_to_go_on():
    line = words.lost((Broken(DB, 100.0, 'connection\n"refused"', "is restarting it"),), 165.0)
    assert line == (
        "[argus] service db is down (for 1m: \"connection 'refused'\"); Argus is restarting it. "
        "Do not work around it and do not restart it yourself: go on with what does not need it, or wait. "
        "You will be told when it is back."
    )
    things = ["db", "environment:shop"]
    assert words.back(things, lambda _: True) == "[argus] db and environment shop are back. Go on with your work."
    assert words.back(["db"], lambda _: True, ["web"]) == "[argus] db is back. web is still down."
    assert words.back(["db"], lambda _: True, [], ["web", "environment:shop"]) == (
        "[argus] db is back. web and environment shop have not settled yet."
    )
    assert words.back(things, lambda one: one == "db") == (
        "[argus] db is back. You need not wait for environment shop any more. Go on with your work."
    )


@pytest.mark.parametrize("written", ["", " x", "service:", "environment: "])
def test_what_names_nothing_is_refused(written: str):
    with pytest.raises(ValueError, match="names nothing"):
        thing(written)
