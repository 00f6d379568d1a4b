"""Which memories an answer relied on, in other words."""

from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from used_rows import DAY, NOTES, interactions, notes, pool

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.used.memories import used_memories
from slowwave.transforms.evidence.used.params import UsedParams

PARAMS = UsedParams()
# every pair that is compared and touched, however unlikely
ALL = UsedParams(threshold=0.0001)
ANSWERS = [
    (
        "When does the backup run?",
        "It starts at half past two each night; backing up the orders database takes 40 minutes.",
    ),
    ("How do I deploy?", "Wait until the smoke tests pass, then deploy."),
    ("Which port?", "Staging listens on 8443."),
    ("Does Grace like tabs?", "Yes."),
    ("Hello", "Good morning! How can I help you today?"),
    (
        "What about invoices?",
        "Norwegian customers get their invoices in kroner. Ada streams them in small batches now.",
    ),
    ("Search?", "Linus said it is Lucene since spring, before that it was Solr."),
    ("Deploy only after the smoke tests are green", "Perhaps."),
]
ASKED = [{"interaction_id": f"i{n}", "prompt": q, "response": a} for n, (q, a) in enumerate(ANSWERS)]


def found(rows, memories, params=PARAMS):
    return used_memories(interactions(*rows), pool(*memories), word_vectors, params)


def pairs(frame):
    return set(frame.select("interaction_id", "memory_id").rows())


def test_a_retelling_is_found_and_small_talk_is_not():
    used = pairs(found(ASKED, notes()).filter(pl.col("used_method").is_not_null()))
    assert {("i0", "m4"), ("i2", "m0"), ("i6", "m6")} <= used
    assert not {interaction for interaction, _ in used} & {"i3", "i4", "i7"}


def test_a_prompt_that_holds_the_memory_does_not_count_without_the_answer():
    assert "i7" not in set(found(ASKED, notes(), ALL)["interaction_id"])


@given(st.permutations(range(len(ASKED))), st.permutations(range(len(NOTES))), st.integers(0, len(ASKED)))
def test_no_split_or_order_changes_what_is_found(asked, memories, cut):
    whole = found(ASKED, notes(), ALL)
    rows, held = [ASKED[n] for n in asked], [notes()[n] for n in memories]
    parts = pl.concat([found(rows[:cut], held, ALL), found(rows[cut:], held, ALL)])
    assert parts.sort("interaction_id", "memory_id").equals(whole)


def test_other_projects_change_nothing_and_their_memories_are_not_seen():
    other = [{"interaction_id": f"o{n}", "project": "q", "response": text} for n, text in enumerate(NOTES)]
    whole = found([*ASKED, *other], [*notes(), {"memory_id": "z", "project": "q", "content": NOTES[0]}], ALL)
    assert whole.filter(pl.col("interaction_id").str.starts_with("i")).equals(found(ASKED, notes(), ALL))
    assert set(whole.filter(pl.col("interaction_id").str.starts_with("o"))["memory_id"]) <= {"z"}


def test_blocks_of_a_big_project_are_judged_like_single_answers():
    memories = [
        *notes(),
        *({"memory_id": f"x{n}", "content": f"Ticket {n} is about shelf {n * 7}"} for n in range(300)),
    ]
    many = [{**row, "interaction_id": f"{row['interaction_id']}-{n:04}"} for n in range(400) for row in ASKED]
    whole = found(many, memories, ALL)
    one = found(ASKED, memories, ALL).select("memory_id", "used_score", interaction="interaction_id")
    each = whole.with_columns(pl.col("interaction_id").str.slice(0, 2).alias("interaction"))
    assert whole.height == 400 * one.height
    assert each.join(one, on=["interaction", "memory_id", "used_score"]).height == whole.height


@pytest.mark.parametrize(("second", "is_seen"), [(-1, False), (0, True), (59, True), (60, False)])
def test_only_what_was_eligible_then_counts(second, is_seen):
    held = notes()
    start = DAY.replace(hour=12)
    held[0] |= {"valid_from": start, "valid_until": start + timedelta(seconds=60)}
    asked = {**ASKED[2], "occurred_at": start + timedelta(seconds=second)}
    assert (("i2", "m0") in pairs(found([asked, ASKED[1]], held))) == is_seen


