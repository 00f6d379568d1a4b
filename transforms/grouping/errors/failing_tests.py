"""Which test a message reports as failed.

A test is the failing thing whatever it says of the values it compared, so its name alone tells the error. The name is
put in backquotes: there the mask of families finds it, as it finds every quoted name.
"""

from __future__ import annotations

import polars as pl

from slowwave.transforms.grouping.errors.cause import error_cause, error_text
from slowwave.transforms.grouping.errors.params import ErrorParams
from slowwave.transforms.grouping.errors.placeholders import KEPT

# Failures that are expected: they do not fail a run.
_EXPECTED = r"(?mi)^[ \t]*not ok\b.*# *(?:TODO|SKIP)\b.*$"
_DURATION = r"[0-9]+(?:\.[0-9]+)? ?(?:ns|us|µs|ms|s|m|sec|min)"
# What runners write behind a name: how long it took, a directive, the values of one case.
_BEHIND = (
    rf"\s+# *(?:time|duration)\S*.*$|\s+[(\[](?:<? ?{_DURATION} ?)+[)\]]$|\s+{_DURATION}$|\s+#[0-9.]+ ?m?s$"
    r"|\s+Time elapsed: .*$|\s+<<< (?:FAILURE|ERROR)!.*$|\s+\[[0-9]+\]$|:$"
)
_NAME = r"(\S[^\n]*?)[ \t]*$"
# A tool behind the one that failed says so, too.
_AFTERMATH = r"(\S\s*\n)(?:[^\n:]*: )?error: (?:ld|linker command) (?:returned|failed)[^\n]*"
# Without one of these no format below is there.
_SPEAKS_OF_TESTS = (
    r"(?m)\A\s*[0-9]+\) |not ok|FAIL|^ERROR|^_{3}|\[ERROR\]|---- |rspec |●|[✕✖×✗✘]|[0-9] fail|[0-9] examples?,"
    r"|^Failures:"
)
# What this module writes: a template is its own template.
_OURS = r"^(?:not ok|FAIL|FAILED) `[^`\n]+`$"
_FORMATS: tuple[tuple[str, str], ...] = (
    # TAP, subtests before the tests that hold them
    ("not ok", rf"(?m)^[ \t]*not ok\b[ \t]*(?:[0-9]+\b)?[ \t]*(?:- )?[ \t]*{_NAME}"),
    # pytest: its summary, then the title above a traceback
    ("FAILED", r"(?m)^(?:FAILED|ERROR) ([^\s:]+(?:::[^\n\[]+?)+)(?:\[[^\n]*\])?(?: - [^\n]*|[ \t]*)$"),
    ("FAILED", r"(?m)^_{3,} (\S[^\n\[]*?)(?:\[[^\n]*\])? _{3,}$"),
    # Go: a subtest is indented below its test
    ("FAIL", r"(?m)^[ \t]+--- FAIL: (\S+) \("),
    ("FAIL", r"(?m)^--- FAIL: (\S+)(?: \(|[ \t]*$)"),
    # unittest
    ("FAIL", r"(?m)^(?:FAIL|ERROR): (\w+ \([^\n)]*\))"),
    # Rust
    ("FAILED", r"(?m)^test (\S[^\n]*?) \.\.\. FAILED$"),
    ("FAILED", r"(?m)^---- (\S[^\n]*?) stdout ----$"),
    # RSpec, by its summary; Gradle; Maven
    ("FAILED", r"(?m)^rspec [^\n#]*# ([^\n]+?)[ \t]*$"),
    ("FAILED", r"(?m)^(\S[^\n]* > [^\n]*) FAILED[ \t]*$"),
    (
        "FAILED",
        r"(?m)^(?:\[ERROR\] )?[ \t]*([\w.$]+(?:\(.*\))?)[ \t]+(?:-- )?Time elapsed: [^\n]*<<< (?:FAILURE|ERROR)!",
    ),
    ("FAILED", r"(?m)^\[ERROR\] +(?:(?:Failures|Errors): *)?([A-Z][\w$]*\.\w+):[0-9]+"),
    # Jest and Vitest: the test, else the file
    ("FAILED", r"(?m)^[ \t]*● ([^\n]+?)[ \t]*$"),
    (
        "FAIL",
        r"(?m)^[ \t]*FAIL[ \t]+(?:\|[^|\n]*\|[ \t]+)?(\S+\.\w+(?:[ \t]+> [^\n]+?)?)[ \t]*(?:[(\[][^\n]*)?$",
    ),
    ("FAILED", r"(?m)^[ \t]*[✕✖×✗✘] (\S[^\n]*?)[ \t]*$"),
)
# Mocha and RSpec number the tests that failed and count them; a name may go on in further lines, up to a colon. A
# message may be of one alone, with its number.
_COUNTED = (
    r"(?mi)^\s*[0-9]+ (?:failing|failures?\b)|[0-9]+ examples?, [0-9]+ failures?|^Failures:"
    r"|\A\s*[0-9]+\) \S[^\n]*(?:\n[ \t]+\S[^\n]*){0,4}:[ \t]*\n[ \t]+\w*(?:Error|Exception|Failure)\b"
)
_NUMBERED = r"(?m)^[ \t]*[0-9]+\) (\S[^\n]*(?:\n[ \t]+\S[^\n]*){0,4}:)[ \t]*$"
_NUMBERED_ALONE = r"(?m)^[ \t]+1\) (\S[^\n]*)$"


