"""Exports of Langfuse as folders: every format, only whole runs, and the same rows however often.

Nobody's export: the files are invented after the server's source.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from imports_run import aged, imported, landed
from langfuse_rows import PROJECT, observation, root_of_v2, score, trace

from slowwave.flows.imports.table_records import table_rows
from slowwave.flows.imports.units import UnreadableUnitError
from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.transforms.imports.made import Located, Refused
from slowwave.transforms.landing.tables import Interactions, Outcomes

Rows = Sequence[dict[str, Any]]
TIME = "2026-08-01T12-00-00"
TABLES = {
    "traces": [trace(), trace("t-2", input='{"messages": [{"role": "user", "content": "Later?"}]}', output="")],
    "observations": [observation(metadata={"a": "b"}), observation("o-2", trace_id="t-2", output="Yes.")],
    "scores": [score(), score("sc-2", trace_id="t-2", value=0, string_value="False", source="EVAL")],
}


def _jsonl(rows: Rows) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def _json(rows: Rows) -> bytes:
    return orjson.dumps(list(rows))


def _csv(rows: Rows) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(
            ["" if v is None else v if isinstance(v, str) else orjson.dumps(v).decode() for v in row.values()]
        )
    return out.getvalue().encode()


def _parquet(rows: Rows) -> bytes:
    """As the server's database writes it: maps of text, and times and decimals that are such."""
    maps = {"metadata": pa.string(), "usage_details": pa.int64(), "cost_details": pa.float64()}
    times = {"timestamp", "start_time", "end_time", "created_at", "updated_at"}
    columns: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if name in maps:
            columns[name] = pa.array([list(v.items()) for v in values], pa.map_(pa.string(), maps[name]))
        elif name in times:
            columns[name] = pa.array([datetime.fromisoformat(v) for v in values], pa.timestamp("ms", "UTC"))
        elif name == "total_cost":
            columns[name] = pa.array([Decimal(str(v)) for v in values], pa.decimal128(38, 12))
        else:
            columns[name] = pa.array(values)
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


FORMATS: dict[str, Callable[[Rows], bytes]] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
    "jsonl.gz": lambda rows: gzip.compress(_jsonl(rows)),
    "json.gz": lambda rows: gzip.compress(_json(rows)),
    "csv.gz": lambda rows: gzip.compress(_csv(rows)),
}


def exported(
    folder: Path, tables: dict[str, Any], extension: str = "jsonl", moment: str = TIME, *, has_manifest: bool = True
) -> Path:
    """A run as the server writes it, its manifest last; nothing was written to it for two hours."""
    files = []
    for table, rows in tables.items():
        path = folder / PROJECT / table / f"{moment}.{extension}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(FORMATS[extension](rows))
        key = f"some/prefix/{PROJECT}/{table}/{path.name}"
        files.append({"key": key, "table": table, "sizeBytes": path.stat().st_size, "rowCount": None})
    if has_manifest:
        manifest = folder / PROJECT / "manifests" / f"{moment}.json"
        manifest.parent.mkdir(exist_ok=True)
        manifest.write_text(orjson.dumps({"version": 1, "files": files}, option=orjson.OPT_INDENT_2).decode() + "\n")
    for path in folder.rglob("*.*"):
        aged(path)
    return folder


def _content(home: Path) -> list[dict[str, Any]]:
    hidden = {"row_hash", "key_hash"}
    rows = [*landed(home, Interactions), *landed(home, Outcomes)]
    return [{name: value for name, value in row.items() if name not in hidden} for row in rows]