def test_stretches_of_one_memory_are_one_memory():
    held = notes()
    noon = DAY.replace(hour=12)
    early, late = held[0] | {"valid_until": noon}, held[0] | {"valid_from": noon}
    assert found(ASKED, [early, late, *held[1:]], ALL).equals(found(ASKED, held, ALL))


def test_a_global_memory_is_seen_in_every_project():
    held = [{**row, "is_global": True, "project": ""} for row in notes()]
    assert ("i2", "m0") in pairs(found(ASKED, held))


def test_the_summary_counts_as_answer():
    row = {**ASKED[2], "response": None, "response_summary": ASKED[2]["response"]}
    assert ("i2", "m0") in pairs(found([row], notes()))


def test_nothing_to_compare_finds_nothing():
    assert found([], notes()).is_empty()
    assert found(ASKED, []).is_empty()
    assert found(
        [{"interaction_id": "i", "response": text} for text in (None, "", " \n", "…?!")], notes(), ALL
    ).is_empty()


def test_an_answer_that_is_the_memory_scores_highest():
    repeated = [{"interaction_id": f"i{n}", "response": text} for n, text in enumerate(NOTES)]
    best = found(repeated, notes(), ALL).sort("used_score").group_by("interaction_id").last().sort("interaction_id")
    assert best["memory_id"].to_list() == [f"m{n}" for n in range(len(NOTES))]


STRANGE = [
    "\u0000",
    "a\u0301" * 300,
    "𒀀𒀁",
    "ﷺ",
    "İ" * 40,
    "\u202etxet",
    "'; DROP TABLE memories; --",
    "\ud7ff",
    "ß ẞ",
    "数据库",
    "x",
]


@given(st.lists(st.one_of(st.sampled_from(STRANGE), st.text(max_size=30)), min_size=1, max_size=6))
def test_strange_texts_are_only_texts(texts):
    held = [{"memory_id": f"m{n}", "content": text} for n, text in enumerate(texts)]
    asked = [{"interaction_id": f"i{n}", "prompt": text, "response": text} for n, text in enumerate(reversed(texts))]
    frame = found(asked, held, ALL)
    assert frame["used_score"].is_between(1, 10_000).all()
    assert frame.n_unique(["interaction_id", "memory_id"]) == frame.height


def test_only_the_beginning_of_a_long_text_is_read():
    """A megabyte of words nobody has seen would take gigabytes."""
    letters = str.maketrans("0123456789", "qxzjkvwyhb")
    padding = " ".join(f"{n:07}".translate(letters) for n in range(100_000))
    early, late = (
        {"interaction_id": "early", "response": f"{NOTES[0]}. {padding}"},
        {"interaction_id": "late", "response": f"{padding} {NOTES[0]}."},
    )
    shared = {"early": set(), "late": set()}
    for row in found([early, late], notes(), ALL).iter_rows(named=True):
        shared[row["interaction_id"]].add(row["memory_id"])
    assert "m0" in shared["early"]
    assert not shared["late"]
    long_memory = {"memory_id": "long", "content": f"{padding} {NOTES[0]}"}
    assert found([{"interaction_id": "i", "response": NOTES[0]}], [long_memory], ALL).is_empty()


def test_a_memory_of_few_words_is_not_looked_for():
    answer = [{"interaction_id": "i", "response": "Use tabs, please."}]
    assert (
        found(answer, [*notes(), {"memory_id": "short", "content": "Use tabs."}], ALL)
        .filter(pl.col("memory_id") == "short")
        .is_empty()
    )
    assert "long enough" in set(
        found(answer, [*notes(), {"memory_id": "long enough", "content": "Use tabs, please."}], ALL)["memory_id"]
    )


def test_the_vector_of_a_word_does_not_depend_on_the_words_beside_it():
    alone = word_vectors(pl.Series(["dog"]))
    beside = word_vectors(pl.Series(["antidisestablishmentarianism", "dog"]))
    assert (alone[0] == beside[1]).all()


@given(st.permutations(range(6)))
def test_equal_memories_are_chosen_by_id_not_by_order(order):
    held = [{"memory_id": f"m{n}", "content": NOTES[0]} for n in order]
    params = UsedParams(candidates=2, threshold=0.0001)
    assert found([ASKED[2]], held, params)["memory_id"].to_list() == ["m0", "m1"]
