"""Which memories are held back from an answer at random, so that a later comparison can say whether they help.

The draw is a hash of the design's seed, the project, the caller's key and the memory's id: a retry, another process or
another language decides the same, and nothing has to be remembered. An agent calls this before every answer, so it
costs the standard library alone and never raises: where the design cannot be used, nothing is held back.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from datetime import time as time_of_day
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.home import home_from_environment
from slowwave.flows.kernel.settings import Settings

SECTION = "experiments"
_READ_AGAIN_SECONDS = 1.0
# 52 bits: what every language holds exactly in a floating-point number.
_DIGITS = 13
_ID_AND_SCORE = 2
_UNITS = ("memory", "all")

_log = logging.getLogger("slowwave.hold_back")


@dataclass(frozen=True)
class HoldBackDesign:
    """What is held back, of what, and when.

    Args:
        share: of what is drawn, how much is held back: 0 (nothing) to .9.
        by: `memory`: each by a draw of its own; `all`: all of an interaction at once.
        projects: in these alone; none: in all.
        exclude: ids that are never held back, such as rules that must be followed.
        start: not before this time (UTC).
        end: not from this time on (UTC).
        seed: another one draws otherwise.
    """

    share: float = 0.0
    by: str = "memory"
    projects: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    start: datetime | None = None
    end: datetime | None = None
    seed: str = ""

    def draws_in(self, project: str, at: datetime) -> bool:
        """Whether anything may be held back in a project at a time."""
        return (
            self.share > 0
            and (not self.projects or project in self.projects)
            and (self.start is None or at >= self.start)
            and (self.end is None or at < self.end)
        )


KNOWN = set(HoldBackDesign.__dataclass_fields__)
_LARGEST_SHARE = 0.9


def read_design(settings: Settings) -> HoldBackDesign:
    """Return what `[experiments]` of the settings states; without it, nothing is held back.

    Raises UserError where a key is unknown or has a value that it cannot have.
    """
    return make_design(settings.read_section(SECTION, KNOWN, is_alone=True))


def make_design(stated: Mapping[str, Any]) -> HoldBackDesign:
    """Return the design that keys of `[experiments]` state. Raises UserError for a value that one cannot have."""
    share, by, seed = stated.get("share", 0.0), stated.get("by", "memory"), stated.get("seed", "")
    _require_share(share)
    _require(by in _UNITS, "by", " or ".join(map(repr, _UNITS)))
    _require(isinstance(seed, str), "seed", "a text")
    lists = {name: stated.get(name, []) for name in ("projects", "exclude")}
    for name, listed in lists.items():
        is_list = isinstance(listed, (list, tuple, set, frozenset)) and all(isinstance(one, str) for one in listed)
        _require(is_list, name, "a list of texts")
    start, end = (_read_time(name, stated.get(name)) for name in ("start", "end"))
    _require(start is None or end is None or start < end, "end", "later than start")
    projects, exclude = frozenset(lists["projects"]), frozenset(lists["exclude"])
    return HoldBackDesign(float(share), by, projects, exclude, start, end, seed)


def _require_share(share: object) -> None:
    is_met = _is_number(share) and 0 <= share <= _LARGEST_SHARE  # type: ignore[operator] - it is a number
    _require(is_met, "share", f"a number from 0 to {_LARGEST_SHARE}, such as 0.1")


def _is_number(stated: object) -> bool:
    return isinstance(stated, (int, float)) and not isinstance(stated, bool)


def _require(is_met: bool, name: str, wanted: str) -> None:
    if not is_met:
        message = f"[{SECTION}] {name} is no value it can have: write {wanted}"
        raise UserError(message)


def _read_time(name: str, stated: object) -> datetime | None:
    if stated is None or isinstance(stated, datetime):
        at = stated
    elif isinstance(stated, date):
        at = datetime.combine(stated, time_of_day())
    else:
        _require(isinstance(stated, str), name, "a date or a time")
        try:
            at = datetime.fromisoformat(str(stated))
        except ValueError:
            at = None
            _require(False, name, "a date or a time, such as 2026-03-01")
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


class Chosen(NamedTuple):
    """What to give to the model, and what to log of it."""

    inject: list[str]
    """Ids to put before the model, in their order."""
    held_back: list[str]
    """Ids that were drawn and are not put before it."""
    log: dict[str, Any]
    """Fields for `record_interaction`: memories_used, and of what was drawn memories_offered, injection_probability."""


def hold_back(
    ids: Iterable[str | tuple[str, float | None]],
    *,
    key: str,
    project: str = "",
    design: HoldBackDesign | None = None,
    at: datetime | None = None,
) -> Chosen:
    """Return which of the memories that a retriever chose to inject, and what to log so that a night can compare.

    ids: best first, each alone or with its score; a text is one id. key: what is drawn for: the id of an interaction,
    or of a session or user if all of it shall be treated alike; the same key decides the same. design: in place of
    `[experiments]` in `$SLOWWAVE_HOME/settings.toml`, which is read once a second at most. at: the time, now by
    default. Ids in `exclude` are injected, and are no offers: nothing was drawn for them.

    Never raises: where something cannot be used, all is injected, and a warning is logged to `slowwave.hold_back`.
    """
    scores: dict[str, float | None] = {}
    try:
        for one in [ids] if isinstance(ids, str) else ids:
            memory, score = one if isinstance(one, (tuple, list)) and len(one) == _ID_AND_SCORE else (one, None)
            scores.setdefault(str(memory), score if _is_number(score) else None)
        used = _settled_design() if design is None else make_design(vars(design))  # one made by hand is unchecked
        if used.draws_in(project, at or datetime.now(UTC)):
            if key is None or key == "":  # all would be drawn alike: what one interaction is not given, none is
                message = "the key is empty: name the interaction, session or user that is drawn for"
                raise UserError(message)  # noqa: TRY301 - it is logged as whatever else cannot be used
            return _draw_each(scores, used, project, str(key))
    except Exception as error:  # noqa: BLE001 - an agent answers, whatever is wrong with an experiment
        _warn(f"nothing is held back: {error}")
    return Chosen([*scores], [], {"memories_used": [*scores]})


def _draw_each(scores: Mapping[str, float | None], design: HoldBackDesign, project: str, key: str) -> Chosen:
    inject, held, offers = [], [], []
    for rank, (memory, score) in enumerate(scores.items(), 1):
        if memory not in design.exclude:
            offers.append({"id": memory, "rank": rank, "score": score})
            drawn_for = memory if design.by == "memory" else ""
            if draw(design.seed, project, key, drawn_for) < design.share:
                held.append(memory)
                continue
        inject.append(memory)
    log = {"memories_used": inject}
    if offers:
        log |= {"memories_offered": offers, "injection_probability": round(1 - design.share, 9)}
    return Chosen(inject, held, log)


def draw(seed: str, project: str, key: str, memory: str) -> float:
    """Return a number from 0 to 1, the same wherever it is computed; held back is what is below the share.

    The first 13 hexadecimal digits of the SHA-256 of the four texts (UTF-8), each on its line, as a fraction.
    """
    text = "\n".join((seed, project, key, memory))
    return int(sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS], 16) / 16**_DIGITS


_NOTHING = HoldBackDesign()
_settled: dict[Path, tuple[float, int | None, HoldBackDesign]] = {}
_warned: set[str] = set()


def _settled_design() -> HoldBackDesign:
    """Return the design of the home as it was a second ago."""
    home = home_from_environment()
    read_at, changed, design = _settled.get(home, (float("-inf"), None, _NOTHING))
    now = time.monotonic()
    if now - read_at < _READ_AGAIN_SECONDS:
        return design
    settings = Settings(home)
    try:
        seen = settings.settings_file.stat().st_mtime_ns
    except OSError:
        seen, design = None, _NOTHING
    if seen is not None and seen != changed:
        try:
            design = read_design(settings)
        except UserError as error:
            _warn(f"nothing is held back: {error}")
            design = _NOTHING
    _settled[home] = (now, seen, design)
    return design


def _warn(message: str) -> None:
    """Log each message once: an agent that answers a thousand times an hour would say it as often."""
    if message not in _warned:
        _warned.add(message)
        _log.warning("%s", message)
