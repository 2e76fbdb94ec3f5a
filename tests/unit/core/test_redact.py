"""Secrets leave through no sink."""

from __future__ import annotations

import json
import time
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.core.redact import MASK, Redactor, password_of, passwords_in

CANARY = "canary-7f3a91"
secrets = st.text("ABCdef0189-_.+", min_size=6, max_size=20).filter(lambda one: one not in MASK)
# Letters alone may be a word, which is left alone when it is short.
secrets = secrets.filter(lambda one: not one.isalpha())


def knowing(*known: str) -> Redactor:
    redactor = Redactor()
    for secret in known:
        redactor.learn(secret)
    return redactor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("nothing to see", "nothing to see", id="ordinary-text-is-left-alone"),
        pytest.param("", "", id="nothing"),
        pytest.param(f"a {CANARY} b", f"a {MASK} b", id="a-known-secret"),
        pytest.param(f"{CANARY}{CANARY}", f"{MASK}{MASK}", id="every-occurrence"),
        pytest.param(f"x{CANARY}y", f"x{MASK}y", id="inside-a-word"),
        pytest.param(
            "postgres://me:hunter2@db:5432/x", f"postgres://{MASK}@db:5432/x", id="user-and-password-of-a-url"
        ),
        pytest.param("amqp+ssl://me:pw@h", f"amqp+ssl://{MASK}@h", id="a-scheme-with-a-plus"),
        pytest.param("see HTTPS://key@h/p now", f"see HTTPS://{MASK}@h/p now", id="a-user-alone-in-capitals"),
        pytest.param("a://u:p@h b://v:q@i", f"a://{MASK}@h b://{MASK}@i", id="each-of-two-urls"),
        pytest.param("http://h/p?mail=a@b", "http://h/p?mail=a@b", id="an-at-in-the-path-is-no-password"),
        pytest.param("http://127.0.0.1:80/x", "http://127.0.0.1:80/x", id="a-url-without-a-user"),
        pytest.param("mail me@example.org", "mail me@example.org", id="an-address-of-a-person"),
        pytest.param("Authorization: Bearer abcDEF12._~+/=-", f"Authorization: Bearer {MASK}", id="a-bearer-token"),
        pytest.param("bearer   abcdefgh,", f"bearer   {MASK},", id="a-bearer-token-in-small-letters"),
        pytest.param("Basic dXNlcjpwYXNz", f"Basic {MASK}", id="basic-credentials"),
        pytest.param("basic  dXNlcjpwYXNz,", f"basic  {MASK},", id="basic-credentials-after-a-small-letter"),
        pytest.param("Basic abcdefghij==", f"Basic {MASK}", id="basic-credentials-known-by-their-padding"),
        pytest.param("Basic abcdefg7", f"Basic {MASK}", id="basic-credentials-known-by-a-digit"),
        pytest.param("Basic ab/d+fgH", f"Basic {MASK}", id="basic-credentials-known-by-a-capital"),
        pytest.param("basic functionality works", "basic functionality works", id="a-word-after-basic"),
        pytest.param("Basic abcdef7", "Basic abcdef7", id="too-little-after-basic"),
        pytest.param("the bearer of news", "the bearer of news", id="a-short-word-after-bearer"),
        pytest.param("forbearer abcdefghij", "forbearer abcdefghij", id="bearer-inside-a-word"),
        pytest.param(
            "postgres://me:p@ss@db/x",
            f"postgres://{MASK}@db/x",
            id="a-password-that-holds-an-at",
        ),
        pytest.param("a://u:p@q@h,b://v:q@i", f"a://{MASK}@h,b://{MASK}@i", id="each-of-two-urls-side-by-side"),
        pytest.param("http://h/a@b", "http://h/a@b", id="an-at-after-the-host-is-no-password"),
        pytest.param("password=hunter2", f"password={MASK}", id="an-assignment"),
        pytest.param("DB_PASSWORD_2=hunter2 x=1", f"DB_PASSWORD_2={MASK} x=1", id="an-assignment-to-a-longer-name"),
        pytest.param("run --api-key=hunter2;ls", f"run --api-key={MASK};ls", id="an-assignment-of-an-option"),
        pytest.param("/p?n=5&token=hunter2&m=6", f"/p?n=5&token={MASK}&m=6", id="an-assignment-in-a-query"),
        pytest.param("apikey=abcd,passwd=efgh", f"apikey={MASK},passwd={MASK}", id="each-of-two-assignments"),
        pytest.param("MYSQL_PWD=hunter22 PWD=/home/x", f"MYSQL_PWD={MASK} PWD=/home/x", id="a-folder-is-none"),
        pytest.param(
            "secret=u://a:b@c/d passphrase=efgh", f"secret={MASK} passphrase={MASK}", id="all-of-an-assignment"
        ),
        pytest.param("tokens=123", "tokens=123", id="a-short-number-is-a-count"),
        pytest.param("password = whatever", f"password = {MASK}", id="blanks-around-the-sign"),
        pytest.param("name=hunter2", "name=hunter2", id="an-assignment-to-an-ordinary-name"),
        pytest.param('{"password": "a b, c!", "n": 1}', f'{{"password": "{MASK}", "n": 1}}', id="all-in-quotes"),
        pytest.param("secret: 'it is long' x", f"secret: '{MASK}' x", id="all-in-single-quotes"),
        pytest.param(r'{"token": "a\"bcd"}', f'{{"token": "{MASK}"}}', id="a-quote-in-quotes"),
        pytest.param(r"{\"token\": \"abc def\"}", rf"{{\"token\": \"{MASK}\"}}", id="json-within-json"),
        pytest.param("password=hunt,er2 x", f"password={MASK} x", id="a-comma-in-it"),
        pytest.param("password=hunter2, user=x", f"password={MASK}, user=x", id="a-comma-after-it"),
        pytest.param("DB_PASS=hunter2", f"DB_PASS={MASK}", id="a-password-called-pass"),
        pytest.param("ENCRYPTION_KEY=hunter2", f"ENCRYPTION_KEY={MASK}", id="a-key-for-something"),
        pytest.param("user=me pass=hunter2", f"user=me pass={MASK}", id="pass-alone"),
        pytest.param("pass=1024 fail=0", "pass=1024 fail=0", id="how-many-passed"),
        pytest.param("mysql --password hunter2 x", f"mysql --password {MASK} x", id="an-option-and-its-value"),
        pytest.param("tool --token --verbose", "tool --token --verbose", id="an-option-without-one"),
        pytest.param("tool --token-file /etc/token", "tool --token-file /etc/token", id="an-option-that-names-a-file"),
    ],
)
def test_text(text: str, expected: str):
    assert knowing(CANARY).text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cookie: session=abc; theme=dark", f"Cookie: {MASK}"),
        ("> cookie: a=b\r\n> accept: */*", f"> cookie: {MASK}\r\n> accept: */*"),
        ("Set-Cookie: sid=abc; Path=/; HttpOnly\nnext", f"Set-Cookie: {MASK}\nnext"),
        ('{"set-cookie": "sid=abc; Path=/", "n": 1}', f'{{"set-cookie": "{MASK}", "n": 1}}'),
        ("curl -H 'Cookie: sid=abc' http://h/", f"curl -H 'Cookie: {MASK}' http://h/"),
        ('Cookie: a="b c"; d=e', f"Cookie: {MASK}"),
        ("HTTP_COOKIE=sid=abc", f"HTTP_COOKIE={MASK}"),
        ("\x1b[31mpassword\x1b[0m=\x1b[32mhunter2\x1b[0m", f"password={MASK}"),
        ("\x1b[1;31mpass\x1b[0mword: hunter2", f"password: {MASK}"),
        ("pass\u200bword=hunter2", f"password={MASK}"),
        ("password=\ufeffhunter2", f"password={MASK}"),
        (f"a {CANARY[:6]}\x1b[0m{CANARY[6:]}", f"a {MASK}"),
        ("\x1b[32mall green\x1b[0m état", "\x1b[32mall green\x1b[0m état"),
        ("curl -u me:hunter2 http://h/", f"curl -u me:{MASK} http://h/"),
        ("curl -sSu 'me:hunter2' http://h/", f"curl -sSu 'me:{MASK}' http://h/"),
        ("curl --user me:hunter2", f"curl --user me:{MASK}"),
        ("mysql -pHunter2 shop", f"mysql -p{MASK} shop"),
        ("mysqldump -u root -phunter2 shop", f"mysqldump -u root -p{MASK} shop"),
        ("sshpass -p hunter2 ssh h", f"sshpass -p {MASK} ssh h"),
        ("password is: hunter2", f"password is: {MASK}"),
        ("The admin password was = hunter2", f"The admin password was = {MASK}"),
        ("The PASSWORD is sp-3535, keep it", f"The PASSWORD is {MASK}, keep it"),
        ("password => 'hunter2'", f"password => '{MASK}'"),
        ("user=a;pwd=hunter2", f"user=a;pwd={MASK}"),
        ("docker login -u me -p hunter2 registry", f"docker login -u me -p {MASK} registry"),
        ("redis-cli -h db -a hunter2 ping", f"redis-cli -h db -a {MASK} ping"),
        ("AccountName=x;AccountKey=abcd1234==;", f"AccountName=x;AccountKey={MASK};"),
        ("GET /blob?sv=2024&sig=a%2Bbc%3D&x=1", f"GET /blob?sv=2024&sig={MASK}&x=1"),
        ('<add key="DbPassword" value="hunter2"/>', f'<add key="DbPassword" value="{MASK}"/>'),
        ("<password>hunter2</password>", f"<password>{MASK}</password>"),
        ('<ns:db-password kind="a">hunt er</ns:db-password>', f'<ns:db-password kind="a">{MASK}</ns:db-password>'),
    ],
)
def test_a_secret_as_programs_print_it(text: str, expected: str):
    assert knowing(CANARY).text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "password is wrong",
        "the token is expired since 2026",
        "it is there, and pwd=/home/me",
        "redis-cli is missing; ls -a /x",
        '<add key="Colour" value="blue-77"/>',
        "docker run -p 8080:80 login-service",
        "cookie: not set",
        "the cookies are gone: 5",
        "docker run -p 8080:80 mysql",
        "docker run --name mysql -p3306:3306 mysql:8",
        "mkdir -p /var/lib/mysql && ls -p /x",
        "mysql ready; mkdir -pv /x",
        "docker run -u 1000:1000 curlimages/curl",
        "curl -fsS http://h/a",
        "usage: argus login <token>",
        "<tokens>5</tokens> in <token/>".replace("<tokens>5</tokens>", "<count>5</count>"),
        "npm_config_registry and npm_lifecycle_event",
        "pypi-server-of-the-department-that-has-no-digits",
    ],
)
def test_what_programs_print_and_is_no_secret_stays(text: str):
    assert Redactor().text(text) == text


