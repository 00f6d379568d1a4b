"""A made-up log of what an assistant noted over half a year, with what changed in it and what only looks so."""

from __future__ import annotations

CHANGES: tuple[tuple[str, str], ...] = (
    ("Marta lives in Porto", "Marta lives in Ghent now"),
    ("Marta works for a bakery chain", "Marta now works for the city library"),
    ("Marta has two cats", "Marta has three cats at home"),
    ("Marta is married to Joost", "Marta is divorced"),
    ("Marta prefers window seats", "Marta prefers aisle seats"),
    ("Marta does not have a car", "Marta has a car"),
    ("The gateway listens on port 7443", "The gateway listens on port 9443"),
    ("The nightly export is disabled", "The nightly export is enabled"),
    ("The default branch is trunk", "The default branch is main"),
    ("The retry limit of the mailer is 3", "The retry limit of the mailer is 5"),
    ("Session tokens expire after 30 minutes", "Session tokens expire after 15 minutes"),
    ("The search index is stored on the old NAS", "The search index is stored in an S3 bucket"),
    ("The importer is written in Perl", "The importer is written in Go"),
    ("The project uses Jest for unit tests", "The project uses Vitest for unit tests"),
    ("The invoice service is hosted on Heroku", "The invoice service is now hosted on Fly"),
    ("The billing epic is owned by Priya", "The billing epic is owned by Tomas"),
    ("The release meeting is on Monday", "The release meeting is on Thursday"),
    ("The coverage of the parser is 71%", "The coverage of the parser is 84%"),
    ("The team uses Mattermost for alerts", "The team switched from Mattermost to Zulip for alerts"),
    ("The pagination of the admin list is broken", "The pagination of the admin list is fixed"),
    ("Python 3.10 is required", "Python 3.12 is required"),
    ("The linter runs on 42 packages in CI", "The linter runs on 57 packages in CI"),
    ("The staging cluster runs on Kubernetes 1.28", "The staging cluster runs on Kubernetes 1.31"),
    ("Image uploads are limited to 10 MB", "Image uploads are limited to 25 MB"),
    ("Dev database: 12 tables", "Dev database: 15 tables"),
    ("The favourite editor of the user is Helix", "The favourite editor of the user is Zed"),
    ("The user prefers dark mode", "The user prefers light mode"),
    ("All 61 existing tests pass", "All 64 tests pass, no warnings"),
)
"""What is so, and what is so later."""

TICKED: tuple[tuple[str, str], ...] = (
    ("[ ] Draw the tide tables", "[x] Draw the tide tables"),
    ("⏳ Tide tables for the southern harbours", "✅ Tide tables for the southern harbours"),
)
"""Items of lists, and the same ticked off."""

ALIKE: tuple[tuple[str, str], ...] = (
    ("Marta has a bicycle", "Marta has a tent"),
    ("Marta likes jazz", "Marta likes folk music"),
    ("Marta is passionate about birds", "Marta is passionate about maps"),
    ("Marta visited Rome in March", "Marta visited Oslo in June"),
    ("Joost lives in Portugal", "Joost lives in a flat in the old town of Porto in Portugal"),
    ("Marta read two books in January", "Marta read five books in February"),
    ("Marta plans to visit Rome", "Marta visited Oslo"),
    ("Marta wants to write a poem for her mother", "Marta wrote a letter to the council"),
    ("Joost works for a bank", "Marta works for the library"),
    ("The API port is 8080", "The metrics port is 9090"),
    ("The cache of the search page is enabled", "The cache of the login page is disabled"),
    ("Issue 12 is closed", "Issue 14 is open"),
    ("The parser rejects blank lines", "The parser rejects tabs"),
    ("Added 3 tests for the parser", "Added 5 tests for the parser"),
    ("The build failed at line 92", "The build failed at line 17"),
    ("The service uses Redis for sessions", "The service uses Redis for rate limits"),
    ("The importer runs on Sundays", "The importer runs on worker 3"),
    ("The dashboard is open to all staff", "The dashboard is slow"),
    ("Use tabs in Go files", "Use spaces in Python files"),
    ("Step 2 is the schema", "Step 3 is the loader"),
    ("The client asked for a refund", "The client asked for an invoice"),
    ("The team is working on the exporter", "The team is working on the importer"),
    ("If the queue is full the worker stops", "If the queue is empty the worker sleeps"),
    ("The report is ready on Mondays", "The report is closed to visitors"),
    ("Ines is currently reading 'Salt Roads'", "Ines is currently reading 'Salt Roads' again"),
    ("Ines has two dogs", "Ines has two dogs and a boat"),
    ("Add `DEBUG` to `Settings`", "Added `DEBUG` to `TestSettings`"),
    ("11 of 14 tests pass", "3 of 9 tests pass"),
    ("[ ] Test the tide clock and the barometer", "[x] Test the tide clock with the moon phases"),
    ("if depth > 0 {", "if depth > 4 {"),
    ("ok  	harbour/tides	0.453s", "ok  	harbour/tides	0.472s"),
)
"""Two statements of which the later takes nothing back."""

