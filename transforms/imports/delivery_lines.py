"""Lines of a delivery from what an adapter made: with provenance, without secrets, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

import orjson

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.vocabularies import Basis
from slowwave.transforms.imports.adapter import (
    Adapter,
    LeftOut,
    Made,
    NamesKinds,
    Record,
    Refused,
    Repaired,
    Row,
    Undecided,
)
from slowwave.transforms.imports.record_values import add_microseconds, moment_of
from slowwave.transforms.imports.secrets import clean_value
from slowwave.transforms.landing.coerce import Unfit, json_text
from slowwave.transforms.landing.delivered_rows import RAW, REFUSED, refused_line

_INFERRED: Basis = "inferred"


class CountedOutcome(NamedTuple):
    """An outcome: of which interaction ('': of none), and what it is."""

    interaction_id: str
    is_attempt: bool
    is_inferred: bool
    has_strategy: bool


@dataclass
class RowCounts:
    """Interactions, those that name memories by id, memories with a text, and how many outcomes there are of each kind.

    An attempt is what is not said to be none: rules that tell it from an error are for the night.
    """

    interactions: int = 0
    given: set[str] = field(default_factory=set)
    cited: set[str] = field(default_factory=set)
    texts: int = 0
    ended: Counter[CountedOutcome] = field(default_factory=Counter)

    def count(self, fields: Mapping[str, Any]) -> None:
        """Count a row under the contract's names; an interaction may have an outcome inside."""
        of = str(fields.get("interaction_id") or "")
        is_interaction = fields.get("prompt") is not None
        if is_interaction:
            self.interactions += 1
            if fields.get("memories_used"):
                self.given.add(of)
            if fields.get("memories_cited"):
                self.cited.add(of)
        elif fields.get("memory_id") is not None:
            self.texts += not says_nothing(str(fields.get("content") or ""))
            return
        if fields.get("success") is not None:
            is_attempt, is_inferred = fields.get("attempted") is not False, fields.get("basis") == _INFERRED
            has_strategy = not says_nothing(str(fields.get("strategy") or ""))
            self.ended[CountedOutcome(of, is_attempt, is_inferred, has_strategy)] += 1

    def add(self, other: RowCounts) -> None:
        """Count what another counted."""
        self.interactions += other.interactions
        self.given |= other.given
        self.cited |= other.cited
        self.texts += other.texts
        self.ended.update(other.ended)


Kind = Literal["interaction", "outcome", "memory"]
PROVENANCE = "provenance"
BEFORE_SINCE = "older than --since"
COPIED = "a turn copied from another session"
_MOST_EXAMPLES = 3
_MOST_KINDS, _LONGEST_KIND = 100, 60
OTHER_KINDS, UNREADABLE = "of other kinds", "unreadable"
# The source stays where it is: the quarantine need not hold all of a record.
_MOST_RAW = 10_000


