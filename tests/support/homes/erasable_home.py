"""A home in which what one user said stands in every place where it can, and an eye of its own to look for it."""

from __future__ import annotations

import gzip
import json
import sqlite3
import tarfile
from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl
import zstandard
from small_home import Row, SmallHome, interaction, memory, outcome

AS_OF = datetime(2026, 3, 20)  # noqa: DTZ001 - times are naive and hold UTC everywhere
USER, SESSION, ASKED, KEPT = "user-ada", "session-ada", "asked-ada", "known-of-ada"
TOLD = "Under the third flagstone of the courtyard lies the tin with the spare key."
COMMON = "Every release is announced in the channel of the team before noon."


def ada(number: int, **fields: object) -> Row:
    """An interaction of the user who goes."""
    of = {"user_id": USER, "session_id": SESSION, "created_at": f"2026-03-0{2 + number}T09:00:00Z"}
    prompt = f"{COMMON} {TOLD} Which one is it, number {number}?"
    return interaction(f"{ASKED}-{number}", **of, prompt=prompt, response=TOLD, **fields)


def bob(number: int, **fields: object) -> Row:
    """An interaction of another user, who says some of the same and was given a memory of the one who goes."""
    of = {"user_id": "user-bob", "session_id": "session-bob", "created_at": f"2026-03-0{2 + number}T11:00:00Z"}
    return interaction(f"asked-bob-{number}", **of, prompt=f"{COMMON} What now, {number}?", **fields)


OF_ADA: list[Row] = [
    *(ada(number, success=number % 2 == 0) for number in range(4)),
    outcome(
        "ended-ada",
        interaction_id=f"{ASKED}-1",
        strategy="look under the flagstone",
        error_message=TOLD,
        success=False,
    ),
    memory(KEPT, user_id=USER, content=TOLD),
    memory(f"{KEPT}-2", user_id=USER, content=f"{TOLD} Tell nobody.", changed_at="2026-03-02T08:00:00Z"),
]
OF_BOB: list[Row] = [
    *(bob(number, memories_used=["known-of-bob"], success=True) for number in range(4)),
    outcome("ended-bob", interaction_id="asked-bob-1", strategy="ask", success=True),
    memory("known-of-bob", content=COMMON),
]
REFUSED = json.dumps({"interaction_id": f"{ASKED}-9", "user_id": USER, "prompt": TOLD, "created_at": "soon"})


def erasable(home: SmallHome) -> SmallHome:
    """The home, published, with answers, exports and all else that holds what the user said."""
    home.land(*OF_ADA, *OF_BOB, REFUSED, {"interaction_id": "bad-bob", "prompt": "Later", "created_at": "later"})
    _land_cut(home)
    home.nightly(datetime(2026, 3, 4))  # noqa: DTZ001
    home.nightly(AS_OF)
    for command in (
        ("memory", "archive", KEPT, "--yes", "--reason", TOLD),
        ("sql", "SELECT 1 AS one", "--as-of", "2026-03-05"),
        ("report",),
        ("inspect", "export", "--to", str(home.folder / "export")),
        ("inspect", "export", "memory_health", "--format", "csv", "--to", str(home.folder / "export")),
    ):
        done = home.ask(*command)
        assert done.returncode == 0, done.stderr
    inbox = home.folder / "inbox"
    inbox.mkdir(exist_ok=True)
    (inbox / "late.jsonl").write_text(json.dumps(ada(5)) + "\n")
    _write_imports(home.folder / "lake" / "imports")
    (home.folder / "prefect").mkdir()
    with sqlite3.connect(home.folder / "prefect" / "prefect.db") as connection:
        connection.execute("CREATE TABLE log (message TEXT)")
        connection.execute("INSERT INTO log VALUES (?)", [f"an audit failed, for example {ASKED}-1: {TOLD}"])
    connection.close()
    return home


def _land_cut(home: SmallHome) -> None:
    """A packed file that breaks off: its bytes are kept."""
    packed = gzip.compress("".join(f"{json.dumps(ada(at))}\n" for at in (6, 7)).encode(), mtime=0)
    path = home.folder.parent / f"{home.folder.name}-cut.jsonl.gz"
    path.write_bytes(packed[:-12])
    done = home.ask("land", str(path), "--max-refused", "1")
    assert done.returncode in {0, 1}, done.stderr


def _write_imports(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    mine, other = ({"session": session, "turns": {f"{session}-turn": 0}} for session in (SESSION, "session-bob"))
    entry = {"state": {}, "reading": {}, "regained": {}}
    (folder / "pi.json").write_text(json.dumps({"a": {**entry, "outline": mine}, "b": {**entry, "outline": other}}))
    lines = [f"k{at}\ta\t\ti\t0\t{json.dumps({'text': text})}\n" for at, text in enumerate((TOLD, COMMON))]
    (folder / "otlp.parts").write_bytes(zstandard.compress("".join(lines).encode()))
    seen = {
        "version": 1,
        "memories": {KEPT: [0, True, {}, []], "known-of-bob": [0, True, {}, []]},
        "rows": {},
        "stores": {},
    }
    (folder / "mem0.seen.zst").write_bytes(zstandard.compress(json.dumps(seen).encode()))


def places(folder: Path, *words: str) -> list[str]:
    """The files of a folder in which one of these words stands, by a reader that is none of Slowwave's."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            said = path.name + _said(path)
            found += [str(path.relative_to(folder))] if any(word in said for word in words) else []
    return found


def _said(path: Path) -> str:
    raw = path.read_bytes()
    if raw.startswith(b"PAR1"):
        return str(pl.read_parquet(path).to_dicts())
    if raw[8:12] == b"DUCK":
        with duckdb.connect(path, read_only=True) as connection:
            tables = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            rows = [connection.execute(f'FROM "{name}"').fetchall() for (name,) in tables]
        return str(rows) + raw.decode("latin-1")
    if raw.startswith(b"\x28\xb5\x2f\xfd"):
        return zstandard.decompress(raw, max_output_size=2**24).decode()
    if raw.startswith(b"\x1f\x8b"):
        try:
            return gzip.decompress(raw).decode()
        except EOFError:
            return "cut"
    if tarfile.is_tarfile(path):
        return "archive"
    return raw.decode("utf-8", "replace")
