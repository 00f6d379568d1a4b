"""Values without secrets and without home folders, in texts and in the names of objects, as they leave an import.

Secrets are identified by their form, or by what stands before them, and counted by kind. What is taken out depends on
the text alone, and a text without secrets stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

MARK = "[secret:"


@dataclass(frozen=True, order=True)
class SecretSpan:
    """A secret: from where to where it stands, and of which kind it is."""

    start: int
    end: int
    kind: str


def replace_spans(text: str, spans: Iterable[SecretSpan], counts: Counter[str]) -> str:
    """A text with `[secret:KIND]` for each span; of those that overlap, for the first and longest."""
    parts: list[str] = []
    at = 0
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if span.start < at:
            continue
        parts += [text[at : span.start], f"{MARK}{span.kind}]"]
        counts[span.kind] += 1
        at = span.end
    return "".join([*parts, text[at:]]) if parts else text


def has_any(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of some words stands in a text."""
    for word in words:  # noqa: SIM110 - any() takes twice as long, and every text is asked
        if word in text:
            return True
    return False


_USER = r"[^\s/\\:*?\"'`<>|()\[\]{},;&$]+"
# Names of users on Windows may have spaces; they are separated from the text behind them by the separator that follows.
_SPACED = r"[^\s/\\:*?\"'`<>|,;][^/\\:*?\"'`<>|\r\n,;]{0,40}(?=[/\\])"
_SEPARATOR = r"(?:/|\\{1,4})"
_UNIX = (
    rf"(?:(?:/System/Volumes/Data)?/Users/(?!Shared\b)|(?:/var|/usr|/export)?/home/){_USER}|/(?:var/)?root(?![\w.-])"
)
_DRIVE = rf"(?:[A-Za-z]:|/(?:mnt/|cygdrive/)?[a-z](?=/Users)){_SEPARATOR}"
_WINDOWS = rf"{_DRIVE}(?:Users|Documents and Settings){_SEPARATOR}(?!Public\b)(?:{_SPACED}|{_USER})"
_WSL = rf"\\{{2,4}}wsl(?:\$|\.localhost)\\{{1,2}}[\w.-]+\\{{1,2}}(?:home\\{{1,2}}{_USER}|root(?![\w.-]))"
# Claude Code names the folder of a project after its path, with a hyphen for what is no letter.
_SLUG = r"(?<=[/\\])-(?:home|Users)-[^-/\\\s]+|(?<=[/\\])[A-Za-z]--Users-[^-/\\\s]+"
_HOME = re.compile(rf"(?:(?<=file://)|(?<![\w.~/\\-]))(?:{_WINDOWS}|{_UNIX}|{_WSL})|{_SLUG}")
_HINTS = ("/home/", "/Users/", "/root", "Users\\", "Settings\\", "wsl", "-home-", "-Users-")


def without_home(text: str) -> str:
    """`text` with `~` for every home folder that it names."""
    return _HOME.sub("~", text) if has_any(text, _HINTS) else text


