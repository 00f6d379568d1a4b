"""Placeholders for what differs between two occurrences of one error: numbers, ids, paths, times, quoted values.

The idea is that of log parsers' preprocessing (He et al., "Drain", ICWS 2017). While the rules run, each placeholder is
one control character, so that no rule reads the inside of another's result. The rules are regular expressions that the
engine (Rust's) runs without backtracking, so no text makes them slow.

What names the error stays: HTTP, exit and errno codes, codes such as `ORA-00942` or `TS2304:`, names such as `utf8`,
the keys of an error object and what it says.
"""

from __future__ import annotations

import polars as pl

# Every kind with its control character. White space is left out: it separates tokens.
MARKS = {
    "value": "\x01",
    "url": "\x02",
    "email": "\x03",
    "uuid": "\x04",
    "time": "\x05",
    "date": "\x06",
    "ip": "\x07",
    "host": "\x08",
    "path": "\x0e",
    "hex": "\x0f",
    "id": "\x10",
    "version": "\x11",
    "duration": "\x12",
    "size": "\x13",
    "number": "\x14",
    "list": "\x15",
    "*": "\x16",
}
ANY = MARKS["*"]
"""Stands where texts of one template differ; shown as `<*>`."""
KEPT = "\x17"
"""Stands before digits that stay; not shown."""
PLACEHOLDERS = f"[{''.join(MARKS.values())}]"
"""Character class of all placeholders."""

_VALUES = f"[{''.join(mark for mark in MARKS.values() if mark != ANY)}]"
SHOWN = {f"<{kind}>": mark for kind, mark in MARKS.items()}

