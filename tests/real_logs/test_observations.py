"""Observations of memories that were distilled from real dialogues: printed, to be read by a person."""

from __future__ import annotations

import json
from collections import Counter

import polars as pl
import pytest
import real_rows
from observation_rows import health_of

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.states import memory_states
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.observations.curation_decisions import curation_decisions
from slowwave.transforms.observations.observations import observe_memories
from slowwave.transforms.observations.params import ObservationParams

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout"),
]
PARAMS = ObservationParams()
EXAMPLES = 10


@pytest.fixture(scope="module")
def states() -> pl.DataFrame:
    schema = polars_schema(Memories)
    rows = pl.DataFrame(real_rows.memory_rows()).with_columns(
        pl.col("changed_at").str.to_datetime("%+", time_zone="UTC").dt.replace_time_zone(None).dt.cast_time_unit("us"),
        # all come from one archive: what tells them apart is the session they are from
        pl.col("memory_id").str.extract(r"^(.*)-[^-]+-\d+$").fill_null("memory_id").alias("session"),
    )
    rows = rows.with_columns(pl.concat_list("session").alias("source_ids")).drop("session")
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in schema.items() if name not in rows.columns]
    return memory_states(rows.with_columns(missing).lazy()).collect()


def test_memories_of_dialogues(states: pl.DataFrame) -> None:
    as_of = max(states["valid_from"].to_list())
    found = observe_memories(states, health_of([]), word_vectors, as_of, PARAMS)
    proofs = Counter(found.observations["proof_count"].to_list())
    print(f"\n{states.height} memories, {found.observations.height} observations")
    print(f"proof counts {dict(sorted(proofs.items()))}")
    contents = dict(states.select("memory_id", "content").iter_rows())
    several = found.observations.filter(pl.col("memory_ids").list.len() > 1)
    for row in several.head(EXAMPLES).iter_rows(named=True):
        print("one fact:", *(contents[memory] for memory in row["memory_ids"]), sep="\n    ")
    for journey in found.observations["journey"].drop_nulls().head(EXAMPLES):
        print("journey:", *(step["text"] for step in json.loads(journey)), sep="\n    ")
    for row in found.contradictions.head(EXAMPLES).iter_rows(named=True):
        print(f"at odds ({row['reason']}):", *row["texts"], sep="\n    ")
    maybe = found.merge_proposals.filter(~pl.col("is_certain")).sort("similarity", descending=True)
    for row in maybe.head(EXAMPLES).iter_rows(named=True):
        print(f"perhaps one fact ({row['similarity']:.2f}):", *row["texts"], sep="\n    ")
    active = {memory for ids in found.observations["memory_ids"].to_list() for memory in ids}
    assert active | {m for ids in found.observations["supersedes"].to_list() for m in ids} == set(contents)


def test_curation_of_dialogues(states: pl.DataFrame) -> None:
    found = curation_decisions(states, word_vectors, PARAMS)
    print("\n", dict(Counter(found["action"].to_list())), dict(Counter(found["kind"].to_list())))
    for row in found.filter(pl.col("action") != "add").head(EXAMPLES).iter_rows(named=True):
        print(f"{row['action']} ({row['reason']}):", row["target_content"], row["content"], sep="\n    ")
    assert found.height == states.height
