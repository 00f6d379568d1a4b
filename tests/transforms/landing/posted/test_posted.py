"""A posted body taken apart, stamped and judged: what is taken lands as it was told, and nothing else is taken."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.landed_rows import readable_rows
from slowwave.transforms.landing.mapping.rules import AS_TAKEN_IN, FieldMapping, ReadingOptions, Rule
from slowwave.transforms.landing.posted_records import MOST_DEPTH, Receipt, posted_records, stamp_record
from slowwave.transforms.landing.posted_rows import taken_rows

AT = datetime(2026, 3, 2, 9, 0, 0, 7, UTC).replace(tzinfo=None)
ASKED = {"prompt": "Push"}


def receipt(kind: Any = "interactions", project: str | None = None, row_id: str = "new") -> Receipt:
    return Receipt(kind, project, AT, row_id)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (b"", 0),
        (b" \n\n", 0),
        (b'{"prompt": "a"}', 1),
        (b'{\n "prompt": "a"\n}', 1),
        (b'[{"prompt": "a"}, {"prompt": "b"}]', 2),
        (b"[]", 0),
        (b'{"prompt": "a"}\r\n\n{"prompt": "b"}\n', 2),
    ],
)
def test_a_body_is_one_row_an_array_or_lines(body: bytes, count: int):
    rows = posted_records(body)
    assert len(rows) == count
    assert all(isinstance(row, dict) for row in rows)


def test_what_is_no_row_is_said_in_its_place():
    rows = posted_records(b'{"prompt": "a"}\n{"prompt": \n7\n\xff\n{"prompt": "b"}')
    assert [isinstance(row, dict) for row in rows] == [True, False, False, False, True]
    deep = b"[" * (MOST_DEPTH + 1) + b"]" * (MOST_DEPTH + 1)
    (row,) = posted_records(b'{"prompt": "a", "x": ' + deep + b"}")
    assert "deeper" in row
    (row,) = posted_records(b'{"a":' * 90 + b"1" + b"}" * 90)
    assert isinstance(row, dict)
    assert all(isinstance(one, str) for one in posted_records(b"[" * 100_000))


def test_a_row_gets_what_it_lacks_and_keeps_what_it_states():
    made = stamp_record(dict(ASKED), receipt(project="shop"))
    assert made == {
        "prompt": "Push",
        "created_at": "2026-03-02T09:00:00.000007Z",
        "interaction_id": "new",
        "project": "shop",
    }
    stated = {"prompt": "Push", "created_at": "2026-01-01", "interaction_id": "i-1", "project": "shop"}
    assert stamp_record(dict(stated), receipt(project="shop")) == stated
    assert stamp_record({"memory_id": "m", "content": "a"}, receipt("memories")) == {
        "memory_id": "m",
        "content": "a",
        "changed_at": "2026-03-02T09:00:00.000007Z",
    }


@each(
    ("row", "kind", "why"),
    [
        ({"response": "a"}, "interactions", "no prompt"),
        ({"prompt": None, "memory_id": "m"}, "interactions", "no prompt"),
        ({"prompt": "a", "success": True}, "outcomes", "is an interaction"),
        ({"memory_id": "m", "success": True}, "outcomes", "change of a memory"),
        ({"prompt": "a", "memory_id": "m"}, "memories", "is an interaction"),
        ({"success": True}, "memories", "no memory_id"),
        ({"prompt": "a", "project": "other"}, "interactions", "another project"),
        ({"prompt": "a", "project": ""}, "interactions", "another project"),
        ({"prompt": "a", "project": 7}, "interactions", "another project"),
        ({"memory_id": "m", "scope": "global"}, "memories", "global"),
    ],
)
def test_what_is_of_another_kind_or_project_is_refused(row: dict[str, Any], kind: str, why: str):
    assert why in stamp_record(row, receipt(kind, "shop"))


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=8),
    st.lists(st.text(max_size=3), max_size=2), st.dictionaries(st.text(max_size=3), st.integers(0, 3), max_size=2),
)  # fmt: skip
NAMES = st.sampled_from(
    ["prompt", "memory_id", "success", "outcome_id", "interaction_id", "created_at", "changed_at", "project", "status",
     "confidence", "tokens", "memories_used", "extra", "recorded_at", "response", "reply", "content", "user"]
)  # fmt: skip


@given(
    rows=st.lists(st.dictionaries(NAMES, VALUES, max_size=5), max_size=4),
    kind=st.sampled_from(["interactions", "outcomes", "memories"]),
    project=st.sampled_from([None, "", "shop"]),
    keeps=st.booleans(),
)
def test_what_is_taken_lands_and_as_what_it_was_posted(
    rows: list[dict[str, Any]], kind: Any, project: str | None, keeps: bool
):
    stated = posted_records(orjson.dumps(rows, default=str) if _is_json(rows) else b"[]")
    receipts = [receipt(kind, project, f"new-{at}") for at in range(len(stated))]
    taken = taken_rows(list(zip(stated, receipts, strict=True)), ReadingOptions(keeps_unknown=keeps))
    assert taken.lines.keys() | taken.refused.keys() == set(range(len(stated)))
    assert taken.lines.keys() == taken.ids.keys()
    assert not taken.lines.keys() & taken.refused.keys()
    lines = [orjson.loads(line) for line in taken.lines.values()]
    landed = readable_rows(RecordRows(lines, range(len(lines)), list(taken.lines.values())), None, AS_TAKEN_IN)
    assert landed.quarantine.is_empty()
    assert getattr(landed, kind).height == len(lines)
    if project is not None:
        assert set(getattr(landed, kind)["project"]) <= {project}


def _is_json(rows: object) -> bool:
    try:
        orjson.dumps(rows)
    except orjson.JSONEncodeError:
        return False
    return True


def test_a_mapping_is_gone_through_before_anything_is_added():
    mapping = FieldMapping((Rule("prompt", "question"), Rule("project", "team")), "app")
    rows = [
        ({"question": "Push", "team": "shop"}, receipt(project="shop")),
        ({"question": "a", "team": "x"}, receipt()),
    ]
    taken = taken_rows(rows, ReadingOptions(mapping))
    assert taken.ids == {0: "new", 1: "new"}
    assert orjson.loads(taken.lines[0])["prompt"] == "Push"
    (refused,) = taken_rows(
        [({"question": "a", "team": "x"}, receipt(project="shop"))], ReadingOptions(mapping)
    ).refused.values()
    assert "another project" in refused


def test_a_field_under_another_name_is_refused_unless_that_is_kept():
    rows = [({"prompt": "Push", "completion": "Pushed."}, receipt())]
    assert "completion" in taken_rows(rows, ReadingOptions()).refused[0]
    assert taken_rows(rows, ReadingOptions(keeps_unknown=True)).refused == {}


def test_an_interaction_with_an_outcome_is_known_by_its_own_id():
    taken = taken_rows(
        [({"prompt": "a", "success": True}, receipt()), ({"prompt": "a"}, receipt(row_id="n2"))], ReadingOptions()
    )
    assert taken.ids == {0: "new", 1: "n2"}
