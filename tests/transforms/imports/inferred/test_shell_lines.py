"""What the exit code of a shell line says of its commands, and of which it says nothing."""

from __future__ import annotations

import itertools
import re
import subprocess
from pathlib import Path

import pytest
from each import each
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from slowwave.transforms.imports.inferred.shell_lines import shell_line


def told(line: str) -> tuple[set[str], set[str] | None]:
    """The names of the commands that ended well if the line did, and of which one failed if it did not."""
    read = shell_line(line)
    assert read is not None, line
    names = [one.words[0] for one in read.commands]
    failed = None if read.failed_if_not is None else {names[place] for place in read.failed_if_not}
    return {names[place] for place in read.ok_if_zero}, failed


@each(
    ("line", "ok", "failed"),
    [
        ("make", {"make"}, {"make"}),
        ("CC=gcc make -j4 2>&1", {"make"}, {"make"}),
        ("make > log 2>&1", {"make"}, {"make"}),
        ("cd app && make", {"cd", "make"}, {"cd", "make"}),
        ("(cd app && make)", {"cd", "make"}, {"cd", "make"}),
        ("{ make; }", {"make"}, {"make"}),
        ("make # | tail", {"make"}, {"make"}),
        ("make | tail -5", {"tail"}, {"tail"}),
        ("make 2>&1 | tail -5", {"tail"}, {"tail"}),
        ("make |& tail -5", {"tail"}, {"tail"}),
        ("set -o pipefail; make | tail -5", {"make", "tail"}, {"make", "tail"}),
        ("set -eo pipefail && make | tail -5", {"set", "make", "tail"}, None),
        ("set -o pipefail; (make 2>&1 | tee log)", {"make", "tee"}, {"make", "tee"}),
        ("set -o pipefail; set +o pipefail; make | tail", {"tail"}, {"tail"}),
        ("bash -o pipefail -c 'make | tail'", {"make", "tail"}, {"make", "tail"}),
        ("make || true", set(), None),
        ("make || echo failed", set(), None),
        ("make; echo done", {"echo"}, {"echo"}),
        ("make\necho done", {"echo"}, {"echo"}),
        ("make &", set(), None),
        ("! make", set(), None),
        ("make && echo done || echo failed", set(), None),
        ("false || lint && make", {"make"}, None),
        ("if make; then echo yes; fi", set(), None),
        ("for d in a b; do make -C $d; done", set(), None),
        ("bash -lc 'cd app && make'", {"cd", "make"}, {"cd", "make"}),
        ("bash -lc 'make | tail' && echo ok", {"tail", "echo"}, {"tail", "echo"}),
        ("OUT=$(make 2>&1)", set(), None),
        ("OUT=$(make) && lint", {"lint"}, None),
    ],
)
def test_of_what_stands_behind_a_pipe_or_a_mask_the_exit_code_says_nothing(
    line: str, ok: set[str], failed: set[str] | None
) -> None:
    assert told(line) == (ok, failed)


def test_what_is_quoted_substituted_or_in_a_here_document_is_no_command() -> None:
    line = "git commit -m \"$(cat <<'EOF'\nit's | make && (lint\nEOF\n)\" -- 'a|b' && echo \"x; make\" `make`"
    read = shell_line(line)
    assert read is not None
    assert [one.words[0] for one in read.commands] == ["git", "echo"]
    read = shell_line("cat <<EOF | sort && make\nlint | tail\nEOF\ncheck")
    assert read is not None
    assert [(one.words[0], one.filters) for one in read.commands] == [
        ("cat", ("sort",)),
        ("sort", ()),
        ("make", ()),
        ("check", ()),
    ]


def test_what_a_command_goes_through_before_it_is_seen() -> None:
    read = shell_line("(cd app; make 2>&1) | grep -v note | tail -3")
    assert read is not None
    assert [(one.words[0], one.filters) for one in read.commands] == [
        ("cd", ("grep", "tail")),
        ("make", ("grep", "tail")),
        ("grep", ("tail",)),
        ("tail", ()),
    ]


def test_loops_and_the_background_are_told() -> None:
    loop, behind = shell_line("while true; do make; done"), shell_line("make & lint")
    assert loop is not None
    assert behind is not None
    assert all(one.is_repeated for one in loop.commands)
    assert [one.is_in_background for one in behind.commands] == [True, False]


@each(
    "line",
    [
        "make 'x",
        'make "x',
        "make $(x",
        "make)",
        "(make",
        "&& make",
        "make | | x",
        "case x in a) make;; esac",
        "$(" * 500,
    ],
)
def test_a_line_that_cannot_be_read_is_none(line: str) -> None:
    assert shell_line(line) is None


@given(st.text(alphabet="ab |&;()<>\"'`$\\{}#=!\n\t\r\u00a0\x0b-", max_size=40))
@example("\x0b")
@example("a <<b")
@example("$'\\")
def test_any_text_is_read_or_none(line: str) -> None:
    shell_line(line)


_CODES = st.sampled_from([0, 0, 1, 3])
_LINES = st.recursive(
    _CODES.map("c {}".format),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||", ";", "|", "|&", "\n", "& wait;"]), inner).map(" ".join),
        inner.map("! {}".format),
        inner.map("( {} )".format),
        inner.map("{{ {}; }}".format),
        inner.map("if {}; then true; fi".format),
        inner.map("bash -c '{}'".format).filter(lambda line: line.count("'") == 2),
    ),
    max_leaves=6,
)
_TRACED = 'c() { echo "$2 $1" >> trace; return "$1"; }; export -f c\n'


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(line=_LINES, before=st.sampled_from(["", "set -o pipefail; ", "set -e; ", "set -eo pipefail\n"]))
def test_what_is_said_of_commands_is_what_a_shell_did_with_them(tmp_path: Path, line: str, before: str) -> None:
    """Every command writes down how it ended, in a real shell."""
    count = itertools.count()
    numbered = re.sub(r"\bc (\d)", lambda found: f"c {found[1]} {next(count)}", line)
    read = shell_line(before + numbered)
    if read is None:
        return
    (tmp_path / "trace").write_text("")
    done = subprocess.run(["bash", "-c", _TRACED + before + numbered], cwd=tmp_path, capture_output=True, check=False)
    rows = [row.split() for row in (tmp_path / "trace").read_text().splitlines()]
    ended = {int(number): int(code) for number, code in rows}
    ran = {place: ended.get(int(one.words[2])) for place, one in enumerate(read.commands) if one.words[0] == "c"}
    if done.returncode == 0:
        assert all(ran[place] == 0 for place in read.ok_if_zero & ran.keys())
    elif read.failed_if_not is not None:
        assert any(ran[place] for place in read.failed_if_not & ran.keys())
