"""`used/2`, `used/1` by compiled loops: to the last bit what the plain way says, whatever the texts, however many."""

from __future__ import annotations

import random
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import IS_THOROUGH
from used_rows import DAY, NOTES, interactions, notes, pool

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.used import compiled as used_compiled
from slowwave.transforms.evidence.used import left_projects
from slowwave.transforms.evidence.used import memories as used
from slowwave.transforms.evidence.used.compiled import compilable
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.vocabulary import Vocabulary, word_points
from slowwave.transforms.evidence.used.word_matches import word_forms
from slowwave.transforms.language.terms import gram_counts, word_counts
from slowwave.transforms.language.word_runs import WORD

ALL = UsedParams(threshold=0.0001)
STRANGE = [
    "", " \n", "\u0000", "a\u0301" * 300, "𒀀𒀁", "ﷺ", "İ" * 40, "\u202etxet", "'; DROP TABLE memories; --", "\ud7ff",
    "ß ẞ", "数据库" * 200, "x", "ΑΣ ας ΟΔΥΣΣΕΥΣ'Δ", "Ⅷ ⅷ ² ½", "a" * 2000, "1234f5678c 10.0.3.7 8443", "naïve café",
    "переноса строки", "🎉 ok", "ǅ ǆ", "don't DON'T",
]  # fmt: skip
WORDS = [word for text in [*NOTES, *STRANGE] for word in text.split()] + [f"w{n}" for n in range(60)]
texts = st.one_of(
    st.sampled_from([*STRANGE, *NOTES]),
    st.text(max_size=40),
    st.lists(st.sampled_from(WORDS), max_size=90).map(" ".join),
    st.lists(st.sampled_from([*WORDS, ".", "x!\n", "。"]), min_size=60, max_size=200).map(" ".join),
)
moments = st.integers(0, 23).map(lambda hour: DAY + timedelta(hours=hour))