def made(length: int) -> str:
    """As random as a token, and of nobody's."""
    return ("Zq7Xw2Lr9Kt4Vb8Nm3Pc6Hd1Js5Fg0Ty" * 8)[:length]


_HEADER, _CLAIMS = "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0"
_KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{made(64)}\n{made(64)}\n-----END RSA PRIVATE KEY-----"
WELL_KNOWN = {
    "an-aws-access-key": "AKIAIOSFODNN7EXAMPLE",
    "an-aws-key-for-a-while": "ASIAIOSFODNN7EXAMPLE",
    **{f"a-github-token-{kind}": f"gh{kind}_{made(36)}" for kind in "pousr"},
    "a-fine-grained-github-token": f"github_pat_{made(22)}_{made(59)}",
    "a-gitlab-token": f"glpat-{made(20)}",
    "an-npm-token": f"npm_{made(36)}",
    "a-hugging-face-token": f"hf_{made(34)}",
    "a-pypi-token": f"pypi-AgEIcHlwaS5vcmc{made(100)}",
    **{f"a-slack-token-{kind}": f"xox{kind}-123456789012-{made(24)}" for kind in "abeprs"},
    "a-slack-app-token": f"xapp-1-A0123456789-{made(24)}",
    "an-anthropic-key": f"sk-ant-api03-{made(93)}",
    "an-openai-key": f"sk-{made(48)}",
    "an-openai-key-of-a-project": f"sk-proj-{made(40)}_{made(40)}",
    "a-stripe-key": f"sk_live_{made(24)}",
    "a-jwt": f"{_HEADER}.{_CLAIMS}.{made(43)}",
    "a-jwt-that-was-cut": f"{_HEADER}.{_CLAIMS}",
    "an-encrypted-jwt": f"{_HEADER}..{made(16)}.{made(40)}.{made(22)}",
    "a-google-key": f"AIza{made(35)}",
    "a-private-key": _KEY,
    "a-private-key-in-json": _KEY.replace("\n", "\\n"),
    "a-private-key-of-pgp": _KEY.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
    "a-private-key-of-no-kind": _KEY.replace("RSA ", ""),
}


