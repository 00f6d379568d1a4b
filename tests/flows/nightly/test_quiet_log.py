"""A log that ended long before the publish: screen, report and dashboard say so first, with the command for its end."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from drawn_pages import IGNORED, drawn, published_by, words
from hypothesis import given
from hypothesis import strategies as st
from small_home import SmallHome, interaction, memory, outcome

from slowwave.dashboards.app.pages.overview import overview_page
from slowwave.dashboards.report.page import report_html
from slowwave.flows.kernel.times import quiet_log_text
from slowwave.flows.nightly.nightly import NightlyResult
from slowwave.flows.nightly.screen import result_lines

_LAST = "2026-03-01T09:00:00Z"
_COMMAND = "slowwave nightly --as-of 2026-03-02"
_FIRST_WORDS = "Nothing happened in the 30 days before"
_TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1))  # noqa: DTZ001 - naive times hold UTC


@given(_TIMES, _TIMES, _TIMES | st.none())
def test_the_command_sees_every_row_and_ends_within_a_day_of_the_last(
    as_of: datetime, newest_at: datetime, recorded_at: datetime | None
) -> None:
    says, command = quiet_log_text(as_of, newest_at, recorded_at)
    assert bool(says) == (as_of - newest_at > timedelta(days=30))
    if command:
        end = datetime.fromisoformat(command.rpartition(" ")[2])
        last = max(newest_at, recorded_at or newest_at)
        assert last < end < as_of
        assert end - last <= timedelta(days=1)
        assert quiet_log_text(end, last, last) == ("", "")


def test_a_log_without_rows_is_not_called_old() -> None:
    assert quiet_log_text(datetime(2026, 3, 1), None, None) == ("", "")  # noqa: DTZ001 - naive times hold UTC


def night(home: SmallHome, as_of: datetime) -> NightlyResult:
    home.land(
        memory("m1"),
        interaction("i1", created_at=_LAST, memories_used=["m1"]),
        outcome("o1", interaction_id="i1", created_at=_LAST),
    )
    return home.nightly(as_of)


@pytest.mark.filterwarnings(IGNORED)
@pytest.mark.parametrize(("days", "is_said"), [(29, False), (31, True)])
def test_screen_report_and_dashboard_begin_with_it(tmp_path: Path, days: int, is_said: bool) -> None:
    home = SmallHome(tmp_path / "home")
    result = night(home, datetime(2026, 3, 1, 9) + timedelta(days=days))  # noqa: DTZ001 - naive times hold UTC
    screen = result_lines(home.settings, result)
    assert (screen[0][0] == "old log") == is_said
    assert any(_COMMAND.partition(" ")[2] in text for _, text in screen[:2]) == is_said
    path = home.settings.current.resolve()
    with duckdb.connect(path, read_only=True) as connection:
        report = report_html(connection, path.stem)
    published = published_by(home)
    page = words(drawn(overview_page, published))
    published.close()
    for text, next_words in ((report, 'class="fresh"'), (page, "Questions to begin with")):
        before = text.partition(next_words)[0]
        assert (_FIRST_WORDS in before, _COMMAND in before) == (is_said, is_said)


def test_landing_says_the_span_of_what_landed(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    file = tmp_path / "rows.jsonl"
    file.write_text(
        '{"prompt": "a", "created_at": "2023-06-01T00:00:00Z"}\n{"prompt": "b", "created_at": "2023-08-29T00:00:00Z"}\n'
        '{"success": true, "created_at": "2023-08-02T00:00:00Z"}\n'
    )
    landed = home.run("land", str(file))
    said = " ".join((landed.stdout + landed.stderr).split())
    assert "span interactions 2023-06-01 to 2023-08-29; outcomes 2023-08-02" in said
    again = home.run("land", str(file))
    assert "2023-06-01" not in again.stdout + again.stderr
