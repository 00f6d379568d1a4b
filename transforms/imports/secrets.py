"""Secrets in texts: keys, tokens, passwords and credentials become `[secret:KIND]` before anything is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.imports.home_paths import without_home

_MARK = "[secret:{}]"
# What stands before a key that begins here.
_START = r"(?<![A-Za-z0-9_-])"


@dataclass(frozen=True)
class _Rule:
    """What a kind of secret looks like; `hints`: a text without any of these, in lower case, has none of it.

    Where the pattern has a group `value`, only that is the secret.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]


def _key(kind: str, pattern: str, *hints: str) -> _Rule:
    return _Rule(kind, re.compile(_START + pattern), hints)


_NAMES_OF_PASSWORDS = r"pass(?:word|wd|phrase|code)|pwd"
_NAMES_OF_KEYS = (
    r"(?:api|access|private|secret|signing|encryption|account|shared[_-]?access|license|master|service[_-]?role|auth)"
    r"[_-]?key|(?:client|app|consumer|webhook|shared)[_-]?secret|secret|(?:access|auth|refresh|id|bearer|session|api|bot|"
    r"deploy|personal[_-]?access)?[_-]?token|credentials?|x-api-key|sas[_-]?token"
)
_QUOTE = r"(?:\\{0,3}[\"'`])"
_NOT_SAID = (
    r"(?!\[secret:)(?!(?:str(?:ing)?|text|int|bool(?:ean)?|any|none|null|nil|true|false|undefined|required|optional|"
    r"missing|empty|changeme|x{3,}|\*{3,}|\.{3})(?:[\s\"'`,;:)\]}|&<]|$))"
)
_VALUE = r"[^\s\"'`,;&<>(){}\[\]|\\$%]"
_ASSIGNED = rf"{_QUOTE}?\s{{0,3}}(?:=>|:=|[:=])\s{{0,3}}"

