"""Events as values, and places in the journal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.core.events import Draft, Event, Position

EVENT = Event(7, "a1b2-c3", 1_700_000_000_123, "services", "service_down", "api", {"failures": 3})


def test_an_event_is_known_by_the_journals_epoch_and_its_number():
    assert EVENT.id == "a1b2-c3-7"


def test_clients_subscribe_to_channel_and_type():
    assert EVENT.name == "services:service_down"


@pytest.mark.parametrize(
    ("subject", "data", "public"),
    [
        pytest.param(
            "api",
            {"failures": 3},
            {"type": "t", "subject": "api", "failures": 3, "timestamp": 5},
            id="the-data-stands-beside-type-subject-and-time",
        ),
        pytest.param("", {}, {"type": "t", "timestamp": 5}, id="no-subject-is-left-out"),
        pytest.param("", {"subject": "x", "n": 1}, {"type": "t", "n": 1, "timestamp": 5}, id="no-subject-by-the-data"),
        pytest.param("", {"timestamp": 9}, {"type": "t", "timestamp": 5}, id="the-journals-time-wins-over-the-datas"),
    ],
)
def test_the_public_form(subject: str, data: dict[str, object], public: dict[str, object]):
    assert Event(1, "e", 5, "c", "t", subject, data).public() == public


def test_the_public_form_starts_with_the_type():
    assert next(iter(EVENT.public())) == "type"


@pytest.mark.parametrize("key", ["type", "subject", "timestamp"])
def test_the_data_cannot_rename_the_event(key: str):
    public = {"type": "t", "subject": "s", "n": 1, "timestamp": 5}
    assert Event(1, "e", 5, "c", "t", "s", {key: "http", "n": 1}).public() == public


def test_the_public_form_can_be_changed_without_changing_the_event():
    EVENT.public()["failures"] = 99
    assert EVENT.data == {"failures": 3}


def test_an_event_does_not_change():
    with pytest.raises(AttributeError):
        EVENT.n = 8  # type: ignore[misc]


def test_drafts_do_not_share_their_data():
    assert Draft("c", "t") == Draft("c", "t", "", {})
    assert Draft("c", "t").data is not Draft("c", "t").data


@pytest.mark.parametrize(
    ("text", "position"),
    [
        pytest.param("e-7", Position("e", 7), id="epoch-and-number"),
        pytest.param("a-b-c-12", Position("a-b-c", 12), id="the-epoch-may-hold-dashes"),
        pytest.param("e-0", Position("e", 0), id="the-place-before-the-first"),
        pytest.param("  e-7\n", Position("e", 7), id="blanks-around-it-are-borne"),
        pytest.param("e-" + "9" * 18, Position("e", 10**18 - 1), id="the-largest-number-a-store-holds-for-sure"),
        pytest.param("e-" + "9" * 19, None, id="a-number-no-store-holds"),
        pytest.param("", None, id="nothing"),
        pytest.param("-", None, id="a-dash"),
        pytest.param("7", None, id="a-number-alone"),
        pytest.param("-7", None, id="no-epoch"),
        pytest.param("  -7", None, id="an-epoch-of-blanks"),
        pytest.param("e-", None, id="no-number"),
        pytest.param("e-x", None, id="not-a-number"),
        pytest.param("e-1_0", None, id="an-underscore-between-digits"),
        pytest.param("e-1.0", None, id="a-fraction"),
        pytest.param("e-+1", None, id="a-sign"),
        pytest.param("\u202e-1", None, id="an-epoch-that-no-store-has"),
        pytest.param("e" * 65 + "-1", None, id="an-epoch-without-end"),
        pytest.param("e- 1", None, id="a-blank-before-the-number"),
        pytest.param("e-²", None, id="a-superscript"),
        pytest.param("e-٣", None, id="a-digit-of-another-script"),
    ],
)
def test_reading_a_position(text: str, position: Position | None):
    assert Position.parse(text) == position


@given(epoch=st.from_regex(r"\A[A-Za-z0-9_-]{1,64}\Z"), n=st.integers(0, 10**18 - 1))
@settings(deadline=None)
def test_the_id_of_an_event_reads_back_as_its_place(epoch: str, n: int):
    assert Position.parse(Event(n, epoch, 0, "c", "t", "", {}).id) == Position(epoch, n)


@given(st.text() | st.from_regex(r"\A.{0,5}-\d{0,20}\Z"))
@settings(deadline=None, max_examples=200)
def test_whatever_a_client_sends_is_a_place_or_nothing(text: str):
    position = Position.parse(text)
    if position is not None:
        assert position.epoch
        assert 0 <= position.n < 10**18
