"""What error messages say by themselves: carried, it is what is read anew, and what was read is not read again."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from slowwave.transforms.core.frames import Frame, empty, framed
from slowwave.transforms.grouping.error_fingerprints import error_fingerprints, errors_of
from slowwave.transforms.grouping.params import ErrorParams
from slowwave.transforms.learning.counted import error_readings
from slowwave.transforms.learning.params import AttemptParams, NotAttempted
from slowwave.transforms.learning.tables import ErrorReadings
from slowwave.transforms.params import Params

MESSAGES = [
    "timeout after 30 s reading /srv/data/a.csv",
    "timeout after 45 s reading /srv/data/b.csv",
    'Traceback (most recent call last):\n  File "/srv/a.py", line 3\nValueError: bad value 17',
    "skipped because a dependency failed",
    "cancelled by the user",
    "",
    "  \n",
    None,
]


def read(
    messages: list[str | None], before: Frame[ErrorReadings] | None = None, params: Params | None = None
) -> tuple[Frame[ErrorReadings], pl.DataFrame]:
    outcomes = pl.DataFrame({"error_message": messages}, schema={"error_message": pl.String})
    return error_readings(empty(ErrorReadings) if before is None else before, outcomes, params or Params())


@given(st.lists(st.sampled_from(MESSAGES)), st.lists(st.sampled_from(MESSAGES)))
def test_carried_it_is_what_is_read_anew(earlier, now):
    whole, _ = read(now)
    carried, handed = read(now, before=read(earlier)[0])
    assert_frame_equal(carried, whole, check_exact=True)
    assert set(handed["error_message"]) == {message for message in now if message is not None}


def test_what_was_read_is_not_read_again_unless_the_rules_changed():
    whole, _ = read(MESSAGES)
    marked = framed(ErrorReadings, whole.with_columns(masked=pl.lit("as it was")))
    assert read([*MESSAGES, "new 1"], before=marked)[1].filter(masked="as it was").height == whole.height
    for other in (
        Params(errors=ErrorParams(max_line_code_points=60)),
        Params(attempts=AttemptParams(not_attempted=(NotAttempted(reason="lost", pattern="lost"),))),
    ):
        assert "as it was" not in read(MESSAGES, before=marked, params=other)[0]["masked"].to_list()


def test_fingerprints_of_what_was_read_are_those_of_the_messages():
    params = Params()
    said = [message for message in MESSAGES if message is not None]
    errors = pl.DataFrame({"project": ["p", "q"] * len(said), "error_message": [text for text in said for _ in "pq"]})
    _, handed = read(MESSAGES, params=params)
    told = handed.select("error_message", "masked")
    whole = error_fingerprints(errors, params.errors)
    messages = whole.select("project", "error_message").sample(fraction=1, shuffle=True, seed=0)
    assert_frame_equal(errors_of(messages, params.errors, told).sort("project", "error_message"), whole)


def test_a_reason_is_told_of_what_was_not_attempted_only():
    reasons = dict(read(MESSAGES)[1].select("error_message", "not_attempted").iter_rows())
    assert reasons["cancelled by the user"] == "cancelled"
    assert reasons[""] is None
    assert reasons[MESSAGES[0]] is None