_CODE_WORDS = (
    r"HTTPS?(?:/[0-9.]+)?|status(?:[ _]?code)?|exit(?:ed)?(?: with)?(?:[ _](?:code|status))?|code|errno|signal"
    "|returncode|rc"
)
_KEPT_CODES = (
    rf"(?i)\b((?:{_CODE_WORDS})(?:[\"']?\s?[:=#]\s?|\s(?:is |was |of )?|\s?[\[(])-?)([0-9]{{1,5}}\b)",
    r"(?i)\b(error[ :#=\[(]{1,2}-?)([0-9]{1,5}(?:[:,)\].]|$))",
    r"()\b([45][0-9]{2} (?:Client|Server) Error\b)",
    r"((?:^|[\s\[(])[A-Z]{1,10}[-_]?)([0-9]{2,6}[:\])])",
    r"^([A-Z]{1,10}[-_]?)([0-9]{2,6}\b)",
)
_KEPT_NAMES = (
    r"(?i)\b((?:ipv|utf-?|latin-?|sha-?|md|base|oauth|s|ec|k|u?int|float|x|arm|amd|win|python))([0-9]{1,3}s?\b)"
)
_SPOKEN_KEYS = "message|msg|error|type|code|reason|details?|status|title"
_VERBS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
_QUOTED = (
    (r"\B'(?:[^'\n]|\b'\b)*'\B", f"'{MARKS['value']}'"),
    (r'"[^"\n]*"', f'"{MARKS["value"]}"'),
    (r"`[^`\n]*`", f"`{MARKS['value']}`"),
)
_TIME = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?: ?[AaPp][Mm])?(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"
_DATE = "[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}"
_WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_DAY = f"(?:{_MONTH} +[0-9]{{1,2}}|[0-9]{{1,2}} {_MONTH})(?:,? [0-9]{{4}})?"
_HOST = (
    r"\b(?:[A-Za-z0-9_-]+\.)+(?:com|net|org|edu|gov|cn|uk|de)(?:\.[a-z]{2})?(?::[0-9]+)?(?:/[A-Za-z0-9_.@%+$#~/-]*)?"
    r"(\.?(?:[^\w.]|$))"
)
_LINE = "(?::[0-9]+){0,2}"
_FILE_ENDINGS = (
    "py|pyc|js|jsx|ts|tsx|mjs|json|jsonl|ya?ml|toml|ini|cfg|conf|txt|log|csv|tsv|md|rst|xml|html?|css|java|class|jar|go"
    "|rs|c|h|cc|cpp|hpp|rb|ex|exs|php|sh|bat|sql|lock|db|sqlite|duckdb|parquet|zip|gz|tar|tgz|png|jpe?g|gif|svg|pdf|so"
    "|dll|exe|plist|dat|bin|tmp"
)
_UNIT = "(?:ns|us|µs|ms|msecs?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)"
_AMOUNT = r"[0-9]+(?:\.[0-9]+)?"
_WITHIN_WORD = (
    # order matters: what is longer or more telling comes first
    ("url", r"(?i)[a-z][a-z0-9+]{1,20}://[^\s\"'<>()\[\]{},]*[^\s\"'<>()\[\]{},.:;!?]"),
    ("email", r"(?i)\b[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+"),
    ("uuid", r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    ("time", rf"\b{_DATE}[T ]{_TIME}|\b(?:{_WEEKDAY} )?{_DAY} {_TIME}(?: [A-Z]{{3,4}})?(?: [0-9]{{4}})?\b"),
    ("date", rf"\b{_DATE}\b"),
    ("ip", r"/?\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?\b(?:/[A-Za-z0-9_.@%+$#~/-]*)?"),
    ("hex", r"(?i)\b(?:[0-9a-f]{1,2}:){5}[0-9a-f]{1,2}\b"),
    ("ip", r"(?i)\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b|\b(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}\b|\B::1\b"),
    ("time", rf"\b{_TIME}\b"),
)
_PATHS = (
    r"\b[A-Za-z]:\\[^\s:*?\"<>|,;']*",
    rf"\b(?:[\w.@-]+/)+[\w@-]+\.(?:{_FILE_ENDINGS}){_LINE}\b|\b(?:[\w.@-]+/){{2,}}[\w.@-]+",
    rf"\b[\w-][\w.-]*\.(?:{_FILE_ENDINGS}){_LINE}\b",
)
_FIGURES = (
    ("hex", r"(?i)\b0x[0-9a-f]+\b"),
    ("duration", rf"(?i)(?:< ?)?\b{_AMOUNT} ?{_UNIT}(?: ?{_AMOUNT} ?{_UNIT})*\b"),
    ("size", rf"(?i)\b{_AMOUNT} ?(?:bytes?|[kmgtp]i?b|b)\b"),
    ("size", rf"{MARKS['size']} ?\({MARKS['size']}\)"),  # 1293 bytes (1.26 KB)
    ("version", r"\b[0-9]+(?:\.[0-9]+){2,}\b"),
    ("number", r"\b[0-9]{8,}(?:[.,][0-9]+)*\b"),
    ("hex", r"(?i)\b[0-9a-f]{8,}\b"),
    ("id", r"(?i)\b[a-z]*[0-9]+[a-z]+[0-9][a-z0-9]*\b"),
)
_LISTED_WITH_SPACES = ("number", "id", "path", "ip")


def _rules() -> list[tuple[str, str]]:
    number, path, host = MARKS["number"], MARKS["path"], MARKS["host"]
    return [
        *((pattern, f"${{1}}{KEPT}${{2}}") for pattern in _KEPT_CODES),
        (rf"(?i)[\"']({_SPOKEN_KEYS})[\"']\s?:\s?(?:\"([^\"\n]+)\"|'([^'\n]+)')", "${1}: ${2}${3}"),
        (r"([{,]\s?)[\"']([A-Za-z_]\w*)[\"']\s?:", "${1}${2}:"),
        (rf"[\"']((?:{_VERBS}) )[^\"'\s]+(?: HTTP/[0-9.]+)?[\"']", f"${{1}}{path}"),
        *((pattern, MARKS[kind]) for kind, pattern in _WITHIN_WORD),
        (_HOST, f"{host}${{1}}"),
        (rf"(^|[^\w</\x01-\x08\x0e-\x17])(?:~|\.{{1,2}})?/(?:[A-Za-z0-9_.@%+$#~-]+/?)+{_LINE}", f"${{1}}{path}"),
        *((pattern, path) for pattern in _PATHS),
        *_QUOTED,
        (_KEPT_NAMES, f"${{1}}{KEPT}${{2}}"),
        *((pattern, MARKS[kind]) for kind, pattern in _FIGURES),
        (rf"(^|[^0-9{KEPT}])[0-9]+(?:[.,][0-9]+)*", f"${{1}}{number}"),
        (rf"(^|[\s=:(\[,])[-+]{number}", f"${{1}}{number}"),
        *((f"{MARKS[kind]}(?: {MARKS[kind]})+", MARKS["list"]) for kind in _LISTED_WITH_SPACES),
        (rf"{_VALUES}(?:, ?\+?{_VALUES})+", MARKS["list"]),
        (r"\s+", " "),
    ]


def masked_error(text: pl.Expr) -> pl.Expr:
    """`text` with placeholders put in, white space runs as one space, trimmed.

    A text that shows placeholders already (`<number>`) is taken at its word: a template is its own template.
    """
    text = text.str.replace_all(r"[\x00-\x08\x0e-\x1f\x7f]", " ")
    for shown, mark in SHOWN.items():
        text = text.str.replace_all(shown, mark, literal=True)
    for pattern, value in _rules():
        text = text.str.replace_all(pattern, value)
    return text.str.strip_chars()


def shown_placeholders(masked: pl.Expr) -> pl.Expr:
    """Masked text as people read it: `<number>`, `<path>`, ..."""
    shown = masked.str.replace_all(KEPT, "", literal=True)
    for name, mark in SHOWN.items():
        shown = shown.str.replace_all(mark, name, literal=True)
    return shown


def named_placeholders(masked: pl.Expr) -> pl.Expr:
    """The kinds of placeholders in masked text, each once: `<path>, <number>`; '' without any."""
    kinds = [pl.when(masked.str.contains(mark, literal=True)).then(pl.lit(name)) for name, mark in SHOWN.items()]
    return pl.concat_str(kinds, separator=", ", ignore_nulls=True)
