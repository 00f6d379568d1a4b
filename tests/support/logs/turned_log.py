"""Made-up statements of which the later tells a later stage, a step done, or a turn; and some that only look so."""

from __future__ import annotations

TURNED: tuple[tuple[str, str], ...] = (
    ("Ines sprained her wrist and cannot paddle", "Ines paddled for an hour without any pain"),
    ("Ines was ill with the flu last week", "Ines has fully recovered and is back on her feet"),
    ("The van of the choir broke down near Lyon", "The van of the choir is repaired"),
    ("Ines is writing her second novel about lighthouse keepers", "Ines finished her second novel in the spring"),
    ("Ines finished a podcast about tide mills", "Ines published the podcast about tide mills"),
    ("Ines finished her third poem", "Ines submitted her third poem to a magazine"),
    ("Ines won her first regatta in a borrowed boat", "Ines won her third regatta on the lake"),
    ("Ines is currently reading 'Salt Roads'", "Ines is currently reading 'Glass Harbour' on the train"),
    ("Ines has been dating a cellist", "Ines got engaged to the cellist"),
    ("Ines has a parrot called Pim", "Ines adopted another parrot from the market"),
    ("Ines does not have any cats", "Ines adopted two cats"),
    ("Ines walks with her two dogs", "Ines takes her three dogs to the dunes"),
    ("Ines applied for a residency in Bergen", "Ines was accepted for the residency in Bergen"),
    ("Ines is looking for a new flat near the canal", "Ines moved into a flat with a view of the canal"),
    ("Ines is nervous about the harbour exam", "Ines passed the harbour exam at the first go"),
    ("Now remove the `old_parser` module", "Removed `old_parser` and its fixtures"),
    ("I need to add retries to the upload queue", "Added retries to the upload queue"),
    ("Let me wire `Limiter` into the gateway", "**`Limiter`** wired into both gateways"),
    ("Next, write the `settle_invoice` helper", "`settle_invoice` helper that books the rest"),
    ("11 of 14 tests pass", "All 14 tests pass now"),
    ("The build fails on arm64", "Clean compile."),
)
"""What was, and what came of it."""

STEADY: tuple[tuple[str, str], ...] = (
    ("Ines is drafting a report on eel traps", "Ines published a report on tide mills"),
    ("Ines is writing a song for a wedding", "Ines published a report on eel traps"),
    ("Ines won her third regatta", "Ines won her first slalom"),
    ("Ines sprained her ankle", "Ines wants her knee to be pain-free"),
    ("Ines is currently reading 'Salt Roads'", "Ines is currently reading 'Salt Roads' again"),
    ("Ines has a parrot", "Ines bought a cage for a parrot"),
    ("Ines has two dogs", "Ines has two dogs and a boat"),
    ("Ines has trouble with the old pump", "Ines will fix the old pump next week"),
    ("Now add tests for `settle_invoice`", "Added the `settle_invoice` endpoint"),
    ("Now update `gateway.py` to log retries", "Updated `gateway.py` with the new licence header"),
    ("Add `DEBUG` to `Settings`", "Added `DEBUG` to `TestSettings`"),
    ("Let me check for compile errors", "Compiles cleanly"),
    ("11 of 14 tests pass", "3 of 9 tests pass"),
    ("Ines applied for a residency in Bergen", "Ines won a raffle in Porto"),
)
"""Two statements of which the later takes nothing on."""

TOLD: tuple[tuple[str, str, str], ...] = (
    ("Ines swapped her kayak for a canoe", "her kayak", "a canoe"),
    ("Ines turned the boathouse into a bakery", "the boathouse", "a bakery"),
    ("Ines had a goat but had to give it away", "a goat", "give it away"),
    ("Ines used to climb a lot but finds it hard now", "climb a lot", "finds it hard now"),
    ("Ines opened a stall, turning her hobby into a living", "her hobby", "a living"),
    ("Ines broke up with the cellist", "together", "broke up with the cellist"),
    ("Ines tried skating for the first time", "never before", "tried skating for the first time"),
    ("Ines can't climb anymore", "climb", "can't climb anymore"),
    ("Ines moved into a bigger house", "living elsewhere", "moved into a bigger house"),
    ("Renamed `load_rows` → `read_rows`", "load_rows", "read_rows"),
    ("Query time: 4.2s → 80ms", "4.2s", "80ms"),
)
"""What one statement tells as changed: before, and after."""

UNTOLD = (
    "Ines plans to turn the boathouse into a bakery",
    "Ines considers trying skating for the first time",
    "Ines wants to move into a bigger house",
    "The request goes client → gateway",
    "162 parents → 92 children",
    "Ines broke up with a cellist years ago",
    "The question is retired",
)
"""They tell of no change."""
