"""Which errors are of one family: what is masked, which line tells, what varies, and what stays apart."""

import re

import pytest
from each import each
from error_rows import PARAMS, USERS, frame, groups_of, rows_of
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.grouping.error_fingerprints import error_fingerprints
from slowwave.transforms.grouping.params import ErrorParams


def template_of(message, params=PARAMS):
    return rows_of([message], params)[message]["error_family_template"]


def families_of(messages, params=PARAMS):
    return groups_of(messages, params, by="error_family")


@each(
    ("message", "template"),
    [
        ("gave up after 30s", "gave up after <duration>"),
        ("3 of 12.5 rows, -4 left", "<number> of <number> rows, <number> left"),
        ("job x7f3k9c2 failed", "job <id> failed"),
        ("at 0x7ffe and deadbeef01", "at <hex> and <hex>"),
        ("run 123e4567-e89b-12d3-a456-426614174000 lost", "run <uuid> lost"),
        ("cannot reach https://a.example/x?y=1.", "cannot reach <url>."),
        ("cannot reach db.example.zz:5432 now", "cannot reach <host> now"),
        ("cannot reach node7:5432 now", "cannot reach <host> now"),
        ("cannot reach 10.1.2.3:80", "cannot reach <ip>"),
        ("cannot reach fe80::1:2", "cannot reach <ip>"),
        ("no answer from 00:1b:44:11:3a:b7", "no answer from <ip>"),
        ("no file /var/log/x.log:12", "no file <path>"),
        ("no room on / today", "no room on <path> today"),
        (r"no file C:\temp\a.txt", "no file <path>"),
        ("no file src/app/main.py", "no file <path>"),
        ("down since 2024-03-01 12:00:01.5Z", "down since <time>"),
        ("down since Mar 3 09:10:11", "down since <time>"),
        ("needs pip 1.2.3", "needs pip <version>"),
        ("no key 'it's' in \"a b\" or `c`", "no key '<value>' in \"<value>\" or `<value>`"),
        ("ports 1 2 3 busy", "ports <list> busy"),
        ("  spread \t out\u2003text ", "spread out text"),
    ],
)
def test_what_differs_between_occurrences_becomes_a_placeholder(message, template):
    assert template_of(message) == template


@each(
    "message",
    [
        "HTTP 404",
        "Request failed with status code 503",
        "The server answered with a status of 500",
        "Exit code 127",
        "Process exited with code -9",
        "[Errno 13] Permission denied",
        "Error 429: too many requests",
        "ORA-00942: no such table",
        "E11000 duplicate key",
        "error TS2304: Cannot find it",
        "java.io.IOException: Broken pipe",
        "can't stop, won't stop",
        "core::option::unwrap_failed was called",
    ],
)
def test_what_names_the_error_stays(message):
    assert template_of(message) == message
    assert rows_of([message])[message]["reason"] == "no placeholder"