@pytest.mark.parametrize("before", ["", "spring_", "a_" * 100, "A" * 3000])
@pytest.mark.parametrize("after", ["", "_OF_MINE", "_for_the_very_long_named_service_of_mine"])
def test_a_name_may_be_as_long_as_its_maker_likes(before: str, after: str):
    name = f"{before}PASSWORD{after}"
    assert Redactor().text(f"{name}=canary-9999 then") == f"{name}={MASK} then"
    if len(name) < 100:
        assert Redactor().text(f"<{name}>canary-9</{name}>") == f"<{name}>{MASK}</{name}>"
    if len(name) < 100 and not after:  # --password-file names a file
        option = name.lower().replace("_", "-")
        assert Redactor().text(f"run --{option} canary-9 now") == f"run --{option} {MASK} now"


def test_whose_it_is_may_stand_between_a_secrets_name_and_itself():
    assert Redactor().text("The password for bob is canary-30.") == f"The password for bob is {MASK}"


@pytest.mark.parametrize("secret", WELL_KNOWN.values(), ids=WELL_KNOWN)
def test_a_secret_of_a_well_known_shape_is_found_standing_alone(secret: str):
    assert Redactor().text(secret) == MASK
    assert Redactor().text(f"login failed ({secret}), 3 tries") == f"login failed ({MASK}), 3 tries"
    assert Redactor().text(f"KEY_{secret} '{secret}'\n") == f"KEY_{MASK} '{MASK}'\n"
    assert Redactor().value({"note": [secret]}) == {"note": [MASK]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(_KEY[:90], MASK, id="its-end-is-cut-off"),
        pytest.param(f"{_KEY[70:]} bye", f"{MASK} bye", id="its-beginning-is-cut-off"),
        pytest.param(f"a {_KEY} b {_KEY} c", f"a {MASK} b {MASK} c", id="each-of-two"),
    ],
)
def test_a_private_key(text: str, expected: str):
    assert Redactor().text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the class sk-fading-circle-container-wrapper is gone",
        "risk-assessment-of-2026-is-due-next-week",
        "task-7f3a91c0aa11bb22cc33dd44ee55",
        "gh_pages was built, ghp_ is a prefix",
        "xoxo-hugs and kisses",
        "AKIA is a prefix, AKIAIOSFODNN7 is too short, NAKIAIOSFODNN7EXAMPLES",
        "sha256 9f228436aa0b1c2d3e4f5a6b7c8d9e0f1122334455667788990011223344556677",
        "0b9c2f1e-7d3a-4c55-9c1e-2f8a6d1b3c4d",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "eyJ is how base64 of JSON begins",
    ],
)
def test_what_only_looks_a_little_like_one_is_left_alone(text: str):
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        *("sk-", "sk-a", "-sk-aaaaaaaaaaaaaaaaaaaaaaaa", "eyJ", "-eyJaaaaaaaa", "eyJaaaaaaaa.", "ghp_", "github_pat_"),
        *("xoxb-", "AIza", "-AIza", "AKIA", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END ", "a", "A "),
        *("-----BEGIN A A A A A A A PRIVATE KEY ", "-", "sk_live_", "glpat-", "xapp-"),
        *(
            "Cookie: ",
            "Cookie: a=",
            'cookie=a="',
            "<password>",
            "<password>a</",
            "<token ",
            "curl -u ",
            "curl -u a",
            "mysql -p",
        ),
        *("docker login ", "docker ", "redis-cli ", "redis-cli -a ", "?sig=", 'key="password" ', "password is 1"),
        *("a-", "token-", "password for ", "token of a ", "<token-"),
        *("mysql ", "mysql -p ", " -p</", "\x1b[", "\x1b[0", "\u200b", "password is ", "pypi-", "npm_", "sshpass "),
    ],
)
def test_no_text_takes_long(piece: str):
    text = (piece * 200_000)[:200_000]
    began = time.process_time()
    Redactor().text(text + " AKIAIOSFODNN7EXAMPLE")
    # A few milliseconds; quadratic time would be minutes.
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize(
    ("known", "text", "expected"),
    [
        pytest.param(["abcde"], "abcde", "abcde", id="five-characters-would-mask-ordinary-words"),
        pytest.param(["abcd3f"], "abcd3f", MASK, id="six-characters-are-a-secret"),
        pytest.param(["postgres"], "postgres", "postgres", id="a-word-that-is-a-password-stays-a-word"),
        pytest.param(["abcdefghijkl"], "abcdefghijkl", MASK, id="twelve-letters-are-more-than-a-word"),
        pytest.param(["abcd3f", "abcd3fghij"], "abcd3fghij", MASK, id="the-longer-of-two-goes-first"),
        pytest.param(["abcd3fghij", "abcd3f"], "abcd3fghij", MASK, id="in-whatever-order-they-were-learned"),
        pytest.param(["a.c+ef"], "abccef a.c+ef", f"abccef {MASK}", id="a-secret-is-no-pattern"),
        pytest.param(["abcdef"], "ABCDEF", "ABCDEF", id="case-counts"),
        pytest.param(["", "  "], "a  b", "a  b", id="nothing-is-no-secret"),
        pytest.param([r"\1\g<0>x"], r"y\1\g<0>x", f"y{MASK}", id="backslashes-are-taken-as-they-are"),
    ],
)
def test_what_was_learned(known: list[str], text: str, expected: str):
    assert knowing(*known).text(text) == expected


