"""Importing as `slowwave import` does, and what it says and lands."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

from slowwave.flows.cli.imports import run_import
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.core.schema import Landed


def imported(
    home: Path, source: str, *paths: Path, capsys: pytest.CaptureFixture[str], **options: Any
) -> dict[str, Any]:
    """What `slowwave import` prints as JSON, its exit code, and what it says on stderr."""
    told: dict[str, Any] = {"since": None, "dry_run": False, "project_map": None, "infers": True, "output": "json"}
    code = 0
    capsys.readouterr()
    try:
        run_import(Settings(home), [source, *map(str, paths)], **told | options)
    except typer.Exit as end:
        code = end.exit_code
    out, err = capsys.readouterr()
    return json.loads(out) | {"exit": code, "said": err}


def aged(path: Path, seconds: float = 7200.0) -> Path:
    """A file that nothing was written to for two hours."""
    at = time.time() - seconds
    os.utime(path, (at, at))
    return path


def landed(home: Path, table: type[Landed]) -> list[dict[str, Any]]:
    """Every row version of a landed table, as it lies in the lake, by key."""
    lake = Lake(Path(Settings(home).lake))
    files = [file for files in lake.files(table.name).values() for file in files]
    rows = lake.scan_rows(table, files).collect() if files else pl.DataFrame()
    return rows.sort(*table.key, "recorded_at").to_dicts() if len(rows) else []
