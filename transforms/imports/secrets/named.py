"""Secrets that are identified by what stands before them: `password=…`, `"api_key": "…"`, `Authorization: Bearer …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slowwave.transforms.imports.secrets.spans import MARK, Span, has_any

_QUOTES = r"[\"'`\\]"
_ASSIGNED = rf"(?P<sign>{_QUOTES}{{0,5}}\s{{0,3}}(?:=>|:=|[:=])\s{{0,3}})"
# In lower case: what is searched in a long text is searched letter by letter.
_NAMED = re.compile(
    r"(?P<authorization>authorization)|(?P<cookie>cookie)|(?P<password>pass(?:word|wd|phrase|code)|pwd|"
    r"(?:db|database|smtp|e?mail|ftp|user|admin|root|redis|postgres|pg|mysql|mongo|proxy|ssh|ldap)_pass(?![a-z]))|"
    r"(?P<token>token|secret|cred(?:ential)?s?|key)"
)
# What may follow in a name that still names the secret itself: `SECRET_KEY_BASE`, `db_password_prod`, `API_KEY_2`.
_WHICH = (
    r"(?:[_-]?base|[_-](?:base64|b64|hex|raw|plain|value|string|env|prod|production|staging|stage|dev|development|test|"
    r"live|main|primary|secondary|old|new|current|previous|default|v?[0-9]{1,3})|[0-9]{1,2})"
)
_ASSIGNMENT = re.compile(rf"{_WHICH}?{_ASSIGNED}", re.IGNORECASE)
_OF_KEY = re.compile(
    r"(?:api|access|private|secret|signing|encryption|account|shared[_-]?access|license|master|service[_-]?role|auth|"
    r"subscription)[_ -]?\Z"
)
_BEFORE_KEY = 20
_IS = re.compile(rf"\s{{1,2}}is\s{{1,2}}(?={_QUOTES}|(?=[^\W\d]+\d|\d+[^\W\d])\w{{7}})")
# What stands where a value would, and is none: types, placeholders, code that gets one.
_NO_VALUE = re.compile(
    r"(?i)(?:str(?:ing)?|text|int(?:eger)?|bool(?:ean)?|any|none|null|nil|true|false|undefined|required|optional|missing|"
    r"empty|changeme|your[_-].*|x{3,}|\*{3,}|\.{3}|<.*|\$.*|%.*|\{.*|process\.env.*|os\.(?:environ|getenv).*|secrets?)\Z"
)
_QUOTED = re.compile(rf"{_QUOTES}{{1,4}}(?P<value>[^\s\"'`\\]{{4,80}}+)")
_BARE = re.compile(r"(?P<value>[^\s\"'`,;&<>(){}\[\]|\\]{4,80}+)")
# All of a value that is longer than what is looked at to tell that it is one.
_REST = {True: re.compile(r"[^\s\"'`\\]*"), False: re.compile(r"[^\s\"'`,;&<>(){}\[\]|\\]*")}
_SCHEME = re.compile(rf"{_QUOTES}{{0,4}}(?:(?:bearer|basic|digest|token|apikey|negotiate)\s+)?", re.IGNORECASE)
_CREDENTIAL = re.compile(r"(?P<value>[^\s\"'`,;<>\\\[]{6,4000})")
_COOKIES = re.compile(rf"{_QUOTES}{{0,4}}(?P<value>[\w.-]+=[^\r\n\"'`\\]{{8,}})")
_BEARER = re.compile(r"(?:bearer|basic)\s+(?P<value>(?=[a-z._~+/=-]*[0-9])[a-z0-9._~+/=-]{16,})")
_FLAG = re.compile(
    r"--(?:[a-z0-9]{1,20}-){0,4}(?:password|passwd|passphrase|token|api-?key|access-key|secret-key|secret)(?:=|\s+)[\"']?"
    r"(?P<value>[^\s\"'`$<\[-][^\s\"'`]{3,})",
    re.IGNORECASE,
)
_OF_USER = re.compile(r"\s(?:-u|--user)[ =]?[\"']?[\w.@+-]+:(?P<value>[^\s\"'`$\[]{4,})")
# As `mysql -pVALUE`, `docker login -p VALUE`, `redis-cli -a VALUE`, `login NAME password VALUE` of .netrc,
# `IDENTIFIED BY 'VALUE'`, and in XML.
_REST_OF_COMMAND = r"\b[^\n|;&\[]{0,200}?\s"
_OF_PROGRAM = re.compile(
    rf"(?:(?:mysql|mariadb)\w{{0,8}}{_REST_OF_COMMAND}-p|\bsshpass\s{{1,3}}-p\s{{0,3}}|"
    r"\b(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm|az|oc|cf)(?:\s{1,3}\w{1,20})?\s{1,3}login"
    rf"{_REST_OF_COMMAND}-p[\s=]{{0,3}}|\bmongo\w{{0,7}}{_REST_OF_COMMAND}-p[\s=]{{1,3}}|"
    rf"\bredis-cli{_REST_OF_COMMAND}-a\s{{1,3}}|\bldap\w{{1,8}}{_REST_OF_COMMAND}-w\s{{1,3}}|"
    r"\s-pass(?:in|out)?\s{1,3}pass:|"
    r"\blogin\s{1,3}\S{1,80}\s{1,3}password\s{1,3}|\bidentified\s{1,3}by\s{1,3}(?=[\"'])|"
    r"<\w{0,20}(?:password|passwd|secret|api_?key)>)[\"']?(?P<value>[^\s\"'`$<\[-][^\s\"'`<]{3,})",
    re.IGNORECASE,
)
_PROGRAMS = (
    "mysql", "mariadb", "sshpass", "login ", "mongo", "redis-cli", "ldap", "password>", "passwd>", "secret>", "key>",
)  # fmt: skip
_IDENTIFIED = re.compile(r"identified\s{1,3}by\s")
# One of these stands in every name, and to look for them is quicker than to look for names: with so many letters of
# the name before its begin, and less than so many behind it.
_NAMES = ("key", "token", "secret", "pass", "pwd", "cred", "authorization", "cookie")
_BEFORE_NAME, _BEHIND_NAME = 9, 32
_LEAST_TOKEN, _LEAST_BARE_TOKEN = 6, 12


def named(text: str) -> Iterator[Span]:
    """The secrets of a text that a name before them tells."""
    lower = text.lower()
    if len(lower) != len(text):  # some letters have two in lower case
        lower = "".join(letter.lower() if letter.isascii() else letter for letter in text)
    until = 0
    for found in _names(lower):
        span = _of_name(text, lower, found, found.lastgroup or "") if found.start() >= until else None
        if span is not None:
            until = span.end
            yield span
    if "bearer" in lower or "basic" in lower:
        yield from (Span(*one.span("value"), "authorization") for one in _BEARER.finditer(lower))
    if "--" in text:
        yield from (Span(*one.span("value"), "password") for one in _FLAG.finditer(text))
    if has_any(lower, _PROGRAMS) or ("-pass" in lower and " pass:" in lower) or _IDENTIFIED.search(lower):
        yield from (Span(*one.span("value"), "password") for one in _OF_PROGRAM.finditer(text))
    if " -u" in text or " --user" in text:
        yield from (Span(*one.span("value"), "password") for one in _OF_USER.finditer(text))


def _names(lower: str) -> Iterator[re.Match[str]]:
    """What `_NAMED` finds in a text, looked for only around words of `_NAMES`."""
    end = 0
    for place in sorted(place for word in _NAMES for place in _places(lower, word)):
        if place < end:
            continue
        found = _NAMED.search(lower, max(end, place - _BEFORE_NAME), place + _BEHIND_NAME)
        if found is not None and found.start() <= place:
            end = found.end()
            yield found


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _of_name(text: str, lower: str, found: re.Match[str], kind: str) -> Span | None:
    start, end = found.span()
    if found[0] == "key" and _OF_KEY.search(lower, max(0, start - _BEFORE_KEY), start) is None:
        return None
    assigned = _ASSIGNMENT.match(text, end)
    if assigned is None and kind == "password":
        assigned = _IS.match(text, end)
    if assigned is None:
        return None
    at = assigned.end()
    if kind == "authorization":
        scheme = _SCHEME.match(text, at)
        found_there = _CREDENTIAL.match(text, scheme.end() if scheme else at)
    elif kind == "cookie":
        found_there = _COOKIES.match(text, at)
    else:
        return _value(text, assigned, kind)
    if found_there is None or MARK in found_there["value"]:
        return None
    return Span(*found_there.span("value"), kind)


def _value(text: str, assigned: re.Match[str], kind: str) -> Span | None:
    """A password or a token behind its name; None where what stands there is none."""
    quoted = _QUOTED.match(text, assigned.end())
    value = quoted or _BARE.match(text, assigned.end())
    if value is None or MARK in value["value"] or _NO_VALUE.match(value["value"]):
        return None
    if kind == "token" and not _is_token(value["value"], bool(quoted), assigned["sign"]):
        return None
    rest = _REST[bool(quoted)].match(text, value.end())
    end = rest.end() if rest else value.end()
    is_code = not quoted and text[end : end + 1] in ("(", "[")
    is_open = quoted and text[end : end + 1] not in ("", '"', "'", "`", "\\")  # half a line ends within it
    return None if is_code or is_open else Span(value.start("value"), end, kind)


def _is_token(value: str, is_quoted: bool, assigned: str) -> bool:
    """Whether a value is one and no word: in quotes, or right behind `=`, any; else with letters and digits."""
    if is_quoted or assigned == "=":
        return len(value) >= _LEAST_TOKEN and not value.isdigit() and (is_quoted or "." not in value)
    has_digit = any(letter.isdigit() for letter in value)
    return len(value) >= _LEAST_BARE_TOKEN and has_digit and any(letter.isalpha() for letter in value)


_NAME_OF_SECRET = re.compile(
    r"(?:^|[_.-]|(?<=[a-z])(?=[A-Z]))(?:pass(?:word|wd|phrase|code)|pwd|authorization|cookie|credentials?|secret|token|"
    rf"(?:api|access|private|secret|signing|encryption|account|auth|subscription)[_-]?key){_WHICH}?\Z",
    re.IGNORECASE,
)


def names_a_secret(name: str) -> bool:
    """Whether the value of a field of this name is a secret, whatever it looks like."""
    return _NAME_OF_SECRET.search(name) is not None
