"""The released methods that outcomes are inferred by: importers use them, rows name them, no param chooses them."""

from __future__ import annotations

from slowwave.transforms.core.methods.method import Method

_ROOM = "slowwave.transforms.imports.inferred"
_NOT_GOLDEN = "the table of cases in tests/transforms/imports/inferred/test_outcomes.py is all there is of it"

OF_IMPORTS: tuple[Method, ...] = (
    Method(
        id="transcript_tests/1",
        computes="Importers: whether the last tests of a turn passed, by what their runner says at the end.",
        implementation=f"{_ROOM}.inferred_outcomes.transcript_tests",
        not_golden=_NOT_GOLDEN,
    ),
    Method(
        id="transcript_build/1",
        computes="Importers: whether the last build, lint or type check of a turn went well, by its own exit code.",
        implementation=f"{_ROOM}.inferred_outcomes.transcript_build",
        not_golden=_NOT_GOLDEN,
    ),
    Method(
        id="transcript_commit/1",
        computes="Importers: that a turn committed what it made, and nothing there undoes it. Weak.",
        implementation=f"{_ROOM}.inferred_outcomes.transcript_commit",
        not_golden=_NOT_GOLDEN,
    ),
    Method(
        id="transcript_interrupt/1",
        computes="Importers: which turns a person interrupted, refused or took back; they are no attempts.",
        implementation=f"{_ROOM}.inferred_outcomes.transcript_interrupt",
        not_golden=_NOT_GOLDEN,
    ),
    Method(
        id="transcript_apierror/1",
        computes="Importers: which turns the model's API failed; they are no attempts.",
        implementation=f"{_ROOM}.inferred_outcomes.transcript_apierror",
        not_golden=_NOT_GOLDEN,
    ),
    Method(
        id="transcript_correction/1",
        computes="Importers, only where asked for: which turns a person corrects with the next words. Weak.",
        implementation=f"{_ROOM}.inferred_outcomes.transcript_correction",
        not_golden=_NOT_GOLDEN,
    ),
)
