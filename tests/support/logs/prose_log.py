"""Made-up statements of which the later tells, in other words, what came of the earlier; and some that only look so."""

from __future__ import annotations

PROSE: tuple[tuple[str, str], ...] = (
    ("Let me fix the TypeScript error in the tide chart", "The build succeeded"),
    ("I'll fix the two failing tests of the harbour", "All 31 tests pass"),
    ("Let me revert to the old moon table", "Reverted — back to the old moon table"),
    ("Let me fix the tide store first", "OK so the store fix is in"),
    ("## Step 2: Rename the tide table", "Step 2 is done"),
    ("All 40 tests pass", "All 43 tests pass"),
    (
        "Now pass `moonPhase` to `tideTable` so the harbour page gets a timestamp",
        "Passes `moonPhase` to `tideTable` so the harbour page gets a timestamp",
    ),
    ("Let me update the harbour tests", "`harbour_test.py` — Updated all four harbour tests to call `wait()`"),
    ("I'll add logging to the lighthouse relay", "Added detailed logging to the lighthouse relay and its lamps"),
    ("Adding a tide gauge, and removing the `old_buoy` marker.", "Removed the `old_buoy` marker"),
    (
        "Adding touch controls and a unified tide display.",
        "The touch controls and the unified tide display are in place",
    ),
    ("Ana plans to book an appointment in the nail salon tomorrow", "Ana went to her nail appointment"),
    ("Ben gonna make his pumpkin soup", "Ben is cooking his soup"),
    ("Ana decided to have a parrot", "Ana got a parrot"),
    ("Ben got the positive covid test", "Ben got worse"),
    ("Ana felt very upset", "Ana is getting over her disappointment"),
    ("Ben caught a flight to another city", "Ben is returning back after the visit"),
)
"""What was meant, or went wrong, and what came of it."""

APART: tuple[tuple[str, str], ...] = (
    ("Let me fix the lint warnings before running tests", "All 31 tests pass"),
    ("I'll add it back since `tide_table` uses it", "Added `moon_table` and `harbour_table`"),
    ("Now add the tide column to the harbour table", "Removed the tide column from the harbour table"),
    ("Managing lamps", "Lamps are managed by the keeper"),
    ("Let me update the contact page to match the layout", "The harbour page shows the layout of the contact desk"),
    ("Now add a `moonPhase` test", "Commit pushed with the `moonPhase` test"),
    ("Ben is excited about a hike with the dogs", "Ben has dogs that bring him joy"),
    ("Ana is getting ready for dinner", "Ana had a light dinner"),
)
"""Two statements of which the later tells no change."""

IN_PASSING: tuple[tuple[str, str, str], ...] = (
    ("`tide_json` is now only read by the lighthouse", "not so", "now only read by the lighthouse"),
    ("The tide clock now supports two harbours", "not so", "now supports two harbours"),
    ("The harbour should now open at dawn", "not so", "now open at dawn"),
    ("The old lamp table has been removed", "there", "removed"),
    ("Ana was fired from her job", "employed", "fired from her job"),
    ("Ben became sick, thus he called off his plans for Sunday", "planned", "called off his plans for Sunday"),
    ("A 24% inner gap (was 18%) and less travel", "18%", "24%"),
    ("Main lamp: `lamp-gray-200` → `lamp-gray-700`", "lamp-gray-200", "lamp-gray-700"),
)
"""What one statement tells in passing: before, and after."""

NOT_IN_PASSING = (
    "It is now clear what the tide does",
    "Let me see whether the harbour is now open",
    "Check if the lamp has been removed",
    "The plan is now to paint the lighthouse",
    "Ben thinks he is going to get fired from his job",
)
"""They tell of no change."""
