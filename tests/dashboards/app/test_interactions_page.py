"""The page of interactions, and the recipe behind it: what is listed is exactly what was asked for."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from drawn_pages import IGNORED, bodies, drawn, published_by, words
from small_home import SmallHome, interaction

from slowwave.dashboards.app.pages.interactions import interactions_page
from slowwave.dashboards.app.widgets import PAGE_ROWS

pytestmark = [
    pytest.mark.filterwarnings(IGNORED),
    pytest.mark.slow,  # whole pages and commands: continuous integration runs them
]
HOSTILE = "<img src=x onerror=alert(1)>'; DROP TABLE runs; --\x1b[31m"
SECOND = "2026-03-02T09:00:00"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    made = SmallHome(tmp_path_factory.mktemp("interactions") / "home")
    made.land(
        interaction("a", created_at=f"{SECOND}.000001Z", session_id="s1", client="cli", agent="coder"),
        interaction("b", created_at=f"{SECOND}.000002Z", session_id="s1", client="ide", agent="coder", user_id="u1"),
        interaction("c", created_at=f"{SECOND}.000003Z", session_id="100%", project=""),
        interaction("d", created_at="2026-03-01T09:00:00Z", prompt=HOSTILE, session_id=HOSTILE, client=HOSTILE),
        *[interaction(f"old {n:03}", created_at="2026-02-01T09:00:00Z", project="many") for n in range(PAGE_ROWS + 10)],
    )
    made.nightly(datetime(2026, 3, 5))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    moved = {"created_at": f"{SECOND}.000004Z", "recorded_at": "2026-03-03T00:00:00Z"}
    made.land(interaction("a", **moved, session_id="s1", client="cli", agent="coder"))
    return made


@pytest.fixture(autouse=True)
def at_home(home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))


@pytest.fixture(scope="module")
def published(home):
    opened = published_by(home)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"project": "shop"}, ["a", "b", "d"]),
        ({"project": ""}, ["c"]),
        ({"session_id": "s1"}, ["a", "b"]),
        ({"session_id": r"100\%"}, ["c"]),
        ({"client": "ide"}, ["b"]),
        ({"client": "", "project": ""}, ["c"]),
        ({"agent": "coder", "client": "cli"}, ["a"]),
        ({"user": "u1"}, ["b"]),
        ({"since": f"{SECOND}.000003Z"}, ["a", "c"]),
        ({"since": "2026-03-02T10:00:00.000003+01:00"}, ["a", "c"]),
        ({"since": SECOND, "until": f"{SECOND}.000003"}, ["b"]),
        ({"since": "2026-03-01", "until": "2026-03-02"}, ["d"]),
        ({"session_id": HOSTILE}, ["d"]),
        ({"project": "many", "limit": "2", "offset": "1"}, ["old 001", "old 002"]),
        ({"since": "2026-03-03"}, []),
    ],
    ids=str,
)
def test_the_recipe_lists_what_fits_newest_first_and_exact_in_time(home, params, found):
    given = [part for name, value in params.items() for part in ("--param", f"{name}={value}")]
    done = home.run("sql", "landed_interactions", "--format", "json", *given)
    rows = json.loads(done.stdout)
    assert [row["interaction_id"] for row in rows] == found, done.stderr
    if "a" in found:  # of its two versions that counts which was recorded last, once
        (row,) = (row for row in rows if row["interaction_id"] == "a")
        assert (row["created_at"], row["recorded_at"]) == (f"{SECOND}.000004Z", "2026-03-03T00:00:00Z")
    assert {row["interactions_count"] for row in rows} <= {
        PAGE_ROWS + 10 if params.get("project") == "many" else len(rows)
    }


def test_the_page_lists_the_same_at_its_address(published):
    page = drawn(interactions_page, published, session="s1", **{"from": "2026-03-02"})
    said = words(page)
    assert "1 to 2 of 2 interactions" in said
    assert said.index(f"{SECOND}.000004Z") < said.index(f"{SECOND}.000002Z")
    assert "with_session_id=s1&amp;with_since=2026-03-02T00%3A00%3A00Z" in bodies(page)


def test_a_long_list_goes_on_on_a_second_page(published):
    page = drawn(interactions_page, published, project="many", page="2")
    assert f"{PAGE_ROWS + 1} to {PAGE_ROWS + 10} of {PAGE_ROWS + 10} interactions" in words(page)
    assert f"1 to {PAGE_ROWS} of" in words(drawn(interactions_page, published, project="many", page="99"))


def test_what_is_no_time_is_said_and_what_fits_nothing(published):
    assert "someday is no time" in words(drawn(interactions_page, published, **{"from": "someday"}))
    assert "No interaction fits" in words(drawn(interactions_page, published, client="none of these"))


def test_hostile_text_is_shown_and_finds_itself(published):
    page = drawn(interactions_page, published, session=HOSTILE)
    assert "1 to 1 of 1 interaction" in words(page)
    assert "<img" not in bodies(page)
    assert "\x1b" not in bodies(page) + words(page)