# Every key is a run of such characters, long and hardly ever a word.
_RUN = re.compile(r"[A-Za-z0-9_.\-]{20,}")
# Of tokens that are this prefix and then 24 letters or more, of which one is a digit.
_PREFIXES = (
    "AGE-SECRET-KEY-", "ABSK", "CLOJARS_", "EZAK", "FLWSECK_TEST-", "GR1348941", "HRKU-AA", "LTAI", "NRAK-",
    "NRII-", "PMAK-", "api_org_", "bedrock-api-key-", "dapi", "dckr_oat_", "dckr_pat_", "doo_v1_", "dop_v1_",
    "dor_v1_", "dp.pt.", "dp.st.", "dt0c01.", "duffel_live_", "e2b_", "figd_", "fio-u-", "fly_", "fm1r_", "fm2_",
    "glc_", "glsa_", "gsk_", "ico-", "lin_api_", "lin_oauth_", "lsv2_pt_", "lsv2_sk_", "ntn_", "nvapi-", "ops_eyJ",
    "p8e-", "pat-eu1-", "pat-na1-", "phx_", "pnu_", "pplx-", "pscale_oauth_", "pscale_pw_", "pscale_tkn_", "pul-",
    "r8_", "rdme_", "rubygems_", "sb_secret_", "sbp_", "secret_", "sgp_", "shippo_live_", "shpat_", "shpca_",
    "shppa_", "shpss_", "sntrys_", "sntryu_", "sq0atp-", "sq0csp-", "tfp_", "tgp_v1_", "tvly-", "xai-", "xkeysib-",
)  # fmt: skip
_KEYS = {
    "anthropic": r"sk-ant-[A-Za-z0-9_-]{16,}",
    "openai": r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",
    "github": r"gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    "gitlab": r"gl(?:pat|dt|rt|ft|soat|ptt|cbt|imt|agent|oas)-[A-Za-z0-9_.-]{16,}",
    "slack": r"xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}",
    "aws": r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "google": r"AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{16,}",
    "stripe": r"(?:[rsp]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}",
    "huggingface": r"hf_[A-Za-z0-9]{24,}",
    "npm": r"npm_[A-Za-z0-9]{30,}",
    "pypi": r"pypi-[A-Za-z0-9_-]{40,}",
    "sendgrid": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "vault": r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
    "jwt": r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    "atlassian": r"AT(?:ATT|CTT|ST)3[A-Za-z0-9_-]{20,400}(?:=[A-Za-z0-9]{8})?|ATBB[A-Za-z0-9]{24,}",
    "tailscale": r"tskey-(?=[A-Za-z-]*[0-9])[A-Za-z0-9-]{12,}",
    "token": (
        rf"(?:{'|'.join(map(re.escape, _PREFIXES))})(?=[A-Za-z_-]*[0-9])"
        r"[A-Za-z0-9_-]{24,}(?:\.[A-Za-z0-9_-]{16,})?"
    ),
}
_KEY = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KEYS.items()))
# Where within a run a key may begin: it is no part of a word.
_BEGINS = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9]")
_TELEGRAM_ANYWHERE = re.compile(r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}")
_TELEGRAM = re.compile(rf"(?<![A-Za-z0-9]){_TELEGRAM_ANYWHERE.pattern}")
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|\Z)")
# Addresses that whoever has them may post to: what stands behind the host, or the last part of it, is the secret.
_HOOK = re.compile(
    r"hooks\.slack\.com/(?P<slack>(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,})|"
    r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{1,20}/(?P<discord>[A-Za-z0-9_-]{16,})|"
    r"(?:webhook\.office\.com/webhookb2|outlook\.office\.com/webhook|hooks\.zapier\.com/hooks/catch|"
    r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook)/(?P<webhook>[A-Za-z0-9@/_-]{10,})"
)
_HOOK_HINTS = ("hooks.", "/webhook", "/bot/v2/hook/")
_IN_ADDRESS = re.compile(r"://(?P<value>[^\s/:@\"'`<>\\]{0,200}:[^\s/\"'`<>\\]{1,400})@")
# A query may stand without its address; `&` is escaped in JSON and HTML.
_IN_QUERY = re.compile(
    r"(?:[?&]|\\u0026|&amp;)"
    r"(?:sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|x-goog-credential|key)="
    r"(?P<value>[^\s&\"'`<>#\\\[]{8,})",
    re.IGNORECASE,
)
# As the first of a shared access signature: so long that it is no name of a variable.
_SIGNATURE = re.compile(r"(?<![\w?&])sig=(?P<value>[A-Za-z0-9%+/_-]{40,}={0,2})")


def find_keys(text: str) -> Iterator[SecretSpan]:
    """The secrets of a text that have a form of their own."""
    for span in _find_forms(text):
        yield span
        end = span.end
        while found := _KEY.match(text, end) or _TELEGRAM_ANYWHERE.match(text, end):  # right behind another
            end = found.end()
            yield SecretSpan(*found.span(), found.lastgroup or "telegram")


def _find_forms(text: str) -> Iterator[SecretSpan]:
    if "-----BEGIN " in text:
        yield from (SecretSpan(*found.span(), "pem") for found in _PEM.finditer(text))
    for run in _RUN.finditer(text):
        yield from _in_run(text, run.start(), run.end())
    if ":AA" in text:
        yield from (SecretSpan(*found.span(), "telegram") for found in _TELEGRAM.finditer(text))
    if "://" in text:
        yield from _values(_IN_ADDRESS, text, "url")
    if "=" in text and ("?" in text or "&" in text or "\\u0026" in text):
        yield from _values(_IN_QUERY, text, "signature")
    if "sig=" in text:
        yield from _values(_SIGNATURE, text, "signature")
    if any(hint in text for hint in _HOOK_HINTS):
        yield from (
            SecretSpan(*one.span(one.lastgroup), one.lastgroup) for one in _HOOK.finditer(text) if one.lastgroup
        )


def _in_run(text: str, start: int, end: int) -> Iterator[SecretSpan]:
    for begins in _BEGINS.finditer(text, start, end):
        found = _KEY.match(text, begins.start())
        if found is not None and found.lastgroup is not None:
            yield SecretSpan(*found.span(), found.lastgroup)


def _values(pattern: re.Pattern[str], text: str, kind: str) -> Iterator[SecretSpan]:
    for found in pattern.finditer(text):
        if MARK not in found["value"]:
            yield SecretSpan(*found.span("value"), kind)


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
_NAME_HINTS = ("key", "token", "secret", "pass", "pwd", "cred", "authorization", "cookie")
_BEFORE_NAME, _BEHIND_NAME = 9, 32
_LEAST_TOKEN, _LEAST_BARE_TOKEN = 6, 12


