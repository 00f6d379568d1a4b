"""Which requests are heard at all: those that name this host, come from no other site's page, and are let in."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit


def is_addressed(host: str | None, names: Collection[str]) -> bool:
    """Whether a `Host` header names this server: by an address, by `localhost`, or by one of `names`.

    Any other name may have been made to lead here, by a page that wants to read what we answer.
    """
    name = _host_name(host or "")
    return bool(name) and (name == "localhost" or _is_address(name) or name in {one.lower() for one in names})


def is_of_other_site(headers: Mapping[str, str]) -> bool:
    """Whether a browser sent this for a page of another site."""
    origin = headers.get("origin")
    if origin is not None and _place(origin) != headers.get("host", "").lower():
        return True
    return headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _place(origin: str) -> str | None:
    """Host and port of an origin; None where it names none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