def error_subject(errors: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """`errors` (error_message, never blank) with the column summary: the failing test, else of `error_cause`."""
    texts = errors.select(text=error_text(pl.col("error_message"), params))
    test = failing_tests(texts["text"]).str.head(params.max_line_code_points)
    told = errors.with_columns(test.alias("summary"), text=texts["text"].str.replace_all(_AFTERMATH, "${1}"))
    is_told = pl.col("summary").is_not_null()
    rest = told.filter(~is_told)
    causes = error_cause(rest.select(error_message="text"), params)
    return pl.concat([told.filter(is_told), rest.with_columns(causes["summary"])]).drop("text")


def failing_tests(texts: pl.Series) -> pl.Series:
    """The first test that each text reports as failed, as ``not ok `name` `` or alike; NULL where it reports none.

    Digits of a name stay. A case of a test is the test: the values of its parameters are left out.
    """
    text, name, verb = pl.col("text"), pl.col("name"), pl.col("verb")
    asked = texts.alias("text").to_frame().with_row_index("row").filter(text.str.contains(_SPEAKS_OF_TESTS))
    asked = asked.with_columns(text.str.replace_all(_EXPECTED, ""))
    is_counted = text.str.contains(_COUNTED)
    numbered = pl.coalesce(text.str.extract(_NUMBERED), text.str.extract(_NUMBERED_ALONE)).str.replace_all(r"\s+", " ")
    found = [
        asked.select("row", name=text.str.extract(pattern), verb=pl.lit(verb)).drop_nulls()
        for verb, pattern in _FORMATS
    ]
    found.append(asked.filter(is_counted).select("row", name=numbered, verb=pl.lit("FAILED")).drop_nulls())
    bare = name.str.replace(_BEHIND, "").str.replace(_BEHIND, "").str.replace_all("`", "'", literal=True)
    ours = asked.filter(text.str.contains(_OURS)).select("row", test="text")
    # a number alone is no name
    tests = pl.concat(found).filter(name.str.contains(r"\pL")).unique("row", keep="first", maintain_order=True)
    tests = tests.select("row", test=pl.concat_str(verb, pl.lit(" `"), bare, pl.lit("`"))).join(
        ours, on="row", how="anti"
    )
    both = pl.concat([ours, tests]).with_columns(pl.col("test").str.replace_all("([0-9]+)", f"{KEPT}${{1}}"))
    rows = pl.select(row=pl.int_range(len(texts), dtype=pl.UInt32))
    return rows.join(both, on="row", how="left", maintain_order="left")["test"]