@dataclass
class Tally:
    """What was made of one unit or many: rows by kind with examples, refusals, secrets by kind, and what was left out.

    `records`: what was read, by the producer's own kinds. `holds`: what the rows hold. `left_out` has records by sort,
    and `left_examples` the first example of each; `settled` is how many of them miss nothing. `undecided`: what waits
    for a word. `repaired`: what was read otherwise than it stands, by sort.
    """

    records: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    holds: RowCounts = field(default_factory=RowCounts)
    examples: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    secrets: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    left_examples: dict[str, str] = field(default_factory=dict)
    settled: int = 0
    undecided: list[str] = field(default_factory=list)
    repaired: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Count what another counted."""
        for mine, others in (
            (self.kinds, other.kinds),
            (self.refused, other.refused),
            (self.secrets, other.secrets),
            (self.left_out, other.left_out),
            (self.repaired, other.repaired),
        ):
            mine.update(others)
        for kind, count in other.records.items():
            self.count_record(kind, count)
        self.holds.add(other.holds)
        self.settled += other.settled
        for kind, rows in other.examples.items():
            mine_of_kind = self.examples.setdefault(kind, [])
            mine_of_kind += rows[: _MOST_EXAMPLES - len(mine_of_kind)]
        self.left_examples = other.left_examples | self.left_examples
        self.undecided += other.undecided

    def count_record(self, kind: str, count: int = 1) -> None:
        """Count records that were read; of very many kinds the later ones together."""
        kind = kind[:_LONGEST_KIND]
        is_counted = kind in self.records or len(self.records) < _MOST_KINDS
        self.records[kind if is_counted else OTHER_KINDS] += count

    def leave_out(self, left: LeftOut) -> None:
        """Count records that made no row on purpose."""
        self.left_out[left.sort] += left.count
        self.settled += left.count if left.is_settled else 0
        if left.example and left.sort not in self.left_examples:
            self.left_examples[left.sort] = clean_value(left.example, Counter())


@dataclass(frozen=True)
class DeliveryLine:
    """A line of a delivery: a row, or a record that was refused."""

    text: bytes
    is_refused: bool = False


def kinds_of_records(adapter: Adapter) -> Callable[[Record], str]:
    """Return what gives the kind of a record: as its adapter names it, else by its `type`."""
    return adapter.kind_of_record if isinstance(adapter, NamesKinds) else _stated_type


def _stated_type(record: Record) -> str:
    kind = record.get("type")
    return kind if isinstance(kind, str) and kind else "record"


def kind_of_row(fields: dict[str, Any]) -> Kind:
    """What a row is, as landing tells it."""
    if fields.get("prompt") is not None:
        return "interaction"
    return "memory" if fields.get("memory_id") is not None else "outcome"


@dataclass(frozen=True)
class DeliveryFilter:
    """Which rows are delivered: not those of before `since` (UTC), nor of interactions that are `copies`.

    `regained`: interactions that were delivered as copies before it was known whose they are, and how often; what is
    delivered now wins over those. `earlier`: by id when rows were recorded that earlier versions of the adapter made.
    """

    since: datetime | None = None
    copies: frozenset[str] = frozenset()
    regained: Mapping[str, int] = field(default_factory=dict)
    earlier: Mapping[str, datetime] = field(default_factory=dict)


ALL = DeliveryFilter()


def delivery_lines(
    made: Iterable[Made], adapter: Adapter, tally: Tally, wanted: DeliveryFilter = ALL, name: str = ""
) -> Iterator[DeliveryLine]:
    """The lines of a unit's delivery, in order; counted in `tally`, with what is left out.

    A row gets its `provenance`, and the adapter's version as microseconds of `recorded_at`: of two versions of one
    row the later adapter's wins. Where it reads that a row ended sooner, the row is recorded just behind the earlier
    one. A refused record is shown behind `name`, what its unit is called, and its line.
    """
    behind: Counter[str] = Counter()
    for one in made:
        if isinstance(one, LeftOut):
            tally.leave_out(one)
        elif isinstance(one, Repaired):
            tally.repaired[one.sort] += one.count
        elif isinstance(one, Undecided):
            tally.undecided.append(clean_value(one.said, Counter()))
        elif isinstance(one, Refused):
            place = f"{name}, line {one.number:,}: " if name else ""
            yield _refused_line(one.reason, place + one.raw, tally)
        elif one.fields.get("interaction_id") in wanted.copies:
            if kind_of_row(one.fields) == "interaction":
                tally.leave_out(LeftOut(COPIED, example=str(one.fields.get("prompt"))[:200], is_settled=True))
        elif wanted.since is not None and _is_before(one, wanted.since):
            tally.leave_out(LeftOut(BEFORE_SINCE, is_settled=True))
        else:
            microseconds = adapter.version + wanted.regained.get(one.fields.get("interaction_id", ""), 0)
            fields = _add_provenance(one, adapter, microseconds)
            yield _row_line(one, _record_after_earlier(fields, wanted.earlier, behind), tally)


def _record_after_earlier(
    fields: dict[str, Any], earlier: Mapping[str, datetime], behind: Counter[str]
) -> dict[str, Any]:
    """A row that wins over what an earlier version of the adapter made of it; several versions stay in their order."""
    key = fields.get("interaction_id" if kind_of_row(fields) == "interaction" else "outcome_id", "")
    known, moment = earlier.get(key), moment_of(fields.get("recorded_at"))
    if known is None or moment is None or (moment > known and not behind[key]):
        return fields
    behind[key] += 1
    return fields | {"recorded_at": _utc_text(add_microseconds(max(known, moment), behind[key]))}


def _row_line(row: Row, fields: dict[str, Any], tally: Tally) -> DeliveryLine:
    try:
        fields = clean_value(fields, tally.secrets)
        text = _json_line(fields)
    except (Unfit, RecursionError) as error:
        return _refused_line(f"the row {error}", repr(row.record_ids), tally)
    kind = kind_of_row(fields)
    tally.kinds[kind] += 1
    tally.holds.count(fields)
    examples = tally.examples.setdefault(kind, [])
    if len(examples) < _MOST_EXAMPLES:
        examples.append(fields)
    return DeliveryLine(text)


def _json_line(fields: dict[str, Any]) -> bytes:
    """A row as JSON; half a surrogate pair, which is no character, becomes U+FFFD."""
    try:
        return orjson.dumps(fields)
    except orjson.JSONEncodeError:
        return json_text(_with_characters(fields)).encode()


def _with_characters(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_with_characters(name): _with_characters(held) for name, held in value.items()}
    return [_with_characters(held) for held in value] if isinstance(value, (list, tuple)) else value


def _refused_line(reason: str, raw: str, tally: Tally) -> DeliveryLine:
    reason = clean_value(reason, tally.secrets)
    tally.refused[reason] += 1
    shown = _with_characters(clean_value(raw, tally.secrets)[:_MOST_RAW])
    return DeliveryLine(orjson.dumps(refused_line(_with_characters(reason), shown)), is_refused=True)


def _add_provenance(row: Row, adapter: Adapter, microseconds: int) -> dict[str, Any]:
    fields = {name: value for name, value in row.fields.items() if value is not None and name not in (REFUSED, RAW)}
    provenance: dict[str, Any] = {"adapter": adapter.name, "v": adapter.version}
    if row.record_ids is not None:
        provenance["record_ids"] = list(row.record_ids)
    if row.client_version:
        provenance["client_version"] = row.client_version
    fields[PROVENANCE] = provenance
    stated = fields.get("recorded_at", fields.get("changed_at", fields.get("created_at")))
    moment = moment_of(stated)
    if moment is not None:
        fields["recorded_at"] = _utc_text(add_microseconds(moment, microseconds))
    return fields


def _is_before(row: Row, since: datetime) -> bool:
    moment = moment_of(row.fields.get("changed_at", row.fields.get("created_at")))
    return moment is not None and moment < since


def _utc_text(moment: datetime) -> str:
    return f"{moment.isoformat()}Z"