def both_ways(asked: pl.DataFrame, memories: pl.DataFrame, params: UsedParams = ALL) -> pl.DataFrame:
    """What is found, the same both ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(used, "_COMPILED_BYTES", 2**60)
        plain = used.used_memories(asked, memories, word_vectors, params)
        patch.setattr(used, "_COMPILED_BYTES", 0)
        compiled = used.used_memories(asked, memories, word_vectors, params)
    columns = plain.columns
    assert compiled.sort(columns).equals(plain.sort(columns))
    return plain


def drawn_texts(count: int, seed: int, words: int = 40) -> list[str]:
    """Texts of common and rare words, numbers and names."""
    chance = random.Random(seed)
    known = [*WORDS, *("".join(chance.choices("abdegiklmnoprstuvz", k=chance.randint(2, 9))) for _ in range(400))]
    known += [word.title() for word in known[:100]] + [str(chance.randrange(10_000)) for _ in range(50)]
    weights = [1 / (place + 3) for place in range(len(known))]
    return [" ".join(chance.choices(known, weights, k=chance.randint(3, words))) for _ in range(count)]


def _rare(number: int) -> str:
    """Words that come once."""
    return " ".join(f"rare{number}x{nth}" for nth in range(15))


def test_the_loops_can_be_compiled():
    assert compilable(word_vectors) is not None
    assert compilable(word_vectors.__call__) is None


@given(st.data())
def test_strange_texts_spans_and_duplicates(data):
    rows = data.draw(st.lists(st.tuples(texts, texts, texts, st.sampled_from("pq"), moments), max_size=6))
    asked = [
        {"interaction_id": f"i{n}", "prompt": p, "response": a, "response_summary": s, "project": q, "occurred_at": at}
        for n, (p, a, s, q, at) in enumerate(rows)
    ]
    held = []
    for n, text in enumerate(data.draw(st.lists(texts, max_size=40))):
        start, end = data.draw(moments), data.draw(st.one_of(st.none(), moments))
        project = data.draw(st.sampled_from(["p", "q", ""]))
        held.append(
            {
                "memory_id": f"m{data.draw(st.integers(0, n))}", "content": text, "project": project,
                "is_global": not project, "valid_from": start, "valid_until": end,
            }
        )  # fmt: skip
    params = ALL.model_copy(
        update={
            "candidates": data.draw(st.sampled_from([1, 2, 5, 32])),
            "code_points": data.draw(st.sampled_from([100, 20_000])),
            "method": data.draw(st.sampled_from(["used/1", "used/2", "used/2"])),
        }
    )
    both_ways(interactions(*asked), pool(*held), params)


@pytest.mark.parametrize("memories", [0, 1, 31, 32, 33, 1000])
def test_any_number_of_memories(memories):
    held = [{"memory_id": f"m{n:04}", "content": text} for n, text in enumerate(drawn_texts(memories, 1, 25))]
    asked = [
        {"interaction_id": f"i{n}", "prompt": text, "response": answer}
        for n, (text, answer) in enumerate(zip(drawn_texts(40, 2), drawn_texts(40, 3, 200), strict=True))
    ]
    found = both_ways(interactions(*asked), pool(*held))
    assert found.is_empty() == (memories == 0)


def test_huge_texts_and_memories_of_many_words():
    long = " ".join(drawn_texts(3000, 4))
    held = [*notes(), {"memory_id": "long", "content": long[:60_000]}, {"memory_id": "rare", "content": long[-4_000:]}]
    asked = [
        {"interaction_id": "a", "response": long},
        {"interaction_id": "b", "prompt": long[5_000:], "response": "é" * 1_000_000},
        {"interaction_id": "c", "response": f"{NOTES[0]} {NOTES[3]}"},
    ]
    assert both_ways(interactions(*asked), pool(*held)).height


def test_long_memories_by_their_passages():
    """Some with equal passages, in two projects and everybody's, eligible at times."""
    chance = random.Random(9)
    sentences = drawn_texts(150, 13, 20)
    held = [
        {
            "memory_id": f"m{n:03}",
            "content": ". ".join(chance.choices(sentences, k=chance.choice([1, 1, 6, 20]))),
            "project": "pq"[n % 2],
            "is_global": n % 7 == 0,
            "valid_until": DAY + timedelta(hours=12 + n % 3) if n % 5 == 0 else None,
        }
        for n in range(120)
    ]
    asked = [
        {"interaction_id": f"i{n:03}", "response": text, "prompt": sentences[n], "project": "pqr"[n % 3]}
        for n, text in enumerate(drawn_texts(60, 14, 60))
    ]
    asked += [
        {"interaction_id": f"s{n:03}", "response": text, "project": "pqr"[n % 3]} for n, text in enumerate(sentences)
    ]
    found = both_ways(interactions(*asked), pool(*held))
    assert found.select(pl.col("passage").is_null().mean()).item() < 0.8
    assert found["passage"].null_count() > 0
    assert both_ways(interactions(*asked), pool(*held), UsedParams()).height
    whole = both_ways(interactions(*asked), pool(*held), ALL.model_copy(update={"method": "used/1"}))
    assert not whole.equals(found)


