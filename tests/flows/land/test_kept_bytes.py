"""What cannot be read is kept as delivered, and a fault of ours is never taken for bad data."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.land import land as landing_module
from slowwave.flows.land.inbox import Delivery, passed_over, path_deliveries
from slowwave.flows.land.land import Landing
from slowwave.flows.land.quarantine import kept_path, refused_rows, with_texts
from slowwave.flows.nightly.nightly import land_paths
from slowwave.flows.publish.run import start_run
from slowwave.transforms.landing.ledger_tables import Quarantine, RunFiles
from slowwave.transforms.landing.tables import LANDED
from tests.laws.home import Home

LINES = [b'{"interaction_id": "i%d", "created_at": "2026-03-01", "prompt": "%x"}' % (i, i**9) for i in range(60)]
TEXT = b"\n".join(LINES) + b"\n"


def parquet() -> bytes:
    out = io.BytesIO()
    ids = [f"p{number}" for number in range(60)]
    pl.DataFrame({"interaction_id": ids, "created_at": "2026-03-01", "prompt": ids}).write_parquet(out)
    return out.getvalue()


WHOLE = {
    "a.jsonl": TEXT,
    "a.jsonl.gz": gzip.compress(TEXT, mtime=0),
    "a.jsonl.zst": zstandard.ZstdCompressor(write_checksum=True).compress(TEXT),
}
WHOLE["a.parquet"] = parquet()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def kept(home: Home) -> dict[str, bytes]:
    folder = kept_path(home.lake, "")
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def refused(home: Home) -> list[dict[str, object]]:
    parts = with_texts(home.lake, Quarantine, refused_rows(home.lake)[0])
    return [row for part in parts for row in part.to_dicts()]


# --------------------------------------------------------------------------------------------------------- kept bytes


def test_rows_of_a_gzip_that_contradicts_its_checksum_are_not_taken(home: Home) -> None:
    """What it unpacks to reads like rows, and some of them were never sent."""
    packed = WHOLE["a.jsonl.gz"]
    wrong = packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]
    home.drop("a.jsonl.gz", wrong)
    report = home.land_inbox()
    assert (report.total("delivered"), report.total("quarantined"), report.total("accepted")) == (1, 1, 0)
    assert list(kept(home).values()) == [wrong]
    assert "CRC" in str(refused(home)[0]["reason"])
    home.drop("a.jsonl.gz", packed)
    assert home.land_inbox().total("accepted") == len(LINES)


@pytest.mark.parametrize("name", [name for name in WHOLE if name != "a.jsonl"])
def test_what_is_cut_short_is_kept_before_the_inbox_lets_go(name: str, home: Home) -> None:
    content = WHOLE[name][: len(WHOLE[name]) * 2 // 3]
    home.drop(name, content)
    (file,) = home.land_inbox().files
    assert list(home.settings.inbox.iterdir()) == []
    assert kept(home) == {file.file_hash: content}
    (row,) = [row for row in refused(home) if row["row_number"] is None]
    assert row["kept_file"] == file.file_hash
    assert row["format"] in {"jsonl", "parquet", "unknown"}


def test_it_is_kept_once_whatever_its_name_and_from_standard_input(home: Home, tmp_path: Path) -> None:
    content = WHOLE["a.parquet"][:-9]
    path = tmp_path / "b.parquet"
    path.write_bytes(content)
    home.drop("a.parquet", content)
    home.land_inbox()
    home.land(path)
    with writer_lock(home.settings, "land"):
        run = start_run(home.settings, "land")
        report = land_paths(run, [Delivery("-", None)], stdin=io.BytesIO(b"\x89PNG\r\n\x1a\n\0\0"))
    assert sorted(kept(home).values()) == sorted([content, b"\x89PNG\r\n\x1a\n\0\0"])
    assert report.files[0].is_refused_whole


def test_a_line_that_is_not_text_is_kept_with_its_file(home: Home) -> None:
    content = LINES[0] + b'\n{"prompt": "\xff\\xff"}\n'
    home.drop("a.jsonl", content)
    home.land_inbox()
    assert list(kept(home).values()) == [content]
    assert [row["row_number"] for row in refused(home)] == [2]


def test_a_file_of_which_every_refused_row_is_told_by_its_text_is_not_kept(home: Home) -> None:
    home.drop("a.jsonl", LINES[0] + b'\n{broken\n{"prompt": " ", "created_at": "2026-03-01"}\n')
    home.drop("b.csv", b"prompt,created_at\nfine,2026-03-01\n,2026-03-01\n")
    home.land_inbox()
    assert kept(home) == {}
    assert [(row["header"], row["raw_text"], row["kept_file"]) for row in refused(home) if row["format"] == "csv"] == [
        ("prompt,created_at", ",2026-03-01", None)
    ]


def test_a_rehearsal_keeps_nothing(home: Home, tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(WHOLE["a.jsonl.gz"][:-9])
    report = Landing(None, "", known=home.lake).land(path_deliveries([str(tmp_path / "cut.jsonl.gz")]))
    assert report.total("quarantined") == 1
    assert not home.lake.root.exists()


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(sorted(WHOLE)), at=st.floats(0, 1), damage=st.sampled_from([None, b"\0", b"\xff\n{"]))
def test_every_byte_of_a_damaged_file_is_in_the_lake(
    tmp_path_factory: pytest.TempPathFactory, name: str, at: float, damage: bytes | None
) -> None:
    home = Home(tmp_path_factory.mktemp("home"))
    whole = WHOLE[name]
    cut = int(at * len(whole))
    content = whole[:cut] if damage is None else whole[:cut] + damage + whole[cut + len(damage) :]
    home.drop(name, content)
    (file,) = home.land_inbox().files
    assert file.delivered == file.accepted + file.duplicate + file.quarantined
    assert list(home.settings.inbox.iterdir()) == []
    rows = refused(home)
    assert len(rows) == file.quarantined
    if any(row["kept_file"] for row in rows):
        assert kept(home) == {file.file_hash: content}
    elif name == "a.jsonl":
        texts = {str(row["raw_text"]).encode() for row in rows}
        said = [line for line in content.split(b"\n") if line.strip()]
        assert len([line for line in said if line not in texts]) == file.accepted + file.duplicate
    else:
        assert file.delivered == (len(LINES) if content else 0)


# ------------------------------------------------------------------------------------------------------ faults of ours


def failing(on: str) -> Callable[..., object]:
    real = landing_module.readable_rows

    def rows(rows: object, *more: object) -> object:
        if any(on in str(rows.raw(i)) for i in range(len(rows))):  # type: ignore[attr-defined,arg-type]
            message = "a bug of ours"
            raise ValueError(message)
        return real(rows, *more)  # type: ignore[arg-type]

    return rows


def test_a_fault_of_ours_stops_one_file_and_no_other(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from slowwave.flows.land import small_files

    for module in (landing_module, small_files):
        monkeypatch.setattr(module, "readable_rows", failing("poison"))
    home.drop("good.jsonl", LINES[0])
    home.drop("bad.jsonl", LINES[1] + b'\n{"prompt": "poison", "created_at": "2026-03-01"}\n')
    home.drop("more.jsonl", LINES[2])
    report = home.land_inbox()
    assert [path.name for path in home.settings.inbox.iterdir()] == ["00002-bad.jsonl"]
    assert [file.accepted for file in report.files] == [1, 1]
    (said,) = report.unreadable
    assert "00002-bad.jsonl stays where it is" in said
    assert "ValueError: a bug of ours" in said
    assert home.lake.ledger(RunFiles).height == 2
    assert refused(home) == []
    monkeypatch.undo()
    (file,) = home.land_inbox().files
    assert (file.delivered, file.accepted) == (2, 2)


def test_small_files_landed_together_land_as_each_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = {"interaction_id": ["i1", "i2"], "created_at": ["2026-03-01", "2026-03-02"], "prompt": ["a", "b"]}
    files = {
        "a.parquet": good,
        "b.parquet": {**good, "interaction_id": ["i2", "i3"], "prompt": ["b", " "]},  # the second is blank
        "c.parquet": {**good, "interaction_id": ["i1", "i4"]},
        "d.parquet": {**good, "interaction_id": ["i5", "i6"], "own": [1, 2]},
        "e.parquet": {"memory_id": ["m1", "m2"], "changed_at": ["2026-03-01", "never"], "content": ["x", "y"]},
        "f.parquet": {"memory_id": ["m1", "m3"], "changed_at": ["2026-03-01"] * 2, "content": ["x", "z"]},
        "g.parquet": {"interaction_id": ["i1"], "success": [True], "created_at": ["2026-03-01"]},
    }
    found = []
    for most in (landing_module.SMALL_BYTES, -1):
        monkeypatch.setattr(landing_module, "SMALL_BYTES", most)
        home = Home(tmp_path / str(most))
        home.drop("0.jsonl", LINES[0])
        for name, columns in files.items():
            packed = io.BytesIO()
            pl.DataFrame(columns).write_parquet(packed)
            home.drop(name, packed.getvalue())
        report = home.land_inbox()
        counts = [(f.source, f.delivered, f.accepted, f.duplicate, f.quarantined) for f in report.files]
        rows = [home.lake.scan_rows(of, [f for day in home.lake.files(of.name).values() for f in day]) for of in LANDED]
        landed = [each.collect().sort("row_hash") for each in rows]
        found.append((counts, [each.to_dicts() for each in landed], report.reasons, sorted(kept(home))))
    assert found[0] == found[1]
    assert [counts[1:] for counts in found[0][0]] == [
        (1, 1, 0, 0), (2, 2, 0, 0), (2, 1, 0, 1), (2, 1, 1, 0), (2, 2, 0, 0), (2, 1, 0, 1), (2, 1, 1, 0), (1, 1, 0, 0),
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------------ passed over


def test_what_lies_in_the_inbox_and_is_not_landed_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("a.jsonl.part", "b.tmp", "c.tmp", ".hidden", "whole.jsonl"):
        (tmp_path / name).write_bytes(LINES[0])
    for name in ("a.jsonl.part", "b.tmp"):
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "whole.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    said = passed_over(tmp_path)
    assert [text.split(",")[0] for text in said] == [
        "1 hidden file in the inbox not landed",
        "2 files in the inbox not landed",
        "1 file still being written",
        "1 link in the inbox not landed",
        "1 subfolder in the inbox not landed",
        "1 pipe or device in the inbox not landed",
    ]
    assert passed_over(tmp_path / "nowhere") == []
