"""Expected use: the sum of all probabilities, in any division; what a threshold does not decide."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.expected_use import expected_use, expected_use_of_parts, use_probabilities
from slowwave.transforms.evidence.retained_evidence import kept_references, select_used
from slowwave.transforms.evidence.tables import MemoryReferences, UseProbabilities
from slowwave.transforms.evidence.used.memories import LEAST, USED

AT = datetime(2026, 3, 1, 12)  # noqa: DTZ001 - times are naive and hold UTC everywhere
pairs = st.dictionaries(
    st.tuples(st.sampled_from(["i1", "i2", "i3"]), st.sampled_from(["m1", "m2"])),
    st.tuples(st.booleans(), st.integers(LEAST, 10_000)),
)


def probabilities(rows: dict[tuple[str, str], tuple[bool, int]]) -> Frame[UseProbabilities]:
    told = [(*pair, AT, *said) for pair, said in rows.items()]
    return framed(UseProbabilities, pl.DataFrame(told, schema=polars_schema(UseProbabilities), orient="row"))


@given(pairs, st.integers(1, 3))
def test_the_expected_use_is_the_sum_of_the_probabilities_in_any_division(
    rows: dict[tuple[str, str], tuple[bool, int]], count: int
) -> None:
    parts = [{pair: said for at, (pair, said) in enumerate(rows.items()) if at % count == n} for n in range(count)]
    found = expected_use(probabilities(rows).lazy()).collect()
    assert expected_use_of_parts(probabilities(part).lazy() for part in parts).equals(found)
    told = []
    for memory_id in sorted({memory_id for _, memory_id in rows}):
        of = [said for (_, memory), said in rows.items() if memory == memory_id]
        injected = sum(chance for is_injected, chance in of if is_injected)
        variance = sum(chance * (10_000 - chance) // 10_000 for _, chance in of)
        told.append((memory_id, len(of), sum(chance for _, chance in of), injected, variance))
    assert found.rows() == told


def interactions(**given_memories: list[str] | None) -> pl.DataFrame:
    schema: Any = {"interaction_id": pl.String, "occurred_at": pl.Datetime("us"), "memories_used": pl.List(pl.String)}
    return pl.DataFrame([(id_, AT, given) for id_, given in given_memories.items()], schema=schema, orient="row")


def used(*rows: tuple[str, str, int, str | None]) -> pl.DataFrame:
    told = [(interaction, memory, score, None, None, method) for interaction, memory, score, method in rows]
    return pl.DataFrame(told, schema=USED, orient="row")


FOUND = used(("i1", "m1", 9_000, "used/3"), ("i1", "m2", 300, None), ("i2", "m1", 40, None))


def test_pairs_below_the_threshold_count_and_say_whether_the_memory_was_injected() -> None:
    found = use_probabilities(interactions(i1=["m2", "m2", "m9"], i2=None), FOUND)
    assert found.drop("occurred_at").rows() == [
        ("i1", "m1", False, 9_000), ("i1", "m2", True, 300), ("i2", "m1", False, 40),
    ]  # fmt: skip


def test_probabilities_are_retained_of_texts_that_expire() -> None:
    schema = polars_schema(MemoryReferences)
    reference = {
        "memory_id": "m1", "interaction_id": "i1", "is_echoed": True, "is_used": True, "used_score": 0.9,
        "methods": ["echo/1", "used/3"], "echoed_in": "response", "in_prompt": False,
    }  # fmt: skip
    references = framed(MemoryReferences, pl.DataFrame([reference], schema=schema))
    gone = pl.DataFrame({"interaction_id": ["i1", "i2"], "row_hash": ["h1", "h2"]})
    kept = kept_references(references, use_probabilities(interactions(i1=[], i2=[]), FOUND), gone)
    assert select_used(kept).sort("interaction_id", "memory_id").equals(FOUND)
