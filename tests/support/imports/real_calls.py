"""The shell calls of real coding sessions, as turns of one call each: what is inferred of them was read by a person.

Run as a program, it prints per rule how many calls it could speak of, of how many it speaks, and how many of these a
person who read the call's output found right (`tests/real_logs/sheets/inferred_outcomes_read.ndjson`):

    .venv/bin/python tests/support/imports/real_calls.py
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from slowwave.transforms.imports.adapter import Call, CallEnd, Turn
from slowwave.transforms.imports.inferred.inferred_outcomes import inferred_outcomes
from slowwave.transforms.imports.inferred.programs import is_build, program_words, test_runners
from slowwave.transforms.imports.inferred.shell_lines import shell_line

_ROOT = Path(__file__).parents[3]
CALLS = _ROOT.parent / "shared" / "data" / "claude_code" / "interactions.parquet"
SHEET = _ROOT / "tests" / "real_logs" / "sheets" / "inferred_outcomes_read.ndjson"
_CANDIDATES: dict[str, Callable[[tuple[str, ...]], object]] = {
    "transcript_tests/1": test_runners,
    "transcript_build/1": is_build,
    "transcript_commit/1": lambda words: words[:2] == ("git", "commit"),
}


def real_calls() -> Iterator[Call]:
    """Every shell call, with its exit code where the client says it or says that it went well."""
    for row in pl.read_parquet(CALLS).filter(pl.col("task_type") == "Bash").iter_rows(named=True):
        output = row["response"] or ""
        stated = re.match(r"Exit code (\d+)", output)
        exit_code = int(stated[1]) if stated else 0 if row["success"] else None
        if output.startswith("Command running in background"):
            exit_code = None
        end: CallEnd = "cascade" if "Sibling tool call errored" in output else "ended"
        command = json.loads(row["prompt"])["command"]
        yield Call(row["id"], "Bash", command, output, exit_code, not row["success"], end)


def said_of_calls() -> pl.DataFrame:
    """Per call and rule that could speak of it: call_id, method, success (NULL: it did not speak)."""
    said: list[dict[str, Any]] = []
    for call in real_calls():
        line = shell_line(call.command)
        programs = [program_words(one.words) for one in line.commands] if line else []
        rows = {row["basis_method"]: row for row in inferred_outcomes(Turn("i", "", "", "p", calls=[call]))}
        for method, is_one in _CANDIDATES.items():
            if method in rows or (call.end == "ended" and any(map(is_one, programs))):
                success = rows[method]["success"] if method in rows else None
                said.append({"call_id": call.call_id, "method": method, "success": success})
    return pl.DataFrame(said, schema={"call_id": pl.String, "method": pl.String, "success": pl.Boolean})


def read_by_a_person() -> pl.DataFrame:
    """call_id, method, success, is_right: what the rule said, and whether the output bears it out."""
    return pl.read_ndjson(SHEET)


def spoken_and_right() -> pl.DataFrame:
    """Per method: calls it could speak of, of how many it spoke, how many of these were read and right."""
    judged = said_of_calls().join(read_by_a_person(), on=["call_id", "method", "success"], how="left", nulls_equal=True)
    return (
        judged.group_by("method")
        .agg(
            pl.len().alias("calls"),
            pl.col("success").is_not_null().sum().alias("spoke"),
            (pl.col("success") == pl.lit(value=False)).sum().alias("of a failure"),
            pl.col("is_right").is_not_null().sum().alias("read"),
            (pl.col("is_right") == pl.lit(value=True)).sum().alias("right"),
        )
        .sort("method")
    )


def main() -> None:
    """Print the table."""
    if not CALLS.is_file():
        print("the real logs are not beside the checkout", file=sys.stderr)
        return
    with pl.Config(tbl_cols=-1):
        print(spoken_and_right())


if __name__ == "__main__":
    main()