def test_redactors_do_not_share_what_they_know():
    knowing(CANARY)
    assert Redactor().text(CANARY) == CANARY


@pytest.mark.parametrize(
    "key",
    [
        *("password", "PASSWORD", "dbPassword", "passwd", "secret", "clientSecret", "token", "ARGUS_TOKEN", "apiKey"),
        *("api_key", "api-key", "APIKEY", "Authorization", "credentials", "private_key", "privateKey", "private-key"),
        *("passphrase", "Cookie", "Set-Cookie"),
    ],
)
def test_a_value_named_like_a_secret_is_masked(key: str):
    assert Redactor().value({key: "x", "name": "x"}) == {key: MASK, "name": "x"}
    assert Redactor().value([{"deep": {key: "x"}}]) == [{"deep": {key: MASK}}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, None, id="none"),
        pytest.param(True, True, id="a-truth"),
        pytest.param(5, 5, id="a-number"),
        pytest.param(1.5, 1.5, id="a-fraction"),
        pytest.param({"tokens": 85_000}, {"tokens": 85_000}, id="a-count-of-tokens-is-no-token"),
        pytest.param({"env": {"name": CANARY}}, {"env": {"name": MASK}}, id="a-text-in-a-record-in-a-record"),
        pytest.param(["a", [CANARY]], ["a", [MASK]], id="a-text-in-a-list-in-a-list"),
        pytest.param(("a", CANARY), ["a", MASK], id="a-tuple-becomes-a-list"),
        pytest.param(MappingProxyType({"a": CANARY}), {"a": MASK}, id="any-mapping"),
        pytest.param({1: CANARY}, {"1": MASK}, id="a-key-becomes-a-text"),
        pytest.param({"url": "redis://:pw@h/0"}, {"url": f"redis://{MASK}@h/0"}, id="a-url-in-a-record"),
        pytest.param({CANARY: CANARY}, {MASK: MASK}, id="a-key-is-cleaned-too"),
        pytest.param({f"a {CANARY}": 1}, {f"a {MASK}": 1}, id="a-part-of-a-key"),
        pytest.param({"a": {"token=hunter2": 1}}, {"a": {f"token={MASK}": 1}}, id="a-key-that-looks-like-a-secret"),
        pytest.param({CANARY}, [MASK], id="a-set-becomes-a-list"),
        pytest.param(frozenset({5}), [5], id="a-set-that-does-not-change-becomes-a-list"),
        pytest.param(f"x {CANARY}".encode(), f"x {MASK}", id="bytes-become-a-text"),
        pytest.param(ValueError(f"x {CANARY}"), f"x {MASK}", id="an-exception-becomes-a-text"),
        pytest.param(PurePosixPath("/x", CANARY), f"/x/{MASK}", id="whatever-else-becomes-a-text"),
        pytest.param({"token": {"name": "x", "n": 5}}, {"token": {"name": MASK, "n": 5}}, id="texts-under-such-a-name"),
        pytest.param(
            {"cookies": [{"a": ("x", 1.5, None, True)}, "y"]},
            {"cookies": [{"a": [MASK, 1.5, None, True]}, MASK]},
            id="texts-deep-under-such-a-name",
        ),
        pytest.param({"secrets": {"x"}}, {"secrets": [MASK]}, id="a-set-under-such-a-name"),
        pytest.param({"secret": b"x"}, {"secret": MASK}, id="bytes-under-such-a-name"),
        pytest.param({"secret": ValueError("x")}, {"secret": MASK}, id="an-exception-under-such-a-name"),
        pytest.param({"secret": {1: "x"}}, {"secret": {"1": MASK}}, id="a-key-under-such-a-name-becomes-a-text"),
        pytest.param({"name": "password"}, {"name": "password"}, id="such-a-name-as-a-value"),
    ],
)
def test_value(value: Any, expected: Any):
    assert knowing(CANARY).value(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({CANARY: 1}, id="as-a-key"),
        pytest.param({"cause": CANARY.encode()}, id="as-bytes"),
        pytest.param({"names": {CANARY}}, id="in-a-set"),
        pytest.param({"cause": ValueError(CANARY)}, id="in-an-exception"),
        pytest.param(
            {"tokens": {CANARY: 5}},
            id="as-a-key-under-a-name-like-a-secret",
        ),
    ],
)
def test_a_known_secret_does_not_get_out(value: Any):
    assert CANARY not in str(knowing(CANARY).value(value))


