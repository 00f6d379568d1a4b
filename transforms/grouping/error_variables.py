"""What differs between two occurrences of one failing thing: numbers, ids, times, addresses, durations.

What is named stays: a test, a module, a table, a host, a target, a tool, a file; so quotes and paths are left as they
are, temporary paths apart. What errors have in common, their family, is what is left once names are masked too.
"""

from __future__ import annotations

import polars as pl

from slowwave.transforms.grouping.error_mining import error_mined
from slowwave.transforms.grouping.error_parts import ANY, KEPT, MARKS, SHOWN
from slowwave.transforms.grouping.params import ErrorParams

# Placeholders of a family of errors: what differs between occurrences, and names, identified by their shape alone.
# A rule is here because it fires in at least three of the systems and tools that grouping is scored on; none knows the
# words of one system. What must not vary stays: the status of an HTTP error, an exit code, an errno, codes such as
# `TS2304:`, what an error object says. While the rules run, each placeholder is one control character (`MARKS`), so
# that no rule reads the inside of another's result. They are regular expressions that the engine (Rust's) runs without
# backtracking, so no text makes them slow.

_VALUES = f"[{''.join(mark for mark in MARKS.values() if mark != ANY)}]"
_CODE_WORDS = (
    r"HTTPS?(?:/[0-9.]+)?|(?:error|status|exit|return)[ _]?(?:code|status)|exit(?:ed)?(?: with)?(?: code| status)?"
    "|errno"
)
_SPOKEN_KEYS = "message|msg|error|type|code|reason|details?|status|title"
_TIME = (
    r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?: ?[AaPp][Mm])?(?: ?(?:(?:Z|UTC|GMT)\b|[+-][0-9]{2}:?[0-9]{2}\b))?"
)
_DATE = "[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}"
_WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_DAY = f"(?:{_MONTH} +[0-9]{{1,2}}|[0-9]{{1,2}} {_MONTH})(?:,? [0-9]{{4}})?"
_FILE_ENDINGS = (
    "py|pyc|js|jsx|ts|tsx|mjs|cjs|json|jsonl|ya?ml|toml|ini|cfg|conf|txt|log|csv|tsv|md|rst|xml|html?|css|java|class"
    "|jar|go|rs|c|h|cc|cpp|hpp|cs|kt|scala|swift|rb|pl|lua|ex|exs|php|sh|bat|sql|lock|db|zip|gz|tar|png|jpe?g|gif|svg|pdf|so|dll|exe|dat|bin|tmp"
)
_AMOUNT = r"[0-9]+(?:\.[0-9]+)?"
_UNIT = "(?:ns|us|µs|ms|msecs?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)"

