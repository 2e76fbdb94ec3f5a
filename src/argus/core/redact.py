"""Secrets leave Argus through no sink: they are replaced where texts and records go out."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

MASK = "[redacted]"
_A_KEY = r"(?:api|access|account|auth|encryption|signing|master|private)[_-]?key"
_NAMED_LIKE_ONE = re.compile(
    rf"(?i)(password|passwd|_pwd|passphrase|secret|token|{_A_KEY}|authorization|credential|cookie"
    r"|(?:^|[_-])pass(?:$|[_-]))"
)
# The scheme is bounded: without that a long run of letters and dots takes quadratic time.
_USERINFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{0,30}://)[^/\s?#]+@")
_NAMED_ONE = re.compile(r"(?i)passw|passphrase|secret|token|key")
_PASSWORD = re.compile(r"(?i)\b[a-z][a-z0-9+.-]{0,30}://[^/\s?#:@]{0,200}:([^/\s?#]+)@")
_PARTS = re.compile(r"[\s/:@?&=,;]+")
_LIKE_ONE = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[^\s/:.\\]{16,}")
_WORDS = rf"(?:password|passwd|_pwd|passphrase|secret|token|{_A_KEY})"


def _after(name: str) -> re.Pattern[str]:
    """The value that stands after a name. In quotes it ends with them, and may hold anything; without them a comma
    belongs to it unless another name or a blank follows."""
    opening = r"(?:(\\+[\"'])|(\")|('))?"
    quoted = r"(?(2)[^\"'\\\n]{4,}|(?(3)(?:[^\"\\\n]|\\.){4,}|(?(4)(?:[^'\\\n]|\\.){4,}|"
    plain = r"(?:[^\s&;,'\"]|,(?![\s'\"]|[a-z0-9_.-]{1,40}[:=])){4,})))"
    return re.compile(f"(?i)({name}{opening}){quoted}{plain}")


_IS = (
    r"(?:\\*[\"'])?(?:\s{1,3}(?:for|of)\s{1,3}\S{1,60})?"
    r"(?:(?:\s{1,3}(?:is|was))?\s{0,3}(?:=>|[:=])\s{0,3}|\s{1,3}(?:is|was)\s{1,3}(?=\S{0,100}\d))"
)
"""Without a colon a digit has to be in it: `the password is wrong` says none."""
# What stands before the word does not matter: names of variables are as long as their makers like.
_ASSIGNED = _after(rf"(?:{_WORDS}[a-z0-9_-]{{0,60}}|[_-]pass){_IS}")
_PASS = _after(r"\bpass=(?!\d+\b)")
"""With a number it only says how many passed."""
_PWD = _after(r"pwd=(?![/~.])")
"""A path is where a shell is."""
_SIGNATURE = re.compile(r"(?i)([?&](?:sig|signature|x-amz-signature)=)[^&\s\"'<>]{4,}")
_ATTRIBUTE = re.compile(
    rf"(?i)(\bkey=[\"'][^\"'\n]{{0,120}}{_WORDS}[^\"'\n]{{0,60}}[\"']\s{{1,3}}value=[\"'])[^\"'\n]{{1,2000}}"
)
_OPTION = _after(rf"(?<!\S)--[a-z0-9-]{{0,100}}(?:{_WORDS}|pass)\s{{1,3}}(?!-)")
_ELEMENT = re.compile(
    rf"(?i)(<[a-z0-9_:.-]{{0,100}}{_WORDS}[a-z0-9_-]{{0,60}}(?:\s[^<>]{{0,200}})?>\s{{0,3}})[^<>\s][^<>]{{0,2000}}(?=</)"
)
_COOKIE = re.compile(
    r"(?i)((?<![a-z])(?:set-)?cookies?(?:\\*[\"'])?\s{0,3}[:=]\s{0,3}(?:\\*[\"'])?)"
    r"(?=[^\s=;,\"'\\]{1,100}=)(?:=\"[^\"\r\n]*\"|[^\r\n\"'\\])+"
)
"""To the end of its line, or of its quotes: a header may hold several, and which of them is a session nobody knows."""
# Of programs that take a password in a short option. A user with a number is one of a container: `-u 1000:1000`.
_CURL = re.compile(
    r"((?<!\S)(?:-[A-Za-z]{0,8}u\s{0,3}|--(?:proxy-)?user[\s=]{1,3})[\"']?(?!\d+:\d+(?!\S))[^\s:\"']{0,100}:)[^\s\"']+"
)
_MYSQL = re.compile(
    r"(\b(?:mysql|mariadb|sshpass)[a-z-]{0,12}\s(?:[^\n|;&]{0,200}?\s)??-p[\"']?)(?![\d.]+:\d)[^\s\"']+"
)
_LOGIN = re.compile(
    r"(\b(?:docker|podman|nerdctl|helm)\s[^\n|;&]{0,60}?\blogin\s[^\n|;&]{0,200}?-p[\s=]{1,3}[\"']?)[^\s\"']+"
)
_REDIS = re.compile(r"(\bredis-cli\s(?:[^\n|;&]{0,200}?\s)??(?:-a|--pass)\s{1,3}[\"']?)[^\s\"']+")
_SSHPASS = re.compile(r"(\bsshpass\s+-p\s{1,3}[\"']?)[^\s\"']+")
_MADE = re.compile(r"\bargus\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{43}\b")
"""Tokens that Argus makes for others."""
_BEARER = re.compile(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}")
# Words follow "basic" too: credentials are base64, which has digits, capitals or padding.
_BASIC = re.compile(r"\b([Bb]asic\s+)(?=[a-z+/]*[A-Z0-9=])[A-Za-z0-9+/]{8,}={0,2}")
# Shapes that their makers gave them so that they are found. Every repetition that more has to follow is bounded and
# gives nothing back: whatever is printed, it is read in about the time of its length.
_WELL_KNOWN = re.compile(
    r"""(?<![A-Za-z0-9])(?:
    (?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])                           # AWS
    | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,}        # GitHub
    | glpat-[A-Za-z0-9_-]{20,}                                         # GitLab
    | npm_[A-Za-z0-9]{30,} | hf_[A-Za-z0-9]{30,}                       # npm, Hugging Face
    | pypi-(?=[A-Za-z_-]{0,64}+[0-9])[A-Za-z0-9_-]{32,}                # PyPI; words have no digit
    | xox[a-z]-[A-Za-z0-9-]{10,} | xapp-[A-Za-z0-9-]{10,}              # Slack
    | [sr]k_live_[A-Za-z0-9]{16,}                                      # Stripe
    | sk-(?=[A-Za-z_-]{0,64}+[0-9])[A-Za-z0-9_-]{20,}                  # Anthropic, OpenAI; words have no digit
    | AIza[A-Za-z0-9_-]{35}                                            # Google
    | eyJ[A-Za-z0-9_-]{8,2000}+(?:\.{1,2}[A-Za-z0-9_-]{4,}+){1,4}      # JSON Web Tokens
    )""",
    re.VERBOSE,
)
# Without its end the rest of the text is the key: what programs print is cut. So is what stands before an end alone.
_KIND_OF_KEY = r"[A-Z0-9 ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----"
_PRIVATE_KEY = re.compile(rf"-----BEGIN {_KIND_OF_KEY}[\s\S]*?(?:-----END {_KIND_OF_KEY}|\Z)")
_END_OF_A_KEY = re.compile(rf"\A[A-Za-z0-9+/=\s\\]*+-----END {_KIND_OF_KEY}")

# What a terminal does not show, within a name or a value: without it they are what a person reads.
_HIDDEN = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*+[ -/]*+[@-~]|[\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)

_A_WORD = 12
_SHORT = 64
_REMEMBERED = 4096
_LONG, _LATELY = 4096, 64
"""Characters of a long text that is remembered with what it became, and how many are: why a service is down is shown to
everybody who needs it, again and again."""
_NUMBERS = (bool, int, float)
_SEVERAL = (list, tuple, set, frozenset)


def _may_hold_one(text: str) -> bool:
    """Whether one of the patterns could match at all. Most of what is recorded is plain words, and searching those with
    every pattern is what a record would cost most."""
    return (
        ":" in text or "=" in text or "--" in text or "argus." in text or "asic" in text or "earer" in text.lower()
        or "</" in text or " -p" in text or "redis-cli" in text
        or ((" is " in text or " was " in text) and _NAMED_ONE.search(text) is not None)
    )  # fmt: skip


def _may_hold_a_well_known(text: str) -> bool:
    """The same for the shapes that begin with fixed letters."""
    return (
        "AKIA" in text or "ASIA" in text or "AIza" in text or "eyJ" in text
        or ("_" in text and ("gh" in text or "github_pat_" in text or "k_live_" in text or "npm_" in text
                             or "hf_" in text))
        or ("-" in text and ("sk-" in text or "xox" in text or "xapp-" in text or "glpat-" in text or "pypi-" in text))
    )  # fmt: skip


def _as_read(text: str) -> str:
    """Without what is not seen of it; the text itself, where all is."""
    return _HIDDEN.sub("", text) if "\x1b" in text or not text.isascii() else text


def by_shape(text: str) -> str:
    """Without what looks like a secret, whoever's it is. One that colours or invisible letters would hide takes them
    with it; else they stay."""
    read = _as_read(text)
    if read != text and (cleaned := _without_shapes(read)) != read:
        return cleaned
    return _without_shapes(text)


def _without_shapes(text: str) -> str:
    if _may_hold_a_well_known(text):
        text = _WELL_KNOWN.sub(MASK, text)
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(MASK, _END_OF_A_KEY.sub(MASK, text))
    if not _may_hold_one(text):
        return text
    text = _MADE.sub(MASK, text)
    text = _USERINFO.sub(rf"\1{MASK}@", text)
    for pattern in (_BEARER, _BASIC, _ASSIGNED, _PASS, _PWD, _OPTION, *_rare(text)):
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def _rare(text: str) -> list[re.Pattern[str]]:
    """Those that cost nothing where a word is missing without which they cannot match."""
    found = [_COOKIE] if "ookie" in text or "OOKIE" in text else []
    found += [_ELEMENT] if "</" in text else []
    found += [_CURL] if "curl" in text else []
    found += [_SSHPASS, _MYSQL, _LOGIN] if " -p" in text else []
    found += [_REDIS] if "redis-cli" in text else []
    found += [_SIGNATURE] if "sig" in text or "Sig" in text else []
    found += [_ATTRIBUTE] if "value=" in text else []
    return found


def is_named_like_one(name: str) -> bool:
    # Names come again and again; a very long one is no name, and not worth keeping.
    return _judged(name) if len(name) <= 64 else _NAMED_LIKE_ONE.search(name) is not None


def looks_like_one(text: str) -> bool:
    """Whether a value that was given under any name is better taken for a secret: long, of letters and digits, and no
    address and no path."""
    return _LIKE_ONE.fullmatch(text) is not None


def passwords_in(text: str) -> Iterator[str]:
    """Those of the URLs in it, in every form in which they may be printed alone."""
    for found in _PASSWORD.findall(text) if "://" in text else ():
        yield from dict.fromkeys((found, unquote(found)))


def password_of(authorization: str) -> str:
    """Of a header for Basic authorization; empty, where it is none."""
    kind, _, coded = authorization.strip().partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(coded, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


@lru_cache(maxsize=1024)
def _judged(name: str) -> bool:
    return _NAMED_LIKE_ONE.search(name) is not None


class Redactor:
    """Knows the secrets of this installation, and what secrets look like."""

    def __init__(self) -> None:
        self._clean: set[str] = set()
        """Short texts that were looked at and hold nothing: names and states come again and again."""
        self._lately: dict[str, str] = {}
        """Longer ones, with what they became."""
        self._known: tuple[str, ...] = ()
        """The longest first: one may be a part of another."""

    def learn(self, secret: str) -> None:
        # A short one, or one that could be a word, would mask ordinary words: with the password `postgres` no record
        # could name the service postgres any more. Where such a one stands in a URL or after `password=`, the patterns
        # find it.
        if secret in self._known:
            return
        if len(secret) >= 6 and not (secret.isalpha() and len(secret) < _A_WORD):
            self._known = tuple(sorted({*self._known, secret}, key=len, reverse=True))
            # A new one: whoever is just looking at a text in another thread adds it to the old.
            self._clean = set()
            self._lately = {}

    def learn_address(self, url: str) -> None:
        """Of a URL that is a secret as a whole, also what may be printed of it: its password, and the tokens in it."""
        self.learn(url)
        for secret in (*passwords_in(url), *filter(looks_like_one, _PARTS.split(url))):
            self.learn(secret)

    def learn_environment(self, environ: Mapping[str, str]) -> None:
        """Values of variables that are named like a secret, and passwords in URLs under any name; commands that Argus
        runs inherit and may print them."""
        for name, value in environ.items():
            for secret in passwords_in(value):
                self.learn(secret)
            # MAX_THINKING_TOKENS=200000 is a count, and would mask that number wherever a context is told.
            is_count = value.isdigit() and "tokens" in name.lower()
            if is_named_like_one(name) and not is_count:
                self.learn(value)

    def text(self, text: str) -> str:
        clean, lately = self._clean, self._lately
        if text in clean:
            return text
        if (known := lately.get(text)) is not None:
            return known
        cleaned = self._cleaned(text)
        if cleaned == text and len(text) <= _SHORT:
            if len(clean) >= _REMEMBERED:
                clean.clear()
            clean.add(text)
        elif _SHORT < len(text) <= _LONG:
            if len(lately) >= _LATELY:
                lately.clear()
            lately[text] = cleaned
        return cleaned

    def _cleaned(self, text: str) -> str:
        read = _as_read(text)
        if read != text and (found := self._without_known(read)) != read:
            return by_shape(found)
        return by_shape(self._without_known(text))

    def _without_known(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, MASK)
        return text

    def value(self, value: Any) -> Any:
        """The same shape with every text cleaned, keys too; what is neither text nor number becomes text."""
        # The commonest first.
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, _NUMBERS):
            return value
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, _SEVERAL):
            return [self.value(item) for item in value]
        return self.text(value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        """Every record passes here, and most of it was seen before: what is known to be clean costs one look."""
        clean, cleaned = self._clean, {}
        for key, item in value.items():
            if key in clean and not is_named_like_one(key):
                known = item is None or type(item) is int or (type(item) is str and item in clean)
                cleaned[key] = item if known else self.value(item)
            else:
                name = str(key)
                cleaned[self.text(name)] = self._masked(item) if is_named_like_one(name) else self.value(item)
        return cleaned

    def _masked(self, value: Any) -> Any:
        """What stands under a name like `password`. Numbers stay: `tokens: 85000` is a count."""
        if value is None or isinstance(value, _NUMBERS):
            return value
        if isinstance(value, Mapping):
            return {self.text(str(key)): self._masked(item) for key, item in value.items()}
        if isinstance(value, _SEVERAL):
            return [self._masked(item) for item in value]
        return MASK
