"""What an adapter made as lines of a delivery: stamped, without secrets, counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import orjson
from each import each

from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Made, Record, Refused, Row, Undecided
from slowwave.transforms.imports.delivery_lines import DeliveryFilter, Tally, delivery_lines

# Put together here, so that no file holds what looks like a key.
KEY = "ghp" + "_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"
ASKED = {"interaction_id": "i-1", "created_at": "2026-05-01T09:00:00Z", "prompt": "Go.", "project": "shop"}
ENDED = {"outcome_id": "o-1", "interaction_id": "i-1", "created_at": "2026-05-01T09:00:00Z", "success": True}


class Third:
    """An adapter in its third version, which makes what it is told."""

    name = "third"
    version = 3

    def detect_producer(self, first: Sequence[Record]) -> str | None:
        return "third" if first else None

    def make_rows(self, records: Iterable[Located], context: Context) -> Iterator[Made]:  # noqa: ARG002 - makes nothing
        return iter(())


def lines(*made: Made, wanted: DeliveryFilter | None = None, tally: Tally | None = None) -> list[dict[str, Any]]:
    found = delivery_lines(made, Third(), tally if tally is not None else Tally(), wanted or DeliveryFilter())
    return [orjson.loads(line.text) for line in found]


def test_a_row_says_which_adapter_made_it_of_what_and_nothing_of_where_and_when() -> None:
    (row,) = lines(Row(ASKED | {"response": None}, ("r-1", "r-2"), "2.1.38"))
    assert row == ASKED | {
        "provenance": {"adapter": "third", "v": 3, "record_ids": ["r-1", "r-2"], "client_version": "2.1.38"},
        "recorded_at": "2026-05-01T09:00:00.000003Z",
    }
    assert lines(Row(ASKED))[0]["provenance"] == {"adapter": "third", "v": 3}


@each(
    ("fields", "recorded_at"),
    [
        ({"recorded_at": "2026-05-01T11:00:00+02:00"}, "2026-05-01T09:00:00.000003Z"),
        ({"recorded_at": "2026-05-01T10:00:00.5"}, "2026-05-01T10:00:00.500003Z"),
        ({"recorded_at": 1_777_626_000}, "2026-05-01T09:00:00.000003Z"),
        ({"recorded_at": 1_777_626_000_250}, "2026-05-01T09:00:00.250003Z"),
        ({"changed_at": "2026-05-02T00:00:00Z"}, "2026-05-02T00:00:00.000003Z"),
        ({"recorded_at": "9999-12-31T23:59:59.999999Z"}, "9999-12-31T23:59:59.999999Z"),
        ({"recorded_at": "yesterday"}, "yesterday"),
        ({"recorded_at": True}, True),
        ({"recorded_at": 1e300}, 1e300),
    ],
)
def test_a_later_version_of_an_adapter_wins_by_microseconds(fields: dict[str, Any], recorded_at: object) -> None:
    (row,) = lines(Row(ASKED | fields))
    assert row["recorded_at"] == recorded_at


def test_secrets_and_homes_are_taken_out_of_every_text_and_counted() -> None:
    tally = Tally()
    fields = {"prompt": f"use {KEY}", "commands": [{KEY: "/home/ann/shop/a.py"}], "n": 1}
    (row, refused) = lines(Row(ASKED | fields), Refused(1, f"no {KEY}", f"/Users/ann/x {KEY}"), tally=tally)
    assert (row["prompt"], row["commands"], row["n"]) == (
        "use [secret:github]",
        [{"[secret:github]": "~/shop/a.py"}],
        1,
    )
    assert refused == {"_refused": "no [secret:github]", "_raw": "~/x [secret:github]"}
    assert tally.secrets == {"github": 4}
    assert KEY not in str(tally.examples) + str(tally.refused)


def test_what_is_left_out_shows_no_secret_either() -> None:
    tally = Tally()
    assert lines(LeftOut("a sort", 3, f"with {KEY}"), LeftOut("a sort", 2), Undecided(f"of {KEY}"), tally=tally) == []
    assert tally.left_out == {"a sort": 5}
    assert tally.left_examples == {"a sort": "with [secret:github]"}
    assert tally.undecided == ["of [secret:github]"]


def test_rows_are_counted_by_what_they_are() -> None:
    tally = Tally()
    memory = {"memory_id": "m-1", "changed_at": "2026-05-01T09:00:00Z", "content": "x"}
    lines(Row(ASKED), Row(ENDED), Row(ENDED), Row(memory), Refused(4, "why", "raw"), tally=tally)
    assert tally.kinds == {"interaction": 1, "outcome": 2, "memory": 1}
    assert tally.refused == {"why": 1}


def test_counts_of_units_are_added_and_three_examples_are_shown() -> None:
    every, first, second = Tally(), Tally(), Tally()
    for tally, numbers in ((first, (1, 2)), (second, (3, 4, 5))):
        lines(*(Row(ASKED | {"interaction_id": f"i-{number}"}) for number in numbers), tally=tally)
        lines(Refused(1, "why", "raw"), LeftOut("a sort", 2, f"of {numbers[0]}"), Undecided("of it"), tally=tally)
        every.add(tally)
    assert [row["interaction_id"] for row in every.examples["interaction"]] == ["i-1", "i-2", "i-3"]
    assert (every.kinds, every.refused, every.left_out) == ({"interaction": 5}, {"why": 2}, {"a sort": 4})
    assert (every.left_examples, every.undecided) == ({"a sort": "of 1"}, ["of it", "of it"])


def test_rows_of_before_are_left_out() -> None:
    tally = Tally()
    wanted = DeliveryFilter(since=datetime(2026, 5, 1, 9))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    before = ASKED | {"created_at": "2026-05-01T08:59:59Z", "recorded_at": "2026-05-01T10:00:00Z"}
    memory = {"memory_id": "m-1", "changed_at": "2026-05-01T08:00:00Z", "created_at": "2026-06-01T00:00:00Z"}
    untimed = {"outcome_id": "o-2", "success": True}
    found = lines(Row(before), Row(ASKED), Row(memory), Row(untimed), wanted=wanted, tally=tally)
    assert [row.get("interaction_id") or row["outcome_id"] for row in found] == ["i-1", "o-2"]
    assert tally.left_out == {"older than --since": 2}


def test_copies_of_turns_are_left_out_and_what_was_won_back_wins() -> None:
    tally = Tally()
    other = ASKED | {"interaction_id": "i-2"}
    wanted = DeliveryFilter(copies=frozenset({"i-1"}), regained={"i-2": 2})
    (row,) = lines(Row(ASKED), Row(ENDED), Row(ENDED), Row(other), wanted=wanted, tally=tally)
    assert (row["interaction_id"], row["recorded_at"]) == ("i-2", "2026-05-01T09:00:00.000005Z")
    assert tally.left_out == {"a turn copied from another session": 1}


def test_half_a_pair_of_surrogates_is_no_character() -> None:
    row, refused = lines(Row(ASKED | {"prompt": "a \ud83d b", "x": {"\udc00": 1}}), Refused(1, "\ud83d", "\ud83d"))
    assert (row["prompt"], row["x"]) == ("a \ufffd b", {"\ufffd": 1})
    assert refused == {"_refused": "\ufffd", "_raw": "\ufffd"}


def test_a_row_that_is_no_json_is_refused_and_the_next_one_is_delivered() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    first, second = lines(Row(ASKED | {"x": deep}, ("r-1", "r-1")), Row(ENDED))
    assert first["_refused"].startswith("the row ")
    assert second["outcome_id"] == "o-1"


def test_what_was_refused_is_kept_so_far_as_it_tells() -> None:
    (refused,) = lines(Refused(1, "too long", "x" * 50_000))
    assert len(refused["_raw"]) == 10_000


def test_no_row_can_say_that_it_was_refused() -> None:
    (row,) = lines(Row(ASKED | {"_refused": "by whom", "_raw": "x"}))
    assert not {"_refused", "_raw"} & row.keys()