@pytest.mark.parametrize("value", [{"passwords": ["hunter2"]}, {"secret": ("hunter2",)}], ids=["list", "tuple"])
def test_texts_in_a_list_named_like_a_secret_are_masked(value: Any):
    assert "hunter2" not in str(Redactor().value(value))


def test_what_was_given_is_not_changed():
    given_ = {"password": "x", "list": [CANARY]}
    knowing(CANARY).value(given_)
    assert given_ == {"password": "x", "list": [CANARY]}


@given(known=st.lists(secrets, min_size=1, max_size=4), pieces=st.lists(st.text(max_size=5), min_size=1, max_size=5))
@settings(deadline=None, max_examples=150)
def test_no_known_secret_is_left_in_a_text(known: list[str], pieces: list[str]):
    redactor = knowing(*known)
    text = "".join(piece + secret for piece in pieces for secret in known)
    out = redactor.text(text)
    assert not [secret for secret in known if secret in out]
    assert redactor.text(out) == out


def holding(secret: str) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["name", "note", "password", "tokens", "url", "n"])
    leaf = st.none() | st.integers() | st.booleans() | st.text(max_size=5).map(lambda one: one + secret + one)
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(names, inner, max_size=3),
        max_leaves=10,
    )


@given(holding(CANARY))
@settings(deadline=None, max_examples=150)
def test_no_known_secret_is_left_in_a_record_and_its_shape_is_kept(value: Any):
    redactor = knowing(CANARY)
    out = redactor.value(value)
    assert CANARY not in json.dumps(out)
    assert redactor.value(out) == out
    assert shape(out) == shape(value)


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [shape(item) for item in value]
    return str if isinstance(value, str) else value


