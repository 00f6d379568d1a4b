"""Changes of state between statements: the same attribute of the same subject, another value; and items ticked off.

A value changes from one statement to the next of the same subject and attribute. What has several values at one time is
a list, and changes nothing by growing; nor does a value by being told in more words or fewer. What prose tells beside
(a plan carried out, a trouble overcome, a habit given up) is left to a language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from slowwave.transforms.observations.pairs.relation import Relation
from slowwave.transforms.observations.states.claims import COUNTED, LONGEST, claims
from slowwave.transforms.observations.states.clause_words import BESIDE_NUMBERS, SOME, Claim, words_of

# Which statements are worth reading for changes of state: asked of all at once, for reading each takes long.

# where a word ends is found several times as fast by ASCII
TELLS_ITSELF = (
    r"(?i)(?-u:\b)(?:(?:switch|mov|migrat|chang|upgrad|downgrad|convert|transition|relocat|renam|updat|increas|decreas"
    r"|rais|lower|reduc|modifi|refactor|fix|correct|replac|adjust|rework|simplifi|improv|extend|tighten|widen|relax"
    r"|shorten)ed|bumped|trimmed|dropped|rewrote|cut|grew|shrank|went|rose|fell|instead of|rather than|is now|are now"
    r"|now,? .* (?:is|are)|(?:was|were|used to be) .*now)(?-u:\b)|→|->"
    r"|\((?:was|were|previously|formerly|up from|down from|instead of) "
)
"""Without one of these no statement tells what changed by itself."""

_SECOND_SENTENCE = r"[.!?]\s+\S"
_COUNT = r"^([^;(,\d]*(?-u:\b)\d+ (?:\w+ )?\w+s \w+)(?:\s*[;(,]|\s(?:and|with|but)\s).*$"
_BESIDE = rf"(?-u:\b)(?:{'|'.join(sorted(BESIDE_NUMBERS))})(?-u:\b)"
_FIRST_WORD = (
    r"^\W*(?:(?:the|a|an|our|my|your|his|her|their|this|new|all|now|currently|recently|finally|today)\s+)*(\w+)"
)


def state_candidates(statements: pl.DataFrame) -> pl.DataFrame:
    """The statements of which another of the same scope may tell a later state, and those that tell both themselves.

    Args:
        statements: scope (a number) and content, and what else is to be kept.

    Adds is_numbered: whether another is the same but for its numbers; is_telling: whether it may tell a change by
    itself; is_item: whether it is an item of a list. Two that can have one subject begin with the same word, once
    articles are passed over; two that differ in a number alone are the same without their digits.
    """
    content, lower = pl.col("content"), pl.col("content").str.to_lowercase()
    begins_alike, is_numbered = (
        pl.col(name).is_not_null() & (pl.len().over("scope", name) > 1) for name in ("first_word", "but_digits")
    )
    return (
        statements.filter(content.str.len_chars() <= LONGEST, ~content.str.contains(_SECOND_SENTENCE), is_plain())
        .with_columns(
            lower.str.extract(_FIRST_WORD).alias("first_word"),
            pl.when(content.str.contains(r"\d")).then(_but_digits(lower)).alias("but_digits"),
        )
        .with_columns(
            is_numbered.alias("is_numbered"),
            content.str.contains(TELLS_ITSELF).alias("is_telling"),
            content.str.contains(ITEM).alias("is_item"),
        )
        .filter(pl.any_horizontal(begins_alike, "is_numbered", "is_telling", "is_item"))
        .drop("first_word", "but_digits")
    )


def _but_digits(lower: pl.Expr) -> pl.Expr:
    return lower.str.replace(_COUNT, "$1").str.replace_all(_BESIDE, "").str.replace_all(r"[\W\d_]+", "")


# What states nothing by itself: a line of code or of a program's output, an intention, an example.

_IN_CODE = r"`[^`]*`|\"[^\"]*\""
_CODE = (
    r"[{};\\]\s*$|\t|\S {4,}\S|[=!]==?[^=>]|&&|\|\||:="
    r"|^\s*(?:[$>@|]|//|\d+→|---|\+\+\+|ok\s|FAIL|PASS|import |from \S+ import"
    r"|(?:def|func|fn|class|const|let|var|return|if|for|while|else|elif|switch|case|public|private|export) "
    r"[^.]*[({:]\s*$)"
)
"""Code and output of programs: ends, signs and columns that no sentence has."""
_MEANT = re.compile(
    r"^[\W\d_]*(?:(?:ok(?:ay)?|good|great|perfect|now|next|then|first|finally|also|so|actually)[,.:!]*\s+)*"
    r"(?:let me|let['’]s|i['’]ll|i will|i['’]m going to|i am going to|i need to|we need to|need to"
    r"|you can|you could|you should|would you|do you|should (?:i|we)|if (?:you|we|i|the)|make sure"
    r"|try to|to do|todo|the user (?:wants|is asking))\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\b(?:e\.g|i\.e|for example|for instance|such as|an example|imagine|suppose)\b", re.IGNORECASE)


def states_something(text: str) -> bool:
    """As `is_plain`, of one text."""
    return re.search(_CODE, re.sub(_IN_CODE, "x", text)) is None


def is_plain() -> pl.Expr:
    """Whether content is no line of code or of what a program printed."""
    return ~pl.col("content").str.replace_all(_IN_CODE, "x").str.contains(_CODE)


def tells_nothing(text: str) -> bool:
    """Whether a text only means to do something, asks for it, or gives an example: what it says has not come about."""
    return _MEANT.match(text) is not None or _EXAMPLE.search(text) is not None


# Lists whose items are ticked off: "[ ] Draw the tables", later "[x] Draw the tables".

ITEM = r"^\W{0,3}(?:\[[ xX✓✔✅⚡~>/*-]?\]\s|✅|☑|✔|✓|⬜|☐|🔲|⏳|🔄|🚧)"
"""Without this at its beginning no statement is an item."""
_BOX = re.compile(r"^\W{0,3}\[(?P<box>[ xX✓✔✅⚡~>/*-]?)\]\s+")
_SIGN = re.compile(r"^\W{0,3}?(?P<sign>✅|☑️?|✔️?|✓|⬜|☐|🔲|⏳|🔄|🚧)\s*")
_OPEN = frozenset({"", " ", "⚡", "~", ">", "/", "*", "-", "⬜", "☐", "🔲", "⏳", "🔄", "🚧"})
_DONE_SAID = re.compile(
    r"[\s—–:-]*(?:[(\[](?:already )?(?:done|completed?|finished|implemented|fixed)\b[^)\]]{0,20}[)\]]|✅|✔️?|✓"
    r"|[—–:-]\s*(?:done|completed?|finished))[\s.!]*$",
    re.IGNORECASE,
)
_DECORATION = re.compile(r"^[^\w`'\"<@$.-]+|\*\*")


class Item(NamedTuple):
    """An item of a list: its words as they are compared, as written, and whether it is ticked off."""

    words: tuple[str, ...]
    said: str
    is_done: bool


def list_item(text: str) -> Item | None:
    """Return the item that a statement is; None: it has no mark, or no words."""
    box = _BOX.match(text)
    mark = box or _SIGN.match(text)
    if mark is None:
        return None
    body = text[mark.end() :]
    done_said = _DONE_SAID.search(body)
    if done_said is not None:
        body = body[: done_said.start()]
    body = _DECORATION.sub("", body).strip()
    words = words_of(body)
    is_done = done_said is not None or mark[1] not in _OPEN
    return Item(words, body, is_done) if words else None


_COMPARED = 16
_LIST_VALUES = 12
_DAY = timedelta(days=1)
_NO_TIME = timedelta(0)
_SOME_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - only which of two is later counts
_LATER = _SOME_TIME + 2 * _DAY
_AT_ONCE = 2
_NEAR = 1.25
_PLAIN = re.compile(r"\d{1,12}(?:\.\d+)?")


class StateChange(NamedTuple):
    """What of what changed from what to what, from one statement (number) to another.

    earlier: None where `later` tells both.
    """

    earlier: int | None
    later: int
    subject: str
    attribute: str
    before: str
    after: str

    @property
    def reason(self) -> str:
        """What changed, in words."""
        of = " ".join(part for part in (self.subject, self.attribute) if part)
        return f"{of}: {self.before}, then {self.after}" if of else f"{self.before}, then {self.after}"

    @property
    def relation(self) -> Relation:
        """What the later of two statements is to the earlier."""
        return Relation("supersedes", self.reason, (self.before, self.after))


class Stated(NamedTuple):
    """A statement: its number, a number for where it may meet others, when it was said first and last, and its text.

    is_numbered: whether another may say the same with another number. is_telling: whether it may tell a
    change by itself. is_item: whether it may be an item of a list.
    """

    statement: int
    scope: int
    first_at: datetime
    said_at: datetime
    content: str
    is_numbered: bool = True
    is_telling: bool = True
    is_item: bool = True


class _One(NamedTuple):
    first_at: datetime
    said_at: datetime
    statement: int
    claim: Claim


_Key = tuple[int, tuple[str, ...], tuple[str, ...]]


def changes_of_state(statements: pl.DataFrame) -> list[StateChange]:
    """Return the changes of state between statements, or told by one, in order of their numbers.

    Args:
        statements: statement, scope (numbers), first_at, last_at and content.
    """
    return state_changes(Stated(*row) for row in state_candidates(statements).iter_rows())


def state_changes(stated: Iterable[Stated]) -> list[StateChange]:
    """Return the changes between statements, or told by one, in order of their numbers.

    A statement that only means to do something, or gives an example, changes nothing. Where a value or an item tells
    what changed, what the later statement declares by itself is not told again.
    """
    values: dict[_Key, list[_One]] = {}
    declared: list[tuple[int, _One]] = []
    items: list[tuple[datetime, int, int, Item]] = []
    for one in stated:
        item = list_item(one.content) if one.is_item else None
        claimed = claims(one.content, is_numbered=one.is_numbered, is_telling=one.is_telling)
        if item is None and not claimed:
            continue
        is_meant = tells_nothing(one.content)
        if item is not None and not (item.is_done and is_meant):
            items.append((one.first_at, one.statement, one.scope, item))
        for claim in () if is_meant else claimed:
            found = _One(one.first_at, one.said_at, one.statement, claim)
            if claim.before:
                declared.append((one.scope, found))
            else:
                values.setdefault((one.scope, claim.subject, claim.attribute), []).append(found)
    changes = [change for group in values.values() if len(group) > 1 for change in _of_value(group)]
    changes += _ticked_off(items)
    changed = {change.later for change in changes}
    changes += [change for change in _declared_changes(declared, values) if change.later not in changed]
    return sorted(set(changes), key=lambda one: (one.later, -1 if one.earlier is None else one.earlier, one))


def change_between(before: str, after: str) -> StateChange | None:
    """Return what changed from one text to another that was said later; None: nothing that can be told."""
    if not (states_something(after) and states_something(before)):
        return None
    stated = (Stated(0, 0, _SOME_TIME, _SOME_TIME, before), Stated(1, 0, _LATER, _LATER, after))
    return next((one for one in state_changes(stated) if one.later == 1), None)


def stated_change(text: str) -> StateChange | None:
    """Return what changed, as a text itself tells: "moved from A to B"; None: it does not tell."""
    if not states_something(text):
        return None
    return next(iter(state_changes((Stated(0, 0, _SOME_TIME, _SOME_TIME, text),))), None)


def downgrade_relation(related: Relation) -> Relation:
    """Return the relation of two statements between which no change of state was found.

    What is only newer and at odds by its words may be at odds: that is for people to settle.
    """
    if related.relation != "supersedes" or related.is_retraction:
        return related
    reason = f"may be at odds, but no change from one state to another can be read from them: {related.reason}"
    return Relation("may_contradict", reason, related.words)


def _ticked_off(items: list[tuple[datetime, int, int, Item]]) -> Iterable[StateChange]:
    """Items that are open, and later ticked off in the same words: each once, from where it was last open."""
    open_items: dict[tuple[int, tuple[str, ...]], tuple[datetime, int]] = {}
    for at, statement, scope, item in sorted(items):
        key = (scope, item.words)
        if not item.is_done:
            open_items[key] = at, statement
        elif key in open_items and open_items[key][0] < at:
            _, earlier = open_items.pop(key)
            yield StateChange(earlier, statement, item.said, "", "open", "done")


def _of_value(group: list[_One]) -> Iterable[StateChange]:
    group.sort(key=lambda one: (one.said_at, one.statement))
    if group[0].claim.attribute == COUNTED:
        yield from _of_count(group)
        return
    if len({one.claim.value for one in group}) > _LIST_VALUES:
        return
    if any(a.said_at == b.said_at and _is_other(a.claim, b.claim) for a, b in pairwise(group)):
        return
    if any(
        c.said_at - a.said_at < _DAY and len({a.claim.value, b.claim.value, c.claim.value}) > _AT_ONCE
        for a, b, c in zip(group, group[1:], group[2:], strict=False)
    ):
        return
    for before, after in pairwise(group):
        apart = after.said_at - before.said_at
        if apart > _NO_TIME and _is_other(before.claim, after.claim) and (apart >= _DAY or _is_sure(after.claim)):
            yield _change(before, after)


def _of_count(group: list[_One]) -> Iterable[StateChange]:
    """Numbers in a sentence that is otherwise the same: one that is far from another may count something else."""
    is_one = len(group) <= _AT_ONCE or all(b.said_at - a.said_at >= _DAY for a, b in pairwise(group))
    for place, after in enumerate(group):
        earlier = group[:place]
        near = [one for one in earlier[-_COMPARED:] if is_one or _is_near(one.claim.value[0], after.claim.value[0])]
        if near and near[-1].said_at < after.said_at and near[-1].claim.value != after.claim.value:
            yield _change(near[-1], after)


def _is_near(one: str, other: str) -> bool:
    """Whether two numbers are within a quarter of the larger."""
    a, b = (float(number) if _PLAIN.fullmatch(number) else 0.0 for number in (one, other))
    return min(a, b) * _NEAR >= max(a, b) > 0


def _is_sure(claim: Claim) -> bool:
    """Whether two values within a day are no two at once: a number or a status, and no name."""
    return claim.value[-1].isdigit() or (len(claim.attribute) > 1 and claim.attribute[0] == "is") or claim.is_now


def _is_other(a: Claim, b: Claim) -> bool:
    """Whether one value is not the other in more words or fewer."""
    one, other = set(a.value), set(b.value)
    if SOME in one | other:
        return "0" in one | other
    return not (one <= other or other <= one)


def _declared_changes(told: list[tuple[int, _One]], values: dict[_Key, list[_One]]) -> Iterable[StateChange]:
    """What statements themselves declare; from the statement of the value until then, where there is one."""
    known: dict[tuple[int, tuple[str, ...]], list[_One]] = {}
    for (scope, _, _), group in values.items():
        for one in group:
            known.setdefault((scope, one.claim.value), []).append(one)
    for scope, later in told:
        claim = later.claim
        before = [
            one
            for one in known.get((scope, words_of(claim.before)), [])
            if one.first_at < later.first_at and set(one.claim.subject) & set(claim.subject)
        ]
        subject, attribute, after = claim.says
        yield StateChange(
            max(before, key=lambda one: (one.first_at, one.statement)).statement if before else None,
            later.statement, subject, attribute, claim.before, after,
        )  # fmt: skip


def _change(before: _One, after: _One) -> StateChange:
    _, _, was = before.claim.says
    subject, attribute, now = after.claim.says
    return StateChange(before.statement, after.statement, subject, attribute, was, now)
