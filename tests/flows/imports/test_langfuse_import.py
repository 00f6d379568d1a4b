"""Exports of Langfuse as folders: every format, only whole runs, and the same rows however often.

Nobody's export: the files are invented after the server's source.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest
from imports_run import imported, landed
from langfuse_exports import FORMATS, TIME, exported
from langfuse_rows import PROJECT, observation, root_of_v2, score, trace

from slowwave.flows.imports.record_readers import table_rows
from slowwave.flows.imports.units import UnreadableUnitError
from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.transforms.imports.adapter import Located, Refused
from slowwave.transforms.landing.tables import Interactions, Outcomes

TABLES = {
    "traces": [trace(), trace("t-2", input='{"messages": [{"role": "user", "content": "Later?"}]}', output="")],
    "observations": [observation(metadata={"a": "b"}), observation("o-2", trace_id="t-2", output="Yes.")],
    "scores": [score(), score("sc-2", trace_id="t-2", value=0, string_value="False", source="EVAL")],
}


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
        (gzip.compress(b'[{"a":1},{"b":2}]', mtime=0)[:-9], 2, 0, "cut short"),
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
