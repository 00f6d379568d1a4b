"""`land --retry-quarantine`: what passes now leaves the quarantine, and the sums over a file's entries hold."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import polars as pl
import pytest

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake import lake
from slowwave.flows.land import land
from slowwave.flows.land.quarantine import kept_path, refused_rows
from slowwave.flows.land.report import LandingReport
from slowwave.flows.nightly.nightly import retry_quarantine
from slowwave.flows.nightly.prune import prune
from slowwave.flows.publish.run import start_run
from slowwave.transforms.landing import landed_rows as landing
from slowwave.transforms.landing.delivered_rows import DeliveredRows
from slowwave.transforms.landing.ledger_tables import Quarantine, RunFiles
from slowwave.transforms.landing.tables import Interactions
from tests.laws.home import Home

LONG = b'{"interaction_id": "long", "created_at": "2026-03-01", "prompt": "%s"}' % (b"x" * 3000)
LINE = b'{"interaction_id": "i%d", "created_at": "2026-03-01", "prompt": "What now?"}\n'
BLANK = b'{"interaction_id": "blank", "created_at": "2026-03-01", "prompt": " "}\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def retry(home: Home) -> LandingReport:
    with writer_lock(home.settings, "land"):
        return retry_quarantine(start_run(home.settings, "land"))


def assert_accounted(home: Home) -> None:
    """Of every entry, and of the sums of a file's entries, delivered = accepted + duplicate + quarantined."""
    entries = home.lake.ledger(RunFiles)
    counts = pl.col("accepted") + pl.col("duplicate") + pl.col("quarantined")
    assert entries.filter(pl.col("delivered") != counts).is_empty()
    left = refused_rows(home.lake)[0].group_by("file_hash").len()
    sums = entries.group_by("file_hash").agg(pl.col("quarantined").sum())
    assert sums.filter(pl.col("quarantined") != 0).sort("file_hash").rows() == left.sort("file_hash").rows()


def interactions(home: Home) -> list[str]:
    files = [file for of_day in home.lake.files("interactions").values() for file in of_day]
    return (
        home.lake.scan_rows(Interactions, files).select("interaction_id").collect()["interaction_id"].sort().to_list()
    )


def has_not_null(rows: DeliveredRows, field: str) -> list[bool]:
    values = rows.values(field) if field in rows.fields else [None] * len(rows)
    return [value is not None for value in values]


def accept_blank_prompts(patch: pytest.MonkeyPatch) -> None:
    """As an upgrade would that no longer minds them."""
    patch.setattr(landing, "_find_blank", lambda *_: None)
    patch.setattr(landing, "has_value", has_not_null)


# ------------------------------------------------------------------------------------------------------------- by text


