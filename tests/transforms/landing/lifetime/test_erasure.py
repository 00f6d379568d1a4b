"""Which rows an erasure takes, and what becomes of rows that come again."""

from __future__ import annotations

import csv
import io

import pytest
from delivered import Record, as_csv, as_frame, as_jsonl, tables
from each import each

from slowwave.transforms.landing.erasure import ErasureRequest, find_erased_keys, names_erased, refuse_erased
from slowwave.transforms.landing.landed_rows import landed_rows
from slowwave.transforms.landing.tables import LANDED

AT = "2026-03-02T09:00:00Z"
ROWS: list[Record] = [
    {
        "interaction_id": "i1",
        "created_at": AT,
        "prompt": "Where?",
        "user_id": "ada",
        "session_id": "s1",
        "success": True,
    },
    {"interaction_id": "i2", "created_at": AT, "prompt": "When?", "user_id": "bob", "session_id": "s1"},
    {"interaction_id": "i2", "created_at": AT, "prompt": "When, then?", "user_id": "ada", "recorded_at": "2026-03-03"},
    {"interaction_id": "i3", "created_at": AT, "prompt": "Who?", "user_id": "bob"},
    {"outcome_id": "o1", "created_at": AT, "success": True, "interaction_id": "i2"},
    {"outcome_id": "o2", "created_at": AT, "success": True, "session_id": "s1"},
    {"outcome_id": "o3", "created_at": AT, "success": True, "interaction_id": "never landed"},
    {"memory_id": "m1", "changed_at": AT, "user_id": "ada"},
    {"memory_id": "m1", "changed_at": "2026-03-04T09:00:00Z", "content": "Changed."},
    {"memory_id": "m2", "changed_at": AT},
]


@pytest.mark.parametrize(
    ("asked", "interactions", "outcomes", "memories"),
    [
        (ErasureRequest(users=frozenset({"ada"})), {"i1", "i2"}, {"o1"}, {"m1"}),
        (ErasureRequest(sessions=frozenset({"s1"})), {"i1", "i2"}, {"o1", "o2"}, set()),
        (ErasureRequest(interactions=frozenset({"i2"})), {"i2"}, {"o1"}, set()),
        (ErasureRequest(interactions=frozenset({"never landed"})), set(), {"o3"}, set()),
        (ErasureRequest(memories=frozenset({"m2"})), set(), set(), {"m2"}),
        (ErasureRequest(users=frozenset({"nobody"})), set(), set(), set()),
    ],
)
def test_it_takes_all_versions_and_the_outcomes_with_them(
    asked: ErasureRequest, interactions: set[str], outcomes: set[str], memories: set[str]
) -> None:
    landed = tables(landed_rows(as_jsonl(ROWS)))
    found = find_erased_keys(asked, {table: landed[table.name].lazy() for table in LANDED})
    stated = {one for one in found["outcomes"] if one in {"o1", "o2", "o3"}}
    assert (found["interactions"], stated, found["memories"]) == (interactions, outcomes, memories)
    inline = len(found["outcomes"]) - len(stated)
    assert inline == ("i1" in interactions)


@pytest.mark.parametrize("form", [as_jsonl, as_csv, as_frame])
def test_what_comes_again_is_refused_whole_and_without_its_text(form: object) -> None:
    erased = {("interactions", "i1"), ("interactions", "i2"), ("memories", "m1")}
    landed = landed_rows(form(ROWS))  # type: ignore[operator] - one of the three forms
    left = refuse_erased(landed, lambda table, name: (table, name) in erased, "it was erased")
    assert left.delivered == landed.delivered
    assert left.interactions["interaction_id"].to_list() == ["i3"]
    assert left.outcomes["outcome_id"].to_list() == ["o2", "o3"]
    assert left.memories["memory_id"].to_list() == ["m2"]
    assert left.quarantine["row_number"].to_list() == [1, 2, 3, 5, 8, 9]
    assert left.quarantine["raw_text"].unique().to_list() == [""]
    assert left.quarantine["is_whole"].all()


def test_where_nothing_of_it_was_erased_nothing_changes() -> None:
    landed = landed_rows(as_jsonl(ROWS))
    assert refuse_erased(landed, lambda *_: False, "it was erased") is landed


@pytest.mark.parametrize(
    "text", ['{"interaction_id": "i 1", "prompt": 3}', '{"id":"i \\u0031"', 'x,"i 1",y', "[['i 1']]", '"i 1"']
)
def test_a_refused_row_names_an_id_in_whatever_format(text: str) -> None:
    is_erased = lambda table, name: (table, name) == ("interactions", "i 1")  # noqa: E731 - needs no name of its own
    assert names_erased(text, is_erased) == ("'" not in text)
    assert not names_erased(text.replace("i ", "i1 "), is_erased)


def test_an_id_without_quotes_is_named_too() -> None:
    assert names_erased("i1,2026-03-02,,", lambda table, name: (table, name) == ("memories", "i1"))


@each("one", ["an id, so to say", 'the "first" one', "  padded  ", "a|b;c", "two\nlines"])
@each("separator", [",", ";", "\t", "|"])
def test_an_id_of_several_words_is_found_in_a_refused_row_of_csv(one, separator):
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerow([one, "soon", "What now?"])
    assert names_erased(text.getvalue(), lambda table, name: (table, name) == ("interactions", one))
