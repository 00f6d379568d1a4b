"""Which messages are one error to `error/1`: placeholders, what stays, lines that matter, merging."""

import re

import error_rows
import polars as pl
import pytest
from error_rows import USERS, V1, frame
from pydantic import ValidationError

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.grouping.errors.fingerprints import error_fingerprints
from slowwave.transforms.grouping.errors.params import ErrorParams


def rows_of(messages, params=V1):
    return error_rows.rows_of(messages, params)


def template_of(message):
    return error_rows.template_of(message, V1)


def groups_of(messages, params=V1):
    return error_rows.groups_of(messages, params)


@pytest.mark.parametrize(
    ("message", "template"),
    [
        ("gave up after 30s", "gave up after <duration>"),
        ("gave up after 1h 20 min", "gave up after <duration>"),
        ("3 of 12.5 rows, -4 left", "<number> of <number> rows, <number> left"),
        ("sent 1293 bytes (1.26 KB)", "sent <size>"),
        ("job x7f3k9c2 failed", "job <id> failed"),
        ("at 0x7ffe and deadbeef01", "at <hex> and <hex>"),
        ("run 123e4567-e89b-12d3-a456-426614174000 lost", "run <uuid> lost"),
        ("cannot reach https://a.example/x?y=1.", "cannot reach <url>."),
        ("cannot reach db.example.com:5432 now", "cannot reach <host> now"),
        ("cannot reach 10.1.2.3:80", "cannot reach <ip>"),
        ("cannot reach fe80::1:2", "cannot reach <ip>"),
        ("mail to a.b@example.org bounced", "mail to <email> bounced"),
        ("no file /var/log/x.log:12", "no file <path>"),
        (r"no file C:\temp\a.txt", "no file <path>"),
        ("no file src/app/main.py", "no file <path>"),
        ("no file notes.txt here", "no file <path> here"),
        ("down since 2024-03-01 12:00:01.5Z", "down since <time>"),
        ("down since 2024-03-01", "down since <date>"),
        ("down since Mar 3 09:10:11", "down since <time>"),
        ("needs pip 1.2.3", "needs pip <version>"),
        ("no key 'it's' in \"a b\" or `c`", "no key '<value>' in \"<value>\" or `<value>`"),
        ("got shape [1, 2, 3]", "got shape [<list>]"),
        ("ports 1 2 3 busy", "ports <list> busy"),
        ("  spread \t out\u2003text ", "spread out text"),
        ("flight HAT229 is full", "flight HAT<number> is full"),
    ],
)
def test_what_differs_between_occurrences_becomes_a_placeholder(message, template):
    row = rows_of([message])[message]
    assert row["error_template"] == template
    for kind in set(re.findall("<[a-z]+>", template)):
        assert kind in row["reason"]


@pytest.mark.parametrize(
    "message",
    [
        "HTTP 404",
        "Request failed with status code 503",
        "Exit code 127",
        "Process exited with code -9",
        "killed by signal 15",
        "[Errno 13] Permission denied",
        "Error 429: too many requests",
        "404 Client Error: not there",
        "ORA-00942: no such table",
        "E11000 duplicate key",
        "error TS2304: Cannot find it",
        "cannot decode utf8 as latin-1",
        "java.io.IOException: Broken pipe",
        "can't stop, won't stop",
        "read/write and/or <b>bold</b>",
    ],
)
def test_what_names_the_error_stays(message):
    assert template_of(message) == message
    assert rows_of([message])[message]["reason"] == "no placeholder"


def test_an_error_object_keeps_its_keys_and_what_it_says():
    one = "Error code: 429 - {'error': {'message': 'Limit 30 reached', 'type': 'tokens', 'param': 'p-1'}}"
    other = "Error code: 429 - {'error': {'message': 'Limit 45 reached', 'type': 'tokens', 'param': 'p-2'}}"
    template = "Error code: 429 - {error: {message: Limit <number> reached, type: tokens, param: '<value>'}}"
    assert template_of(one) == template
    different = one.replace("Limit 30 reached", "Key is not valid"), one.replace("429", "401")
    assert groups_of([one, other, *different]) == sorted([sorted([one, other]), *([text] for text in different)])


@pytest.mark.parametrize(
    ("text", "blank"),
    [("", True), (" \t\n", True), ("\x00\x1b", True), ("\u200b\ufeff", True), (None, True), ("e", False), (".", False)],
)
def test_an_empty_message_is_no_error(text, blank):
    assert pl.DataFrame({"t": [text]}, schema={"t": pl.String}).select(is_blank(pl.col("t"))).item() is blank


def test_a_substring_is_not_the_same_error_and_a_figure_makes_no_difference():
    assert groups_of(["e", "the end", "timed out after 30s", "timed out after 31s", "out"]) == [
        ["e"],
        ["out"],
        ["the end"],
        ["timed out after 30s", "timed out after 31s"],
    ]


