"""Instructions with an answer each, and what a person says of it: followed, not, or that it cannot be said.

Written before the checks of `followed/1` were run, in the manner of real sessions. Left out since: what is about code,
of which no answer tells enough.
"""

from __future__ import annotations

from typing import NamedTuple


class Judged(NamedTuple):
    """`is_followed`: None where a careful reader says neither."""

    instruction: str
    prompt: str
    answer: str
    is_followed: bool | None
    category: str = ""


BULLETS = "There are three causes:\n\n- the cache is cold\n- the index is missing\n- the pool is too small\n"
LONG = (
    "The import fails because the module is not on the path. Add the folder to `PYTHONPATH`. Then run it again. "
    "If that does not help, look at the virtual environment. It may be another interpreter."
)

# fmt: off
SHEET: tuple[Judged, ...] = (
    Judged(
        "Answer in British English.",
        "Why is the header grey?",
        "The colour comes from the theme; the behaviour of the hover state overrides it.",
        True,
    ),
    Judged(
        "Answer in British English.",
        "What does this function do?",
        "It normalizes the color values and centers the label before rendering.",
        False,
    ),
    Judged(
        "Use British English",
        "What does `color` do here?",
        "The `color` property sets the text; `background-color` fills the box.",
        None,
    ),
    Judged(
        "Use British spelling.", "Summarise the change.", "It changes how totals are rounded and adds two tests.", None
    ),
    Judged(
        "Always answer in German.",
        "Wie starte ich den Server?",
        "Der Server wird mit `make run` gestartet. Danach ist er auf dem Port 8080 erreichbar, und die Protokolle"
        " stehen in der Datei, die auch die Fehler enthält.",
        True,
    ),
    Judged(
        "Always answer in German.",
        "How do I start the server?",
        "Start it with `make run`. The server is then on port 8080, and you can find the logs in the file that also"
        " has the errors.",
        False,
    ),
    Judged(
        "Reply in English.",
        "¿Cómo arranco el servidor?",
        "Para arrancar el servidor, usa `make run`. Los registros están en la carpeta que se llama logs y no hay que"
        " hacer nada más.",
        False,
    ),
    Judged("Respond in French", "ok?", "Oui.", None),
    Judged("Answer in at most 3 sentences.", "Why does the import fail?", LONG, False),
    Judged(
        "Answer in at most 3 sentences.",
        "Why does the import fail?",
        "The module is not on the path. Add its folder to `PYTHONPATH`.",
        True,
    ),
    Judged(
        "Keep answers under 20 words.",
        "Is the build green?",
        "Yes, since the last commit all checks pass on main.",
        True,
    ),
    Judged("Keep answers under 20 words.", "Is the build green?", LONG, False),
    Judged(
        "Answer in one sentence.",
        "What is WAL?",
        "A write-ahead log records each change before the data file is touched.",
        True,
    ),
    Judged("Answer in at most 3 sentences.", "Give me a detailed plan, step by step.", LONG, None),
    Judged("Limit responses to 5 bullet points.", "What went wrong?", BULLETS, True),
    Judged("Never use emojis.", "Are we done?", "All done 🎉 The tests pass ✅", False),
    Judged("Never use emojis.", "Are we done?", "All done. The tests pass.", True),
    Judged("No emojis.", "Which emoji is in the README?", "It has a rocket 🚀 in its first line.", None),
    Judged(
        "Don't use emojis in your answers", "Ship it?", "Shipped: https://ci.example.org/run/7 is green → merged.", True
    ),
    Judged("Avoid exclamation marks.", "Did it work?", "Great! The migration ran.", False),
    Judged("Avoid exclamation marks.", "Did it work?", "Yes, `!important` was what broke the style.", True),
    Judged("Do not use em dashes.", "Status?", "Two tests fail — both in billing.", False),
    Judged("Do not use bullet points.", "What went wrong?", BULLETS, False),
    Judged("Do not use bullet points.", "What went wrong?", "The cache was cold, and the index was missing.", True),
    Judged("Always reply in JSON.", "Which port?", '{"port": 5432}', True),
    Judged("Always reply in JSON.", "Which port?", '```json\n{"port": 5432}\n```', True),
    Judged("Always reply in JSON.", "Which port?", "The port is 5432.", False),
    Judged("Return valid JSON", "And the host?", '{"host": "db", "port": 54', None),
    Judged('Never say "obviously".', "Why?", "Obviously the lock is held by the other process.", False),
    Judged('Never say "obviously".', "Why?", "The lock is held by the other process.", True),
    Judged('Do not use the word "simply".', "How?", "Call `simply()` from the helper module.", None),
    Judged('Start every answer with "Ahoy".', "Status?", "Ahoy! Two tests fail in billing.", True),
    Judged('Begin each reply with "TL;DR:"', "Status?", "Two tests fail in billing.", False),
    Judged('End every answer with "Over and out."', "Status?", "Two tests fail in billing.\n\nOver and out.", True),
    Judged(
        "End every answer with one line for the changelog that begins with Added, Changed or Fixed.",
        "Add it.",
        "The button is there.\n\nAdded: a button to export.",
        True,
    ),
    Judged(
        "End every answer with one line for the changelog that begins with Added, Changed or Fixed.",
        "Add it.",
        "The button is there, and it exports.",
        False,
    ),
    Judged(
        "If the user writes German, answer in German.", "How?", "You can find it in the settings of the page.", None
    ),
    Judged("Use British English in commit messages.", "Why is it gray?", "The color is set by the theme.", None),
    Judged("Use American English", "Which one?", "The colour is set by the theme.", None, "UI copy"),
    Judged("Use emojis", "Done?", "Done.", None, "Don'ts"),
    Judged("At most 72 characters.", "Why?", LONG, None, "Commit messages"),
    Judged("The user prefers short answers.", "Why?", LONG, None),
    Judged("Run the linter before pushing.", "Push it.", "Pushed.", None),
    Judged("Do not touch migrations/", "Fix the test.", "I changed `tests/test_shop.py` only.", None),
    Judged(
        "Please don't use tables in answers.",
        "Which is faster?",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\nThe first is faster.",
        False,
    ),
    Judged("Write in plain text.", "Which is faster?", "## Result\n\n**The first** is faster.", False),
    Judged(
        "Never answer in more than 2 sentences.",
        "Is e.g. Redis needed?",
        "No, e.g. the queue runs in Postgres. It is enough for now.",
        True,
    ),
    Judged("Keep responses to 2 paragraphs.", "What changed?", "One.\n\nTwo.\n\nThree.\n\nFour.", False),
    Judged("Use bullet points for steps.", "How?", "Run make.", None),
    Judged(
        "Only answer in English when asked.",
        "Wie?",
        "Mit dem Befehl, der in der Datei steht, ist das nicht zu machen.",
        None,
    ),
    Judged("Answer in British English. Never use emojis.", "Done?", "All organised and done 🎉", False),
)