@pytest.mark.slow
@pytest.mark.parametrize("is_growing", [True, False])
def test_days_and_projects_together_are_as_each_alone(monkeypatch, is_growing):
    held = pool(
        *(
            {"memory_id": f"m{n}", "content": text.title(), "project": "pq"[n % 2], "is_global": n % 7 == 0}
            for n, text in enumerate(drawn_texts(60, 5, 25))
        )
    )
    asked = interactions(
        *(
            {"interaction_id": f"i{n:03}", "response": f"{text} {n}", "prompt": _rare(n), "project": "qpr"[n % 3]}
            for n, text in enumerate(drawn_texts(90, 6, 120))
        )
    )
    day = (pl.col("interaction_id").str.slice(1).cast(pl.Int64) % 4).alias("day")
    of_days = [held.head(15 * at) if is_growing else held.slice(at * 7) for at in range(4)]
    alone = pl.concat(
        [
            used.used_memories(of_day.drop("day"), of_days[at], word_vectors, ALL)
            for (at,), of_day in asked.with_columns(day).group_by("day")
        ]
    )
    columns = alone.columns
    pools = pl.concat([of_day.with_columns(pl.lit(at, pl.Int64).alias("day")) for at, of_day in enumerate(of_days)])
    monkeypatch.setattr(used, "_COMPILED_BYTES", 0)
    # parts end within a day, after it, and where words are forgotten: all, or but those of memories
    # and where lists are turned: always, never, or if that seems to be less work
    every = 1 if IS_THOROUGH else 3
    for size, kept, often, gain in (
        (4 * 2**20, 200_000, 4, 4),
        (1, 200_000, 1, 0),
        *[(1, 200_000, 4, 10**9)][:IS_THOROUGH],
        (2_000, 0, 1, 4),
        *((2_000, kept, 1, 10**9 * (kept % 100)) for kept in (400, 450, 500, 550, 600)[:: every - every // 2]),
        *((size, 200_000, 1 + size % 2, 10**9 * (size % 3)) for size in range(2_000, 9_000, 700 * every)),
    ):
        monkeypatch.setattr(used_compiled, "_BYTES_AT_ONCE", size)
        monkeypatch.setattr(used_compiled, "_WORDS_KEPT", kept)
        monkeypatch.setattr(used_compiled, "_OFTEN", often)
        monkeypatch.setattr(used_compiled, "_GAIN", gain)
        # what is kept of others, whose memories come first, changes nothing: some of these, or none
        for others in (pools, pools.with_columns(pl.col("content") + " once")):
            used.forget_words()
            used.used_memories_by_day(asked.with_columns(day).filter(day == 2), others.lazy(), word_vectors, ALL)
            for _ in range(2):
                together = used.used_memories_by_day(asked.with_columns(day), pools.lazy(), word_vectors, ALL)
                assert together.sort(columns).equals(alone.sort(columns))
    used.forget_words()


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("_MOST_COMMON", 0),
        pytest.param("_MOST_COMMON", 30, marks=pytest.mark.thorough),
        ("_MOST_ENTRIES", 50),
        pytest.param("_MOST_ENTRIES", 2_000, marks=pytest.mark.thorough),
        ("_FIRST_MEMORIES", 7),
        ("_PRODUCTS", 20_000),
        ("_GAIN", 0),
        ("_TURNED_AT_ONCE", 3),
    ],
)
def test_common_words_change_nothing(monkeypatch, name, most):
    """However many words of memories are common, and whether all that is like them fits in."""
    held = pool(
        *(
            {"memory_id": f"m{n}", "content": text, "project": "pqr"[n % 3]}
            for n, text in enumerate(drawn_texts(90, 11, 25))
        )
    )
    asked = interactions(
        *(
            {"interaction_id": f"i{n:03}", "response": text, "project": "pqr"[n % 3]}
            for n, text in enumerate(drawn_texts(90, 12, 120))
        )
    )
    monkeypatch.setattr(used_compiled, "_OFTEN", 1)
    used_compiled._idle.cache_clear()
    many = both_ways(asked, held)
    comparison = used_compiled._idle(word_vectors)[0]
    assert comparison._common.entries[1] > 50, "nothing was common"
    assert (comparison._run_of_common >= 0).any(), "no list was turned"
    monkeypatch.setattr(used_compiled, name, most)
    monkeypatch.setattr(used_compiled, "_MOST_PAIRS", 40_000)  # and in pieces
    used_compiled._idle.cache_clear()
    assert both_ways(asked, held).equals(many)
    used_compiled._idle.cache_clear()