TRACEBACK = """Traceback (most recent call last):
  File "/app/{file}.py", line {line}, in {name}
    raise ValueError("nothing works")
ValueError: bad row {line}"""


def test_a_traceback_is_its_last_exception_line_whatever_the_frames():
    one, other = TRACEBACK.format(file="a", line=3, name="f"), TRACEBACK.format(file="b", line=44, name="g")
    chained = f"{one}\n\nDuring handling of the above exception, another exception occurred:\n\n{other}"
    assert groups_of([one, other, chained]) == [sorted([one, other, chained])]
    assert template_of(one) == "ValueError: bad row <number>"
    assert template_of(f"Exit code 1\r\n{one}\n") == "Exit code 1 ⏎ ValueError: bad row <number>"
    assert template_of(one.replace("ValueError: bad", "KeyError: bad")) != template_of(one)


@pytest.mark.parametrize(
    ("message", "template"),
    [
        ("Exit code 2\n\ncompiling\nfatal: no branch\nerror: later", "Exit code 2 ⏎ fatal: no branch"),
        ("Exit code 2\n\ncompiling 3 files\nall of them", "Exit code 2 ⏎ compiling <number> files"),
        ("It broke\nsome detail\nmore", "It broke"),
        ("a.b.FooException: x\n\tat y\nCaused by: a.BarError: z", "a.b.FooException: x ⏎ Caused by: a.BarError: z"),
        ("FooError: x\n    at error.js", "FooError: x"),
        ("\n\x07\n  \nlast line", "last line"),
        ("Traceback (most recent call last):\n  cut", "Traceback (most recent call last):"),
    ],
)
def test_of_several_lines_those_are_kept_that_say_what_went_wrong(message, template):
    assert template_of(message) == template


def test_long_messages_are_read_at_both_ends_and_lines_are_cut():
    params = ErrorParams(method="error/1", max_code_points=100, max_line_code_points=50)
    long = "Exit code 1\n" + "noise\n" * 50 + "cannot be seen\n" + "noise\n" * 50 + "FooError: at the end"
    assert rows_of([long], params)[long]["error_template"] == "Exit code 1 ⏎ FooError: at the end"
    assert rows_of([long])[long]["error_template"] == "Exit code 1 ⏎ FooError: at the end"
    between = "an error " * 15
    assert (
        rows_of([between], ErrorParams(method="error/1", max_code_points=100))[between]["error_template"]
        == between.strip()
    )
    line = "word " * 30
    assert rows_of([line], params)[line]["error_template"] == ("word " * 10).strip()


def test_tokens_beyond_the_bound_are_not_compared():
    params = ErrorParams(method="error/1", max_tokens=8)
    texts = ["a b c d e f g h", "a b c d e f g h i", "a b c d e f g h j k"]
    assert groups_of(texts, params) == [texts[:1], texts[1:]]
    assert rows_of(texts, params)[texts[2]]["error_template"] == "a b c d e f g h …"
    assert len(groups_of(texts)) == 3


@pytest.mark.parametrize(
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
    ],
)
def test_different_errors_of_one_length_stay_apart(messages, count):
    assert len(groups_of(messages.split("|"))) == count


@pytest.mark.parametrize(
    ("text", "values", "enough"),
    [
        ("there is no room left for {} today", USERS, 5),  # plain words
        ("it was refused to the user {} again", USERS, 2),  # a word after a noun that announces a name
        ("refused to open with user={} again", USERS, 2),
        ("there was no answer from {} today", ["fooBar", "bar_baz", "bazQux", "quxFoo"], 3),  # identifiers
        ("there was no answer from {} today", ["node-1", "rack-2", "disk-3"], 2),  # names
    ],
)
def test_a_place_varies_once_enough_texts_agree_in_all_the_rest(text, values, enough):
    all_of_them = [text.format(value) for value in values[:enough]]
    assert len(groups_of(all_of_them[:-1])) == enough - 1
    assert len(groups_of(all_of_them)) == 1
    row = rows_of(all_of_them)[all_of_them[-1]]
    assert row["error_template"] == text.format("<*>")
    assert row["reason"].endswith(
        f"{enough} texts merged, differing in token {row['reason'].split()[-2]} ({shown(row)})"
    )


def shown(row):
    """What stands in place of <*>, as the reason shows it."""
    before, after = row["error_template"].split("<*>")
    return re.sub("[0-9]+", "<number>", row["error_message"].removeprefix(before).removesuffix(after))


def test_evidence_is_counted_across_several_places_and_reaches_further():
    cross = [f"moved the {a} from the {b} to the attic today" for a in USERS for b in USERS]
    assert len(groups_of(cross)) == 1
    # one more text that agrees with the template in all but its variable places needs no evidence of its own
    late = [f"moved the {a} from the hall to the attic today" for a in USERS[:2]]
    assert len(groups_of([*cross, *late])) == 1
    assert len(groups_of(late)) == 2


