"""The sample logs are reproducible, and hold what their truth says was planted."""

import csv
import datetime
import gzip
import io
import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from slowwave.data import sample
from slowwave.data.sample import SampleFile, SampleTruth, sample_files, sample_truth, write_sample
from slowwave.data.sample_memories import TEXTS
from slowwave.data.sample_statements import STATEMENTS
from slowwave.data.sample_text import normalise
from slowwave.data.sample_world import DUPLICATES
from slowwave.data.story import STARTS_WORKING, STOPS_WORKING, STRATEGIES

UTC = datetime.UTC
SMALL: dict[str, Any] = {"days": 6, "interactions_per_day": 25}
DIGEST = "6f5333a925b25fb36d482a03503c082968e0902d66d33ef81493102be5d20f8b"  # of SMALL: the same on any machine
Row = dict[str, Any]


@pytest.fixture(scope="module")
def files() -> list[SampleFile]:
    return list(sample_files())


@pytest.fixture(scope="module")
def truth() -> SampleTruth:
    return sample_truth()


@pytest.fixture(scope="module")
def rows(files, truth) -> list[Row]:
    """Every row that is not planted bad, its times read, the whole redelivered file left out."""
    found = []
    bad = {(b.file, b.row_number) for b in truth.bad_rows}
    for file in files:
        if "redelivery" not in file.name:
            lines = lines_of(file)
            if file.name.endswith(".csv"):
                found += [from_csv(row) for row in csv.DictReader(io.StringIO(file.content.decode()))]
            else:
                good = (line for n, line in enumerate(lines, start=1) if (file.name, n) not in bad)
                found += [json.loads(line) for line in good]
    for row in found:
        for name in ("created_at", "changed_at", "recorded_at"):
            if name in row:
                row[name] = read_time(row[name])
    return found


def lines_of(file: SampleFile) -> list[bytes]:
    content = gzip.decompress(file.content) if file.name.endswith(".gz") else file.content
    assert content.endswith(b"\n")
    return content[:-1].split(b"\n")


def identity_of(line: bytes) -> str:
    """The same text for rows with equal fields, whatever the order of their keys."""
    try:
        return json.dumps(json.loads(line), sort_keys=True)
    except ValueError:
        return line.decode(errors="replace")


def from_csv(row: dict[str, str]) -> Row:
    texts = {"content", "error_message", "feedback", "task", "strategy", "project", "agent"}
    return {k: v if k in texts or not v.startswith(("[", "true", "false")) else json.loads(v)
            for k, v in row.items() if v != "" or k == "project"}  # fmt: skip


def read_time(value: object) -> datetime.datetime:
    if isinstance(value, int):
        return datetime.datetime.fromtimestamp(value / (1000 if value >= 10**11 else 1), UTC)
    moment = datetime.datetime.fromisoformat(str(value))
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def winners(rows: list[Row], kind: str, key: str) -> list[Row]:
    """The version of each row with the latest recorded_at; rows without a key as they are, once."""
    best: dict[object, Row] = {}
    for row in rows:
        if kind in row and not (kind == "success" and ("prompt" in row or "memory_id" in row)):
            name = (row[key], row.get("changed_at")) if key in row else json.dumps(row, default=str, sort_keys=True)
            time = row.get("created_at") or row["changed_at"]
            old = best.get(name)
            if old is None or row.get("recorded_at", time) > old.get("recorded_at", old.get("created_at", time)):
                best[name] = row
    return list(best.values())


def active_contents(rows: list[Row]) -> dict[str, list[tuple[Row, str]]]:
    """Per project the spans in which a memory was active, folded from the change log alone."""
    changes = defaultdict(list)
    for row in winners(rows, "memory_id", "memory_id"):
        changes[row["memory_id"]].append(row)
    spans = defaultdict(list)
    for log in changes.values():
        log.sort(key=lambda row: row["changed_at"])
        state: Row = {}
        for row, after in itertools.zip_longest(log, log[1:]):
            state = {**state, **{k: v for k, v in row.items() if v is not None}}
            if state.get("status", "candidate") == "active":
                until = after["changed_at"] if after else datetime.datetime.max.replace(tzinfo=UTC)
                span = {**state, "since": row["changed_at"], "until": until}
                spans[state["project"]].append((span, normalise(str(state["content"]))[:80]))
    return spans