DECLARED: tuple[tuple[str, str, str], ...] = (
    ("Renamed `load_rows` → `read_rows`", "load_rows", "read_rows"),
    ("Query time: 4.2s → 80ms", "4.2s", "80ms"),
    ("Changed `depth` to `_depth` in the tide check", "depth", "_depth"),
    ('Changed "Plan" to "Plan (COMPLETED)"', "Plan", "Plan (COMPLETED)"),
    ("Fixed the tide clock by renaming `pipeline` to `tasks`", "pipeline", "tasks"),
    ("`tide-clock`: 8.0.0 → **8.37.0**", "8.0.0", "8.37.0"),
    ("Updated the charts to read tides from `harbours` instead of `coasts`", "coasts", "read tides from `harbours`"),
    ("The tide clock now writes once per hour instead of at each wave", "at each wave", "once per hour"),
    ("The timeout is 30 s (was 10 s)", "10 s", "30 s"),
    ("Tightened the limit from `20s` to `3s`", "20s", "3s"),
)
"""What one statement declares as changed: before, and after."""

UNDECLARED: tuple[str, ...] = (
    "Ines plans to turn the boathouse into a bakery",
    "The request goes client → gateway",
    "162 parents → 92 children",
    "Let me check which imports are now unused",
    "Find adjacent tides (e.g., 5Y → 2.5Y)",
    "You should change `depth` to `_depth`",
    "The depth is set to `tide` instead of `moon`",
    "I need to update the charts to read `harbours` instead of `coasts`",
)
"""They declare no change."""

IN_PROSE: tuple[tuple[str, str], ...] = (
    ("Marta has never been to Iceland", "Marta recently visited Iceland with her sister"),
    ("Marta plans to run the Lisbon marathon", "Marta ran the Lisbon marathon in under four hours"),
    ("Marta is learning Norwegian", "Marta stopped learning Norwegian in May"),
    ("The team deploys on Fridays", "The team no longer deploys on Fridays"),
    ("Ines booked a flight to Lisbon", "Ines visited Lisbon with a friend"),
    ("Ines walks her two ponies", "Ines bought a third pony"),
    ("Ines works as a framer", "Ines got a job as a curator"),
    ("Ines sprained her wrist and cannot paddle", "Ines paddled for an hour without any pain"),
    ("The van of the choir broke down near Lyon", "The van of the choir is repaired"),
    ("Ines is writing her second novel about lighthouse keepers", "Ines finished her second novel in the spring"),
    ("Ines applied for a residency in Bergen", "Ines was accepted for the residency in Bergen"),
    ("Now remove the `old_parser` module", "Removed `old_parser` and its fixtures"),
    ("I need to add retries to the upload queue", "Added retries to the upload queue"),
    ("The build fails on arm64", "Clean compile."),
    ("[ ] Add a `slack_water` column", "Added the `slack_water` column"),
    ("Now update `load_tides` to accept a `harbour` argument", "`load_tides` now takes a `harbour` argument"),
    ("The linter reports errors in two files", "The linter now passes"),
)
"""Changes that only prose tells: they are left to a language model."""
