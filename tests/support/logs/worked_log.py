"""Made-up notes of work of which the later tells a change; and some that only look so."""

from __future__ import annotations

WORKED: tuple[tuple[str, str], ...] = (
    ("[ ] Draw the tide tables", "[x] Draw the tide tables"),
    ("⏳ Tide tables for the southern harbours", "✅ Tide tables for the southern harbours"),
    ("[ ] Add a `slack_water` column", "Added the `slack_water` column"),
    ("The `any` types need to be replaced", "Replaced `any[]` with `Tide[]`"),
    ("I'll start by updating the `load_tides` and `plot_tides` functions", "Updated `load_tides()` and `plot_tides()`"),
    ("Now update `load_tides` to accept a `harbour` argument", "`load_tides` now takes a `harbour` argument"),
    ("Delete the `.tides.example` file", "Deleted `/etc/harbour/.tides.example`"),
    ("Remove the variable from `.tides.toml`", "Removed the `OLD_HARBOUR` variable from `.tides.toml`"),
    ("Update the moon phases page", "Corrected a typo, and updated the moon phases page"),
    ("The linter reports errors in two files", "The linter now passes"),
    ("I need to fix the TypeScript error in the chart", "The build now succeeds"),
    ("Two tests fail since the harbour moved", "All 31 tests pass"),
)
"""What was to be or failed, and that it was done or passes."""

LEFT: tuple[tuple[str, str], ...] = (
    ("Added the moon phases (done)", "Added the moon phases"),
    ("Fix the tide clock (done)", "Fixed the tide clock"),
    ("[ ] Test the tide clock and the barometer", "[x] Test the tide clock with the moon phases"),
    ("Now add the `m` key to the list", "New paragraph that describes the `m` key"),
    ("Add one helper for the tide clock", "Added two helpers for the tide clock"),
    ("Add the harbour to the example file and the table", "Added the harbour to the three columns of the index"),
    ("Add a comment that only top-level harbours load", "Loads harbours from folders created at runtime"),
    ("Add the moon phases", "The moon phases were already added"),
    ("Now replace the `moon_id` test", "Updated the one comment that named `moon_id`"),
    ("if depth > 0 {", "if depth > 4 {"),
    ("ok  \tharbour/tides\t0.453s", "ok  \tharbour/tides\t0.472s"),
    ("The tests fail as expected when the tide is inverted", "All tests pass"),
    ("I'll update the `tides.md` file to include the moon", "I've updated the `harbours.md` file with all details"),
)
"""Two notes of which the later tells no change."""

TOLD_SINCE: tuple[tuple[str, str, str], ...] = (
    ("Changed `depth` to `_depth` in the tide check", "depth", "_depth"),
    ('Changed "Plan" to "Plan (COMPLETED)"', "Plan", "Plan (COMPLETED)"),
    ("Fixed the tide clock by renaming `pipeline` to `tasks`", "pipeline", "tasks"),
    ("`tide-clock`: 8.0.0 → **8.37.0**", "8.0.0", "8.37.0"),
    ("Updated the charts to read tides from `harbours` instead of `coasts`", "coasts", "read tides from `harbours`"),
    ("The tide clock now writes once per hour instead of at each wave", "at each wave", "once per hour"),
    ("The timeout is 30 s (was 10 s)", "10 s", "30 s"),
    ("Tightened the limit from `20s` to `3s`", "20s", "3s"),
)
"""What one note tells as changed: before, and after."""

UNTOLD_STILL = (
    "Let me check which imports are now unused",
    "Find adjacent tides (e.g., 5Y → 2.5Y)",
    "You should change `depth` to `_depth`",
    "The depth is set to `tide` instead of `moon`",
    "I need to update the charts to read `harbours` instead of `coasts`",
)
"""They tell of no change."""
