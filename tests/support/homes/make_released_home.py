"""Make a home as a release leaves it, with that release's own command: `python make_released_home.py SLOWWAVE FOLDER`.

Six days of two projects, landed on two nights: memories that change, answers that echo them, outcomes inside
interactions and beside them, a late row, a newer version, fields that no contract knew, quarantined rows, a candidate
promoted, and a hold.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_DAYS = ("01", "02", "03", "04", "05", "06")
_MEMORIES = (
    ("m-prices", "shop", "Prices are integers of the smallest coin, never floating point numbers."),
    ("m-tests", "shop", "Run the checkout tests with the fake payment provider only."),
    ("m-deploy", "shop", "Deployments happen on Tuesday mornings after the nightly backup."),
    ("m-logs", "ops", "Logs are kept for thirty days and rotated every night at two."),
    ("m-alerts", "ops", "Alerts about disk space go to the on-call channel, not by mail."),
    ("m-style", "", "The user prefers short answers with one example at the end."),
)
_STRATEGIES = ("run the tests first", "read the log before editing", "restart the service")


def memories() -> list[Row]:
    """Changes of memories, some with fields that the contract of the time did not know."""
    rows: list[Row] = [
        {
            "memory_id": memory_id,
            "changed_at": "2026-02-27T08:00:00Z",
            "status": "active",
            "memory_type": "preference" if not project else "knowledge",
            "project": project,
            "content": content,
            "confidence": 0.6,
            "source_ids": [f"note-{memory_id}"],
            "tags": ["kept", memory_id],
            "scope": "global" if not project else "project",
            "category": "how we work",
        }
        for memory_id, project, content in _MEMORIES
    ]
    changes: list[Row] = [
        {"memory_id": "m-deploy", "changed_at": "2026-03-03T12:00:00Z", "status": "superseded", "reason": "moved"},
        {"memory_id": "m-tests", "changed_at": "2026-03-04T07:30:00Z", "content": f"{_MEMORIES[1][2]} Always."},
        {"memory_id": "m-alerts", "changed_at": "2026-03-05T00:00:00Z", "pinned": True, "tags": ""},
        {"memory_id": "m-style", "changed_at": "2026-03-05T10:00:00Z", "confidence": 0.9, "scope": 7},
    ]
    return rows + changes


def interactions() -> list[Row]:
    """Eight interactions a day; most name what they were given, some repeat it in their answer."""
    rows = []
    for at, day in enumerate(_DAYS):
        for i in range(8):
            memory_id, project, content = _MEMORIES[(at + i) % len(_MEMORIES)]
            where = project or ("shop" if i % 2 else "ops")
            row: Row = {
                "interaction_id": f"i-{day}-{i}",
                "created_at": f"2026-03-{day}T{8 + i:02}:15:00Z",
                "project": where,
                "agent": "coder" if i % 3 else "helper",
                "session_id": f"s-{day}-{i // 4}",
                "user_id": "ada",
                "prompt": f"What do we know about {memory_id[2:]}, and what is next?",
                "response": f"{content} So the next step is clear." if i % 3 else "Nothing is known of it.",
                "memories_used": [memory_id] if i % 2 else [],
                "memories_offered": [{"id": memory_id, "rank": 1, "score": 0.75}] if i == 1 else None,
                "memories_cited": [memory_id] if i % 3 else None,
                "tokens": 100 + i,
                "temperature": 0.2,
            }
            if i % 4 == 1:
                row |= {
                    "success": (at + i) % 3 != 0,
                    "task_type": "coding",
                    "strategy": _STRATEGIES[i % 3],
                    "error_message": None if (at + i) % 3 else f"TimeoutError: no answer after {at + 5} s",
                    "duration_ms": 1500.0,
                    "basis": "evaluated",
                }
            if i == 2:
                row["response"] += "\n\nDecision: refunds are always written by the ledger service."
            rows.append(row)
    return rows


def outcomes() -> list[Row]:
    """An outcome beside every fourth interaction."""
    return [
        {
            "outcome_id": f"o-{day}-{i}",
            "interaction_id": f"i-{day}-{i}",
            "created_at": f"2026-03-{day}T{8 + i:02}:20:00Z",
            "task_type": "ops",
            "strategy": _STRATEGIES[(at + i) % 3],
            "success": (at + i) % 4 != 0,
            "basis": "reported",
        }
        for at, day in enumerate(_DAYS)
        for i in (3, 7)
    ]


def late_rows() -> list[Row]:
    """What the second night brings: a late row, a newer version that moves to another day, a duplicate."""
    first = interactions()
    moved = {**first[3], "created_at": "2026-03-02T08:01:00Z", "recorded_at": "2026-03-07T08:00:00Z"}
    late = {**first[5], "interaction_id": "i-late", "created_at": "2026-03-04T20:00:00Z"}
    return [moved, late, first[10]]


def deliveries() -> dict[str, list[Row | str]]:
    """Name and lines of every file, in order of delivery."""
    return {
        "memories.jsonl": [*memories()],
        "log.jsonl": [
            *interactions(),
            *outcomes(),
            '{"prompt": "cut sho',
            {"interaction_id": "x", "prompt": "no time"},
        ],
        "late.jsonl": [*late_rows()],
    }


def main(command: str, folder: Path) -> None:
    """Drive the release's command through two nights and the decisions between them."""
    environment = {**os.environ, "SLOWWAVE_HOME": str(folder)}

    def run(*arguments: str) -> str:
        done = subprocess.run([command, *arguments], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"slowwave {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    drops = deliveries()
    for names in (("memories.jsonl", "log.jsonl"), ("late.jsonl",)):
        (folder / "inbox").mkdir(parents=True, exist_ok=True)
        for name in names:
            lines = [line if isinstance(line, str) else json.dumps(line) for line in drops[name]]
            (folder / "inbox" / name).write_text("\n".join(lines) + "\n")
        run("nightly")
        if names[0] == "memories.jsonl":
            items = json.loads(run("review", "list", "--format", "json"))
            run("review", "promote", items[0]["item_id"], "--by", "ada", "--reason", "seen twice")
            run("forget", "hold", "m-logs", "--reason", "the audit needs it")
    current = (folder / "serving" / "current.duckdb").resolve().name
    for path in (folder / "serving" / "runs").glob("*.duckdb"):
        if path.name != current:
            path.unlink()
    for left in ("prefect", "reports", "inbox", "serving/as_of"):
        shutil.rmtree(folder / left, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
