"""Laws 7 and 10: one row per key, NULL only where evidence is missing, runs that say what they are made from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from thorough import examples

from slowwave.transforms.core.schema import columns
from slowwave.transforms.graph import PUBLISHED, SERVING
from slowwave.transforms.health.answerable.tables import AnswerableQuestions
from slowwave.transforms.params import Params
from tests.laws.declared import assert_declared
from tests.laws.deliveries import DAYS, START, jsonl, rows
from tests.laws.home import Home
from tests.laws.model import Row

AS_OF = START + timedelta(days=DAYS, hours=12)  # within a day, so that it cuts through files
LOG: list[Row] = [
    {"memory_id": "rule", "changed_at": START, "content": "Read the log first", "status": "active", "confidence": 0.5},
    {"interaction_id": "i1", "created_at": START, "prompt": "?", "memories_used": ["rule"], "response": "Done."},
    {"interaction_id": "i2", "created_at": START, "prompt": "?", "recorded_at": START + timedelta(days=2)},
    {"outcome_id": "o0", "created_at": START, "strategy": "bisect", "success": True},
]  # fmt: skip
BEFORE = START - timedelta(days=1)

# What may come, and whether a publish at the same as_of sees any of it.
NEWS: dict[str, tuple[list[Row], bool]] = {
    "the same rows": (list(reversed(LOG)), False),
    "a version that loses": ([LOG[2] | {"response": "older", "recorded_at": START}], False),
    "a version not yet written": ([LOG[2] | {"response": "newer", "recorded_at": AS_OF}], False),
    "a row of as_of itself": (
        [{"interaction_id": "i3", "created_at": AS_OF, "recorded_at": START, "prompt": "?"}],
        False,
    ),
    "a change of tomorrow": ([{"memory_id": "rule", "changed_at": AS_OF + timedelta(days=1), "content": "No"}], False),
    "a bad row": ([{"interaction_id": "i4", "created_at": START, "prompt": ""}], False),
    "a version that wins": ([LOG[2] | {"response": "newer", "recorded_at": AS_OF - timedelta(hours=1)}], True),
    "a row": ([{"interaction_id": "i3", "created_at": AS_OF - timedelta(microseconds=1), "prompt": "?"}], True),
    "an outcome": ([{"outcome_id": "o1", "created_at": START, "success": True}], True),
    "a confidence": ([{"memory_id": "rule", "changed_at": START + timedelta(hours=1), "confidence": 0.6}], True),
    "a memory of long ago": ([{"memory_id": "old", "changed_at": BEFORE, "content": "Long ago"}], True),
}


def test_counts_and_keys_are_declared_never_null():
    for table in SERVING:
        declared = {column.name: column for column in columns(table)}
        assert all(not declared[name].nullable for name in table.key)
        assert all(not column.nullable for name, column in declared.items() if name.endswith("_count"))
    for table in PUBLISHED:
        assert not {"run_id", "as_of"} - {column.name for column in columns(table)}


@settings(max_examples=examples(3, 6), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(delivered=rows(min_size=4, max_size=25))
def test_any_log_is_published_as_declared(tmp_path_factory, delivered):
    home = Home(tmp_path_factory.mktemp("declared"))
    home.drop("log.jsonl", jsonl(delivered))
    home.nightly(AS_OF)
    assert_declared(home)


def test_what_is_not_known_is_null_and_what_was_not_seen_is_zero(home):
    log = [*LOG, {"interaction_id": "i5", "created_at": START, "prompt": "?", "memories_used": ["unheard of"]}]
    home.drop("log.jsonl", jsonl([*log, {"memory_id": "idle", "changed_at": START}]))
    home.nightly(AS_OF)
    assert_declared(home)
    health = {row["memory_id"]: row for row in home.table("memory_health")}
    unknown, idle = health["unheard of"], health["idle"]
    not_known = {name for name, value in unknown.items() if value is None}
    assert not_known == {
        "project", "agent", "user_id", "scope", "category", "domain", "source", "tags", "stated_confidence",
        "memory_type", "status", "content", "created_at", "expires_at", "last_stale_injected_at", "stale_hours",
        "first_referenced_at", "last_referenced_at", "reinforced_confidence", "contradicted_expected",
        "followed_low", "followed_high", "stated_references", "stated_last_referenced_at",
        "confidence", "confidence_low", "confidence_high", "lift", "lift_low", "lift_high", "lift_basis",
        "detectability", "lift_detectable", "lift_q_value", "lift_note", "is_harmful", "lost_successes",
        "importance", "strength", "strength_forecast", "strength_state", "fades_at", "need_30d", "need_if_active",
    }  # fmt: skip
    assert (unknown["injected_count"], unknown["eligible_count"]) == (1, 0)
    assert (idle["status"], idle["memory_type"], idle["project"]) == ("candidate", "knowledge", "")
    assert (idle["content"], idle["reinforced_confidence"]) == (None, None)
    assert {idle[name] for name in ("eligible_count", "injected_count", "echoed_count", "reference_count")} == {0}


def test_a_home_without_rows_is_published_too(home):
    result = home.nightly(AS_OF)
    assert result.status == "published"
    assert [table for table in PUBLISHED if home.table(table.name)] == [AnswerableQuestions]
    assert not any(row["is_answered"] for row in home.table(AnswerableQuestions.name))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("runs") / "home")
    home.drop("log.jsonl", jsonl(LOG))
    home.nightly(AS_OF)
    return home


@pytest.fixture
def copied(published: Home, copy_of: Callable[[Home], Home]) -> Home:
    return copy_of(published)


NEWS["all that it does not see"] = ([row for rows, is_seen in NEWS.values() if not is_seen for row in rows], False)
# all at once that is not seen is not seen either
ONE_BY_ONE = [name for name, (_, is_seen) in NEWS.items() if not is_seen][:-1]


@pytest.mark.parametrize(
    "news", [pytest.param(news, marks=pytest.mark.thorough) if news in ONE_BY_ONE else news for news in NEWS]
)
def test_the_input_hash_tells_whether_a_publish_sees_anything_new(copied, news):
    delivered, is_seen = NEWS[news]
    copied.drop("news.jsonl", jsonl(delivered))
    result = copied.nightly(AS_OF)
    before, after = copied.ledger()
    assert result.status == ("published" if is_seen else "skipped")
    assert (before["input_hash"] != after["input_hash"]) == is_seen


@pytest.mark.slow
def test_as_of_alone_changes_no_input(copied):
    copied.nightly(AS_OF + timedelta(days=1))
    copied.nightly(START + timedelta(days=1))
    first, later, earlier = copied.ledger()
    assert first["input_hash"] == later["input_hash"] != earlier["input_hash"]


def test_a_run_names_its_methods_params_and_code(copied):
    copied.settings.params_file.write_text("reinforcement_cap = 0.9\n")
    copied.nightly(AS_OF)
    before, after = copied.rows("FROM runs ORDER BY started_at")
    assert before["methods"] == after["methods"] == Params().methods()
    assert before["params_hash"] == Params().params_hash()
    assert after["params_hash"] == Params(reinforcement_cap=0.9).params_hash()
    assert before["input_hash"] != after["input_hash"]
    assert before["code_hash"] == after["code_hash"]
    assert len(before["code_hash"]) == 32
    assert before["as_of"] == after["as_of"] == AS_OF


def test_every_row_carries_the_run_that_published_it(copied):
    filled = [table.name for table in PUBLISHED if copied.table(table.name)]
    assert {"memory_health", "heuristics", "counted_outcomes", "forecast_fits"} < {*filled}
    for name in filled:
        stamps = {(row["run_id"], row["as_of"]) for row in copied.rows(f'FROM "{name}"')}
        assert stamps == {(copied.current.stem, AS_OF)}