_ANY_CASE = ["bearer abcdefgh1", "password=hunter2", "api-key: hunter2", "https://u:p@h"]
_ONE_CASE = ["Basic dXNlcjpw", "basic dXNlcjpw", f"argus.abcdefgh.{'x' * 43}"]


@given(
    before=st.text("abc .,", max_size=8),
    secret=st.sampled_from(_ONE_CASE) | st.sampled_from(_ANY_CASE).flatmap(lambda one: st.sampled_from(cases(one))),
)
@settings(deadline=None, max_examples=150)
def test_what_looks_like_a_secret_is_found_beside_plain_words_and_in_any_case(before: str, secret: str):
    assert MASK in Redactor().text(f"{before} {secret}")


def cases(text: str) -> list[str]:
    return [text, text.upper(), text.title(), text.swapcase()]


@given(st.text(st.characters(exclude_characters="@bB=")))
@settings(deadline=None, max_examples=150)
def test_text_without_anything_like_a_secret_is_left_alone(text: str):
    assert knowing(CANARY).text(text) == text


@pytest.mark.parametrize(
    ("scheme", "masked"), [("a" * 31, True), ("a" * 32, False), ("a" * 12_000, False), ("a." * 12_000 + "a", True)]
)
def test_a_scheme_is_looked_for_over_a_bounded_length(scheme: str, masked: bool):
    # Without the bound every piece of a long text is scanned to the text's end, in quadratic time. No scheme is as long
    # as the bound; one that is shows that there is one.
    text = f"{scheme}://u:p@h"
    assert Redactor().text(text) == (f"{scheme}://{MASK}@h" if masked else text)