def find_named_secrets(text: str) -> Iterator[SecretSpan]:
    """The secrets of a text that a name before them tells."""
    lower = text.lower()
    if len(lower) != len(text):  # some letters have two in lower case
        lower = "".join(letter.lower() if letter.isascii() else letter for letter in text)
    until = 0
    for found in _names_in(lower):
        span = _span_of_name(text, lower, found, found.lastgroup or "") if found.start() >= until else None
        if span is not None:
            until = span.end
            yield span
    if "bearer" in lower or "basic" in lower:
        yield from (SecretSpan(*one.span("value"), "authorization") for one in _BEARER.finditer(lower))
    if "--" in text:
        yield from (SecretSpan(*one.span("value"), "password") for one in _FLAG.finditer(text))
    if has_any(lower, _PROGRAMS) or ("-pass" in lower and " pass:" in lower) or _IDENTIFIED.search(lower):
        yield from (SecretSpan(*one.span("value"), "password") for one in _OF_PROGRAM.finditer(text))
    if " -u" in text or " --user" in text:
        yield from (SecretSpan(*one.span("value"), "password") for one in _OF_USER.finditer(text))


def _names_in(lower: str) -> Iterator[re.Match[str]]:
    """What `_NAMED` finds in a text, looked for only around words of `_NAMES`."""
    end = 0
    for place in sorted(place for word in _NAME_HINTS for place in _places(lower, word)):
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


def _span_of_name(text: str, lower: str, found: re.Match[str], kind: str) -> SecretSpan | None:
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
    return SecretSpan(*found_there.span("value"), kind)


def _value(text: str, assigned: re.Match[str], kind: str) -> SecretSpan | None:
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
    return None if is_code or is_open else SecretSpan(value.start("value"), end, kind)


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


_SHORTEST = 8
# Ids, names and times stand in many fields and rows.
_LONGEST_REMEMBERED = 200
_NAMES_A_SECRET = lru_cache(maxsize=4096)(names_a_secret)


def without_secrets(text: str, counts: Counter[str]) -> str:
    """`text` with `[secret:KIND]` for each secret in it, counted by kind; what was so replaced stays."""
    if len(text) < _SHORTEST:
        return text
    return replace_spans(text, [*find_keys(text), *find_named_secrets(text)], counts)


def clean_value(value: Any, counts: Counter[str]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """A JSON value without secrets, which are counted by kind, and without home folders."""
    if isinstance(value, str):
        if len(value) > _LONGEST_REMEMBERED:
            return without_home(without_secrets(value, counts))
        text, found = _short_cleaned(value)
        if found:
            counts.update(found)
        return text
    if isinstance(value, dict):
        if is_pair_of_secret(value):
            value = value | {"value": mark_secrets(value["value"], counts)}
        return {clean_value(name, counts): _clean_field(name, held, counts) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_value(held, counts) for held in value]
    return value


@lru_cache(maxsize=4096)
def _short_cleaned(text: str) -> tuple[str, Counter[str]]:
    counts: Counter[str] = Counter()
    return without_home(without_secrets(text, counts)), counts


def is_pair_of_secret(value: dict[Any, Any]) -> bool:
    """Whether an object is a field written as `{"key": NAME, "value": …}`, as attributes of spans are, of a secret."""
    name = value.get("key")
    return "value" in value and isinstance(name, str) and names_a_secret(name)


def mark_secrets(value: Any, counts: Counter[str]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """What a field that names a secret holds: all texts in it are taken out."""
    if isinstance(value, dict):
        return {clean_value(name, counts): mark_secrets(held, counts) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [mark_secrets(held, counts) for held in value]
    if not isinstance(value, str) or not value or value.startswith(MARK):
        return value
    counts["token"] += 1
    return f"{MARK}token]"


def _clean_field(name: object, value: Any, counts: Counter[str]) -> Any:  # noqa: ANN401
    is_secret = isinstance(name, str) and _NAMES_A_SECRET(name)
    return mark_secrets(value, counts) if is_secret else clean_value(value, counts)


_REMEMBERED = 4096
_LONGEST_REMEMBERED_RECORD = 20_000


def clean_record(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """A JSON value of which no text names a secret or a home folder, as `clean_value` tells them."""
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, dict):
        if is_pair_of_secret(value):
            value = value | {"value": mark_secrets(value["value"], Counter())}
        return {_clean_text(name): _clean_record_field(name, held) for name, held in value.items()}
    return [clean_record(held) for held in value] if isinstance(value, list) else value


def _clean_record_field(name: str, value: Any) -> Any:  # noqa: ANN401
    if _NAMES_A_SECRET(name):
        return mark_secrets(value, Counter())
    return clean_record(value)


def _clean_text(text: str) -> str:
    if text[:1] in {"{", "["} and (held := _json_in(text)) is not None:
        return orjson.dumps(clean_record(held)).decode()
    return _clean_remembered(text) if len(text) <= _LONGEST_REMEMBERED_RECORD else clean_value(text, Counter())


def _json_in(text: str) -> Any:  # noqa: ANN401
    """What a JSON text holds; None where it is none, or nested deeper than it could be written again."""
    try:
        held = orjson.loads(text)
        orjson.dumps(held)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return held


@lru_cache(maxsize=_REMEMBERED)
def _clean_remembered(text: str) -> str:
    return clean_value(text, Counter())