@pytest.mark.parametrize(("bytes_kept", "are_kept"), [(2**27, 3), (0, 0)])
def test_projects_that_come_again_are_as_new_ones(monkeypatch, bytes_kept: int, are_kept: int) -> None:
    """Whatever was found of them before, with more memories, fewer or quite others."""
    held = pool(
        *(
            {"memory_id": f"m{n:03}", "content": text, "project": "pqr"[n % 3]}
            for n, text in enumerate(drawn_texts(120, 13, 25))
        )
    )
    asked = interactions(
        *(
            {"interaction_id": f"i{n:03}", "response": text, "project": "pqr"[n % 3]}
            for n, text in enumerate(drawn_texts(90, 14, 120))
        )
    )
    monkeypatch.setattr(used_compiled, "_OFTEN", 1)
    monkeypatch.setattr(left_projects, "_MOST_BYTES", bytes_kept)
    used_compiled._idle.cache_clear()
    for memories, answers in ((60, 0), (60, 30), (90, 30), (120, 60), (30, 0), (3, 60), (120, 0)):
        both_ways(asked[answers : answers + 30], held.head(memories))
        (comparison,) = used_compiled._idle(word_vectors)
        assert len(comparison._left._left) == are_kept
    used_compiled._idle.cache_clear()


def test_estimates_leave_nothing_out(monkeypatch):
    """With as few kept products as with many."""
    held = pool(*({"memory_id": f"m{n}", "content": text} for n, text in enumerate(drawn_texts(50, 7, 25))))
    asked = interactions(*({"interaction_id": f"i{n}", "response": t} for n, t in enumerate(drawn_texts(60, 8, 120))))
    many = both_ways(asked, held)
    monkeypatch.setattr(used_compiled, "_PRODUCTS", 0)
    used_compiled._idle.cache_clear()
    assert both_ways(asked, held).equals(many)
    used_compiled._idle.cache_clear()


@given(st.lists(texts, max_size=30))
def test_words_and_their_forms_are_those_of_the_plain_way(given_texts):
    series = pl.Series(given_texts, dtype=pl.String)
    counts = word_counts(series)
    token_vectors = compilable(word_vectors)
    assert token_vectors is not None
    vocabulary = Vocabulary(token_vectors)
    found, ends = vocabulary.words_of(series)
    words = vocabulary.words(np.arange(len(vocabulary), dtype=np.int32)).to_list()
    assert sorted(words) == counts.words.to_list()
    for at in range(len(given_texts)):
        own = {words[place] for place in found[ends[at] : ends[at + 1]]}
        assert own == {counts.words[int(place)] for place in counts.matrix[[at]].indices}
        assert len(own) == ends[at + 1] - ends[at]
    forms = word_forms(pl.Series(words, dtype=pl.String), word_vectors)
    count = len(words)
    assert (vocabulary.vectors[:count] == forms.vectors).all()
    assert (vocabulary.signs[:count] == forms.signs).all()
    assert (vocabulary.prominence[:count] == forms.prominence).all()
    sides = np.rint(forms.vectors * vocabulary.scale[:count, None])
    assert (sides == forms.directions).all()
    for at in range(count):
        row = forms.grams[[at]]
        own = slice(vocabulary.gram_ends[at], vocabulary.gram_ends[at + 1])
        assert (vocabulary.grams[own] == row.indices).all()
        assert (vocabulary.gram_counts[own] == row.data).all()


def test_what_is_lower_case_stays_as_it_is():
    """So a word of a lower-cased text is its own lower case, as `gram_counts` takes it to be."""
    points = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    lowered = pl.Series(points).str.to_lowercase()
    assert lowered.str.to_lowercase().equals(lowered)
    assert (gram_counts(lowered.head(5_000)) != gram_counts(lowered.head(5_000).str.to_lowercase())).nnz == 0


def test_words_are_of_the_code_points_that_polars_says():
    points = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    said = pl.Series([chr(point) for point in points]).str.contains(f"^{WORD}$").to_numpy()
    assert (word_points()[points] == said).all()


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=300), max_size=20))
def test_tokens_are_those_of_the_tokenizer(words):
    raw = [word.encode() for word in words]
    text, ends = np.frombuffer(b"".join(raw), np.uint8).copy(), np.cumsum([0, *map(len, raw)])
    tokens, token_ends = word_vectors.tokens(text, ends)
    plain, plain_ends = word_vectors._tokenize_words(words)
    assert tokens.tolist() == plain.tolist()
    assert token_ends.tolist() == plain_ends.tolist()
