"""Refused rows may be many and long: some texts are held at a time, and the beginning of each is published."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from slowwave.flows.land.quarantine import refused_rows, with_texts
from slowwave.flows.land.retry import attempts
from slowwave.transforms.landing.ledger_tables import Quarantine
from tests.laws.home import Home


def refused_line(number: int, characters: int) -> bytes:
    """A row without a time; no two texts are alike."""
    text = f"{number:08} is refused. " * (characters // 20)
    return json.dumps({"interaction_id": f"i{number}", "prompt": "p", "response": text}).encode() + b"\n"


def test_the_beginning_of_a_long_refused_row_is_published_and_the_lake_has_all(tmp_path: Path) -> None:
    home = Home(tmp_path)
    lines = [refused_line(number, 30_000) for number in range(3)]
    home.drop("a.jsonl", b"".join(lines))
    home.nightly()
    published = home.rows("SELECT raw_text FROM quarantine ORDER BY row_number")
    assert [row["raw_text"] for row in published] == [line.decode()[:10_000] for line in lines]
    (attempt,) = attempts(home.lake)
    assert attempt.tried["raw_text"].to_list() == [line.decode().rstrip("\n") for line in lines]


@pytest.mark.slow
def test_texts_of_refused_rows_come_some_at_a_time_and_each_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    count, draw = 200, random.Random(5)
    home.drop("a.jsonl", b"".join(b'{"prompt": "%s"}\n' % draw.randbytes(200_000).hex().encode() for _ in range(count)))
    home.land_inbox()
    refused, _ = refused_rows(home.lake)
    parts = [part["row_number"].to_list() for part in with_texts(home.lake, Quarantine, refused)]
    assert sorted(number for part in parts for number in part) == list(range(1, count + 1))
    assert len(parts) > 1


@pytest.mark.slow  # lands and publishes more text than a serving file's database may hold at once
def test_refused_rows_of_any_size_stop_no_night(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.drop("a.jsonl", b"".join(refused_line(number, 900_000) for number in range(700)))
    assert home.nightly().status == "published"
    home.drop("b.jsonl", refused_line(700, 20))
    assert home.nightly(full=True).status == "published"
    assert home.rows("SELECT count(*) AS count FROM quarantine") == [{"count": 701}]
