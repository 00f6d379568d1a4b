"""Which messages are one error to `error/3`: what varies is masked, what is named stays, and what families share."""

from __future__ import annotations

import polars as pl
import pytest
from each import each
from error_rows import PARAMS, frame, groups_of, rows_of
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.grouping.error_fingerprints import error_fingerprints

_VARIABLES = (
    ("7", "123456"),
    ("0x7ffd12", "0xdeadbeef01"),
    ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", "9b2e7f10-0c3d-42aa-8f11-aa0cc2dd3344"),
    ("12ms", "3.5 s"),
    ("10.0.0.1:5432", "192.168.7.20:80"),
    ("2026-03-01T10:00:00Z", "2026-04-11 23:59:01.5"),
    ("/tmp/build-7/a.log", "/var/folders/x1/zz/T/b.log"),  # noqa: S108
)
_NAMES = (
    "No module named '{}'",
    'relation "{}" does not exist',
    "could not resolve host {}.example.org",
    "no rule to make target `{}`",
    "cannot open /srv/data/{}.csv",
    "src/{}.py: command failed",
    "not ok 3 - {}",
    "--- FAIL: {} (0.01s)",
    "FAILED tests/test_shop.py::{} - assert 1 == 2",
    "FAIL src/{}.test.ts",
    "test shop::{} ... FAILED",
)


@pytest.mark.parametrize(("one", "other"), _VARIABLES)
def test_what_varies_between_occurrences_is_masked(one, other):
    text = "the worker gave up on {} today"
    assert len(groups_of([text.format(one), text.format(other)], PARAMS)) == 1


@each("text", _NAMES)
def test_what_is_named_tells_errors_apart_and_not_families(text):
    rows = rows_of([text.format(name) for name in ("cart", "orders", "users", "stock")], PARAMS).values()
    assert len({row["error_id"] for row in rows}) == 4
    assert len({row["error_family"] for row in rows}) == 1


@each(
    ("message", "template"),
    [
        ("not ok 3 - adds 2 prices # time=12.5ms", "not ok `adds 2 prices`"),
        ("not ok 3 parallel/test-http2-a\n  ---\n  duration_ms: 12\n  ...", "not ok `parallel/test-http2-a`"),
        ("not ok 1 - later # TODO unfinished\nnot ok 2 - now", "not ok `now`"),
        ("# Subtest: outer\n    not ok 1 - inner\nnot ok 1 - outer", "not ok `inner`"),
        ("not ok 4 - says `x` (3ms)", "not ok `says 'x'`"),
        ("not ok 17", "not ok <number>"),
        ("FAILED a.py::test_x[3-7] - ValueError: no", "FAILED `a.py::test_x`"),
        ("--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b_2 (0.1s)", "FAIL `TestA/b_2`"),
        ("  2 passing (3ms)\n  1 failing\n\n  1) Cart\n       adds up:\n     Error: 3", "FAILED `Cart adds up`"),
        ("/opt/py/bin/python: No module named x_cli", "python: No module named x_cli"),
        ("/usr/bin/ld: a.o: undefined reference to `f'\ncollect2: error: ld returned 1 exit status",
         "ld: a.o: undefined reference to `f'"),
    ],
)  # fmt: skip
def test_the_failing_thing_is_named(message, template):
    assert rows_of([message], PARAMS)[message]["error_template"] == template


_text = st.builds("{} {}{}".format, st.sampled_from(_NAMES), st.sampled_from(["", "7", "\n2 failing"]), st.just(""))
_named = st.builds(str.format, _text, st.sampled_from(["cart", "users", "a1", "x_y", "b.c"]))


@given(st.lists(_named, min_size=1, max_size=30), st.lists(_named, max_size=30))
def test_an_error_does_not_depend_on_other_messages_and_has_one_family(some, others):
    found = error_fingerprints(frame(some), PARAMS)
    both = error_fingerprints(frame([*some, *others]), PARAMS)
    same = found.join(both, on="error_message", how="left", maintain_order="left", suffix="_of_both")
    assert same["error_id"].equals(same["error_id_of_both"].alias("error_id"))
    assert both.group_by("error_id").agg(pl.col("error_family").n_unique())["error_family"].max() == 1
