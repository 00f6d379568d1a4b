"""Where a language model is asked, as the environment names it: the URL of a server, and the key it wants."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from slowwave.flows.kernel.errors import UserError

# Many local servers want no key, but the client wants one.
_NO_KEY = "none"
_MOST_OF_HOST = 253
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)


@dataclass(frozen=True)
class Endpoint:
    """Where a model is asked."""

    url: str
    key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """Its host and port: all of the URL that is ever shown, for its path may hold a secret."""
        return urlsplit(self.url).netloc

    @property
    def sent_key(self) -> str:
        """What is sent as the key; a word in its place where there is none."""
        return self.key or _NO_KEY


def endpoint_from_environment() -> Endpoint | None:
    """$SLOWWAVE_LLM_URL with $SLOWWAVE_LLM_KEY; None where no URL is set.

    Raises UserError when one of them cannot be used; the message holds neither.
    """
    url = os.environ.get("SLOWWAVE_LLM_URL", "").strip()
    if not url:
        return None
    _check_url(url)
    key = os.environ.get("SLOWWAVE_LLM_KEY", "").strip()
    if not _is_plain(key):
        message = "SLOWWAVE_LLM_KEY holds characters that no key has: only printable ASCII can be sent"
        raise UserError(message)
    return Endpoint(url, key)


def _check_url(url: str) -> None:
    if not _is_plain(url) or " " in url or not (parts := _http_parts(url)):
        message = "SLOWWAVE_LLM_URL is no http(s) URL, such as http://localhost:8080/v1"
        raise UserError(message)
    if "@" in parts.netloc:
        message = "SLOWWAVE_LLM_URL holds a user or a password: set SLOWWAVE_LLM_KEY in their place"
        raise UserError(message)
    if "?" in url or "#" in url:
        message = "SLOWWAVE_LLM_URL ends in a query or a fragment: leave out what begins with ? or #"
        raise UserError(message)


def _http_parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and parts.port != 0 and _is_host(parts.hostname or "")
    except ValueError:  # a port or an address that is none
        return None
    return parts if is_usable else None


def _is_host(host: str) -> bool:
    if ":" in host or host.replace(".", "").isdigit():
        ipaddress.ip_address(host)
        return True
    labels = host.removesuffix(".").split(".")
    return len(host) <= _MOST_OF_HOST and all(_LABEL.fullmatch(label) for label in labels)


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()
