"""`used/3`: memories ranked beside their pool, from sparse products."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import polars as pl
from golden_tables import assert_golden
from hypothesis import given
from hypothesis import strategies as st
from used_rows import DAY, interactions, notes, pool

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.used import ranked_memories
from slowwave.transforms.evidence.used.memories import used_memories, used_memories_by_day
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.ranking import shared_stems
from slowwave.transforms.evidence.used.ranking.coefficients import COEFFICIENTS
from slowwave.transforms.evidence.used.ranking.pair_features import EVIDENCE, FEATURES
from slowwave.transforms.evidence.used.ranking.shared_stems import (
    shared_pairs,
    stem_rows,
    weighed_pool,
    weighed_texts,
)
from slowwave.transforms.evidence.used.ranking.stem_numbers import StemNumbers

# every pair that is compared, however unlikely
ALL = UsedParams(threshold=0.0001)
HANDBOOK = (
    "The staging port is 8443, not 8080, and it is only reached from inside. Deploy only after the smoke tests are "
    "green. Grace prefers tabs over spaces in Python files!\n- Customers in Norway are invoiced in kroner\n- The "
    "nightly backup of the orders database runs at 02:30 and takes forty minutes\n\nOk. The wiki is read-only while "
    "the migration is under way… Ada rewrote the billing importer to stream invoices in small batches. Fin."
)
LONG = {"memory_id": "handbook", "content": HANDBOOK}
OTHERS = [{"memory_id": f"x{n}", "content": f"Ticket {n} is about shelf {n * 7} in the cellar"} for n in range(40)]
ASKED = [
    {"interaction_id": "port", "prompt": "Which port?", "response": "Staging listens on port 8443 now, not on 8080."},
    {
        "interaction_id": "backup",
        "prompt": "When does the backup run?",
        "response": "At half past two each night; backing up the orders database takes 40 minutes.",
    },
    {"interaction_id": "search", "prompt": "Search?", "response": "Linus moved the index to Lucene in spring."},
    {"interaction_id": "talk", "prompt": "Hello", "response": "Ça va?"},
]


def used(rows, memories, **params):
    return used_memories(interactions(*rows), pool(*memories), word_vectors, ALL.model_copy(update=params))


def find_sure(rows, memories, threshold):
    """The ids of the memories that count as used at a threshold."""
    return used(rows, memories, threshold=threshold).drop_nulls("used_method")["memory_id"].to_list()


def best(frame):
    ranked = frame.sort("interaction_id", "used_score", descending=[False, True]).group_by("interaction_id").first()
    return dict(ranked.select("interaction_id", "memory_id").rows())


def test_golden():
    assert_golden(used(ASKED, [LONG, *notes(), *OTHERS[:5]]), "used-3/used_memories")


def test_the_memory_that_an_answer_relies_on_stands_out():
    found = used(ASKED, [*notes(), *OTHERS])
    assert best(found) == {"port": "m0", "backup": "m4", "search": "m6"}
    assert found["used_method"].unique().to_list() == ["used/3"]
    sure = used(ASKED, [*notes(), *OTHERS], threshold=0.5).drop_nulls("used_method")
    assert {("port", "m0"), ("backup", "m4"), ("search", "m6")} >= set(
        sure.select("interaction_id", "memory_id").rows()
    )
    assert sure.height >= 2


def test_what_shares_nothing_is_not_compared():
    assert used([ASKED[3]], notes()).is_empty()
    assert used(
        [{"interaction_id": "i", "prompt": "The staging port is 8443", "response": "Ça va?"}], notes()
    ).is_empty()


def test_a_long_memory_stands_for_its_nearest_passage_once():
    found = used(ASKED, [LONG, *OTHERS])
    assert found.n_unique(["interaction_id", "memory_id"]) == found.height
    told = {row["interaction_id"]: row for row in found.filter(memory_id="handbook").to_dicts()}
    assert told["port"]["passage"].startswith("The staging port")
    assert told["backup"]["passage"].startswith("- The nightly backup")
    for row in told.values():
        assert HANDBOOK[row["passage_at"] :].startswith(row["passage"])


def test_only_eligible_memories_are_found_and_stand_beside_others():
    late = DAY + timedelta(hours=13)
    rows = [row | {"valid_from": late} if row["memory_id"] == "m0" else row for row in notes()]
    found = used([ASKED[0]], rows)
    assert "m0" not in found["memory_id"]
    gap = [{"memory_id": "m0", "content": notes()[0]["content"], "valid_until": DAY + timedelta(hours=11)}]
    again = [{"memory_id": "m0", "content": notes()[0]["content"], "valid_from": DAY + timedelta(hours=12)}]
    assert "m0" not in used([ASKED[0]], [*gap, *notes()[1:]])["memory_id"]
    assert "m0" in used([ASKED[0]], [*gap, *again, *notes()[1:]])["memory_id"]


words = st.sampled_from(["staging", "port", "backup", "nightly", "orders", "Norway", "invoices", "tabs", "the"])
sentences = st.lists(words, min_size=3, max_size=12).map(" ".join)


@given(
    st.lists(st.tuples(sentences, sentences, st.sampled_from("pq"), st.integers(0, 1)), min_size=1, max_size=4),
    st.lists(st.tuples(sentences, st.sampled_from("pq"), st.integers(0, 1)), min_size=1, max_size=12),
    st.integers(1, 4),
)
def test_any_split_finds_the_same(asked, memories, size):
    rows = interactions(
        *({"interaction_id": f"i{n}", "prompt": q, "response": a, "project": p} for n, (q, a, p, _) in enumerate(asked))
    ).with_columns(pl.Series("day", [day for *_, day in asked], pl.Int32))
    held = pool(
        *({"memory_id": f"m{n}", "content": text, "project": p} for n, (text, p, _) in enumerate(memories))
    ).with_columns(pl.Series("day", [day for *_, day in memories], pl.Int32))
    together = used_memories_by_day(rows, held.lazy(), word_vectors, ALL)
    alone = [used_memories_by_day(one, held.lazy(), word_vectors, ALL) for one in rows.reverse().iter_slices(1)]
    assert pl.concat(alone).sort("interaction_id", "memory_id").equals(together)
    before = shared_stems._SHARED_AT_ONCE, ranked_memories._DOCUMENTS_AT_ONCE, ranked_memories._BYTES_AT_ONCE
    try:
        shared_stems._SHARED_AT_ONCE, ranked_memories._DOCUMENTS_AT_ONCE, ranked_memories._BYTES_AT_ONCE = size, 1, 99
        assert used_memories_by_day(rows, held.lazy(), word_vectors, ALL).equals(together)
    finally:
        shared_stems._SHARED_AT_ONCE, ranked_memories._DOCUMENTS_AT_ONCE, ranked_memories._BYTES_AT_ONCE = before


def compare_both_ways(rows, held, params):
    """What is found plainly; asserts that the compiled loops find the same."""
    plain = used_memories_by_day(rows, held.lazy(), word_vectors, params)
    before = ranked_memories.COMPILED_BYTES
    try:
        ranked_memories.COMPILED_BYTES = 0
        assert used_memories_by_day(rows, held.lazy(), word_vectors, params).equals(plain)
    finally:
        ranked_memories.COMPILED_BYTES = before
    return plain


odd_words = st.sampled_from(
    ["a", "ÄÖ", "Straße", "ΟΔΟΣ", "İstanbul", "端口八千", "don't", "x_1", "É", "naïvely", "🎉", "deployed"]
)
odd_texts = st.lists(words | odd_words, max_size=12).map(" ".join) | st.text(max_size=30)


@given(
    st.lists(st.tuples(odd_texts, odd_texts, st.sampled_from("pq"), st.integers(0, 1)), min_size=1, max_size=6),
    st.lists(st.tuples(odd_texts, st.sampled_from("pqg"), st.integers(0, 1), st.integers(0, 24)), max_size=30),
    st.integers(1, 4),
    st.sampled_from([1, 2, 500_000]),
)
def test_compiled_loops_find_the_same(asked, memories, candidates, documents):
    rows = interactions(
        *({"interaction_id": f"i{n}", "prompt": q, "response": a, "project": p} for n, (q, a, p, _) in enumerate(asked))
    ).with_columns(pl.Series("day", [day for *_, day in asked], pl.Int32))
    held = pool(
        {"memory_id": "handbook", "content": HANDBOOK, "project": "p"},
        *(
            {"memory_id": f"m{n // 2}", "content": text, "project": p, "is_global": p == "g"}
            | {"valid_from": DAY + timedelta(hours=at)}
            for n, (text, p, _, at) in enumerate(memories)
        ),
    ).with_columns(pl.Series("day", [0, *(day for *_, day, _ in memories)], pl.Int32))
    before = ranked_memories._DOCUMENTS_AT_ONCE
    try:
        ranked_memories._DOCUMENTS_AT_ONCE = documents
        compare_both_ways(rows, held, ALL.model_copy(update={"candidates": candidates, "min_words": 1}))
    finally:
        ranked_memories._DOCUMENTS_AT_ONCE = before


def test_compiled_loops_make_room_as_words_come():
    texts = [" ".join(f"w{n * 97 + at * 31}x{at}" for at in range(200)) for n in range(300)]
    rows = interactions(*({"interaction_id": f"i{n}", "response": text} for n, text in enumerate(texts)))
    held = pool(*({"memory_id": f"m{n}", "content": text[: 200 + n]} for n, text in enumerate(texts)))
    day = pl.lit(0).alias("day")
    assert compare_both_ways(rows.with_columns(day), held.with_columns(day), ALL).height > 300


@given(st.lists(sentences, min_size=1, max_size=5), st.lists(sentences, min_size=1, max_size=12))
def test_products_are_what_texts_have_in_common(given_texts, contents):
    numbers = StemNumbers(word_vectors)
    held, texts = (stem_rows(numbers.number_texts(pl.Series(of)).stems) for of in (contents, given_texts))
    weighed = weighed_pool(held, np.zeros(len(contents), np.int64), 1)
    text = weighed_texts(texts, np.zeros(len(given_texts), np.int64), weighed)
    found = {}
    for pairs in shared_pairs(text, text, text, weighed):
        pair = zip(pairs.row.tolist(), pairs.document.tolist(), strict=True)
        found |= dict(zip(pair, zip(pairs.answer.weights, pairs.answer.squares, strict=True), strict=True))
    stems = [set(held[[at]].indices.tolist()) for at in range(len(contents))]
    expected = {}
    for row in range(len(given_texts)):
        for document, own in enumerate(stems):
            times = [sum(stem in other for other in stems) for stem in own & set(texts[[row]].indices.tolist())]
            weights = [
                max(round(16 * float(np.log((len(stems) + 1) / (count + 0.5)))), 1) for count in times if count <= 8
            ]
            if weights:
                expected[row, document] = (sum(weights), sum(weight**2 for weight in weights))
    assert found == expected


def test_every_feature_has_a_coefficient_and_no_evidence_counts_against_a_use():
    assert tuple(COEFFICIENTS) == FEATURES
    assert min(COEFFICIENTS[name] for name in EVIDENCE) >= 0


def test_memories_that_differ_in_a_name_are_told_apart():
    stages = ["amber", "basil", "cedar", "delta", "ember", *(f"number {n}" for n in range(40))]
    for count in (2, 3, 5, 45):
        alike = [{"memory_id": name, "content": f"The port of {name} is never open"} for name in stages[:count]]
        asked = {"interaction_id": "i", "response": "The port of basil is never open"}
        assert find_sure([asked], alike, 0.3) == ["basil"]


def test_a_small_pool_does_not_make_an_answer_about_something_else_a_use():
    talk = {"interaction_id": "i", "response": "The weather in Oslo is mild, and the trains run on time again."}
    for count in range(1, 6):
        assert find_sure([talk], notes()[:count], 0.1) == []
