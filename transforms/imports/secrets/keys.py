"""Secrets that are identified by their form: keys of providers, tokens, blocks of PEM, credentials in addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slowwave.transforms.imports.secrets.spans import MARK, Span

# Every key is a run of such characters, long and hardly ever a word.
_RUN = re.compile(r"[A-Za-z0-9_.\-]{20,}")
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
    "token": (
        r"(?:do[por]_v1_|dapi|shp(?:at|ca|pa|ss)_|dckr_pat_|lin_api_|ntn_|secret_|gsk_|xai-|pplx-|r8_|tvly-|fly_|sbp_|"
        r"figd_|glsa_|AGE-SECRET-KEY-|pat-na1-|rubygems_|nvapi-)(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{24,}"
    ),
}
_KEY = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KEYS.items()))
# Where within a run a key may begin: it is no part of a word.
_BEGINS = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9]")
_TELEGRAM = re.compile(r"(?<![A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}")
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|\Z)")
_SLACK_HOOK = re.compile(r"hooks\.slack\.com/(?P<value>(?:services|workflows)/[A-Za-z0-9/_-]{10,})")
_IN_ADDRESS = re.compile(r"://(?P<value>[^\s/:@\"'`<>\\]{0,200}:[^\s/\"'`<>\\]{1,400})@")
_IN_QUERY = re.compile(
    r"[?&](?:sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|key)="
    r"(?P<value>[^\s&\"'`<>#\\\[]{8,})",
    re.IGNORECASE,
)


def keys(text: str) -> Iterator[Span]:
    """The secrets of a text that have a form of their own."""
    if "-----BEGIN " in text:
        yield from (Span(*found.span(), "pem") for found in _PEM.finditer(text))
    for run in _RUN.finditer(text):
        yield from _in_run(text, run.start(), run.end())
    if ":AA" in text:
        yield from (Span(*found.span(), "telegram") for found in _TELEGRAM.finditer(text))
    if "://" in text:
        yield from _values(_IN_ADDRESS, text, "url")
    if "://" in text or "SharedAccessSignature" in text:
        yield from _values(_IN_QUERY, text, "signature")
    if "hooks.slack.com/" in text:
        yield from _values(_SLACK_HOOK, text, "slack")


def _in_run(text: str, start: int, end: int) -> Iterator[Span]:
    for begins in _BEGINS.finditer(text, start, end):
        found = _KEY.match(text, begins.start(), end)
        if found is not None and found.lastgroup is not None:
            yield Span(*found.span(), found.lastgroup)


def _values(pattern: re.Pattern[str], text: str, kind: str) -> Iterator[Span]:
    for found in pattern.finditer(text):
        if MARK not in found["value"]:
            yield Span(*found.span("value"), kind)