@pytest.mark.parametrize("extension", FORMATS)
def test_every_format_is_the_same_rows(extension: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = imported(tmp_path / "home", "langfuse", exported(tmp_path / "x", TABLES, extension), capsys=capsys)
    assert told["exit"] == 0
    assert told["import"]["rows"] == {"interaction": 2, "outcome": 2}
    assert told["import"]["other_files"] == []
    again = imported(tmp_path / "home", "langfuse", exported(tmp_path / "y", TABLES, "jsonl"), capsys=capsys)
    assert again["import"]["rows"] == {"interaction": 2, "outcome": 2}
    assert len(_content(tmp_path / "home")) == 4
    first, second = landed(tmp_path / "home", Interactions)
    assert (first["prompt"], first["response"], first["tokens"], first["cost"]) == ("Which port?", "5432.", 15, 0.002)
    assert (second["prompt"], second["response"]) == ("Later?", "Yes.")


def test_a_run_without_its_manifest_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home, folder = tmp_path / "home", tmp_path / "x"
    exported(folder, TABLES)
    exported(folder, {"scores": [score("sc-9", value=0)]}, moment="2026-08-01T13-00-00", has_manifest=False)
    told = imported(home, "langfuse", folder, capsys=capsys)
    assert told["exit"] == 0
    assert told["import"]["rows"]["outcome"] == 2
    ((other,)) = told["import"]["other_files"]
    assert "a run that has not ended" in other["why"]
    exported(folder, {"scores": [score("sc-9", value=0)]}, moment="2026-08-01T13-00-00")
    imported(home, "langfuse", folder, capsys=capsys)
    assert len(landed(home, Outcomes)) == 3


def test_a_run_of_which_a_file_is_missing_or_cut_is_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = exported(tmp_path / "x", TABLES)
    traces = folder / PROJECT / "traces" / f"{TIME}.jsonl"
    whole = traces.read_bytes()
    traces.write_bytes(whole[:-20])
    told = imported(tmp_path / "home", "langfuse", folder, capsys=capsys)
    assert told["import"]["rows"] == {}
    assert "is not here whole" in told["import"]["other_files"][0]["why"]
    traces.unlink()
    told = imported(tmp_path / "home", "langfuse", folder, capsys=capsys)
    assert "is not here yet" in told["import"]["other_files"][0]["why"]
    assert told["exit"] == 1


def test_releases_without_manifests_are_read_when_nothing_more_comes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = exported(tmp_path / "x", TABLES, has_manifest=False)
    assert imported(tmp_path / "home", "langfuse", folder, capsys=capsys)["import"]["rows"]["interaction"] == 2
    for path in folder.rglob("*.jsonl"):
        path.touch()
    told = imported(tmp_path / "other", "langfuse", folder, capsys=capsys)
    assert told["import"]["rows"] == {}
    assert "no manifest" in told["import"]["other_files"][0]["why"]


def test_files_from_before_there_were_manifests_are_read_beside_those_that_have_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "x"
    exported(folder, {"traces": [trace("t-0")]}, moment="2026-01-01T00-00-00", has_manifest=False)
    exported(folder, TABLES)
    assert imported(tmp_path / "home", "langfuse", folder, capsys=capsys)["import"]["rows"]["interaction"] == 3


def test_windows_share_their_boundary_and_a_trace_may_lie_in_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, folder = tmp_path / "home", tmp_path / "x"
    exported(folder, {"observations_v2": [root_of_v2()], "scores": [score()]})
    imported(home, "langfuse", folder, capsys=capsys)
    later = {"observations_v2": [root_of_v2(), observation(parent_observation_id="o-0")], "scores": [score()]}
    exported(folder, later, moment="2026-08-01T13-00-00")
    told = imported(home, "langfuse", folder, capsys=capsys)
    assert told["import"]["rows"] == {"interaction": 1, "outcome": 1}
    before, after = landed(home, Interactions)
    assert (before["tokens"], after["tokens"]) == (None, 15)
    assert before["recorded_at"] < after["recorded_at"]
    assert len(landed(home, Outcomes)) == 1


def read(path: Path) -> tuple[list[dict[str, Any]], list[str], str]:
    rows: list[dict[str, Any]] = []
    refused: list[str] = []
    try:
        for one in table_rows(path, LONGEST_ROW):
            if isinstance(one, Located):
                rows.append(dict(one.record))
            elif isinstance(one, Refused):
                refused.append(one.reason)
    except UnreadableUnitError as error:
        return rows, refused, str(error)
    return rows, refused, ""


@pytest.mark.parametrize(
    ("text", "rows", "refused", "fault"),
    [
        (b"[]", 0, 0, ""),
        (b'[{"a":1}]', 1, 0, ""),
        (b'\xef\xbb\xbf [ {"a": "],{"} ,\n{"a":2}\n]\n', 2, 0, ""),
        (b'[{"a":1},{"b":', 1, 0, "row 2"),
        (b'[{"a":1},', 1, 0, "breaks off"),
        (b'[{"a":1},7,{"b":2}]', 2, 1, ""),
        (b'[{"a":1}{"b":2}]', 2, 0, ""),
        (b"[" + b'{"a":' * 3000 + b"1" + b"}" * 3000 + b"]", 0, 0, "row 1"),
        (gzip.compress(b'[{"a":1},{"b":2}]')[:-9], 0, 0, "cut short"),
        (b"", 0, 0, ""),
        (b"\x00\x01\x02", 0, 0, ""),
    ],
)
def test_arrays_are_read_as_far_as_they_are_whole(
    text: bytes, rows: int, refused: int, fault: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text)
    found, reasons, said = read(path)
    assert (len(found), len(reasons)) == (rows, refused)
    assert fault in said
    assert bool(said) == bool(fault)


def test_a_row_of_an_array_may_be_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    long = {"a": "é" * 3_000_000}
    path.write_bytes(orjson.dumps([long, {"b": 1}, long]))
    assert read(path) == ([long, {"b": 1}, long], [], "")
    assert [one.number for one in table_rows(path, LONGEST_ROW) if isinstance(one, Located)] == [1, 2, 3]
    with pytest.raises(UnreadableUnitError, match="row 1"):
        list(table_rows(path, 1_000_000))
