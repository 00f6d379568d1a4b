"""Where alerts go: the targets of `[alerts]` in `settings.toml`, and how each is sent to within some seconds.

An http(s) address gets JSON by POST; any other goes through apprise. A target is a secret: only its kind and, of an
address, its host are shown.
"""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from datetime import time as wall_time
from typing import Any
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened, shorten_to_width, terminal_safe

_QUIET = re.compile(r"((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)")
_SECRET_PARTS = re.compile(r"[/:@?&=,;#\s]+")
_LEAST_SECRET = 4  # characters: shorter parts of a target are ports, paths and flags
_ANSWER = 200
# By key of `[alerts]`: least and most of a number.
_NUMBERS = {"late_hours": (1.0, 1000.0), "disk_days": (0.0, 365.0), "timeout_seconds": (0.1, 60.0)}
_TEXTS = ("ping", "quiet", "timezone")
_LISTS = ("targets", "without")


@dataclass(frozen=True)
class Message:
    """What is sent: of a cause that is `open` or `over`, or a `test`; each of `says` is one line."""

    state: str
    cause: str
    title: str
    says: tuple[str, ...]
    todo: str
    home: str
    host: str
    at: str

    @property
    def body(self) -> str:
        """The message as lines of text, without its title."""
        return "\n".join([*self.says, *([f"To do: {self.todo}"] if self.todo else []), f"{self.home} on {self.host}"])


