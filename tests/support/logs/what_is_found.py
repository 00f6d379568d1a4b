"""What is found in a made-up log, to be read: twenty changes of state, twenty proposed mergers, twenty candidates.

    .venv/bin/python tests/support/logs/what_is_found.py

The log is landed and published in a home that is removed afterwards, and the questions of the cookbook are asked of it.
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "homes")]

from small_home import Row, SmallHome, interaction, memory
from state_change_log import ALIKE, CHANGES

from slowwave.flows.kernel.times import parse_as_of

SHOWN = 20

MERGES = (
    ("Run the linter before pushing to main", "Before pushing to main, run the linter first"),
    ("Invoices are kept for ten years", "Invoices are kept for ten years in the archive"),
    ("Never log the body of a payment request", "The body of payment requests is never logged"),
    ("Deploys need the approval of two reviewers", "A deploy needs two reviewers to approve it"),
    ("The staging database is reset every Sunday night", "Every Sunday night the staging database is reset"),
    ("Ask Priya before changing the billing tables", "Check with Priya before you change the billing tables"),
    ("Feature flags live in config/flags.toml", "Feature flags are in config/flags.toml"),
    ("Nadia reviews every change of the parser", "Every parser change is reviewed by Nadia"),
    ("Tests of the exporter need a running Postgres", "A running Postgres is needed for the exporter tests"),
    ("The user wants short answers without headings", "The user would like short answers, no headings"),
    ("Dates are shown in the time zone of the shop", "Show dates in the shop's time zone"),
    ("Old exports are deleted after thirty days", "Exports older than thirty days are deleted"),
    ("Write commit messages in the imperative", "Commit messages are written in the imperative"),
    ("The mobile client caches prices for an hour", "Prices are cached for an hour by the mobile client"),
    ("Uploads larger than 20 MB are refused", "The server refuses uploads larger than 20 MB"),
    ("Use the read replica for reports", "Reports should use the read replica"),
    ("Releases are tagged on Thursday mornings", "A release is tagged every Thursday morning"),
    ("Retry failed webhooks with a growing delay", "Failed webhooks are retried with a growing delay"),
    ("The design tokens come from the brand repository", "Design tokens are taken from the brand repository"),
    ("Keep the changelog in alphabetical sections", "The changelog is kept in alphabetical sections"),
    ("Customer names are not used in test data", "No customer names in test data"),
    ("Long jobs report progress every minute", "Every minute a long job reports its progress"),
    ("The checkout team owns the coupon service", "The coupon service belongs to the checkout team"),
    ("Sort imports alphabetically in every module", "Keep imports sorted alphabetically in all modules"),
    ("Joost wants a summary at the end of every report", "Joost likes reports that end with a summary"),
    ("Show amounts with two decimals on receipts", "Receipts show amounts with exactly two decimals"),
    ("The nightly job writes its log to the shared drive", "The log of the nightly job is put on the shared drive"),
    ("New columns get a default so that old rows stay valid", "Give new columns a default, so old rows remain valid"),
    ("Do not call the tax service from the browser", "The browser does not talk to the tax service"),
    ("Translations are reviewed by the Lisbon office", "The Lisbon office checks all translations"),
    ("The queue worker restarts after every deploy", "After each deploy the queue worker is started again"),
    ("Use the sandbox account for card payments in tests", "Card payments in tests go through the sandbox account"),
    ("Product photos are scaled down to 800 pixels", "Photos of products are resized to 800 pixels"),
    ("Marta wants errors to be shown in red", "Marta likes errors shown in red"),
    ("The search page must load within a second", "The search page has to load in one second"),
    ("Refunds are booked on the day they are approved", "A refund is booked the day it gets approved"),
    ("Name branches after the ticket they belong to", "Branches are named after their ticket"),
    ("The team writes its notes in Markdown", "Notes of the team are kept in Markdown"),
    ("Give every background job a time limit", "Every background job needs a time limit"),
    ("Phone numbers are stored with the country code", "Store phone numbers including the country code"),
    ("Give each endpoint a rate limit", "Each endpoint needs a rate limit"),
    ("Priya wants a short summary before the details", "Priya would like a short summary before the details"),
    ("The release notes come from the changelog", "The release notes are taken from the changelog"),
    ("Secrets live in the vault of the operations team", "Secrets are in the vault of the operations team"),
    ("Ask Nadia before changing the parser grammar", "Check with Nadia before you change the parser grammar"),
    ("The export must finish before six in the morning", "The export has to finish before six in the morning"),
    ("A rollback needs the operator on duty to approve it", "Rollbacks need the approval of the operator on duty"),
    ("Keep the README under two hundred lines", "The README should stay under two hundred lines"),
    ("Ines wants the weekly chart on the first page", "Ines likes the weekly chart on the first page"),
    ("Warnings are mailed every morning", "A warning is mailed each morning"),
)
"""Two ways to say one thing."""

ANSWERS = (
    "Constraint: the importer may hold no more than 200 MB of rows at a time.",
    "Decision: sessions are kept in Redis, because the web servers are replaced every night.",
    "The team prefers small pull requests over long-lived branches.",
    "We decided to drop support for Python 3.10 with the next release.",
    "Every endpoint must check the tenant of the token before it reads a row.",
    "Requirement: exports open in a spreadsheet without a warning.",
    "Nadia prefers tables with a frozen header.",
    "Amounts must never be stored as floating point numbers.",
    "We decided against a queue of our own, since the broker already retries.",
    "Fact: the payment provider rounds half cents up.",
    "Passwords shall be hashed with argon2 before they leave the login service.",
    "Decision: the public API keeps version 1 until March 2027.",
    "The owner prefers British spelling in everything that customers read.",
    "All migrations must be reversible until the release is tagged.",
    "Constraint: the label printer takes at most 62 characters per line.",
    "We decided to build the search index at night, when nobody writes.",
    "Requirement: a person can delete an account without writing to support.",
    "The maintainers prefer plain SQL over an object mapper.",
    "Webhooks must be answered within five seconds, or the sender tries again.",
    "Decision: prices are shown with tax in the shop and without in the back office.",
    "Fact: the warehouse scanner sends codes in upper case only.",
    "Backups must be restored once a month to prove that they work.",
    "Joost prefers charts over long tables.",
    "We decided on UTC for all stored times.",
    # and what no one should have to read
    "It must have been the cache again, so I tried once more.",
    "If you prefer, I can rename the file.",
    "This test must pass before step 3.",
    "Fact: done.",
)
"""What an assistant said, each in sessions of its own."""


def log() -> list[Row]:
    """Changes over half a year, pairs that say one thing, and answers with statements, in projects of their own."""
    start, rows = parse_as_of("2026-03-01"), []
    for number, (before, after) in enumerate((*CHANGES, *ALIKE)):
        for when, text in ((number, before), (number + 90, after)):
            rows.append(_memory(f"c-{number}-{when}", "changes", start + timedelta(days=when), text))
    for number, pair in enumerate(MERGES):
        for nth, text in enumerate(pair):
            rows.append(_memory(f"m-{number}-{nth}", "mergers", start + timedelta(days=number + nth), text))
    for number, text in enumerate(ANSWERS):
        for session in range(1 + number % 3):
            at = (start + timedelta(days=number, hours=session)).isoformat()
            fields = {"created_at": at, "session_id": f"s-{number}-{session}", "project": "answers"}
            rows.append(interaction(f"i-{number}-{session}", prompt="What should I know?", response=text, **fields))
    return rows


def _memory(memory_id: str, project: str, at: object, text: str) -> Row:
    return memory(memory_id, content=text, project=project, changed_at=str(at), source_ids=[memory_id])


def main() -> None:
    """Print what is found."""
    with TemporaryDirectory() as folder:
        home = SmallHome(Path(folder) / "home")
        home.land(*log())
        home.nightly(parse_as_of("2026-12-01"))
        states: dict[str, list[Row]] = {}
        for row in _asked(home, "state_changes"):
            states.setdefault(row["observation_id"], []).append(row)
        changes = [f"{_step(a)}, then {_step(b)}" for steps in states.values() for a, b in pairwise(steps)]
        mergers = [f"{row['text']}  ({row['reason']})" for row in _asked(home, "proposed_merges")]
        candidates = [f"{row['text']}  ({row['reason']})" for row in _asked(home, "candidates")]
        for title, found in (("changes of state", changes), ("mergers", mergers), ("candidates", candidates)):
            print(f"\n{min(SHOWN, len(found))} of {len(found)} {title}\n")
            print("\n".join(f"- {line}" for line in found[:SHOWN]))


def _asked(home: SmallHome, recipe: str) -> list[Row]:
    return json.loads(home.ask("sql", recipe, "--param", "limit=1000", "--format", "json").stdout)


def _step(row: Row) -> str:
    return row["text"] + (f" [{row['value']}]" if row["value"] else "")


if __name__ == "__main__":
    main()
