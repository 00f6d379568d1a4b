"""Law 4: of every file, rows delivered = accepted + duplicate + quarantined; every refused row has a reason."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import polars as pl
import pytest
import zstandard
from each import each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thorough import examples

from slowwave.flows.land.quarantine import refused_rows
from slowwave.transforms.landing.ledger_tables import RunFiles
from tests.laws.deliveries import START, formats, jsonl, packed, row_hash
from tests.laws.deliveries import rows as delivered_rows
from tests.laws.home import Home
from tests.laws.model import Laws, Row

LINES = [b'{"interaction_id": "i%d", "created_at": "2024-03-01", "prompt": "What now?"}' % i for i in range(40)]
NOISE = [b'{"prompt": "%s", "created_at": "2024-03-02"}' % bytes(f"{i * i * 7919:x}" * 40, "ascii") for i in range(400)]
BAD = b'{"prompt": "", "created_at": "2024-03-01"}'


def parquet(count: int) -> bytes:
    out = io.BytesIO()
    ids = [f"p{number}" for number in range(count)]
    pl.DataFrame({"interaction_id": ids, "created_at": START, "prompt": "What now?"}).write_parquet(out)
    return out.getvalue()


# name: (content, delivered, accepted, duplicate, quarantined); None: at least one is accepted and just one is refused
CASES: dict[str, tuple[bytes, tuple[int, int, int, int] | None]] = {
    "empty.jsonl": (b"", (0, 0, 0, 0)),
    "empty.csv": (b"", (0, 0, 0, 0)),
    "empty.parquet": (b"", (1, 0, 0, 1)),
    "blank-lines.jsonl": (b"\n\n  \n\r\n", (0, 0, 0, 0)),
    "header-only.csv": (b"prompt,created_at\n", (0, 0, 0, 0)),
    "no-rows.parquet": (parquet(0), (0, 0, 0, 0)),
    "bom.jsonl": (b"\xef\xbb\xbf" + LINES[0] + b"\n" + LINES[1], (2, 2, 0, 0)),
    "bom.csv": (b"\xef\xbb\xbfprompt,created_at\r\nHello,2024-03-01\r\n", (1, 1, 0, 0)),
    "crlf.jsonl": (b"\r\n".join(LINES[:3]) + b"\r\n", (3, 3, 0, 0)),
    "only-bad.jsonl": (b"\n".join([BAD, b"{broken", b"null", b"[]", b"\xff"]), (5, 0, 0, 5)),
    "repeats.jsonl": (b"\n".join(LINES[:4] * 3 + [BAD, BAD]), (14, 4, 8, 2)),
    "broken-in-the-middle.jsonl": (b"\n".join([LINES[0], b'{"prompt": "x', LINES[1]]), (3, 2, 0, 1)),
    "quoted-newlines.csv": (b'prompt,created_at\n"two\nlines",2024-03-01\nshort\n', (2, 1, 0, 1)),
    "open-quote.csv": (b'prompt,created_at\nHello,2024-03-01\n"never closed,2024-03-01\n', (2, 1, 0, 1)),
    "same-column-twice.csv": (b"prompt,prompt,created_at\na,b,2024-03-01\nc,d,2024-03-01\n", (2, 0, 0, 2)),
    "whole.jsonl.gz": (gzip.compress(b"\n".join(LINES)), (40, 40, 0, 0)),
    "two-members.jsonl.gz": (gzip.compress(LINES[0] + b"\n") + gzip.compress(LINES[1]), (2, 2, 0, 0)),
    "no-gzip-at-all.jsonl.gz": (b"\x1f\x8bnot gzip", (1, 0, 0, 1)),
    "two-frames.jsonl.zst": (zstandard.compress(LINES[0] + b"\n") + zstandard.compress(LINES[1]), (2, 2, 0, 0)),
    "cut.jsonl.gz": (gzip.compress(b"\n".join(NOISE))[:-40], None),
    "cut.jsonl.zst": (zstandard.compress(b"\n".join(NOISE * 40), level=1)[:-40], None),
    "damaged.jsonl.gz": (gzip.compress(b"\n".join(NOISE))[:-8] + b"12345678", (1, 0, 0, 1)),
    "cut.parquet": (parquet(50)[:-10], (1, 0, 0, 1)),
    "damaged.parquet": (parquet(50)[:20] + b"\0" * 30 + parquet(50)[50:], (1, 0, 0, 1)),
    "with-and-without-outcome.jsonl": (
        LINES[0] + b'\n{"prompt": "b", "created_at": "2024-03-01", "success": true, "memories_used": ["m", "n"]}',
        (2, 2, 0, 0),
    ),
    "nul.jsonl": (b'{"prompt": "a\\u0000b", "created_at": "2024-03-01"}\n\x00\n', (2, 1, 0, 1)),
}


def accounted(home: Home) -> list[Row]:
    """The ledger of files, each beside the number of its rows in quarantine; the law holds for all of them."""
    files = home.lake.ledger(RunFiles).sort("landed_at", "run_id", "file_number").to_dicts()
    refused = refused_rows(home.lake)[0]
    assert (refused["reason"].str.len_chars() > 10).all()
    for file in files:
        assert file["delivered"] == file["accepted"] + file["duplicate"] + file["quarantined"], file["source"]
    first = {file["file_hash"]: file for file in reversed(files)}
    counted = dict(refused.group_by("file_hash").len().iter_rows())
    assert counted == {name: file["quarantined"] for name, file in first.items() if file["quarantined"]}
    return files


def counts(file: Row) -> tuple[int, int, int, int]:
    return file["delivered"], file["accepted"], file["duplicate"], file["quarantined"]


@each("name", CASES)
def test_every_row_of_a_file_is_accounted_for(new_home, name):
    home, (content, expected) = new_home(), CASES[name]
    home.drop(name, content)
    home.drop("good.jsonl", LINES[39])
    home.land_inbox()
    file, good = accounted(home)
    assert good["accepted"] + good["duplicate"] == 1
    if expected is None:
        assert file["accepted"] >= 1
        assert file["quarantined"] == 1
        (reason,) = refused_rows(home.lake)[0]["reason"]
        assert "cut short or damaged" in reason
    else:
        assert counts(file) == expected
    assert not list(home.settings.inbox.iterdir())


def test_all_files_at_once_and_once_more_under_other_names(home):
    for name, (content, _) in CASES.items():
        home.drop(name, content)
    for name, (content, _) in CASES.items():
        home.drop(f"twice-{name}", content)
    home.nightly(START)
    files = accounted(home)
    once, twice = files[: len(CASES)], files[len(CASES) :]
    assert [counts(file) for file in twice] == [(file["delivered"], 0, file["delivered"], 0) for file in once]
    before = refused_rows(home.lake)[0].height
    for name, (content, _) in CASES.items():
        home.drop(f"later-{name}", content)
    home.nightly(START)
    assert all(file["duplicate"] == file["delivered"] for file in accounted(home)[2 * len(CASES) :])
    assert refused_rows(home.lake)[0].height == before


def test_a_file_that_changed_while_it_was_landed_stays(home):
    home.drop("growing.jsonl", LINES[0] + b"\n")
    (path,) = home.settings.inbox.iterdir()

    def grow(_name, function, *arguments):
        result = function(*arguments)
        if not path.exists():
            path.write_bytes(LINES[0] + b"\n" + LINES[1] + b"\n")
        return result

    home.nightly(START, call=grow)
    home.nightly(START)
    assert [counts(file) for file in accounted(home)] == [(1, 1, 0, 0), (2, 1, 1, 0)]


def test_names_that_are_no_text_are_landed_too(home):
    home.settings.inbox.mkdir(parents=True)
    path = Path(str(home.settings.inbox) + "/caf\udce9-\x1b[31m.jsonl")
    path.write_bytes(LINES[0])
    home.drop("good.jsonl", LINES[1])
    home.nightly(START)
    assert sorted(counts(file) for file in accounted(home)) == [(1, 1, 0, 0), (1, 1, 0, 0)]


@settings(max_examples=examples(5, 12), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files=st.lists(st.tuples(delivered_rows(), formats), min_size=1, max_size=5))
def test_any_mix_is_accounted_for_as_the_model_says(tmp_path_factory, files):
    home, laws = Home(tmp_path_factory.mktemp("mix")), Laws(row_hash)
    expected = []
    for rows, form in files:
        suffix, content = packed(rows, form)
        home.drop(f"rows.{suffix}", content)
        result = laws.deliver(content, rows)
        expected.append((result.delivered, result.accepted, result.duplicate, result.quarantined))
    home.land_inbox()
    assert [counts(file) for file in accounted(home)] == expected


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_file_cut_anywhere_lands_its_complete_lines(home, share):
    whole = b"\n".join(NOISE)
    for name, content in {"a.jsonl.gz": gzip.compress(whole), "b.jsonl.zst": zstandard.compress(whole)}.items():
        home.drop(name, content[: int(len(content) * share)])
    home.drop("c.jsonl", jsonl([]) + whole[: int(len(whole) * share)])
    home.land_inbox()
    files = accounted(home)
    assert all(file["quarantined"] == 1 for file in files)
    assert files[2]["delivered"] == whole[: int(len(whole) * share)].count(b"\n") + 1