PYTHON = """Traceback (most recent call last):
  File "/app/{file}.py", line {line}, in {name}
    total = price * {name}
            ~~~~~~^~~~~~~~
billing.errors.PriceMissing: no price of item {line}"""
JAVA = """2024-03-01 10:00:0{line} ERROR request failed
Exception in thread "main" java.lang.IllegalStateException: order {line} was not saved
\tat shop.{name}.save({file}.java:{line})
Caused by: java.sql.SQLException: deadlock"""
NODE = """/srv/{file}.js:{line}
  throw new TypeError('x')
  ^

TypeError [ERR_INVALID_URL]: no such item {line}
    at {name} (/srv/{file}.js:{line}:3)
    at node:internal/main/run_main_module:28:49

Node.js v20.11.{line}"""
GO = "step {line}\npanic: assignment to entry {line} in nil map\n\ngoroutine 1 [running]:\nmain.{name}(0x{line}a)"
RUST = (
    "step {name}\nthread 'main' ({line}) panicked at src/{file}.rs:{line}:5:\nitem {line} is gone\nnote: run with `X`"
)
PYTEST = """{name} = 3
collected 2 items

tests/test_{file}.py F.

>       assert total == {line}
E       assert 3 == {line}

----- Captured stdout call -----
seed {line}: unable to connect to {name}
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 3 == {line}
========================= 1 failed, 1 passed in 0.{line}s ========================="""
UNITTEST = """{name} {line}
F
======================================================================
FAIL: test_total (__main__.CartTest.test_total)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "{file}.py", line {line}, in test_total
AssertionError: {line} != 3

Ran 1 test in 0.00{line}s

FAILED (failures=1)"""
GO_TEST = "{name}\n--- FAIL: TestTotal (0.0{line}s)\n    {file}_test.go:{line}: got {line}, want 3\nFAIL\nexit status 1"
TAP = "# {name}\nTAP version 13\nnot ok 1 - adds prices\n  ---\n  duration_ms: {line}.5\n  error: '{line} !== 3'\n  ..."
GCC = "{file}.c: In function '{name}':\n{file}.c:{line}:3: error: '{name}' undeclared (first use in this function)\nx"
RUSTC = (
    "error[E0308]: mismatched types\n --> src/{file}.rs:{line}:9\n  |\n{line} |  x\n\nerror: aborting due to 1 error"
)
RUFF = "src/{file}.py:{line}:1: F401 `{name}` imported but unused\nFound {line} errors."
RUFF_FULL = "F401 `{name}` imported but unused\n --> {file}.py:{line}:8\n  |\n{line} | import {name}\n\nFound 1 error."
JSON = '{{\n  "error": {{\n    "message": "limit {line} reached",\n    "type": "requests"\n  }}\n}}'
MOCHA = "{name}\n  0 passing ({line}ms)\n  1 failing\n\n  1) the cart adds prices:\n     AssertionError: {line} == 3\n"
CPP = (
    "{name} {line}\nterminate called after throwing an instance of 'std::range_error'\n  what():  row {line} is bad\nx"
)
PERL = "{name} {line}\nrow {line} is bad at {file}.pl line {line}.\nlast words"
RUBY = "{name} {line}\n{file}.rb:{line}:in `f': row {line} is bad (RuntimeError)\n\tfrom {file}.rb:{line}:in `<main>'"
SHELL = "Exit code 2\n[{name}]\ncompiling {line} files\nfatal: no branch to push\nerror: later"
TOLD = {
    PYTHON: "billing.errors.PriceMissing: no price of item <number>",
    JAVA: "java.lang.IllegalStateException: order <number> was not saved",
    NODE: "TypeError [ERR_INVALID_URL]: no such item <number>",
    GO: "panic: assignment to entry <number> in nil map",
    RUST: "item <number> is gone",
    PYTEST: "FAILED `<value>`",
    UNITTEST: "FAIL `<value>`",
    GO_TEST: "FAIL `<value>`",
    TAP: "not ok `<value>`",
    MOCHA: "FAILED `<value>`",
    CPP: "what(): row <number> is bad",
    PERL: "row <number> is bad at <path> line <number>.",
    RUBY: "row <number> is bad (RuntimeError)",
    GCC: "error: '<value>' undeclared (first use in this function)",
    RUSTC: "error[E0308]: mismatched types",
    RUFF: "F401 `<value>` imported but unused",
    RUFF_FULL: "F401 `<value>` imported but unused",
    JSON: "{error: {message: limit <number> reached, type: requests}}",
    SHELL: "fatal: no branch to push",
}
OCCURRENCES = [{"file": "a", "line": 3, "name": "f"}, {"file": "views", "line": 71, "name": "g_all"}]


@each(("report", "template"), TOLD.items())
def test_a_report_is_told_by_the_line_that_says_what_went_wrong(report, template):
    said = [report.format(**blanks) for blanks in OCCURRENCES]
    said += [f"Exit code 1\n{said[0]}", f"\x1b[31m{said[1]}\x1b[0m"]
    rows = rows_of(said).values()
    assert {row["error_family_template"] for row in rows} == {template}


