# ruff: noqa: RUF001 - letters that look like others are what is tested
"""The matcher, compiled and not, against its plain definition: on hostile, empty and huge texts, and on real ones."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from types import ModuleType
from unittest import mock

import memory_model as model
import polars as pl
import pytest
import real_rows
from hypothesis import example, given
from hypothesis import strategies as st

from slowwave.data.sample import sample_files
from slowwave.flows.land.formats.delivery import chunks
from slowwave.transforms.evidence.echo import echo, echo_kernel
from slowwave.transforms.evidence.echo.echo import echo_matches, echo_pattern
from slowwave.transforms.evidence.params import EvidenceParams
from slowwave.transforms.landing.landed_rows import readable_rows

Matcher = Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]
Texts = list[tuple[str, str | None]]
Patterns = list[tuple[str | None, str]]


def plain(texts: pl.DataFrame, patterns: pl.DataFrame) -> pl.DataFrame:
    with mock.patch.object(echo, "kernel", return_value=None):
        return echo_matches(texts, patterns)


def compiled(texts: pl.DataFrame, patterns: pl.DataFrame) -> pl.DataFrame:
    least = mock.patch.multiple(echo, KERNEL_FROM_BYTES=0, _FURTHER_BYTES=0)
    with least, mock.patch.object(echo, "kernel", return_value=echo_kernel):
        return echo_matches(texts, patterns)


both = pytest.mark.parametrize("matches", [plain, compiled])

# White space, what only looks like it, letters whose lower case is longer, shorter or depends on its neighbours.
PIECES = [
    "a",
    "ab",
    " ",
    "  ",
    "\t\n",
    "\x85",
    "\xa0",
    "\u1680",
    "\u2003",
    "\u2028",
    "\u3000",
    "\u200b",
    "\x00",
    "\x1c",
]
PIECES += [
    "Σ",
    "σ",
    "ς",
    "İ",
    "i\u0307",
    "I",
    "ı",
    "ß",
    "ẞ",
    "Ⱥ",
    "Å",
    "K",
    "e\u0301",
    "Dž",
    "𝒳",
    "𐐀",
    "\U0010ffff",
    "漢",
]
pieces = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=30)
scopes = st.sampled_from(["", "p", "q"])
text_rows = st.lists(st.tuples(scopes, st.none() | pieces), min_size=1, max_size=6)
pattern_rows = st.lists(
    st.tuples(st.none() | scopes, pieces.map(model.normalised).filter(bool)), min_size=1, max_size=12, unique=True
)


def frames(texts: Texts, patterns: Patterns) -> tuple[pl.DataFrame, pl.DataFrame]:
    schema = {"text_id": pl.UInt32, "scope": pl.String, "text": pl.String}
    wanted = {"pattern_id": pl.UInt32, "scope": pl.String, "pattern": pl.String}
    return (
        pl.DataFrame([(n, *row) for n, row in enumerate(texts)], schema=schema, orient="row"),
        pl.DataFrame([(n, *row) for n, row in enumerate(patterns)], schema=wanted, orient="row"),
    )


def found_by(matches: Matcher, texts: Texts, patterns: Patterns) -> set[tuple[int, int]]:
    found = matches(*frames(texts, patterns))
    assert found.schema == {"text_id": pl.UInt32, "pattern_id": pl.UInt32}
    assert found.is_unique().all()
    return set(found.rows())


def expected(texts: Texts, patterns: Patterns) -> set[tuple[int, int]]:
    return {
        (t, p)
        for t, (scope, text) in enumerate(texts)
        for p, (pattern_scope, pattern) in enumerate(patterns)
        if text is not None and pattern_scope in {None, scope} and pattern in model.normalised(text)
    }


@both
@given(text_rows, pattern_rows)
@example([("p", "abba b")], [("p", "abb"), ("p", "bba"), ("p", "b"), (None, "ba b"), ("q", "abba"), (None, "abb")])
@example([("", None), ("", ""), ("p", " \u2003")], [("", "a")])
@example([("p", "ΟΔΟΣ. ΟΔΟΣΑ"), ("p", "οδος")], [("p", "οδος."), ("p", "σα"), ("p", "οδοσ")])
def test_what_is_found_is_what_stands_there(matches, texts, patterns):
    assert found_by(matches, texts, patterns) == expected(texts, patterns)


@given(text_rows, st.data())
def test_what_was_cut_out_of_a_text_is_found_in_it(texts, data):
    """Patterns drawn alone seldom stand in a text: these all do, and begin with one another."""
    patterns = set()
    for scope, text in texts:
        whole = model.normalised(text or "")
        if whole:
            begin = data.draw(st.integers(0, len(whole) - 1))
            patterns |= {(scope, whole[begin:end]) for end in range(begin + 1, len(whole) + 1)}
    if patterns:
        found = found_by(compiled, texts, sorted(patterns))
        assert found == expected(texts, sorted(patterns))


def test_every_code_point_folds_as_polars_lower_cases_it():
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    chars = pl.Series("text", list(map(chr, codes)))
    table = echo_kernel.folding()
    fold = [int(table[code]) if code < len(table) else 0 for code in codes]
    folded = [
        f.to_bytes(4, "little").rstrip(b"\0").decode() if f else chr(code) for code, f in zip(codes, fold, strict=True)
    ]
    between = pl.format("a{}b", "text")
    assert (
        folded == chars.to_frame().select(echo.normalise_text(between).str.slice(1)).to_series().str.head(-1).to_list()
    )
    # where a sigma asks for it, Polars lower-cases first, and what it made must stay
    lower = chars.str.to_lowercase()
    assert (lower.str.to_lowercase() == lower).all()


@both
def test_an_answer_of_megabytes_with_a_pattern_at_either_end_and_across_every_seam(matches):
    rng = random.Random(1)
    filler = "".join(rng.choices("ab ÄΩ漢\n", k=1_500_000))
    ends = ["first of all this", "and this comes last"]
    seams = [f"{place} stands at the seam" for place in range(1000, 1100)]
    text = f" {ends[0]} " + " ".join(seams) + filler + f"\t{ends[1].upper()} "
    patterns: Patterns = [("p", one) for one in [*ends, *seams, "nowhere to be found"]]
    assert found_by(matches, [("p", text)], patterns) == {(0, n) for n in range(len(patterns) - 1)}


@both
def test_thousands_that_begin_alike_are_told_apart(matches):
    same = "the user prefers the following setting in every project: "
    patterns: Patterns = [("p", f"{same}{n}") for n in range(3000)]
    patterns += [(None, f"{same}{n}") for n in range(0, 3000, 7)]
    patterns += [("p", same[:length].rstrip()) for length in range(12, 58, 11)]
    texts: Texts = [("p", f"Now {same.upper()}  {n}.") for n in (0, 7, 29, 2999, 3000)]
    texts += [("p", same * 3), ("q", f"{same}14 and {same}15"), ("p", same[:-9])]
    assert found_by(matches, texts, patterns) == expected(texts, patterns)


@both
def test_more_matches_than_there_is_room_for_at_first(matches):
    patterns: Patterns = [("p", f"memory {n:04} of many") for n in range(2500)]
    everything = " ".join(pattern for _, pattern in patterns)
    found = found_by(matches, [("p", everything), ("q", everything), ("p", everything)], patterns)
    assert found == {(text, n) for text in (0, 2) for n in range(2500)}


@both
def test_texts_and_patterns_that_are_slices_of_larger_columns(matches):
    texts, patterns = frames([("p", f"number {n} it is") for n in range(50)], [("p", f"number {n}") for n in range(50)])
    found = matches(texts.slice(20, 10), patterns.slice(25, 20))
    assert set(found.rows()) == {(n, n) for n in range(25, 30)}


@pytest.mark.parametrize(("is_any_loaded", "least"), [(False, echo.KERNEL_FROM_BYTES), (True, echo._FURTHER_BYTES)])
def test_a_few_texts_are_searched_without_what_is_compiled(monkeypatch, is_any_loaded: bool, least: int):
    def refused(name: str) -> ModuleType:
        raise AssertionError(name)

    monkeypatch.setattr(echo, "kernel", refused)
    monkeypatch.setattr(echo, "is_any_loaded", lambda: is_any_loaded)
    assert found_by(echo_matches, [("p", "x" * (least // 2))], [("p", "few words")]) == set()
    assert found_by(echo_matches, [("p", "a few words")], [("p", "few words"), ("q", "a few")]) == {(0, 0)}
    assert found_by(echo_matches, [("p", "a few words")], [("q", "few words")]) == set()
    with pytest.raises(AssertionError, match="echo_kernel"):
        found_by(echo_matches, [("p", "x" * least)], [("p", "few words")])


def _equal_on(texts: pl.DataFrame, contents: pl.DataFrame) -> int:
    """Compare both matchers; returns how many matches there are."""
    pattern = echo_pattern(pl.col("content"), EvidenceParams()).alias("pattern")
    patterns = contents.select("scope", pattern).drop_nulls("pattern").unique().sort("scope", "pattern")
    asked = texts.with_row_index("text_id"), patterns.with_row_index("pattern_id")
    plainly, at_speed = (matches(*asked).sort("text_id", "pattern_id") for matches in (plain, compiled))
    assert at_speed.equals(plainly)
    return plainly.height


def test_both_find_the_same_in_the_sample():
    landed = [
        readable_rows(chunk.rows)
        for file in sample_files(days=6, interactions_per_day=60)
        for chunk in chunks(io.BytesIO(file.content), file.name)
    ]
    asked = pl.concat([rows.interactions for rows in landed])
    memories = pl.concat([rows.memories for rows in landed])
    texts = [asked.select(scope="project", text=name) for name in ("prompt", "response", "response_summary")]
    assert _equal_on(pl.concat(texts), memories.select(scope=pl.col("project").fill_null(""), content="content")) > 50


@pytest.mark.shared_data
@pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout")
def test_both_find_the_same_in_real_logs():
    memories = pl.DataFrame(real_rows.memory_rows()).select(scope="project", content="content")
    turns = pl.DataFrame(real_rows.turn_rows(), infer_schema_length=None).select(scope="project", text="response")
    # dialogues seldom repeat a memory word for word, so some turns are given one, and some memories hold everywhere
    told = memories.sample(500, seed=1).select(
        "scope", text=pl.format("So: {}\n!", pl.col("content").str.to_uppercase())
    )
    everywhere = memories[::7].with_columns(scope=pl.lit(None, pl.String))
    assert _equal_on(pl.concat([turns, told]), pl.concat([memories, everywhere])) >= 500