_RULES = (
    _Rule(
        "pem",
        re.compile(r"-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|\Z)"),
        ("-----begin ",),
    ),
    _Rule(
        "jwt",
        re.compile(_START + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
        ("eyj",),
    ),
    _key("anthropic", r"sk-ant-[A-Za-z0-9_-]{16,}", "sk-ant-"),
    _key("openai", r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}", "sk-"),
    _key("github", r"gh[oprsu]_[A-Za-z0-9]{20,}", "gho_", "ghp_", "ghr_", "ghs_", "ghu_"),
    _key("github", r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_"),
    _key("gitlab", r"gl(?:pat|dt|rt|ft|soat|ptt|cbt|imt|agent|oas)-[A-Za-z0-9_.-]{16,}", "gl"),
    _key("slack", r"xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}", "xox", "xapp-"),
    _Rule(
        "slack",
        re.compile(r"(?<=hooks\.slack\.com/)(?:services|workflows)/[A-Za-z0-9/_-]{10,}"),
        ("hooks.slack.com",),
    ),
    _key("aws", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])", "akia", "asia", "abia", "acca"),
    _key("google", r"AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}", "aiza", "ya29."),
    _key("google", r"GOCSPX-[A-Za-z0-9_-]{16,}", "gocspx-"),
    _key("stripe", r"(?:[rsp]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}", "k_live_", "k_test_", "whsec_"),
    _key("huggingface", r"hf_[A-Za-z0-9]{24,}", "hf_"),
    _key("npm", r"npm_[A-Za-z0-9]{30,}", "npm_"),
    _key("pypi", r"pypi-[A-Za-z0-9_-]{40,}", "pypi-"),
    _key("sendgrid", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "sg."),
    _key("telegram", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}", ":aa"),
    _key("vault", r"hv[sbr]\.[A-Za-z0-9_-]{20,}", "hvs.", "hvb.", "hvr."),
    _key(
        "token",
        r"(?:dop_v1_|doo_v1_|dor_v1_|dapi|shp(?:at|ca|pa|ss)_|dckr_pat_|lin_api_|ntn_|secret_|gsk_|xai-|pplx-|r8_|"
        r"tvly-|fly_|sbp_|figd_|glsa_|AGE-SECRET-KEY-|pat-na1-|rubygems_|nvapi-)(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{24,}",
        "dop_v1_", "doo_v1_", "dor_v1_", "dapi", "shpat_", "shpca_", "shppa_", "shpss_", "dckr_pat_", "lin_api_",
        "ntn_", "secret_", "gsk_", "xai-", "pplx-", "r8_", "tvly-", "fly_", "sbp_", "figd_", "glsa_", "age-secret-key-",
        "pat-na1-", "rubygems_", "nvapi-",
    ),
    _Rule(
        "url",
        re.compile(r"(?i)(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}://(?P<value>(?!\[secret:)[^\s/:@\"'`<>]*:[^\s/\"'`<>]+)(?=@)"),
        ("://",),
    ),
    _Rule(
        "authorization",
        re.compile(
            rf"(?i)\b(?:proxy-)?authorization{_ASSIGNED}{_QUOTE}?(?:(?:bearer|basic|digest|token|apikey|negotiate)\s+)?"
            rf"(?P<value>(?!\[secret:)[^\s\"'`,;<>\\]{{4,}})"
        ),
        ("authorization",),
    ),
    _Rule(
        "authorization",
        re.compile(r"(?i)\bbearer\s+(?P<value>(?!\[secret:)(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{16,})"),
        ("bearer",),
    ),
    _Rule(
        "cookie",
        re.compile(r"(?i)\b(?:set-)?cookie\"?'?\s?:\s?\\?[\"']?(?P<value>(?!\[secret:)[\w.-]+=[^\r\n\"'`\\]{8,})"),
        ("cookie",),
    ),
    _Rule(
        "password",
        re.compile(
            rf"(?i)(?:{_NAMES_OF_PASSWORDS})(?:{_ASSIGNED}{_QUOTE}?|{_QUOTE}?\s{{1,2}}is\s{_QUOTE}?){_NOT_SAID}"
            rf"(?P<value>{_VALUE}{{4,}})(?![(\[])"
        ),
        ("passw", "passphrase", "passcode", "pwd"),
    ),
    _Rule(  # in quotes, or behind = without a space, any text; else one that no word looks like
        "token",
        re.compile(
            rf"(?i)(?:{_NAMES_OF_KEYS})(?:{_ASSIGNED}{_QUOTE}{_NOT_SAID}(?P<quoted>[^\s\"'`\\]{{6,}})(?={_QUOTE})|"
            rf"={_NOT_SAID}(?P<value>(?=[^\s]*[A-Za-z]){_VALUE}{{8,}})(?![(\[.])|"
            rf"{_ASSIGNED}{_NOT_SAID}(?P<bare>(?=[^\s]*[0-9])(?=[^\s]*[A-Za-z]){_VALUE}{{12,}})(?![(\[]))"
        ),
        ("key", "secret", "token", "credential"),
    ),
    _Rule(
        "password",
        re.compile(
            r"(?i)--(?:password|passwd|token|api-key|secret)[ =][\"']?(?P<value>(?!\[secret:)[^\s\"'`$<-][^\s\"'`]{3,})"
        ),
        ("--password", "--passwd", "--token", "--api-key", "--secret"),
    ),
    _Rule(
        "password",
        re.compile(r"(?<=\s)(?:-u|--user) ?[\"']?[\w.@+-]+:(?P<value>(?!\[secret:)[^\s\"'`$]{4,})"),
        ("-u", "--user"),
    ),
    _Rule(
        "signature",
        re.compile(r"(?i)[?&](?:sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|key)="
                   r"(?P<value>(?!\[secret:)[^\s&\"'`<>#]{8,})"),
        ("sig=", "signature=", "x-amz-", "key="),
    ),
)  # fmt: skip
_HINTS = tuple(dict.fromkeys(hint for rule in _RULES for hint in rule.hints))
_SECRET_NAME = re.compile(rf"(?i)(?:^|[_-]|\b)(?:{_NAMES_OF_PASSWORDS}|{_NAMES_OF_KEYS}|authorization|cookie)$")


def may_hold_secrets(text: str) -> bool:
    """Whether it is worth to look closer at a text; quick."""
    lower = text.lower()
    return any(hint in lower for hint in _HINTS)


def without_secrets(text: str, counts: Counter[str]) -> str:
    """`text` with `[secret:KIND]` for each secret in it, counted by kind; what is so replaced already stays."""
    lower = text.lower()
    for rule in _RULES:
        if any(hint in lower for hint in rule.hints):
            text = rule.pattern.sub(_replacing(rule, counts), text)
    return text


def _replacing(rule: _Rule, counts: Counter[str]) -> Callable[[re.Match[str]], str]:
    def replaced(found: re.Match[str]) -> str:
        groups = found.groupdict()
        name = next((name for name, value in groups.items() if value is not None), None)
        counts[rule.kind] += 1
        start, end = (found.start(name), found.end(name)) if name else found.span()
        whole, base = found[0], found.start()
        return whole[: start - base] + _MARK.format(rule.kind) + whole[end - base :]

    return replaced


def cleaned(value: Any, counts: Counter[str]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """A JSON value without secrets and home folders, in texts and in names of objects; secrets are counted by kind."""
    if isinstance(value, str):
        return without_home(without_secrets(value, counts))
    if isinstance(value, dict):
        return {cleaned(name, counts): _named(name, held, counts) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [cleaned(held, counts) for held in value]
    return value


def _named(name: object, value: Any, counts: Counter[str]) -> Any:  # noqa: ANN401
    """The value of a name, which may say that it is a secret whatever it looks like."""
    if isinstance(value, str) and value and isinstance(name, str) and _SECRET_NAME.search(name):
        if value.startswith("[secret:"):
            return value
        counts["token"] += 1
        return _MARK.format("token")
    return cleaned(value, counts)
