"""What a sentence that a state chose says is what the counts beside it say, over random logs."""

from __future__ import annotations

import html
import json
import random
import re
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_home import SmallHome, interaction, memory, outcome
from thorough import some

START = datetime(2026, 1, 5)  # noqa: DTZ001 - times are naive and hold UTC everywhere
DAYS = 120
AS_OF = START + timedelta(days=DAYS)
PARAMS = """
[verdict]
missed_chance = 0.99
min_detectability = 0.001
[forgetting]
grace_days = 1
recent_days = 1
replaced_after_days = 5
archive_after_days = 10
untouched_min_eligible = 5
untouched_max_need = 1.0
"""
Row = dict[str, Any]
# What the report counts in a sentence, and what it counts.
REPORTED = (
    (r"([\d,]+) strateg(?:y keeps|ies keep) failing", "FROM anti_patterns WHERE kind = 'avoid' AND state = 'open'"),
    (r"([\d,]+) alarms?: ", "FROM project_health, unnest(alarms)"),
    (r"([\d,]+) items? needs? review", "FROM review_queue"),
    (r"([\d,]+) (?:memory|memories) may be archived", "FROM forgetting_plan WHERE NOT is_shadow"),
    (r"([\d,]+) fading memor", "FROM review_queue WHERE kind = 'fading'"),
    (r"([\d,]+) expiring memor", "FROM review_queue WHERE kind = 'expiring'"),
    (r"([\d,]+) strateg(?:y is|ies are) weakening", "FROM heuristics WHERE trend = 'weakening'"),
)


