"""Which test a message reports as failed.

A test is the failing thing whatever it says of the values it compared, so its name alone tells the error. The name is
put in backquotes: there the mask of families finds it, as it finds every quoted name.
"""

from __future__ import annotations

import polars as pl

from slowwave.transforms.grouping.error_parts import KEPT
from slowwave.transforms.grouping.params import ErrorParams

# Which line of an error message says what went wrong.
# By the forms that reports have in common, not by the words of one program: the last line of a Python traceback; the
# first of a JVM's, a Node.js or a panic's; the name of the first failing test; the first error of a compiler; else the
# first line that speaks of a failure. All other lines are left out, unless the one chosen says no more than its kind:
# then the line beside it refines it.

_BETWEEN = " ⏎ "
_LINE_ENDS = r"\r\n?|[\x0b\x0c\x{85}\x{2028}\x{2029}]"
_COLOURS = r"\x1b\[[0-9;]*[A-Za-z]"
_CONTROLS = r"[\x00-\x08\x0e-\x1f\x7f]+"
# What a tool puts around or before what it reports.
_AROUND = r"^(?:\s*</?\w+_error>|\[stderr\] ?)|</\w+_error>\s*$"
_BEFORE = r"^(?:\s*[|>E│┃✘×✖●]\s+)?(?:Exception in thread \"[^\"]*\" |Uncaught (?:\(in promise\) )?)?"
_KINDS = "Error|Exception|Warning|Interrupt|Exit|Timeout|Group|Fault|Failure"
_EXCEPTION = rf"^(?:[A-Za-z_$][\w$]*[./])*\w*(?:{_KINDS})(?: \[\w+\])?(?::|\s*$)|^\*\* \(\w+(?:\.\w+)*\) "
_EXCEPTION_ALONE = rf"^(?:[A-Za-z_$][\w$]*[./])*\w*(?:{_KINDS})(?: \[\w+\])?:?\s*$"
_RAISED = r"^[A-Za-z_][\w.]*(?:: |:?$)"
_TRACEBACK = "Traceback (most recent call last)"
_FRAME = r"^\s+(?:at |File \"|[~^]+\s*$|\.\.\. \d+ more)"
_RUN_SUMMARY = r"^(?:FAILED|ERROR) (?:\S+::|\S+\.py - )"
_FAILING_TEST = (
    r"^\s*(?:--- FAIL: \S|(?:FAIL|ERROR): \w+ \(|[0-9]+\) test |not ok [0-9]+ |● .+ \u203a |[✕✖×✗] \S|_{3,} \S.* _{3,}$"
    r"|test \S+ \.\.\. FAILED|---- \S+ stdout ----|\S.* > .* FAILED$)"
)
_NUMBERED_TEST = r"^\s+[0-9]+\) \S"
_COUNTS_FAILURES = r"(?i)\b[0-9]+ fail(?:ed|ing|ures?)\b"
_PANIC = r"^(?:panic: |fatal error: |thread '[^']*' (?:\([0-9]+\) )?panicked at |terminate called )"
_PANIC_ABOVE = r"^(?:thread '[^']*' (?:\([0-9]+\) )?panicked at [^']*:|terminate called .* of '[^']*')$"
_COMPILER = (
    r"(?:^|[\s:)-])(?:fatal: |(?:fatal )?error(?:\[\w+\]|\s?[A-Z]+[0-9]+)?: )|^\S+:[0-9]+:[0-9]+: [A-Z]+[0-9]+ "
    r"|^[A-Z]+[0-9]{3,4} |^\S+\.\w+:[0-9]+:[0-9]+: "
)
_COUNTS_ERRORS = r"(?i)could not compile|aborting due to|^(?:found )?[0-9]+ errors?\b|\b0 (?:errors|failed|failures)\b"
_FAILURE = (
    r"(?i)\b(?:errors?|fatal|fail(?:ed|s|ure)?|exception|panic(?:ked)?|abort(?:ed)?|denied|refused|cannot|could not"
    r"|couldn't|unable|invalid|undefined|unknown|unexpected|not found|no such|does not|timed out|timeout|killed)\b"
)
_SAYS_LITTLE = (
    r"(?i)^(?:(?:command|process|script)\s+)?"
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|errors?|stderr|stdout|output|failed)\W*[0-9]*\W*$"
)
_INTRODUCES = r":\s*(?:\[\w+\])?$"
_EXIT_CODE = r"^(?i:exit code -?[0-9]+)\s+"
_OBJECT = r"^(?i:exit code -?[0-9]+\s+)?(?:\{(?s:.*)\}|\[(?s:.*)\])$"
_LOCATED = r"\bat \S+ line [0-9]+|^\S+\.\w+:[0-9]+:"
_LOCATION = r"^\s*\S+\.\w+(?::[0-9]+(?::[0-9]+)?(?::in [^:]+)?|\([0-9]+,[0-9]+\))(?:: | - )"
_ASSERTED = r"^((?:FAILED|ERROR) .*?(?:::\w+)*(?:\[.*\])? - )(?:AssertionError: )?assert .*$"


