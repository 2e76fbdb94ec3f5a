"""Text that is too long is cut so that no half of a secret stays."""

import pytest

from argus.core.cutting import beginning, cleaned, ending
from argus.core.redact import MASK, by_shape

SECRET = "HuntEr2SecretPw99xyz"
URL = f"postgres://app:{SECRET}@db.internal/shop"


def test_no_part_of_a_secret_stays_wherever_it_is_cut():
    text = f"cannot connect to the database: {URL} refused it, password={SECRET} too"
    for limit in range(1, len(text)):
        for kept in (beginning(text, limit), ending(text, limit)):
            assert len(kept) <= limit
            assert not any(SECRET[at : at + 4] in kept for at in range(len(SECRET) - 3)), kept


@pytest.mark.parametrize("limit", [10, 35, 36, 40, 60])
def test_half_a_word_goes_because_it_may_be_half_of_a_secret_that_has_no_shape(limit: int):
    text = f"the program said this: {SECRET} and more words after it"
    for kept in (beginning(text, limit), ending(text, limit)):
        assert len(kept) <= limit
        assert SECRET in kept or not any(SECRET[at : at + 4] in kept for at in range(len(SECRET) - 3))


def test_what_is_short_enough_stays_as_it_is():
    assert beginning(URL, len(URL)) == URL == ending(URL, len(URL))  # whoever shows it redacts it


def test_one_long_word_is_cut_all_the_same():
    assert beginning("x" * 500, 200) == "x" * 200 == ending("x" * 500, 200)
    assert beginning("a " + "x" * 500, 200) == "a " + "x" * 198


def test_lines_stay_lines():
    assert beginning("one\ntwo\nthree", 9) == "one\ntwo"
    assert ending("one\ntwo\nthree", 11) == "two\nthree"


@pytest.mark.parametrize("name", ["token=", "password is: ", "API_KEY: "])
@pytest.mark.parametrize("length", [300, 4500, 30_000])
def test_of_a_long_value_no_end_stays_without_its_name(name: str, length: int):
    assert "BBBB" not in ending(f"it failed with {name}{'B1' + 'B' * length}", 200)
    assert "BBBB" not in ending(f"{'a word ' * 3000}{name}{'B1' + 'B' * length} and more", 200)


def test_the_lines_of_a_key_are_known_together_and_not_one_by_one():
    key = ["-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA1c7", "f9Yt8Zk2Lq0W", "-----END RSA PRIVATE KEY-----"]
    assert cleaned(["before", *key, "after"], by_shape) == ["before", MASK, "after"]
    assert cleaned(["before", *key[:-1]], by_shape) == ["before", MASK]
    assert cleaned([], by_shape) == []
    assert cleaned(["", "one"], by_shape) == ["", "one"]


@pytest.mark.parametrize("missing", range(1, 20))
def test_no_half_of_a_secret_stays_where_a_text_has_no_spaces(missing: int):
    secret = "HuntEr2SecretPw99xyz"
    text = '{"rows":[' + ",".join(f'"{n:04}"' for n in range(40)) + f'],"value":"{secret}","more":1}}'
    at = text.index(secret)
    assert beginning(text, at + len(secret) - missing).endswith('"value":"')
    assert ending(text, len(text) - at - missing) == '","more":1}'