def test_of_a_chain_a_traceback_is_its_last_exception():
    chained = f"{PYTHON}\n\nDuring handling of the above exception, another exception occurred:\n\n{PYTHON}"
    last = chained.replace("no price of item", "no tax of item")[: len(chained)]
    both = chained[: len(PYTHON)] + chained[len(PYTHON) :].replace("no price", "no tax")
    assert "no tax of item" in template_of(last.format(file="a", line=3, name="f"))
    assert (
        template_of(both.format(file="a", line=3, name="f")) == "billing.errors.PriceMissing: no tax of item <number>"
    )
    later = PYTHON + "\nlast words: cannot write the log"
    assert template_of(later.format(file="a", line=3, name="f")) == TOLD[PYTHON]


@pytest.mark.parametrize(
    ("message", "template"),
    [
        (PYTHON.replace("billing.errors.PriceMissing: no price of item {line}", "AssertionError"), "AssertionError ⏎ "),
        (
            "java.lang.StackOverflowError\n\tat a.b(C.java:3)\n\tat a.c(C.java:9)",
            "java.lang.StackOverflowError ⏎ at a.b",
        ),
        (
            "Command failed: build 3\nError: Build failed with 1 error:\nno entry point",
            "Error: Build failed with <number> e",
        ),
    ],
)
def test_a_line_that_says_no_more_than_its_kind_is_refined_by_the_one_beside_it(message, template):
    assert template_of(message.format(file="a", line=3, name="f")).startswith(template)


@each(
    ("message", "template"),
    [
        ("It broke\nsome detail\nmore", "It broke"),
        ("Exit code 2\n\ncompiling 3 files\nall of them", "compiling <number> files"),
        ("\n\x07\n  \nlast line", "last line"),
        ("Exit code 1", "Exit code 1"),
        ("cannot find it; try\n  1) looking\n  2) waiting", "cannot find it; try"),
        ("Exit code 1\nfailed", "Exit code 1"),
        ("<tool_use_error>File 3 does not exist.</tool_use_error>", "File <number> does not exist."),
        ("src/a.py:3:1: error: bad thing", "error: bad thing"),
        ("a.ts(3,7): error TS2322: bad thing", "error TS2322: bad thing"),
    ],
)
def test_other_messages_are_told_by_their_first_line_that_says_something(message, template):
    assert template_of(message) == template


def test_long_messages_are_read_at_both_ends_and_lines_are_cut():
    params = ErrorParams(max_code_points=100, max_line_code_points=50)
    long = "Exit code 1\n" + "noise\n" * 50 + "cannot be seen\n" + "noise\n" * 50 + "FooError: at the end"
    assert rows_of([long], params)[long]["error_family_template"] == "FooError: at the end"
    line = "word " * 30
    assert rows_of([line], params)[line]["error_family_template"] == ("word " * 10).strip()


def test_parts_beyond_the_bound_are_not_compared():
    params = ErrorParams(max_tokens=8)
    texts = ["a b c d e f g h", "a b c d e f g h i", "a b c d e f g h j k"]
    assert families_of(texts, params) == [texts[:1], texts[1:]]
    assert rows_of(texts, params)[texts[2]]["error_family_template"] == "a b c d e f g h …"


@each(
    ("messages", "count"),
    [
        ("Connection refused|Connection reset|Connection closed|Connection aborted|Connection lost|Connection bad", 6),
        ("File not found|Permission denied|Disk quota exceeded|Rate limit exceeded|Row limit exceeded", 5),
        ("could not open file|could not read file|could not write file|could not close file|could not lock file", 5),
        ("failed: lint_check|failed: test_check|failed: type_check|failed: edit_check", 4),
        ("HTTP 404|HTTP 500|HTTP 200|HTTP 302", 4),
        ("Request failed with status code 404|Request failed with status code 500", 2),
        ("the run ended in a ValueError|the run ended in a KeyError|the run ended in a TypeError", 3),
        ("could not write to the disk|could not write to the cache", 2),
        ("boot of node failed|halt of node failed|wait of node failed|stop of node failed|load of node failed", 5),
        ("request failed, reason=timeout|request failed, reason=refused|request failed, reason=denied", 3),
        ("pool::get was empty|pool::put was empty|pool::pop was empty|pool::add was empty", 4),
    ],
)
def test_different_errors_of_one_length_stay_apart(messages, count):
    assert len(families_of(messages.split("|"))) == count