def json_rows(files: list[SampleFile], day: str) -> list[Row]:
    lines = [line for f in files if f.name.startswith(day) and ".jsonl" in f.name for line in lines_of(f)]
    return [json.loads(line) for line in lines if b"bad-" not in line]


def digest_in_a_new_process(hash_seed: str) -> str:
    code = (
        "import hashlib; from slowwave.data.sample import sample_files as f\n"
        f"print(hashlib.sha256(b''.join(x.name.encode() + x.content for x in f(**{SMALL!r}))).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": "Pacific/Auckland"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_the_same_arguments_give_the_same_bytes(files):
    assert list(sample_files(7)) == files
    assert digest_in_a_new_process("1") == digest_in_a_new_process("2") == DIGEST


def test_another_seed_gives_other_bytes():
    assert list(sample_files(8, **SMALL)) != list(sample_files(7, **SMALL))


@pytest.mark.parametrize(("days", "per_day"), [(1, 1), (1, 40), (2, 3), (13, 12)])
def test_any_size_accounts_for_every_row(days, per_day):
    start = datetime.date(2024, 2, 28)
    made = list(sample_files(3, start=start, days=days, interactions_per_day=per_day))
    planted = sample_truth(3, start=start, days=days, interactions_per_day=per_day)
    assert [f.name for f in made] == [f.name for f in planted.files]
    assert 0.2 * days * per_day <= planted.interactions <= 2 * days * per_day + 1
    assert sum(f.bad for f in planted.files) == len(planted.bad_rows) == 17


@pytest.mark.slow
def test_delivered_is_accepted_and_duplicate_and_bad(files, truth):
    assert [f.name for f in files] == [f.name for f in truth.files]
    bad = Counter(b.file for b in truth.bad_rows)
    seen: set[str] = set()
    for file, counts in zip(files, truth.files, strict=True):
        lines = lines_of(file)
        if file.name.endswith(".csv"):
            lines = [json.dumps(row).encode() for row in csv.DictReader(io.StringIO(file.content.decode()))]
        repeats = 0
        for line in lines:
            identity = identity_of(line)
            repeats += identity in seen
            seen.add(identity)
        assert (len(lines), repeats) == (counts.delivered, counts.duplicates)
        assert counts.bad == (0 if "redelivery" in file.name else bad[file.name])
        assert counts.delivered == counts.accepted + counts.duplicates + counts.bad


def test_the_page_says_how_much_there_is(truth):
    page = (Path(sample.__file__).parent / "README.md").read_text()
    delivered, accepted, repeats = (
        sum(getattr(f, n) for f in truth.files) for n in ("delivered", "accepted", "duplicates")
    )
    assert f"| {delivered:,} = {accepted:,} accepted + {repeats} duplicates + {len(truth.bad_rows)} bad |" in page
    landed = len(truth.memories) - len(truth.unknown_memory_ids)
    assert f"| memories | {landed} in {truth.memory_changes} changes; three more ids" in page


def test_bad_rows_are_where_the_truth_says(files, truth):
    by_name = {f.name: lines_of(f) for f in files if not f.name.endswith(".csv")}
    for bad in truth.bad_rows:
        assert any(mark in by_name[bad.file][bad.row_number - 1] for mark in (b"bad-", b"heartbeat"))
    assert len({bad.reason for bad in truth.bad_rows}) == 9


def test_counts(files, rows, truth):
    interactions = winners(rows, "prompt", "interaction_id")
    assert len(interactions) == truth.interactions + len(truth.interaction_ids["future"])
    assert 3_400 <= truth.interactions <= 3_900
    assert sum("success" in row for row in interactions) == truth.inline_outcomes
    assert len(winners(rows, "success", "outcome_id")) == truth.reported_outcomes
    changes = winners(rows, "memory_id", "memory_id")
    assert len(changes) == truth.memory_changes
    assert 80 <= len({row["memory_id"] for row in changes}) <= 120
    assert 3_000_000 < sum(len(f.content) for f in files) < 9_000_000
    visible = [row for row in interactions if row["created_at"] < truth.as_of]
    assert len(visible) == truth.interactions
    assert all(row.get("recorded_at", truth.as_of - datetime.timedelta(1)) < truth.as_of for row in rows)


def test_texts_read_like_work(rows):
    texts = [row[name] for row in rows for name in ("prompt", "response", "content") if isinstance(row.get(name), str)]
    assert not [text for text in texts if re.search(r"\{\w+|\w\|\w|=>|  ", text)]  # nothing of a template is left
    answers = [row["response"] for row in rows if "prompt" in row and "session_id" in row]
    assert max(len(answer) for answer in answers) <= 1500
    assert len(set(answers)) > 2_500
    contents = [text.content for text in TEXTS]
    assert len({normalise(content)[:80] for content in contents}) == len(contents)


def test_echoes_found_by_brute_force_are_those_planted(rows, truth):
    """Searches every winning response for every eligible memory, knowing nothing of what was planted."""
    spans = active_contents(rows)
    personal = [s for s in spans[""] if s[0].get("memory_type") in ("identity", "preference")]
    echoed, in_prompt = Counter(), Counter()
    for row in winners(rows, "prompt", "interaction_id"):
        if row.get("reinforce") is False or row["created_at"] >= truth.as_of:
            continue
        prompt, *answers = (normalise(row.get(k, "")) for k in ("prompt", "response", "response_summary"))
        pool = spans[row["project"]] + (personal if row["project"] else [])
        for span, beginning in pool:
            active = span["since"] <= row["created_at"] < span["until"]
            if active and len(beginning) >= 12 and any(beginning in answer for answer in answers):
                echoed[span["memory_id"]] += 1
                in_prompt[span["memory_id"]] += beginning in prompt
    planted = truth.memories.values()
    assert echoed == Counter({m.memory_id: m.echoed for m in planted})
    assert in_prompt == Counter({m.memory_id: m.echoed_in_prompt for m in planted})
    assert sum(echoed.values()) > 300


def test_injections_are_counted(rows, truth):
    injected = Counter()
    for row in winners(rows, "prompt", "interaction_id"):
        injected.update(set(row.get("memories_used", ())))
    assert injected == Counter({m.memory_id: m.injected for m in truth.memories.values()})
    known = {row["memory_id"] for row in rows if "memory_id" in row}
    assert set(injected) - known == set(truth.unknown_memory_ids)


def test_randomised_rows_show_the_effects_of_memories(rows, truth):
    """Where injection was decided by chance, the helpful memory raises success and the harmful one lowers it."""
    reported = {r["interaction_id"]: r["success"] for r in rows if "success" in r and "prompt" not in r}
    roles = {m.memory_id: m.role for m in truth.memories.values() if m.role}
    tries: defaultdict[tuple[str, bool], list[bool]] = defaultdict(list)
    for row in winners(rows, "prompt", "interaction_id"):
        success = row.get("success", reported.get(row.get("interaction_id")))
        if "injection_probability" in row and success is not None:
            for offer in row["memories_offered"]:
                if offer["id"] in roles:
                    tries[roles[offer["id"]], offer["id"] in row["memories_used"]].append(success)
    rate = {key: sum(values) / len(values) for key, values in tries.items()}
    assert rate["helpful", True] - rate["helpful", False] > 0.1
    assert rate["harmful", True] - rate["harmful", False] < -0.1
    assert abs(rate["confounded", True] - rate["confounded", False]) < 0.1


def test_strategies_succeed_as_often_as_planned(truth):
    attempts, surplus = Counter(), defaultdict(float)
    for s in truth.strategies.values():
        attempts[s.strategy_id] += s.attempts
        surplus[s.strategy_id] += s.successes - s.expected_successes
        assert sum(s.failures.values()) == s.attempts - s.successes
    assert set(attempts) == {strategy.strategy_id for strategy in STRATEGIES}
    for strategy, count in attempts.items():
        assert abs(surplus[strategy]) < 2 * count**0.5  # four standard errors at most
    outcomes = truth.inline_outcomes + truth.reported_outcomes
    assert attempts.total() + truth.non_attempts.total() == outcomes
    assert set(truth.non_attempts) == {"cascade", "sibling", "cancelled", "refused"}
    drifting = {s.strategy_id for s in truth.strategies.values() if s.rate != s.later_rate}
    assert drifting == {STOPS_WORKING, STARTS_WORKING}


def test_the_memories_have_a_life(rows, truth):
    changes = [row for row in rows if "memory_id" in row]
    assert {r.get("status") for r in changes} >= {
        "candidate",
        "active",
        "superseded",
        "invalid",
        "archived",
        "graduated",
    }
    types = {"identity", "preference", "project", "knowledge", "adaptation", "episodic"}
    assert types == {r["memory_type"] for r in changes if "memory_type" in r}
    assert {r["project"] for r in changes if "project" in r} == {
        "harbour-shop",
        "tidewater",
        "lantern-notes",
        "pocket-fern",
        "",
    }
    known = {r["memory_id"] for r in changes}
    replaced = [r for r in changes if r.get("status") == "superseded"]
    assert replaced
    assert all(r["superseded_by"] in known for r in replaced)
    assert any(r.get("pinned") for r in changes)
    assert any("content" in r and "status" not in r for r in changes)  # a partial change
    assert any(r.get("agent") == "" for r in changes)  # cleared
    assert len(truth.duplicate_memory_ids) == DUPLICATES
    assert truth.late_memory_changes


def test_the_ways_of_delivery_are_present(files, rows, truth):
    versions = defaultdict(list)
    for row in rows:
        if "prompt" in row:
            versions[row.get("interaction_id")].append(row)
    (moved,) = truth.interaction_ids["moved"]
    assert len({row["created_at"].date() for row in versions[moved]}) == 2
    assert all(len(versions[key]) > 1 for fate in ("newer", "older") for key in truth.interaction_ids[fate])
    assert None in versions  # no interaction_id
    third = next(row for row in json_rows(files, "2026-03-12") if row.get("interaction_id") == "ix-20260303-00000")
    assert third["interaction_id"] in truth.interaction_ids["late"]
    assert [f.name for f in files if "redelivery" in f.name] == [
        "2026-03-09_redelivery-of-2026-03-06_interactions.jsonl"
    ]
    endings = {f.name.split(".", 1)[1] for f in files}
    assert endings == {"jsonl", "jsonl.gz", "csv"}


def test_hostile_text_is_present(rows):
    everything = json.dumps(rows, default=str, ensure_ascii=False)
    for text in ("<script>", "=HYPERLINK", "\\u001b[", "🌿", "العميل", "préfère", "DROP TABLE"):
        assert text in everything
    assert sum("use tabs." in str(row.get("response", "")) for row in rows) > 50  # a memory too short to be an echo


def test_producers_rename_when_done(tmp_path: Path):
    paths = write_sample(tmp_path / "inbox", **SMALL)
    assert sorted(tmp_path.joinpath("inbox").iterdir()) == sorted(paths)
    assert [p.read_bytes() for p in paths] == [f.content for f in sample_files(**SMALL)]


def test_statements_are_planted_at_the_end_of_answers(rows):
    answers = [(row["project"], row["response"]) for row in rows if row.get("response") and "project" in row]
    for project, statements in STATEMENTS.items():
        counts = [sum(p == project and text.endswith(said) for p, text in answers) for said in statements]
        assert all(counts)
        assert max(counts) > 5