def error_cause(errors: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """`errors` (error_message, never blank) with the column summary: the line that says what went wrong.

    Blank lines do not count; long messages and lines are cut (`params`).
    """
    width, text = params.max_line_code_points, pl.col("text")
    read = errors.select(row=pl.int_range(pl.len(), dtype=pl.Int64), text=error_text(pl.col("error_message"), params))
    is_long = text.str.contains("\n", literal=True)
    # an object that is written over several lines is read as one
    is_object = text.str.contains(_OBJECT)
    told = pl.concat(
        [
            read.filter(~is_long).select("row", summary=_shorten_line(text, width)),
            read.filter(is_long & is_object).select("row", summary=_shorten_line(_object(text), width)),
            _of_lines(read.filter(is_long & ~is_object), width),
        ]
    ).sort("row")
    summary = pl.col("summary")
    bare = summary.str.replace_all(_AROUND, "").str.replace(_BEFORE, "").str.replace(_LOCATION, "")
    bare = bare.str.strip_chars().str.replace(_ASSERTED, "${1}assert").str.replace(r"(::\w+)\[.*\]", "${1}[<value>]")
    return errors.with_columns(
        told.select(summary=pl.when(bare.str.contains(r"\S")).then(bare).otherwise(summary))["summary"]
    )


def error_text(message: pl.Expr, params: ErrorParams) -> pl.Expr:
    """The message without colours and control characters, its lines ended alike; of a long one both ends."""
    size = params.max_code_points
    text = message.str.replace_all(_COLOURS, "").str.replace_all(_CONTROLS, " ").str.strip_chars()
    both_ends = pl.concat_str(text.str.head(size), pl.lit("\n"), text.str.tail(size))
    return pl.when(text.str.len_chars() > 2 * size).then(both_ends).otherwise(text).str.replace_all(_LINE_ENDS, "\n")


def _shorten_line(line: pl.Expr, width: int) -> pl.Expr:
    # what is cut is not indentation: a line never becomes blank
    return pl.when(line.str.len_chars() > width).then(line.str.strip_chars().str.head(width)).otherwise(line)


def _object(text: pl.Expr) -> pl.Expr:
    """An object written over several lines, on one."""
    text = text.str.replace(_EXIT_CODE, "").str.replace_all(r"\s+", " ")
    return text.str.replace_all(r"([{\[]) ", "${1}").str.replace_all(r" ([}\]])", "${1}")


def _of_lines(messages: pl.DataFrame, width: int) -> pl.DataFrame:
    """Of messages (row, text) of several lines: row, summary."""
    line, at = pl.col("line"), pl.col("at")
    bare = line.str.replace_all(_AROUND, "").str.replace(_BEFORE, "")
    lines = (
        messages.select("row", line=pl.col("text").str.split("\n"))
        .explode("line", empty_as_null=True, keep_nulls=True)
        .filter(line.str.contains(r"\S"))
        .with_columns(_shorten_line(line, width).str.strip_chars_end())
        .with_columns(at=pl.int_range(pl.len(), dtype=pl.Int64))
        .with_columns(
            opens=line.str.starts_with(_TRACEBACK) | line.str.contains(_TRACEBACK, literal=True),
            is_frame=line.str.contains(_FRAME),
            is_exception=bare.str.contains(_EXCEPTION),
            is_little=bare.str.contains(_SAYS_LITTLE),
            counts=line.str.contains(_COUNTS_ERRORS),
            introduces=line.str.contains(_INTRODUCES),
            is_panic_above=line.str.contains(_PANIC_ABOVE),
        )
        .with_columns(
            opened=pl.when("opens").then(at).max().over("row"),
            next=line.shift(-1).over("row"),
            # the code that failed stands above the exception, its markers between them
            before=pl.when(~line.str.contains(r"^[\s~^|]*$")).then(line).forward_fill().shift(1).over("row"),
        )
    )
    after_frames = (at > pl.col("opened")) & ~line.str.contains(r"^\s")
    speaks = ~pl.col("is_frame") & ~pl.col("is_little") & ~pl.col("counts")
    forms = [
        at.filter(line.str.contains(_RUN_SUMMARY)).first(),
        at.filter(line.str.contains(_FAILING_TEST)).first(),
        # other runners number the tests that failed, and count them
        at.filter(line.str.contains(_NUMBERED_TEST) & line.str.contains(_COUNTS_FAILURES).any()).first(),
        at.filter(after_frames & pl.col("is_exception") & ~line.str.starts_with("Error:")).last(),
        at.filter(after_frames & line.str.contains(_RAISED)).first(),
        # the margin of an exception group
        at.filter((at > pl.col("opened")) & pl.col("is_exception") & ~pl.col("is_frame")).first(),
        at.filter(line.str.contains(_PANIC)).first(),
        at.filter(pl.col("is_exception") & ~line.str.contains(r"^\s*Caused by: ") & speaks).first(),
        at.filter(line.str.contains(_COMPILER) & speaks & ~pl.col("introduces")).first(),
        at.filter(line.str.contains(_FAILURE) & speaks & ~pl.col("introduces")).first(),
        at.filter(line.str.contains(_LOCATED) & speaks).first(),
        at.filter(speaks & ~pl.col("opens") & ~pl.col("introduces")).first(),
        at.first(),
    ]
    chosen = lines.group_by("row", maintain_order=True).agg(at=pl.coalesce(forms))
    alone = bare.str.contains(_EXCEPTION_ALONE) | (pl.col("introduces") & pl.col("is_exception"))
    beside = pl.when(pl.col("opened").is_not_null()).then("before").otherwise("next")
    summary = (
        pl.when("is_panic_above")
        .then(pl.coalesce("next", "line"))
        .when(alone & beside.is_not_null())
        .then(pl.concat_str(bare, pl.lit(_BETWEEN), beside.str.strip_chars()))
        .otherwise("line")
    )
    return chosen.join(lines, on=["row", "at"], how="left", maintain_order="left").select("row", summary=summary)


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
