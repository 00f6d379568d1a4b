"""When a memory expires, as changes state it under the contract's name and under those of other stores."""

import json
from datetime import timedelta

import pytest
from delivered import as_frame, as_jsonl, utc
from each import each

from slowwave.transforms.landing.landed_rows import landed_rows

CHANGED = utc(2026, 5, 1)
AT = utc(2026, 6, 1, 8)


def landed(read=as_jsonl, **fields):
    rows = landed_rows(
        read([{"memory_id": "m1", "changed_at": "2026-05-01T00:00:00Z", "content": "a freeze", **fields}])
    )
    assert rows.quarantine.is_empty()
    return rows.memories.row(0, named=True)


@each("read", [as_jsonl, as_frame])
@each(
    ("said", "expires_at"),
    [
        ({"expires_at": "2026-06-01T10:00:00+02:00"}, AT),
        ({"valid_until": "2026-06-01 08:00:00"}, AT),
        ({"expiration_date": "2026-06-02"}, utc(2026, 6, 2)),
        ({"ttl_seconds": 90}, CHANGED + timedelta(seconds=90)),
        ({"ttl_seconds": "0.5"}, CHANGED + timedelta(seconds=0.5)),
        ({"expires_at": AT.timestamp()}, None),
    ],
)
def test_each_name_is_read(read, said, expires_at):
    row = landed(read, **said)
    assert row["extra"] is None
    if expires_at is not None:
        assert row["expires_at"] == expires_at


@pytest.mark.parametrize(
    "said",
    [
        {"expires_at": "never"},
        {"expires_at": "0001-01-01T00:00:00Z"},
        {"valid_until": 0},
        {"ttl_seconds": -1},
        {"ttl_seconds": 1e18},
        {"ttl_seconds": "soon"},
        {"expiration_date": ["2026-06-01"]},
    ],
)
def test_what_is_no_time_stays_where_nothing_is_lost(said):
    row = landed(**said)
    assert (row["expires_at"], row["clears"]) == (None, None)
    assert json.loads(row["extra"]) == said


@pytest.mark.parametrize("name", ["expires_at", "valid_until", "expiration_date", "ttl_seconds"])
def test_an_empty_text_clears_and_null_says_nothing(name):
    assert landed(**{name: ""})["clears"] == ["expires_at"]
    assert (landed(**{name: None})["clears"], landed(**{name: None})["expires_at"]) == (None, None)


def test_of_several_the_first_that_says_something_counts_and_the_others_stay():
    row = landed(expires_at="2026-06-01T08:00:00Z", valid_until="2027-01-01", ttl_seconds=5)
    assert (row["expires_at"], row["extra"]) == (AT, '{"ttl_seconds":5,"valid_until":"2027-01-01"}')
    assert landed(expires_at="", valid_until="2026-06-01T08:00:00Z")["expires_at"] == AT