def test_how_many_tokens_an_agent_may_use_is_no_secret():
    redactor = Redactor()
    redactor.learn_environment({"MAX_THINKING_TOKENS": "200000", "DB_TOKEN": "31415926"})
    assert redactor.text("used 200000 of 31415926") == f"used 200000 of {MASK}"


@pytest.mark.parametrize(
    ("url", "printed"),
    [
        ("json://user:pw-77-x@host/path", ["json://user:pw-77-x@host/path", "pw-77-x"]),
        ("mailto://me:p%40ss-77@host", ["p%40ss-77", "p@ss-77"]),
        ("slack://T1JJ3T3L2A1B/aBcDeFgHiJ1kLmNoPqRs", ["aBcDeFgHiJ1kLmNoPqRs"]),
        ("tgram://123456789:aBcDeFgHiJ1kLmNoPqRs/-1001", ["aBcDeFgHiJ1kLmNoPqRs"]),
    ],
)
def test_of_an_address_that_is_a_secret_its_parts_are_too(url: str, printed: list[str]):
    redactor = Redactor()
    redactor.learn_address(url)
    for one in printed:
        assert redactor.text(f"login with {one} failed") == f"login with {MASK} failed"
    assert redactor.text("on the host with a path") == "on the host with a path"


def test_a_password_in_a_url_is_learned_under_any_name():
    redactor = Redactor()
    redactor.learn_environment({"DATABASE_URL": "postgres://shop:pw-77-x@db/shop", "HOMEPAGE": "http://here:8000/a@b"})
    assert redactor.text("shop pw-77-x on db and 8000/a") == f"shop {MASK} on db and 8000/a"


@pytest.mark.parametrize(
    ("header", "password"),
    [("Basic dTpwdy03Ny14", "pw-77-x"), ("Bearer dTpwdy03Ny14", ""), ("Basic of nothing", ""), ("Basic", ""), ("", "")],
)
def test_the_password_of_a_header(header: str, password: str):
    assert password_of(header) == password


@pytest.mark.parametrize("piece", ["a://", "a://b:", "a://b:c@", "://:", "a://b" * 50])
def test_looking_for_passwords_takes_no_long(piece: str):
    began = time.process_time()
    list(passwords_in((piece * 100_000)[:100_000]))
    assert time.process_time() - began < 2.0


def test_a_long_text_that_was_seen_before_is_looked_at_again_when_a_secret_was_learned_since():
    redactor = Redactor()
    said = f"{'it was refused, and tried again; ' * 4} with horse-battery-7"
    assert redactor.text(said) == redactor.text(said) == said
    redactor.learn("horse-battery-7")
    assert redactor.text(said) == said.replace("horse-battery-7", MASK)
