"""`slowwave why`: every count listed in full, as published, whatever the rows hold."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
from small_home import SmallHome, interaction, memory

from slowwave.data.sample import write_sample
from slowwave.flows.ask.why.lookup import Publish
from slowwave.flows.ask.why.text import lift_words, use_words
from slowwave.flows.cli import main as cli
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.land.land import path_deliveries
from slowwave.flows.nightly.nightly import land_paths, start_run
from slowwave.transforms.landing.tables import Memories

HOSTILE = "=cmd() \x1b[31mred\x1b[0m [red]markup[/red] \"double\" 'single'; DROP TABLE runs; -- \x00\x9b2J\u202e<b>"
UNSAFE = {"\x1b", "\x9b", "\x00", "\u202e"}


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def found(self) -> dict[str, Any]:
        assert self.code == 0, self.err
        return json.loads(self.out)


Why = Callable[..., Said]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    """m1 moves from shop to other and back to sleep; published twice, with a day added in between."""
    made = SmallHome(tmp_path_factory.mktemp("why") / "home")
    says_m1 = memory("m1")["content"]
    made.land(
        memory("m1", confidence=0.5, changed_by="owner"),
        memory("m1", changed_at="2026-03-02T12:00:00Z", content=None, project="other", reason="moved"),
        memory("m1", changed_at="2026-03-02T12:00:00Z", project="draft", recorded_at="2026-03-02T12:00:01Z"),
        memory("m1", changed_at="2026-03-02T12:00:00Z", project="other", recorded_at="2026-03-02T12:00:02Z"),
        memory("m1", changed_at="2026-03-04T00:00:00Z", status="archived", content=None, project=None),
        memory("m1", changed_at="2999-01-01T00:00:00Z", content="What is not known yet."),
        memory("m1", changed_at="2026-03-03T00:00:00Z", recorded_at="2999-01-01T00:00:00Z", content="Told later."),
        memory("everywhere", project="", memory_type="preference"),
        memory("lapsed", expires_at="2026-03-02T08:00:00Z"),
        memory("drafting", project="books", content="The API port is 8080"),
        memory("out", project="books", content="The API port is now 9090", changed_at="2026-03-02T07:00:00Z"),
        memory("hostile\x1b[31m", content=HOSTILE * 9, project=HOSTILE, reason=HOSTILE, changed_by=HOSTILE),
        interaction("before", created_at="2026-03-01T07:59:59Z"),
        interaction("early", created_at="2026-03-02T07:00:00Z", project="elsewhere", memories_used=["lapsed"]),
        interaction("late", created_at="2026-03-02T08:00:00Z", project="elsewhere", memories_used=["lapsed"]),
        interaction(
            "i1", memories_used=["m1", "gone"], memories_cited=["m1"], response=says_m1, session_id="s1", agent="a"
        ),
        interaction(
            "i2", created_at="2026-03-02T11:59:59Z", prompt=says_m1, response=says_m1, response_summary=says_m1
        ),
        interaction("left", created_at="2026-03-02T12:00:00Z", response=says_m1),
        interaction("i3", created_at="2026-03-02T12:00:00Z", project="other", response_summary=says_m1),
        interaction(
            f"h{HOSTILE}", project=HOSTILE, agent=HOSTILE * 3, session_id=HOSTILE, memories_used=["hostile\x1b[31m"]
        ),
    )
    made.nightly()
    made.land(
        interaction(
            "i4", created_at="2026-03-03T09:00:00Z", project="other", memories_used=["m1"], memories_cited=["m1", "?"]
        ),
        interaction("asleep", created_at="2026-03-04T09:00:00Z", project="other", response=says_m1),
    )
    made.nightly()
    return made


@pytest.fixture
def why(home, capfd, monkeypatch) -> Why:
    return asking(home.folder, capfd, monkeypatch)


def asking(folder: Path, capfd, monkeypatch) -> Why:
    def ask(*arguments: str, output: str = "json") -> Said:
        monkeypatch.setenv("SLOWWAVE_HOME", str(folder))
        capfd.readouterr()
        every = ["--all"] if output == "text" else []
        code = cli._exit_code(["why", *arguments, *every, "--format", output])
        return Said(code, *capfd.readouterr())

    return ask


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> SmallHome:
    """One memory in use, one pinned, one that faded, and a judge whom eighteen injections are enough."""
    made = SmallHome(tmp_path_factory.mktemp("judged") / "home")
    used = memory("used", changed_at="2025-06-01T08:00:00Z")
    uses = [
        interaction(f"i{day}", created_at=f"2026-03-{day:02}T09:00:00Z", response=used["content"])
        for day in range(2, 20)
    ]
    made.land(
        used,
        memory("pinned", pinned=True, content="Refunds above ninety euros need approval by accounting."),
        memory(
            "faded",
            content="Shelf reports from warehouse nine go out on yellow paper every Monday before dawn.",
            memory_type="episodic",
            importance=0.0,
            changed_at="2025-06-01T08:00:00Z",
        ),
        *(row | {"memories_used": ["used", "faded"]} for row in uses),
    )
    made.settings.params_file.write_text("[verdict]\nmissed_chance = 0.5\n")
    made.nightly(datetime(2026, 3, 20))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    return made


# What the text says of each: the verdict, why, and what will become of it.
JUDGED = {
    "used": [
        "verdict keep: - Quoted in 18 interactions, last 1 day ago. - Estimated need {need_30d}",
        "strength 1.00 (strong; half-life 90 days); need within",
        "need within 30 days {need_30d}; trend new",
    ],
    "pinned": [
        "- Eligible in only 18 interactions, not injected: too few to judge (under 20).",
        "- Pinned: kept whatever its use.",
        "strength 1.00 (strong; half-life 90 days); trend new",
    ],
    "faded": [
        "verdict forget: - Injected 18 times, never visibly used (",
        "- Faded to strength below 0.01.",
        "strength below 0.01 (forgettable; half-life 15 days); faded on 2025-08-28; trend stale",
    ],
}


@pytest.mark.parametrize(
    ("strength", "need", "words"),
    [
        (0.0999, 0.0049, "strength 0.09 (x; half-life 5 days); need within 30 days below 0.01, 0.50 if"),
        (1.0, 0.9951, "strength 1.00 (x; half-life 5 days); need within 30 days above 0.99, 0.50 if"),
        (0.5, 0.0051, "strength 0.50 (x; half-life 5 days); need within 30 days 0.01, 0.50 if"),
    ],
)
def test_no_strength_is_rounded_up_and_no_forecast_to_certainty(strength, need, words):
    state = {"strength": strength, "strength_state": "x", "half_life_days": 5.0, "fades_at": None, "trend": None}
    told = use_words(state | {"need_30d": need, "need_if_active": 0.5}, datetime(2026, 3, 20))  # noqa: DTZ001 - UTC
    assert told == f"{words} the project is active"


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        ("randomised", "success was lower with it; compared with interactions from which it was left out at random"),
        ("cutoff", "it scored just too low to be injected; other scores were not compared; least"),
        ("same_task", "associated with lower success; compared with the same tasks before it existed"),
        ("matched", "retrieval was not randomised: what made it be retrieved may be the cause; least"),
    ],
)
def test_a_lift_says_what_was_compared_and_what_could_not_be(basis, words):
    state = {"lift": -0.2, "lift_low": -0.3, "lift_high": -0.1, "lift_detectable": 0.1, "is_harmful": None}
    assert words in lift_words(state | {"lift_basis": basis})
    assert "chance;" not in lift_words(state | {"lift_basis": basis})
    may_be_none = lift_words(state | {"lift_basis": basis, "lift_high": 0.1})
    assert "(-0.30 to +0.10, which holds 0)" in may_be_none
    assert "which may be chance; compared with" in may_be_none


def test_a_half_life_of_one_day_is_no_days():
    state = {"strength": 0.5, "strength_state": "x", "half_life_days": 1.0, "fades_at": None, "trend": None}
    told = use_words(state | {"need_30d": None, "need_if_active": None}, datetime(2026, 3, 20))  # noqa: DTZ001 - UTC
    assert told == "strength 0.50 (x; half-life 1 day)"


@pytest.mark.parametrize("memory_id", JUDGED)
def test_the_text_says_what_to_do_and_why(judged, capfd, monkeypatch, memory_id):
    ask = asking(judged.folder, capfd, monkeypatch)
    state = ask(memory_id).found["memory"]
    told = {"need_30d": f"{state['need_30d']:.2f}"} if state["need_30d"] else {}
    told["fades_at"] = (state["fades_at"] or "")[:10]
    text = " ".join(ask(memory_id, output="text").out.split())
    for said in JUDGED[memory_id]:
        assert said.format(**told) in text


def test_json_has_verdict_reasons_strength_need_and_trend(judged, capfd, monkeypatch):
    state = asking(judged.folder, capfd, monkeypatch)("faded").found["memory"]
    assert state["verdict"] == "forget"
    assert state["reasons"][1] == "Faded to strength below 0.01."
    # 292 days after its birth, with half-lives of 3.75, 15 and 60 days
    assert state["strength"] == pytest.approx((2 * 2 ** (-292 / 15) + 2 ** (-292 / 60)) / 4, abs=1e-8)
    assert (state["strength_state"], state["trend"], state["half_life_days"]) == ("forgettable", "stale", 15.0)
    assert state["need_30d"] is state["need_if_active"] is None
    assert state["fades_at"] == "2025-08-28T00:00:00Z"


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["interaction_id"] for row in rows]


def test_every_count_is_listed_newest_first(why):
    found = why("m1").found
    used = len(found["used"])
    counts = {"eligible": 4, "injected": 2, "echoed": 3, "used": used, "cited": 2, "references": 3, "followed": 0}
    assert found["counts"] == {**counts, "not_followed": 0, "stale": 0, "confirmed": 0, "contradicted": 0}
    assert all(0.5 < row["used_score"] <= 1 for row in found["used"])
    assert ids(found["eligible"]) == ["i4", "i3", "i2", "i1"]
    assert ids(found["injected"]) == ["i4", "i1"]
    assert ids(found["echoed"]) == ids(found["references"]) == ["i3", "i2", "i1"]
    assert ids(found["cited"]) == ["i4", "i1"]
    about = {"occurred_at": "2026-03-02T09:00:00Z", "project": "shop", "agent": "a", "session_id": "s1"}
    assert found["injected"][1] == {"interaction_id": "i1", **about}
    assert found["eligible"][3] == {"interaction_id": "i1", **about}
    assert [(row["echoed_in"], row["in_prompt"]) for row in found["echoed"]] == [
        ("summary", False),
        ("both", True),
        ("response", False),
    ]


def test_a_memory_of_every_project(why):
    found = why("everywhere").found
    assert ids(found["eligible"]) == ["asleep", "i4", "i3", "left", "i2", f"h{HOSTILE}", "i1", "late", "early"]
    assert found["counts"]["eligible"] == 9


@pytest.mark.parametrize("memory_id", ["drafting", "out"])
def test_a_memory_says_how_what_it_states_has_changed(why, memory_id):
    (changed,) = why(memory_id).found["changed"]
    out = " ".join(why(memory_id, output="text").out.split())
    assert "what it states has changed: “8080” since 2026-03-01" in out
    assert f"then “9090” since 2026-03-02 (slowwave why {changed['observation_id']})" in out
    assert why("everywhere").found["changed"] == []


def test_changes_are_those_known_then_with_what_they_alter(why):
    changes = why("m1").found["changes"]
    assert [(change["changed_at"], change["is_winning"]) for change in changes] == [
        ("2026-03-04T00:00:00Z", True),
        ("2026-03-02T12:00:00Z", True),
        ("2026-03-02T12:00:00Z", False),
        ("2026-03-02T12:00:00Z", False),
        ("2026-03-01T08:00:00Z", True),
    ]
    assert changes[0]["changed"] == {"status": ["active", "archived"]}
    assert changes[1]["changed"] == {"project": ["shop", "other"]}
    assert changes[2]["changed"] == {"project": ["shop", "draft"]}
    assert (changes[3]["reason"], changes[4]["changed_by"]) == ("moved", "owner")
    assert changes[4]["changed"]["confidence"] == [None, 0.5]


def test_stale_injections_are_listed(why):
    found = why("lapsed").found
    assert [row["interaction_id"] for row in found["stale"]] == ["late"]
    assert (found["counts"]["stale"], found["counts"]["injected"], found["memory"]["status"]) == (1, 2, "expired")
    assert "expired 2026-03-02 08:00:00Z" in why("lapsed", output="text").out


def test_an_id_that_was_only_injected(why):
    found = why("gone").found
    assert {name: count for name, count in found["counts"].items() if count} == {"injected": 1}
    assert found["memory"]["status"] is None
    assert "never landed as a memory" in why("gone", output="text").out


def test_an_interaction_says_which_memories_were_in_it(why):
    found = why("i1").found
    assert found["injected"] == [{"memory_id": "gone"}, {"memory_id": "m1"}]
    assert found["echoed"] == [{"memory_id": "m1", "echoed_in": "response", "in_prompt": False}]
    assert found["cited"] == [{"memory_id": "m1"}]
    assert "injected 2" in why("i1", output="text").out
    assert "cited 1: memories its answer names itself (memories_cited)" in why("i1", output="text").out


def test_an_id_that_was_only_cited(why):
    found = why("?").found
    assert {name: count for name, count in found["counts"].items() if count} == {"cited": 1}
    assert ids(found["cited"]) == ["i4"]
    assert found["memory"]["status"] is None
    assert why("before").found["injected"] == []


def test_the_text_shows_some_of_each_and_says_how_many_there_are(why):
    lines = why("m1", "--limit", "1", output="text").out.splitlines()
    assert lines[0] == "memory m1: archived knowledge of project other"
    assert "eligible 4: interactions in which it was active and which its project, scope and user include" in lines
    assert "  2026-03-03 09:00:00Z  other      i4" in lines
    assert sum("more (--limit" in line for line in lines) == 6 + (len(why("m1").found["used"]) > 1)
    full = why("m1", "--limit", "9", output="text").out
    assert "more (--limit" not in full
    assert "i2  in response and summary, as the prompt did" in full
    assert "(echo/1); in 1 the prompt said it already" in full
    assert "    project: shop → other" in full.splitlines()
    assert "(replaced by a later version)" in full


@pytest.mark.parametrize("given", ["hostile\x1b[31m", f"h{HOSTILE}".replace("\x00", ""), "m1"])
def test_the_text_fits_and_is_shown_never_obeyed(why, given):
    said = why(given, output="text")
    shown = said.out + said.err
    assert shown
    assert not UNSAFE & set(shown)
    assert max(map(len, said.out.splitlines()), default=0) <= 100
    if said.code == 0 and given != "m1":
        assert "[red]markup[/red]" in said.out


def test_json_is_shown_never_obeyed(why):
    said = why("hostile\x1b[31m")
    assert said.out.isprintable() or set(said.out) - {"\n"} == {c for c in said.out if c.isprintable()}
    assert said.found["memory"]["content"] == HOSTILE * 9


def test_an_unknown_id_names_near_ones(why):
    said = why("everywhre")
    assert (said.code, said.out) == (1, "")
    assert "did you mean everywhere?" in said.err
    assert "slowwave sql most_referenced" in why("zzz\x1b[31m").err


def test_nothing_published_is_said(tmp_path, capfd, monkeypatch):
    said = asking(tmp_path / "absent", capfd, monkeypatch)("m1")
    assert (said.code, said.out) == (1, "")
    assert said.err == "slowwave: nothing is published yet: run `slowwave nightly`\n"


def test_partitions_that_are_gone_are_said_to_be(home, tmp_path, capfd, monkeypatch):
    folder = tmp_path / "copy"
    shutil.copytree(home.folder, folder, symlinks=True)
    ask = asking(folder, capfd, monkeypatch)
    next((folder / "lake" / "evidence" / "memory_eligibility").glob("day=2026-03-03/*.parquet")).unlink()
    said = ask("m1")
    assert said.found["eligible"] is None
    assert ids(said.found["injected"]) == ["i4", "i1"]
    assert "1 partition of run" in said.err
    assert "not listed: 1 partition " in ask("m1", output="text").out
    shutil.rmtree(folder / "lake" / "day_inputs")
    assert "the ledger no longer says" in ask("m1").err


def test_the_name_of_a_home_is_no_pattern(home, tmp_path, capfd, monkeypatch):
    for name in ("[h]*", "[h]x"):
        shutil.copytree(home.folder, tmp_path / name, symlinks=True)
    found = asking(tmp_path / "[h]*", capfd, monkeypatch)("m1").found
    assert ids(found["eligible"]) == ["i4", "i3", "i2", "i1"]


@pytest.mark.slow
def test_the_lists_of_all_memories_of_a_sample_are_as_long_as_their_counts(tmp_path):
    home = SmallHome(tmp_path / "home")
    write_sample(tmp_path / "logs", days=6, interactions_per_day=25)
    with writer_lock(home.settings, "land"):
        land_paths(start_run(home.settings, "land"), path_deliveries([str(tmp_path / "logs")]))
    home.land(*(interaction(f"cites {n}", memories_cited=[f"mem-{m:04}" for m in range(n, 40, 3)]) for n in range(5)))
    home.nightly()
    serving = home.settings.current.resolve()
    with closing(duckdb.connect(serving, read_only=True)) as connection:
        published = connection.execute(
            "SELECT memory_id, eligible_count, injected_count, stale_injected_count, echoed_count, used_count, "
            "cited_count, followed_count, not_followed_count, reference_count, confirmed_count, contradicted_count, "
            "created_at, status FROM memory_health ORDER BY memory_id"
        ).fetchall()
        publish = Publish(connection, Path(home.settings.lake), serving.stem)
        chosen = published[::3]  # a spread of them: each takes some milliseconds
        for memory_id, *counts, created_at, status in chosen:
            found = publish.memory(memory_id)
            assert found
            lists = [found[name] for name in found["counts"]]
            assert [len(set(ids(rows))) for rows in lists] == list(found["counts"].values())
            assert counts == list(found["counts"].values())
            winning = [change for change in found["changes"] if change["is_winning"]]
            assert [change["changed_at"] for change in winning][-1:] == ([created_at] if status else [])
            assert len({change["changed_at"] for change in winning}) == len(winning)
        assert sum(row[1] for row in chosen) > 100
        assert sum(row[5] for row in published) > 5
        assert sum(row[6] for row in chosen) > 5
        assert sum(row[9] for row in chosen) > 5
        assert sum(row[10] + row[11] for row in published) > 5


def test_the_winning_change_is_the_one_that_was_published(why, home):
    """DuckDB names the winners here, Polars when publishing: the rule is stated twice and must agree."""
    with closing(duckdb.connect(home.settings.current.resolve(), read_only=True)) as connection:
        query = "SELECT memory_id, project, status FROM memory_health WHERE status IS NOT NULL"
        published = connection.execute(query).fetchall()
    for memory_id, project, status in published:
        stated: dict[str, Any] = {}
        for change in reversed(why(memory_id).found["changes"]):
            if change["is_winning"]:
                stated |= {name: new for name, (_, new) in change["changed"].items()}
        says = "expired" if memory_id == "lapsed" else stated["status"]
        assert (stated["project"], says) == (project, status)
        assert stated.keys() <= set(Memories.state)
        assert memory_id != "lapsed" or stated["expires_at"] is not None


@pytest.fixture(scope="module")
def shared_names(tmp_path_factory) -> SmallHome:
    """One name for a memory, an interaction, an outcome, a project and a strategy; an id like a choice."""
    made = SmallHome(tmp_path_factory.mktemp("names") / "home")
    told = {"strategy": "same", "success": True, "created_at": "2026-03-02T10:00:00Z", "project": "same"}
    made.land(
        memory("same", project="same"),
        memory("outcome:same", project="same"),
        interaction("same", project="same", memories_used=["same"]),
        {"outcome_id": "same", **told},
        {"outcome_id": "alone", **told, "project": "alone"},
        memory("of it", project="it's; alone"),
    )
    made.nightly()
    return made


def test_an_id_that_names_several_things_says_so_and_each_can_be_chosen(shared_names, capfd, monkeypatch):
    ask = asking(shared_names.folder, capfd, monkeypatch)
    said = ask("same")
    assert said.found["memory_id"] == "same"
    assert said.found["also"][:1] == ["interaction:same"]
    assert said.found["also"][1:] == ["strategy:same", "outcome:same"]
    assert "slowwave: this id names something else too: `slowwave why interaction:same` or " in said.err
    assert "something else too" in ask("same", output="text").err
    for kind, key in (("memory", "counts"), ("interaction", "injected"), ("strategy", "uses"), ("outcome", "outcome")):
        assert key in ask(f"{kind}:same").found, kind
    assert (ask("alone").found["also"], ask("alone").err) == ([], "")


def test_an_id_that_looks_like_a_choice_can_be_chosen_too(shared_names, capfd, monkeypatch):
    ask = asking(shared_names.folder, capfd, monkeypatch)
    chosen = ask("outcome:same")
    assert (chosen.found["outcome_id"], chosen.found["also"]) == ("same", ["memory:outcome:same"])
    assert ask("memory:outcome:same").found["memory_id"] == "outcome:same"
    unknown = ask("error:same")
    assert (unknown.code, unknown.out) == (1, "")
    assert "no error 'same' is known" in unknown.err
    assert unknown.err.endswith("it names another thing: `slowwave why memory:same`\n")


def test_a_project_is_said_to_be_one(shared_names, capfd, monkeypatch):
    said = asking(shared_names.folder, capfd, monkeypatch)("it's; alone")
    assert said.code == 1
    assert "it is a project: `slowwave sql memories_of_project --param 'project=it" in said.err
