"""Secrets that are identified by their form: keys of providers, tokens, blocks of PEM, credentials in addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slowwave.transforms.imports.secrets.spans import MARK, Span

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
_TELEGRAM = re.compile(r"(?<![A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}")
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
    if "=" in text and ("?" in text or "&" in text or "\\u0026" in text):
        yield from _values(_IN_QUERY, text, "signature")
    if "sig=" in text:
        yield from _values(_SIGNATURE, text, "signature")
    if any(hint in text for hint in _HOOK_HINTS):
        yield from (Span(*one.span(one.lastgroup), one.lastgroup) for one in _HOOK.finditer(text) if one.lastgroup)


def _in_run(text: str, start: int, end: int) -> Iterator[Span]:
    for begins in _BEGINS.finditer(text, start, end):
        found = _KEY.match(text, begins.start())
        if found is not None and found.lastgroup is not None:
            yield Span(*found.span(), found.lastgroup)


def _values(pattern: re.Pattern[str], text: str, kind: str) -> Iterator[Span]:
    for found in pattern.finditer(text):
        if MARK not in found["value"]:
            yield Span(*found.span("value"), kind)