@dataclass(frozen=True)
class Target:
    """One target. `url` is a secret and is in no `repr`."""

    url: str = field(repr=False)

    @property
    def target_id(self) -> str:
        """What recognises it, and tells nothing of it."""
        return hashlib.sha256(self.url.encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """What may be shown of it."""
        scheme = urlsplit(self.url).scheme
        host = f"{_find_host(self.url)}/" if _is_http(self.url) else ""
        return terminal_safe(f"{scheme}://{host}…")

    def hide_secrets(self, said: str) -> str:
        """Return a text without any part of the target that is not its kind or its host."""
        shown = {urlsplit(self.url).scheme, *([_find_host(self.url)] if _is_http(self.url) else [])}
        parts = {part for text in (self.url, unquote(self.url)) for part in _SECRET_PARTS.split(text)} - shown
        for part in sorted((part for part in parts if len(part) >= _LEAST_SECRET), key=len, reverse=True):
            said = said.replace(part, "…")
        return said

    def send(self, message: Message, seconds: float) -> str:
        """Send a message; return what went wrong, '' for nothing. A step of it may take `seconds`."""
        if _is_http(self.url):
            import json

            content = json.dumps({**asdict(message), "text": f"{message.title}\n{message.body}"}).encode()
            return call_url(self.url, content, "application/json", seconds)
        return self.hide_secrets(_send_by_apprise(self.url, message))

    def find_fault(self) -> str:
        """Return why nothing can be sent to it, '' where something may be; nothing is sent."""
        if _is_http(self.url):
            return "" if _find_host(self.url) else "it names no host"
        return "" if _open_apprise(self.url) else "apprise knows no such target: https://appriseit.com lists them"


@dataclass(frozen=True)
class AlertRules:
    """What `[alerts]` states."""

    targets: tuple[Target, ...] = ()
    ping: str = field(default="", repr=False)
    quiet: tuple[wall_time, wall_time] | None = None
    timezone: str = "UTC"
    late_hours: float = 26.0
    disk_days: float = 7.0
    timeout_seconds: float = 10.0
    without: frozenset[str] = frozenset()

    @property
    def is_any(self) -> bool:
        """Whether somebody is to be told of something."""
        return bool(self.targets or self.ping)

    def is_quiet(self, now: datetime) -> bool:
        """Whether nothing is to be sent at this time (naive UTC)."""
        if self.quiet is None:
            return False
        begin, end = self.quiet
        there = now.replace(tzinfo=UTC).astimezone(ZoneInfo(self.timezone)).time()
        return begin <= there < end if begin <= end else there >= begin or there < end


def alert_rules(settings: Settings, causes: Iterable[str]) -> AlertRules:
    """Return what `[alerts]` states; `causes`: those that `without` may name.

    Raises UserError when it cannot be understood; the message holds no target.
    """
    table = settings.read_section("alerts", {*_NUMBERS, *_TEXTS, *_LISTS})
    stated = {name: value for name, value in table.items() if not _is_misstated(name, value)}
    if len(stated) < len(table):
        name = min(table.keys() - stated.keys())
        raise _unusable(settings, f"{name} {_DESCRIBED[name]}")
    unknown = set(stated.pop("without", ())) - set(causes)
    if unknown:
        raise _unusable(settings, f"without names {quote_shortened(min(unknown))}: use {', '.join(causes)}")
    quiet = _QUIET.fullmatch(stated.pop("quiet", ""))
    return AlertRules(
        targets=tuple(map(Target, dict.fromkeys(stated.pop("targets", ())))),
        quiet=(wall_time.fromisoformat(quiet[1]), wall_time.fromisoformat(quiet[2])) if quiet else None,
        without=frozenset(table.get("without", ())),
        **stated,
    )


_DESCRIBED = {
    "targets": 'is a list of addresses, such as ["https://example.org/hook", "ntfys://ntfy.sh/TOPIC"]',
    "without": "is a list of causes that nobody is to be alerted to",
    "ping": "is an http(s) address",
    "quiet": 'is a span of the clock, such as "22:00-07:00"',
    "timezone": "is a time zone, such as Europe/Berlin",
    **{name: f"is a number from {least:g} to {most:g}" for name, (least, most) in _NUMBERS.items()},
}


def _is_misstated(name: str, value: Any) -> bool:  # noqa: ANN401 - of TOML
    if name in _NUMBERS:
        least, most = _NUMBERS[name]
        return isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most
    if name in _LISTS:
        is_fit = bool if name == "without" else _is_address
        return not isinstance(value, list) or not all(isinstance(one, str) and is_fit(one) for one in value)
    if not isinstance(value, str):
        return True
    if name == "timezone":
        try:
            ZoneInfo(value)
        except (LookupError, ValueError, OSError):
            return True
    return (name == "quiet" and not _QUIET.fullmatch(value)) or (name == "ping" and not _find_host(value))


def _is_address(text: str) -> bool:
    try:
        return bool(urlsplit(text).scheme) and "://" in text and (not _is_http(text) or bool(_find_host(text)))
    except ValueError:
        return False


def _unusable(settings: Settings, why: str) -> UserError:
    return UserError(f"{settings.settings_file} cannot be used: [alerts] {why}")


# ------------------------------------------------------------------------------------------------------------- sending


def send_to_each(
    targets: Sequence[Target], messages: Callable[[Target], Sequence[Message]], seconds: float
) -> dict[Target, list[str]]:
    """Send each target its messages, to all at once; return what went wrong with each of them, '' for nothing.

    It takes `seconds` at most: what a target has not answered by then counts as not sent, and its thread is left.
    """
    answers: dict[Target, list[str]] = {target: [] for target in targets}
    if any(not _is_http(target.url) and messages(target) for target in targets):
        with suppress(Exception):  # loads all plugins once, here: it is no time of a target; sending says what is wrong
            _open_apprise("json://localhost")

    def send(target: Target) -> None:
        for message in messages(target):
            answers[target].append(target.send(message, seconds))

    threads = {target: threading.Thread(target=send, args=(target,), daemon=True) for target in targets}
    for thread in threads.values():
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads.values():
        thread.join(max(0.0, deadline - time.monotonic()))
    late = f"no answer within {seconds:g} s"
    return {target: [*done, *[late] * (len(messages(target)) - len(done))] for target, done in _copied(answers)}


def _copied(answers: dict[Target, list[str]]) -> list[tuple[Target, list[str]]]:
    return [(target, list(done)) for target, done in answers.items()]


def call_url(url: str, content: bytes | None, content_type: str, seconds: float) -> str:
    """POST `content` to an http(s) address (None: GET it); return what went wrong, '' where it answered 2xx."""
    try:
        parts = urlsplit(url)
        name, _, host = parts.netloc.rpartition("@")
        allowed = {"Authorization": f"Basic {b64encode(unquote(name).encode()).decode()}"} if name else {}
        headers = {"Content-Type": content_type, "User-Agent": "slowwave", **allowed}
        request = urllib.request.Request(parts._replace(netloc=host).geturl(), content, headers)  # noqa: S310 - http(s)
        with _OPENER.open(request, timeout=seconds) as answer:
            return "" if answer.status < 300 else f"answered {answer.status}"  # noqa: PLR2004 - 2xx
    except urllib.error.HTTPError as error:
        return f"answered {error.code}"
    except (OSError, ValueError) as error:  # an odd address, or an answer that is no HTTP
        return _reason_of(error)
    except Exception as error:  # noqa: BLE001 - http.client has errors of its own, and no target may stop a night
        return type(error).__name__


def _reason_of(error: Exception) -> str:
    """What went wrong, without the address, which errors may quote."""
    cause = getattr(error, "reason", error)
    reason = getattr(cause, "strerror", None) or (str(cause) if isinstance(cause, TimeoutError) else "")
    return reason or type(cause).__name__


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> None:  # noqa: ANN401 - urllib's
        """Follow none: it would turn a POST into a GET, and give what is in the address to another host."""


_OPENER = urllib.request.build_opener(_NoRedirect)


def _is_http(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _find_host(url: str) -> str:
    """The host of an http(s) address; '' where it has none."""
    try:
        return (urlsplit(url).hostname or "") if _is_http(url) else ""
    except ValueError:
        return ""


# ------------------------------------------------------------------------------------------------------------- apprise


class _Heard(logging.Handler):
    """Keeps the last warning of the thread that made it, so that no target's reaches a screen."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._thread = threading.get_ident()
        self.said = ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self.said = record.getMessage()


def _open_apprise(url: str) -> Any:  # noqa: ANN401 - a plugin of apprise, or None
    import apprise

    logging.getLogger("apprise").propagate = False  # what it says may hold the secret
    logging.getLogger("apprise").addHandler(logging.NullHandler())
    # a message is text, and loads no picture
    asset = apprise.AppriseAsset(
        app_id="Slowwave", app_desc="Slowwave", app_url="", image_url_mask="", image_url_logo="", async_mode=False
    )
    return apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=True)


def _send_by_apprise(url: str, message: Message) -> str:
    heard = _Heard()
    logger = logging.getLogger("apprise")
    logger.addHandler(heard)
    try:
        opened = _open_apprise(url)
        if opened is None:
            return "apprise knows no such target"
        import apprise

        kind = apprise.NotifyType.WARNING if message.state == "open" else apprise.NotifyType.SUCCESS
        sender = apprise.Apprise(asset=opened.asset)
        sender.add(opened)
        is_sent = sender.notify(message.body, message.title, kind, body_format=apprise.NotifyFormat.TEXT)
    except Exception as error:  # noqa: BLE001 - of a hundred plugins, and none may stop a night
        return type(error).__name__
    finally:
        logger.removeHandler(heard)
    return "" if is_sent else shorten_to_width(terminal_safe(heard.said or "it was refused"), _ANSWER)
