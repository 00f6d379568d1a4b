"""What agents state in passing in the sample logs, and notes of a quiet project that change and contradict."""

from slowwave.data.sample_text import Draw

SHARE = 0.05

# Of each project, the most repeated first. Headings stand on lines of their own.
STATEMENTS: dict[str, tuple[str, ...]] = {
    "harbour-shop": (
        "## Decision\nVouchers are validated on the server only, never in the basket.",
        "We decided to keep parcel labels for ninety days and then delete them.",
        "Requirement: every price change must leave an entry in the audit log.",
        "The checkout page must answer within two seconds on a slow phone.",
    ),
    "tidewater": (
        "Decision: late events are appended to a correction table, not merged into fact_usage.",
        "We decided to rebuild dim_account every Sunday night.",
        "Constraint: compaction must not run while the ingest gateway restarts.",
    ),
    "pocket-fern": (
        "Chloé prefers screenshots over long descriptions of a layout problem.",
        "## Decision\nJournal entries are encrypted on the device before they are synchronised.",
        "The sync engine must never overwrite an entry that was edited on another device.",
    ),
    "": ("The team prefers short answers with the command to run at the end.",),
}

# A project without interactions, whose memories change, repeat and contradict each other: (day, type, content).
NOTES_PROJECT = "lantern-notes"
NOTES = (
    (1, "knowledge", "The release branch of the lantern firmware is cut on Mondays."),
    (3, "preference", "Esra used to like long answers."),
    (9, "knowledge", "The release branch of the lantern firmware is cut on Mondays"),
    (12, "preference", "Esra used to like long answers, now she likes short answers."),
    (15, "knowledge", "The beacon API listens on port 8080."),
    (15, "knowledge", "The beacon API listens on port 9090."),
    (18, "knowledge", "Migrations of the tide database are written with Alembic."),
    (21, "knowledge", "Forget that migrations of the tide database are written with Alembic."),
)


def with_statement(draw: Draw, project: str, response: str) -> str:
    """Return the response, now and then with a statement of the project at its end; the first are the commonest."""
    statements = STATEMENTS.get(project, ())
    if not statements or not draw.chance(SHARE):
        return response
    stated = draw.weighted({statement: 2 ** (len(statements) - n) for n, statement in enumerate(statements)})
    return f"{response}\n\n{stated}"