@pytest.mark.parametrize(
    ("text", "values", "enough"),
    [
        ("there is no room left for {} today", USERS, 5),  # plain words beside four or more
        ("no room for {}", [*USERS, "gus", "hal"], 7),  # beside fewer
        ("{} has no room left today", [*USERS, "gus", "hal", "ida"], 8),  # with none before
        ("refused to open with owner={} again", USERS, 2),  # the value of a key
        ("there was no answer from {} today", ["fooBar", "bar_baz", "bazQux", "quxFoo"], 3),  # identifiers
        ("there was no answer from {} today", ["node-1", "rack-2", "disk-3"], 2),  # names
        ("there was no answer from {} today", ["17", "gateway"], 2),  # a figure and a word
    ],
)
def test_a_place_varies_once_enough_texts_agree_in_all_the_rest(text, values, enough):
    all_of_them = [text.format(value) for value in values[:enough]]
    assert len(families_of(all_of_them[:-1])) == enough - 1
    assert len(families_of(all_of_them)) == 1
    assert {row["error_family_template"] for row in rows_of(all_of_them).values()} == {text.format("<*>")}


def test_words_in_several_places_may_vary_together_without_two_texts_that_agree_in_all_but_one():
    moved = [f"moved the {a} from {b} to the attic today" for a, b in zip(USERS, reversed(USERS), strict=True)]
    assert len(families_of(moved)) == 1
    assert len(families_of(moved[:4])) == 4
    row = rows_of(moved)[moved[0]]
    assert row["error_family_template"] == "moved the <*> from <*> to the attic today"
    # where too few words would stay, they do not
    assert len(families_of([f"{a} sees {b}" for a, b in zip(USERS, reversed(USERS), strict=True)])) == len(USERS)


def test_what_varies_in_one_template_is_a_value_in_the_next():
    moved = [f"moved the {user} to the attic of the house" for user in USERS]
    asked = [f"asked {user} for the key of the house again" for user in USERS]
    lost = [f"nobody has seen {user} since then" for user in USERS[:2]]
    assert len(families_of(lost)) == 2
    assert families_of([*moved, *asked, *lost]) == [asked, moved, lost]
    # what opens a sentence says most
    left = [f"{user} was seen near the house" for user in USERS[:2]]
    assert len(families_of([*moved, *asked, *left])) == 4


def test_several_variable_parts_in_a_row_are_shown_as_one():
    texts = ["the nodes node-1 rack-2 are gone today", "the nodes disk-3 tape-4 are gone today"]
    assert {row["error_family_template"] for row in rows_of(texts).values()} == {"the nodes <*> are gone today"}


words = st.sampled_from([*USERS, "user", "file", "refused", "for", "the", "=", ":", "(", "]", "Error"])
figures = st.sampled_from(["3", "404", "HTTP 500", "0xff", "12ms", "/a/b", "a.b", "x_y", "n-1", "é"])
composed = st.lists(words | figures, min_size=1, max_size=7).map(" ".join)
similar = st.builds("no {} left for {} of {} today".format, *[st.sampled_from(USERS) | figures] * 3)


@given(st.lists(composed | similar, min_size=1, max_size=40))
def test_a_template_says_only_what_all_its_members_share(texts):
    found = error_fingerprints(frame(texts))
    for said, template in found.select("error_message", "error_family_template").iter_rows():
        shared = ".+?".join(re.escape(piece) for piece in re.split("<[a-z*]+>", template))
        assert re.fullmatch(shared, re.sub(r"\s+", " ", said).strip())


@each("unit", ["a", "'", '"', "1.", "/", ":1", "a@", " ", "\n", "({[", "a1", "<*>", "a://", "\x01", "=a"])
def test_no_text_is_too_long_or_too_odd(unit):
    text = "x" + unit * (1_000_000 // len(unit))
    assert len(template_of(text)) <= 2 * PARAMS.max_line_code_points + 10