@pytest.mark.parametrize("pairs", [["pkg.a lib.x", "pkg.b lib.y"], ["aB x_y", "bC y_z", "cD z_a"]])
def test_names_may_vary_in_two_places_together(pairs):
    texts = ["cannot bind {} to {} in time".format(*pair.split()) for pair in pairs]
    assert groups_of(texts) == [texts]
    assert rows_of(texts)[texts[0]]["error_template"] == "cannot bind <*> to <*> in time"


def test_where_too_few_words_would_stay_only_the_best_shown_place_varies():
    cross = [f"user {a} file {b} lost" for a in USERS[:3] for b in USERS[:2]]
    assert len(groups_of(cross)) == 1
    templates = {row["error_template"] for row in rows_of(cross, ErrorParams(method="error/1", min_words=4)).values()}
    assert templates == {"user <*> file ann lost", "user <*> file bea lost"}


def test_a_record_of_figures_that_also_reports_a_success_is_not_named_by_its_status():
    figures = "call done status: {} len: {} time: {}, id: x9f8e7d"
    failures = [figures.format(404, 10, 3), figures.format(500, 10, 3)]
    assert len(groups_of(failures)) == 2
    assert len(groups_of([*failures, figures.format(200, 17, 5)])) == 1


def test_placeholders_of_several_kinds_are_one_place():
    texts = ["the job died at 12", "the job died at 0x12", "the job died at /a/b"]
    assert {row["error_template"] for row in rows_of(texts).values()} == {"the job died at <*>"}
    # without any word, the kind is all there is
    assert len(groups_of(["12", "0x12", "/a/b"])) == 3


@pytest.mark.parametrize(
    ("text", "values", "asked"),
    [
        ("no room left for {} today", USERS, {"min_words_in_place": 7}),
        ("no room left for {} today", USERS, {"min_words_for_words": 6}),
        ("no room for user {} today", USERS[:3], {"min_named_words": 4}),
        ("no room for user {} today", USERS, {"min_words": 6}),
        ("no answer from {} today", ["fooBar", "bar_baz", "bazQux"], {"min_identifiers": 4}),
        ("no answer from {} today", ["node-1", "rack-2", "disk-3"], {"min_names": 4, "min_identifiers": 4}),
    ],
)
def test_params_say_how_much_evidence_is_enough(text, values, asked):
    texts = [text.format(value) for value in values]
    assert len(groups_of(texts)) == 1
    assert len(groups_of(texts, ErrorParams.model_validate({"method": V1.method} | asked))) == len(texts)


def test_params_are_frozen_and_bounded():
    with pytest.raises(ValidationError):
        ErrorParams().min_words = 3
    for given_wrong in ({"min_names": 1}, {"min_nouns": 1}):
        with pytest.raises(ValidationError):
            ErrorParams.model_validate(given_wrong)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("no room left for {} today", USERS),
        ("no room for user {} today", USERS[:2]),
        ("no answer from {} today", ["node-1", "rack-2"]),
    ],
)
def test_evidence_of_one_project_says_nothing_of_another(text, values):
    texts = [text.format(value) for value in values]
    found = error_fingerprints(pl.concat([frame(texts, "p"), frame(texts[1:], "q"), frame(texts[:1], "r")]), V1)
    errors = found.group_by("project").agg(pl.col("error_id").n_unique()).sort("project")
    few = len(groups_of(texts[1:]))
    assert errors["error_id"].to_list() == [1, few, 1]
    assert found.filter(pl.col("project") == "r")["error_template"].to_list() == [template_of(texts[0])]


def test_control_characters_are_no_placeholders():
    forged = [f"the value {chr(code)} was bad" for code in [*range(1, 9), *range(14, 32)]]
    groups = groups_of([*forged, "the value 3 was bad"])
    assert ["the value 3 was bad"] in groups
    assert {row["error_template"] for row in rows_of(forged).values()} == {"the value was bad"}
    # what a template shows is taken at its word
    assert len(groups_of(["the value 3 was bad", "the value <number> was bad"])) == 1
    assert len(groups_of(["no room left for ann", "no room left for <*>"])) == 1


@pytest.mark.parametrize("unit", ["a", "'", '"', "1.", "/", ":1", "a@", " ", "\n", "({[", "a1", "<*>", "a://", "\x01"])
def test_no_text_is_too_long_or_too_odd(unit):
    text = "x" + unit * (1_000_000 // len(unit))
    assert len(template_of(text)) <= 2 * ErrorParams().max_line_code_points + 10


@pytest.mark.parametrize("space", [" ", "\n", "\x01", "\u2028"])
def test_space_around_a_message_does_not_hide_it(space):
    assert template_of(f"{space * 20_000}it broke{space * 20_000}") == "it broke"
    assert template_of(f"first{space * 20_000}last").startswith("first")