def test_a_row_that_passes_now_leaves_the_quarantine_and_its_history_stays(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.drop("a.jsonl", LINE % 1 + BLANK + b"{broken\n")
    home.drop("b.csv", b'interaction_id,prompt,created_at\nc1,ok,2026-03-01\nc2," \n ",2026-03-01\nc3,short\n')
    home.land_inbox()
    assert [file.retried for file in retry(home).files] == [2, 2]
    assert interactions(home) == ["c1", "i1"]
    assert home.lake.ledger(RunFiles).height == 2, "a retry that changes nothing leaves no entry"
    assert_accounted(home)
    accept_blank_prompts(monkeypatch)
    report = retry(home)
    assert [(f.delivered, f.accepted, f.duplicate, f.quarantined) for f in report.files] == [(0, 1, 0, -1)] * 2
    assert interactions(home) == ["blank", "c1", "c2", "i1"]
    refused, resolved = refused_rows(home.lake)
    assert sorted(refused["row_number"]) == [3, 5]
    assert resolved.sort("row_number").select("row_number", "reason", "resolved_run_id").rows() == [
        (2, "prompt is blank", home.ledger()[-1]["run_id"]),
        (3, "prompt is blank", home.ledger()[-1]["run_id"]),
    ]
    assert_accounted(home)
    assert retry(home).total("accepted") == 0
    assert_accounted(home)


def test_what_is_published_shows_what_is_still_there_and_what_has_passed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.drop("a.jsonl", LINE % 1 + BLANK + b"{broken\n")
    home.nightly()
    accept_blank_prompts(monkeypatch)
    retry(home)
    home.nightly()
    assert [row["row_number"] for row in home.rows("FROM quarantine")] == [3]
    (passed,) = home.rows("FROM quarantine_resolved")
    assert (passed["row_number"], passed["reason"]) == (2, "prompt is blank")
    assert home.rows("SELECT sum(accepted) AS n FROM run_files") == [{"n": 2}]


@pytest.mark.slow
def test_a_file_whose_refused_rows_have_passed_is_no_cause_for_warning(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.drop("a.jsonl", LINE % 1 + BLANK)
    home.nightly()
    accept_blank_prompts(monkeypatch)
    warned = []
    for again in (False, True):
        if again:
            retry(home)
        home.drop("again.jsonl", LINE % 1 + BLANK)  # the same once more changes nothing
        home.drop("new.jsonl", LINE % (2 + again))  # so that something is published
        warned.append("refused_rows" in {finding.audit.name for finding in home.nightly().findings})
    assert warned == [True, False]


def test_a_row_landed_meanwhile_is_a_duplicate(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.drop("a.jsonl", BLANK)
    home.land_inbox()
    accept_blank_prompts(monkeypatch)
    home.drop("b.jsonl", BLANK + LINE % 2)
    home.land_inbox()
    (file,) = retry(home).files
    assert (file.delivered, file.accepted, file.duplicate, file.quarantined) == (0, 0, 1, -1)
    assert_accounted(home)


# ------------------------------------------------------------------------------------------------------------ by bytes


def test_a_kept_file_is_read_again_whole_under_another_limit(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_LONGEST_ROW", "2kB")
    content = gzip.compress(LINE % 1 + LONG + b"\n" + LINE % 2 + BLANK)
    home.drop("a.jsonl.gz", content)
    (file,) = home.land_inbox().files
    assert (file.delivered, file.accepted, file.quarantined) == (4, 2, 2)
    (row,) = [row for row in home.lake.ledger(Quarantine).to_dicts() if row["kept_file"]]
    assert "longer than a row may be (2,000 bytes, set by SLOWWAVE_LONGEST_ROW)" in row["reason"]
    assert len(row["raw_text"]) == 1000
    monkeypatch.delenv("SLOWWAVE_LONGEST_ROW")
    (file,) = retry(home).files
    assert (file.delivered, file.accepted, file.duplicate, file.quarantined) == (0, 1, 0, -1)
    assert interactions(home) == ["i1", "i2", "long"]
    assert_accounted(home)
    home.drop("again.jsonl.gz", content)
    (file,) = home.land_inbox().files
    assert (file.delivered, file.duplicate) == (4, 4)


def test_a_file_refused_whole_counts_its_rows_when_it_can_be_read(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("slowwave.flows.land.formats.kind.FIELDS", {"nothing"})
        patch.setattr("slowwave.flows.land.formats.kind.TELLING", frozenset())
        home.drop("a.csv", b"prompt,created_at\nfine,2026-03-01\n ,2026-03-01\n")
        (file,) = home.land_inbox().files
        assert file.is_refused_whole
    (file,) = retry(home).files
    assert (file.delivered, file.accepted, file.duplicate, file.quarantined) == (1, 1, 0, 0)
    assert [row["row_number"] for row in refused_rows(home.lake)[0].to_dicts()] == [3]
    assert_accounted(home)


@pytest.mark.slow
def test_of_a_file_with_too_many_refused_rows_the_rest_is_kept_unread(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(land, "MOST_REFUSED", 30_000)
        home.drop("a.jsonl", LINE % 1 + BLANK * 50_000 + LINE % 2)
        (file,) = home.land_inbox().files
        assert (file.delivered, file.accepted, file.quarantined) == (40_001, 1, 40_000)
        refused = refused_rows(home.lake)[0]
        (rest,) = refused.filter(pl.col("row_number").is_null()).to_dicts()
        assert "39,999 rows of the file were refused" in rest["reason"]
        assert kept_path(home.lake, rest["kept_file"]).stat().st_size == len(LINE % 1 + BLANK * 50_000 + LINE % 2)
        assert retry(home).total("accepted") == 0
        assert_accounted(home)
    retry(home)
    assert interactions(home) == ["i1", "i2"]
    assert refused_rows(home.lake)[0]["row_number"].null_count() == 0
    assert refused_rows(home.lake)[0].height == 50_000
    assert_accounted(home)


def test_kept_bytes_go_with_the_last_row_that_needs_them(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_LONGEST_ROW", "2kB")
    home.drop("a.jsonl", LONG)
    (file,) = home.land_inbox().files
    path = kept_path(home.lake, file.file_hash)
    monkeypatch.setattr("slowwave.flows.nightly.prune.GRACE_SECONDS", -3600.0)
    prune(home.settings, home.lake, 7)
    assert path.exists()
    monkeypatch.delenv("SLOWWAVE_LONGEST_ROW")
    retry(home)
    prune(home.settings, home.lake, 7)
    assert not path.exists()
    assert_accounted(home)


def test_parquet_values_that_json_cannot_say_are_tried_from_the_bytes(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.BytesIO()
    rows = {"interaction_id": ["p1", "p2"], "created_at": ["2026-03-01"] * 2, "prompt": [b"fine", b" "]}
    pl.DataFrame(rows).write_parquet(out)
    home.drop("a.parquet", out.getvalue())
    home.land_inbox()
    accept_blank_prompts(monkeypatch)
    (file,) = retry(home).files
    assert (file.accepted, file.quarantined) == (1, -1)
    assert interactions(home) == ["p1", "p2"]
    assert_accounted(home)


# ------------------------------------------------------------------------------------------------------------- killed


@pytest.mark.parametrize("at", range(3))
def test_killed_anywhere_and_repeated_it_counts_once(home: Home, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    home.drop("a.jsonl", LINE % 1 + BLANK + b"{broken\n")
    home.land_inbox()
    accept_blank_prompts(monkeypatch)
    with monkeypatch.context() as patch:
        written = 0

        real = lake.write_parquet

        def killed(path: Path, frame: pl.DataFrame) -> None:
            nonlocal written
            if written == at:
                raise KeyboardInterrupt
            written += 1
            real(path, frame)

        patch.setattr(lake, "write_parquet", killed)
        with pytest.raises(KeyboardInterrupt):
            retry(home)
    assert_accounted(home)
    retry(home)
    assert interactions(home) == ["blank", "i1"]
    assert [row["row_number"] for row in refused_rows(home.lake)[0].to_dicts()] == [3]
    assert_accounted(home)
