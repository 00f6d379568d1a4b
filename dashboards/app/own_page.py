"""Which requests come from the dashboard's own pages, and whether people may decide on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

# the hosts, with their port, on whose pages people may decide; none: on no page
_deciding_hosts: set[str] = set()


def is_own_page(hosts: Sequence[str], origins: Sequence[str], own: Collection[str]) -> bool:
    """Whether a request names one of our `own` hosts, once, and comes from no page of another."""
    return len(hosts) == 1 and hosts[0] in own and all(origin == f"http://{hosts[0]}" for origin in origins)


def allow_decisions(hosts: Collection[str]) -> None:
    """Let people decide on the pages of these hosts alone; of none, nowhere."""
    _deciding_hosts.clear()
    _deciding_hosts.update(hosts)


def are_decisions_allowed() -> bool:
    """Whether `slowwave dashboard` was told to let people decide."""
    return bool(_deciding_hosts)


def may_decide(headers: Mapping[str, str]) -> bool:
    """Whether what came with these headers was asked for by a page of ours; a browser always says which it was."""
    told = {name.lower(): value.lower() for name, value in headers.items()}
    return "origin" in told and is_own_page([told.get("host", "")], [told["origin"]], _deciding_hosts)