KEPT_RULES = (
    # digits that name the error, not an occurrence of it: the status of an answer, an exit code; codes such as E501
    (
        (
            rf"(?i)\b((?:{_CODE_WORDS})(?:[\"']?\s?[:=#]\s?|\s(?:is |was |of )?|\s?[\[(])-?)([0-9]{{1,5}}\b)"
            r"|\b(status(?:: ?|=| (?:of |is |was )?))([1-5][0-9]{2}\b)"
            r"|\b(error[ :#=\[(]{1,2}-?)([0-9]{1,5}(?:[:,)\].]|$))"
        ),
        f"${{1}}${{3}}${{5}}{KEPT}${{2}}${{4}}${{6}}",
    ),
    (
        r"((?:^|[\s\[(])[A-Z]{1,10}[-_]?)([0-9]{2,6}[:\])])|((?:^|: )[A-Z]{1,10}[-_]?)([0-9]{2,6}\b)",
        f"${{1}}${{3}}{KEPT}${{2}}${{4}}",
    ),
    # an error object is read like a sentence: its keys stay, and the values that speak
    (rf"(?i)[\"']({_SPOKEN_KEYS})[\"']\s?:\s?(?:\"([^\"\n]+)\"|'([^'\n]+)')", "${1}: ${2}${3}"),
    (r"([{,]\s?)[\"']([A-Za-z_]\w*)[\"']\s?:", "${1}${2}:"),
)
ADDRESSES = (
    # order matters: what is longer or more telling comes first
    ("url", r"(?i)\b[a-z][a-z0-9+]{1,20}://[^\s\"'<>()\[\]{},]*[^\s\"'<>()\[\]{},.:;!?]"),
    ("uuid", r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    (
        "ip",
        (
            r"(?i)(?:/|\b)[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:[:/][0-9]{1,5})?\b|\b[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}\b"
            r"|\b(?:[0-9a-f]{1,4}:){1,7}(?::[0-9a-f]{1,4}){1,6}\b|\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b"
        ),
    ),
    (
        "time",
        rf"\b{_DATE}(?:[T ]{_TIME})?|\b(?:{_WEEKDAY} )?{_DAY} {_TIME}(?: [A-Z]{{3,4}})?(?: [0-9]{{4}})?\b|\b{_TIME}",
    ),
)
_PATHS = (
    (
        (
            r"(^|[^\w</\x01-\x08\x0e-\x17])(?:~|\.{1,2})?/(?:[A-Za-z0-9_.@%+$#~:-]*[A-Za-z0-9_@%+$#~-]/?)*"
            r"|\b[A-Za-z]:\\[^\s:*?\"<>|,;']*"
        ),
        f"${{1}}{MARKS['path']}",
    ),
    (
        rf"\b(?:[\w.@-]+/)*[\w@-][\w.@-]*\.(?:{_FILE_ENDINGS})(?::[0-9]+){{0,2}}\b|\b(?:[\w.@-]+/){{2,}}[\w.@-]*\w",
        MARKS["path"],
    ),
    (r"\b[\w-]*[\w-]\.[\w.-]*\w:[0-9]{1,5}\b|\b[A-Za-z][\w-]*[0-9][\w-]*:[0-9]{1,5}\b", MARKS["host"]),
)
_QUOTED = (
    (r"\B'(?:[^'\n]|\b'\b)*'\B", f"'{MARKS['value']}'"),
    (r'"[^"\n]*"', f'"{MARKS["value"]}"'),
    (r"`[^`\n]*`", f"`{MARKS['value']}`"),
)
FIGURES = (
    ("hex", r"(?i)\b0x[0-9a-f]+\b"),
    ("duration", rf"(?i)(?:< ?)?\b{_AMOUNT} ?{_UNIT}(?: ?{_AMOUNT} ?{_UNIT})*\b"),
    ("size", rf"(?i)\b{_AMOUNT} ?(?:bytes?|[kmgtp]i?b|b)\b"),
    ("version", r"\b[0-9]+(?:\.[0-9]+){2,}\b"),
    ("number", r"\b[0-9]{8,}(?:[.,][0-9]+)*\b"),
    ("hex", r"(?i)\b[0-9a-f]{8,}\b"),
    ("id", r"(?i)\b[a-z]*[0-9]+[a-z]+[0-9][a-z0-9]*\b"),
)
_NUMBER = MARKS["number"]
RULES = (
    *KEPT_RULES,
    *((pattern, MARKS[kind]) for kind, pattern in ADDRESSES),
    *_PATHS,
    *_QUOTED,
    *((pattern, MARKS[kind]) for kind, pattern in FIGURES),
    (rf"(^|[^0-9{KEPT}])[0-9]+(?:[.,][0-9]+)*", f"${{1}}{_NUMBER}"),
    (rf"(^|[\s=:(\[,])[-+]{_NUMBER}", f"${{1}}{_NUMBER}"),
    (rf"{_VALUES}(?:(?:, ?\+?| ){_VALUES})+", MARKS["list"]),
    (r"\s+", " "),
)
"""What is put in, in order: a pattern and what takes its place."""


_END = r"[^\s\"'`<>()\[\]{},;|]*[^\s\"'`<>()\[\]{},;|.:]"
_VARIABLES = (
    *KEPT_RULES,
    (
        rf"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/{_END}|(?i:\b[a-z]:\\\S*\\te?mp\\){_END}",
        MARKS["path"],
    ),
    # the program that speaks, wherever it is installed
    (r"^/(?:[^\s:/]+/)+([^\s:/]+: )", "${1}"),
    *((pattern, MARKS[kind]) for kind, pattern in ADDRESSES if kind != "url"),
    *((pattern, MARKS[kind]) for kind, pattern in FIGURES),
    # a few digits behind a letter belong to a name: http2, utf8, db1
    (rf"(^|[^0-9A-Za-z{KEPT}])[0-9]+(?:[.,][0-9]+)*|([A-Za-z])[0-9]{{4,}}", f"${{1}}${{2}}{_NUMBER}"),
    (rf"(^|[\s=:(\[,])[-+]{_NUMBER}", f"${{1}}{_NUMBER}"),
    (r"\s+", " "),
)
# Marks that masking finds inside names and paths once these are masked: a figure again, of their shape.
_FIGURES_AGAIN = {_NUMBER: "0", MARKS["hex"]: "0x0", MARKS["id"]: "0a0"}


def error_named(text: pl.Expr) -> pl.Expr:
    """`text` (without control characters but `KEPT`) with placeholders for what varies, trimmed, white space as one.

    A text that shows placeholders already (`<number>`) is taken at its word: a template is its own template.
    """
    for shown, mark in SHOWN.items():
        text = text.str.replace_all(shown, mark, literal=True)
    for pattern, value in _VARIABLES:
        text = text.str.replace_all(pattern, value)
    return text.str.strip_chars()


def error_families(masked: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """Each masked text as its own template, and the family it is of within its project.

    Args:
        masked: project, masked (`error_named`); distinct rows.
        params: how much evidence makes a place of a family variable.

    Returns:
        In the order given: project, masked, template, family (the template that `error_mined` finds of the texts once
        names are masked too).
    """
    named = masked.with_columns(common=_without_names(pl.col("masked")))
    families = error_mined(named.select("project", masked="common").unique(), params)
    return named.join(
        families.select("project", common="masked", family="template"),
        on=["project", "common"],
        how="left",
        maintain_order="left",
    ).select("project", "masked", "family", template="masked")


def _without_names(named: pl.Expr) -> pl.Expr:
    text = named
    for mark, figure in _FIGURES_AGAIN.items():
        text = text.str.replace_all(mark, figure, literal=True)
    for pattern, value in RULES:
        text = text.str.replace_all(pattern, value)
    return text.str.strip_chars()