def random_log(seed: int) -> list[Row]:
    """Memories that are used at random until a random day, and strategies whose success changes once."""
    rng = random.Random(seed)

    def at(day: int, hour: float) -> str:
        return f"{(START + timedelta(days=day, hours=hour)).isoformat()}Z"

    texts = {
        f"m{n}": f"Rule {n}: the {rng.choice(['harbour', 'ledger', 'kiln'])} number {n * 7919} is always closed"
        for n in range(14)
    }
    rows, used_from, used_until, used_again, rate = [], {}, {}, {}, {}
    for name, text in texts.items():
        born = rng.choice([0, 0, 0, 40, 100, 117])
        used_from[name], used_until[name] = born, born + rng.choice([0, 3, 20, 60, 120])
        used_again[name] = rng.choice([DAYS, DAYS, DAYS - 3])
        rate[name] = rng.choice([0.05, 0.3, 0.9])
        row = memory(name, changed_at=at(born, 1), content=text, project=rng.choice(["shop", "depot"]))
        rows.append(row | {"pinned": rng.random() < 0.1, "status": rng.choice(["active"] * 5 + ["candidate"])})
        if rng.random() < 0.4:
            rows[-1]["expires_at"] = at(DAYS + rng.choice([-30, 3, 20, 60]), 3)
        if rng.random() < 0.4:
            rows.append({"memory_id": name, "changed_at": at(rng.randrange(born, DAYS), 2), "status": "invalid"})
    strategies = {
        (project, task, name): (
            rng.choice([0.0, 0.1, 0.5, 1.0]),
            rng.choice([0.0, 0.5, 1.0]),
            rng.choice([10, 60, DAYS - 43, 110, DAYS]),
        )
        for project in ("shop", "depot")
        for task in ("deploy", "migrate")
        for name in ("push it", "ask first", "read the log")
    }
    for day in range(DAYS):
        if rng.random() < 0.2:
            continue
        for project in ("shop", "depot"):
            said = [
                name
                for name in texts
                if (used_from[name] <= day < used_until[name] or day >= used_again[name]) and rng.random() < rate[name]
            ]
            given = [name for name in texts if rng.random() < 0.3]
            rows.append(
                interaction(
                    f"{project} {day}", created_at=at(day, 9), project=project, session_id=f"{project} {day}",
                    memories_used=given, response=" ".join(texts[name] for name in said) or "Nothing to say.",
                    success=rng.random() < 0.6,
                )
            )  # fmt: skip
        for (project, task, name), (before, after, until) in strategies.items():
            if (day < until or day >= until + 40) and rng.random() < 0.5:
                success = rng.random() < (before if day < DAYS // 2 else after)
                rows.append(
                    outcome(
                        f"{project} {task} {name} {day}", created_at=at(day, 10), project=project, task_type=task,
                        strategy=name, success=success, session_id=f"{project} {task} {name} {day}",
                        error_message=None if success else "It timed out",
                    )
                )  # fmt: skip
    return rows


@pytest.fixture(scope="module", params=some(range(4), 1))
def publish(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    home = SmallHome(tmp_path_factory.mktemp("sentences") / "home")
    home.land(*random_log(request.param))
    home.settings.params_file.write_text(PARAMS)
    home.nightly(AS_OF)
    return duckdb.connect(home.settings.current.resolve(), read_only=True)


def rows_of(publish: duckdb.DuckDBPyConnection, query: str) -> list[Row]:
    return publish.sql(query).pl().to_dicts()


def number(said: re.Match[str], group: int = 1) -> int:
    return int(said[group])


# What a reason of a memory says, and the column or the condition that it must agree with.
COUNTS = (
    (r"Quoted in (\d+) interaction", lambda row: row["echoed_count"]),
    (r"[Uu]sed in other words in (\d+)(?!\d| failed)", lambda row: row["reference_count"] - row["echoed_count"]),
    (r"Injected (\d+) times?, never visibly used", lambda row: row["injected_count"]),
    (r"[Ee]ligible in (?:only )?(\d+) interaction", lambda row: row["eligible_count"]),
    (r"in (\d+) failed attempt", lambda row: row["contradicted_count"]),
    (r", last (\d+) days? ago", lambda row: (AS_OF.date() - row["last_referenced_at"].date()).days),
)
FACTS = (
    (r"never visibly used|^Not injected|^Never eligible", lambda row: row["reference_count"] == 0),
    (r"[Nn]ot injected", lambda row: row["injected_count"] == 0),
    (r"^Never eligible", lambda row: row["eligible_count"] == 0),
    (r"[Ff]aded to strength", lambda row: row["strength_state"] == "forgettable"),
    (r"stale", lambda row: row["trend"] == "stale"),
    (r"weakening", lambda row: row["trend"] == "weakening"),
    (r"^Rare if", lambda row: row["need_30d"] < 0.1),
    (r"^Pinned", lambda row: row["pinned"]),
    (r"^Low confidence", lambda row: row["confidence_high"] < 0.5),
    (r"^Candidate", lambda row: row["status"] == "candidate"),
    (r"no longer in use", lambda row: row["status"] not in ("active", "candidate")),
    (r"lower success|Success was lower", lambda row: row["lift"] < 0),
    (r"higher success|Success was higher", lambda row: row["lift"] > 0),
    (r"^Fades on", lambda row: row["fades_at"] > AS_OF and row["strength_state"] != "forgettable"),
)


def test_reasons_of_a_verdict_say_what_its_counts_say(publish: duckdb.DuckDBPyConnection) -> None:
    memories = rows_of(publish, "SELECT * FROM memory_health WHERE status IS NOT NULL")
    assert len({row["verdict"] for row in memories}) > 2
    for row in memories:
        for reason in row["reasons"]:
            case = row["memory_id"], reason
            assert [case for pattern, holds in FACTS if re.search(pattern, reason) and not holds(row)] == []
            for pattern, count in COUNTS:
                said = re.search(pattern, reason)
                assert said is None or number(said) == count(row), case


def test_reasons_of_review_items_say_what_the_counts_of_their_memories_say(publish: duckdb.DuckDBPyConnection) -> None:
    rows = rows_of(
        publish,
        """
        SELECT h.*, q.kind, q.reason, q.interactions_count
        FROM review_queue AS q
        JOIN memory_health AS h ON len(q.memory_ids) = 1 AND h.memory_id = q.memory_ids[1]
        """,
    )
    assert len({row["kind"] for row in rows}) > 1
    for row in rows:
        for pattern, of in COUNTS:
            said = re.search(pattern, row["reason"])
            assert said is None or number(said) == of(row), (row["reason"], row)
        for pattern, holds in FACTS:
            assert not re.search(pattern, row["reason"]) or holds(row), (row["reason"], row)
        for pattern, name in (
            (r"^Expires on (\S+), and (\d+) inter", "expires_at"),
            (r"^Fades by (\S+) th", "fades_at"),
        ):
            said = re.search(pattern, row["reason"])
            if said:
                assert said[1] == f"{row[name]:%Y-%m-%d}", row
                assert row[name] >= AS_OF - timedelta(days=1), row
                assert name == "fades_at" or number(said, 2) == row["reference_count"], row
        if row["kind"] == "unused":
            assert row["reference_count"] == 0, row
        if row["kind"] == "fading":
            assert row["trend"] in ("weakening", "stale") or row["fades_at"] is not None, row
        if row["kind"] == "candidate":
            assert row["status"] == "candidate", row


def test_reasons_of_the_plan_say_what_its_counts_say(publish: duckdb.DuckDBPyConnection) -> None:
    planned = rows_of(
        publish,
        "SELECT p.rule, p.reason, h.* FROM forgetting_plan AS p JOIN memory_health AS h USING (memory_id)",
    )
    assert planned
    for row in planned:
        reason = row["reason"]
        if said := re.match(r"(superseded|invalid) since", reason):
            assert said[1] == row["status"] == row["rule"]
        if "no detected reference or injection" in reason:
            assert row["reference_count"] == row["injected_count"] == 0
        if said := re.search(r"last referenced or injected (\d+) days? ago", reason):
            assert row["reference_count"] + row["injected_count"] > 0
            if row["last_referenced_at"] is not None:
                assert number(said) <= (AS_OF.date() - row["last_referenced_at"].date()).days
        if "verdict forget" in reason:
            assert row["verdict"] == "forget"


def test_alarms_say_what_the_shares_say(publish: duckdb.DuckDBPyConnection) -> None:
    for row in rows_of(publish, "SELECT * FROM project_health"):
        for alarm in row["alarms"]:
            said = re.match(r"(?:critical|warning): (\d+) % of (\d+) .* \(alarm above (\d+) %\)", alarm)
            if said:
                assert any(
                    row[name] is not None and abs(row[name] * 100 - number(said)) <= 0.5
                    for name in row
                    if name.endswith("_share")
                ), alarm
                assert number(said) >= number(said, 3), alarm


def test_the_trend_of_a_strategy_says_what_its_attempts_say(publish: duckdb.DuckDBPyConnection) -> None:
    rows = rows_of(
        publish,
        """
        SELECT
            h.trend, h.first_seen_at, h.successes, h.attempts, h.confidence,
            count(*) FILTER (o.created_at >= $since) AS lately,
            avg(o.success::INT) FILTER (o.created_at >= $since) AS rate_lately,
            avg(o.success::INT) FILTER (o.created_at < $since) AS rate_before
        FROM heuristics AS h
        JOIN counted_outcomes AS o USING (project, agent, task_type, strategy_id)
        WHERE o.is_learned
        GROUP BY ALL
        """.replace("$since", f"TIMESTAMP '{AS_OF - timedelta(days=28)}'"),
    )
    assert len({row["trend"] for row in rows}) > 1
    for row in rows:
        assert (row["trend"] == "stale") <= (row["lately"] == 0), row
        assert row["lately"] > 0 or row["trend"] in ("stale", "unproven"), row
        if row["trend"] == "new":
            assert row["first_seen_at"] >= AS_OF - timedelta(days=35), row
        if row["trend"] == "weakening":
            assert row["rate_lately"] < row["rate_before"], row
        if row["trend"] == "strengthening":
            assert row["rate_lately"] > row["rate_before"], row


def test_an_anti_pattern_says_what_its_attempts_say(publish: duckdb.DuckDBPyConnection) -> None:
    rows = rows_of(publish, "SELECT * FROM anti_patterns")
    assert {row["state"] for row in rows} >= {"closed"}
    for row in rows:
        said = re.search(r"Failed (\d+) of (\d+) attempts", row["why_bad"])
        assert said
        assert (number(said), number(said, 2)) == (row["failures"], row["attempts"])
        assert (row["state"] == "open") == ("since" not in row["why_bad"])
        if row["state"] == "open":
            assert row["kind"] == "hard_task" or row["failure_rate"] > row["baseline_rate"]
        if since := re.search(r"(\d+|none) of (\d+) attempts? since (\S+) succeeded", row["why_bad"]):
            later = rows_of(
                publish,
                f"""
                SELECT count(*) AS attempts, count(*) FILTER (success) AS successes
                FROM counted_outcomes
                WHERE
                    is_learned AND known_at::DATE > DATE '{since[3]}' AND strategy_id = '{row["strategy_id"]}'
                    AND project = '{row["project"]}' AND agent = '{row["agent"]}' AND task_type = '{row["task_type"]}'
                """,  # noqa: S608 - of the test's own names
            )
            assert later == [{"attempts": number(since, 2), "successes": 0 if since[1] == "none" else number(since)}]


def test_the_report_counts_what_the_tables_hold(publish: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    ((file,),) = publish.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchall()
    shutil.copytree(Path(file).parents[2], tmp_path / "home", symlinks=True)  # this process holds the file open
    made = SmallHome(tmp_path / "home").ask("report", "--to", str(tmp_path / "report.html"))
    assert made.returncode == 0, made.stderr
    page = re.sub(r"<(script|style|svg).*?</\1>", "", (tmp_path / "report.html").read_text(), flags=re.DOTALL)
    said = html.unescape(re.sub(r"<[^>]+>", " ", page))
    for pattern, query in REPORTED:
        ((count,),) = publish.execute(f"SELECT count(*) {query}").fetchall()
        found = {int(number.replace(",", "")) for number in re.findall(pattern, said)}
        assert found == ({count} if count else found & {0}), (pattern, found, count)


# What a memory says of a subject, with its value: each in words of which the next one is another state.
STATED = (
    ("The {} listens on port {}", ("7101", "7202", "7303")),
    ("The default branch of the {} is {}", ("trunk", "main", "stable")),
    ("The {} is written in {}", ("Perl", "Go", "Rust")),
)
SUBJECTS = ("gateway", "importer", "mailer", "ledger")


def stated_states(seed: int) -> tuple[list[Row], dict[str, list[tuple[datetime, str]]]]:
    """Memories that state how something is, one after the other; and by subject what was stated when."""
    rng = random.Random(seed)
    rows, told = [], {}
    for at, subject in enumerate(SUBJECTS):
        words, values = STATED[at % len(STATED)]
        days = sorted(rng.sample(range(DAYS), rng.randrange(1, 6)))
        told[subject] = [(START + timedelta(days=day, hours=at + 1), rng.choice(values)) for day in days]
        rows += [
            memory(f"{subject} {day}", changed_at=f"{when.isoformat()}Z", content=words.format(subject, value))
            for day, (when, value) in zip(days, told[subject], strict=True)
        ]
    return rows, told


@pytest.mark.parametrize("seed", some(range(8), 2))
def test_a_journey_says_what_was_stated_when(seed: int, tmp_path: Path) -> None:
    rows, told = stated_states(seed)
    home = SmallHome(tmp_path / "home")
    home.land(*rows)
    home.nightly(AS_OF)
    with duckdb.connect(home.settings.current.resolve(), read_only=True) as publish:
        found = rows_of(publish, "SELECT text, journey FROM observations")
    journeys = {row["text"]: json.loads(row["journey"] or "[]") for row in found}
    for subject, stated in told.items():
        kept = [
            one for before, one in zip([None, *stated], stated, strict=False) if before is None or before[1] != one[1]
        ]
        (journey,) = (steps for text, steps in journeys.items() if subject in text)
        if len(kept) == 1:
            assert journey == [], subject
            continue
        assert [step["value"].split()[-1] for step in journey] == [value for _, value in kept]
        assert [step["from"] for step in journey] == [f"{at.isoformat()}Z" for at, _ in kept]
        assert [step["until"] for step in journey] == [*(step["from"] for step in journey[1:]), None]
        for step in journey:
            assert step["value"] in step["text"]
            assert subject in step["text"]
            assert step["memory_id"].startswith(subject)
