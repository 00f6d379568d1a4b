"""The rows that are inferred of a turn: what speaks for an outcome, and where there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from each import each

from slowwave.transforms.imports.adapter import Call, Turn
from slowwave.transforms.imports.inferred.inferred_outcomes import inferred_outcomes, with_needed_outputs

RED, PLAIN = "\x1b[31m", "\x1b[0m"


def turn(*calls: Call, **fields: Any) -> Turn:
    """A turn with these calls."""
    plain = Turn(
        interaction_id="codex:t1",
        created_at="2026-05-01T10:00:00Z",
        ended_at="2026-05-01T10:02:00Z",
        prompt="make the parser faster",
        project="parser",
        agent="codex",
        session_id="s1",
        calls=list(calls),
    )
    return replace(plain, **fields)


def ran(command: str, output: str = "", exit_code: int | None = 0, call_id: str = "c1", **fields: Any) -> Call:
    """A call of a shell."""
    return Call(call_id, "shell", command, output, exit_code, **fields)


def said(one: Turn, method: str, *, corrections: bool = False) -> bool | None:
    """What a rule says of a turn; None: nothing."""
    rows = inferred_outcomes(one, corrections=corrections)
    return next((row["success"] for row in rows if row["basis_method"] == method), None)


def result_of(command: str, output: str) -> bool | None:
    """What is said of the tests of a turn with this one call."""
    return said(turn(ran(command, output)), "transcript_tests/1")


def build_of(command: str, exit_code: int | None, output: str = "") -> bool | None:
    """What is said of the build of a turn with this one call."""
    return said(turn(ran(command, output, exit_code)), "transcript_build/1")


def test_a_row_says_by_what_it_goes() -> None:
    assert inferred_outcomes(turn(ran("pytest", "== 2 failed, 3 passed in 0.12s ==", 1))) == [
        {
            "outcome_id": "codex:t1:transcript_tests/1",
            "interaction_id": "codex:t1",
            "created_at": "2026-05-01T10:00:00Z",
            "recorded_at": "2026-05-01T10:02:00Z",
            "project": "parser",
            "agent": "codex",
            "session_id": "s1",
            "success": False,
            "error_message": "pytest: 3 passed, 2 failed",
            "basis": "inferred",
            "basis_method": "transcript_tests/1",
            "evidence": "pytest: 3 passed, 2 failed",
            "evidence_call_id": "c1",
        }
    ]


@each(
    ("command", "output", "success"),
    [
        ("pytest -q", "...\n3 passed in 0.01s", True),
        ("uv run --with x pytest -n 4", "===== 3 passed, 1 warning in 61.02s (0:01:01) =====", True),
        ("python3.12 -m pytest 2>&1 | tail -3", f"{RED}== {RED}1 failed{PLAIN}, 2 passed in 0.12s =={PLAIN}", False),
        ("pytest", "ERROR tests/a.py\n!!! Interrupted: 1 error during collection !!!\n=== 1 error in 0.10s ===", False),
        ("pytest", "==== no tests ran in 0.00s ====", None),
        ("pytest", "=== 3 skipped in 0.00s ===", None),
        ("pytest -qq", "...", None),
        ("pytest", "!!!!! KeyboardInterrupt !!!!!\n=== 2 passed in 1.00s ===", None),
        ("pytest", "INTERNALERROR> Traceback\n=== 2 passed in 1.00s ===", None),
        ("pytest --collect-only -q", "3 tests collected in 0.01s", None),
        ("echo pytest", "3 passed in 0.01s", None),
        ("grep -rn pytest .", "log: 3 passed in 0.01s", None),
        ("pip install pytest", "3 passed in 0.01s", None),
        ("pytest &", "3 passed in 0.01s", None),
        ("pytest -k a; pytest -k b", "1 failed in 0.01s\n1 passed in 0.01s", None),
        ("pytest -k a && pytest -k b", "1 passed in 0.01s\n1 failed in 0.01s", False),
        ("pytest -k a && pytest -k b", "1 passed in 0.01s\n1 passed in 0.02s", True),
        ("pytest -k a && pytest -k b", "1 passed in 0.01s\nSegmentation fault", None),
        ("pytest -s", "1 failed in 0.01s\n.\n1 passed in 0.02s", True),
        ("python -m unittest -v", "Ran 3 tests in 0.001s\n\nOK", True),
        ("python -m unittest", "Ran 3 tests in 0.001s\n\nOK (skipped=3)", None),
        ("python manage.py test", "Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)", False),
        ("python -m unittest", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", None),
        ("python -m unittest | tail -1", "OK", None),
        ("npx jest", "Test Suites: 1 passed, 1 total\nTests:       2 passed, 2 total", True),
        ("npx jest", "Test Suites: 1 failed, 1 passed, 2 total\nTests:       2 passed, 2 total", False),
        ("npx jest | grep Tests:", "Tests:       2 passed, 2 total", None),
        ("npm run test:unit", " Test Files  1 passed (1)\n      Tests  2 passed | 1 skipped (3)", True),
        ("npx vitest run", " Test Files  1 passed (1)\n      Tests  2 passed (2)\n     Errors  1 error", False),
        ("npx vitest run", " Test Files  1 failed | 1 passed (2)\n      Tests  2 passed (2)", False),
        ("go test ./...", "ok  \tx/a\t0.1s\n?   \tx/b\t[no test files]", True),
        ("go test ./...", "ok  \tx/a\t0.1s\nFAIL\tx/b [build failed]\nFAIL", False),
        ("go test ./...", "ok  \tx/a\t0.1s [no tests to run]", None),
        ("go test ./... | grep ok", "ok  \tx/a\t0.1s", None),
        ("cargo test", "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; finished in 0.0s", True),
        ("cargo test | head -3", "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; finished", None),
        ("cargo test", "error: could not compile `x` (lib test) due to 1 previous error", False),
        ("cargo test", "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; finished in 0.0s", None),
        ("bundle exec rspec", "3 examples, 0 failures, 1 pending", True),
        ("rspec", "0 examples, 0 failures, 1 error occurred outside of examples", False),
        ("rspec", "0 examples, 0 failures", None),
        ("mix test 2>&1 | grep failures", "2 doctests, 1 property, 40 tests, 0 failures, 3 excluded", True),
        ("MIX_ENV=test mix test", "40 tests, 1 failure", False),
        ("mix test", "3 features, 2 doctests, 0 failures", True),
        ("mix test", "3 examples, 0 failures", None),
        ("mix test", "5 tests, 0 failures, 5 excluded", None),
        ("npm test", "3 passing (5ms)", None),
        ("make test", "== 3 passed in 0.01s ==", True),
        ("./run_tests.sh", "Ran 3 tests in 0.001s\n\nOK", True),
        ("make test", "1 failed in 0.01s\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total", None),
        ("case x in a) pytest;; esac", "3 passed in 0.01s", None),
    ],
)
def test_tests_are_told_by_the_summary_of_their_runner(command: str, output: str, success: bool | None) -> None:
    assert result_of(command, output) is success


def test_the_last_run_of_a_turn_decides_and_one_that_did_not_end_decides_nothing() -> None:
    red, green = ran("pytest", "1 failed in 0.01s", 1), ran("pytest", "1 passed in 0.01s", call_id="c2")
    assert said(turn(red, green), "transcript_tests/1") is True
    assert said(turn(green, red), "transcript_tests/1") is False
    assert said(turn(green, ran("ls"), ran("pytest", end="cascade")), "transcript_tests/1") is True
    assert said(turn(green, ran("pytest", "...", None), ran("ls")), "transcript_tests/1") is None
    assert said(turn(green, ran("pytest 'x", "")), "transcript_tests/1") is None


@each(
    ("command", "exit_code", "success"),
    [
        ("npm run build", 0, True),
        ("npm run build", 2, False),
        ("cd app && npx tsc --noEmit 2>&1", 1, False),
        ("ruff check . && mypy src", 0, True),
        ("ruff check . && mypy src", 1, False),
        ("pytest && ruff check .", 1, None),
        ("pytest && ruff check .", 0, True),
        ("ruff check . && pytest", 0, True),
        ("npm run build | tail -5", 0, None),
        ("npm run build || true", 0, None),
        ("npm run build; echo done", 0, None),
        ("set -o pipefail; cargo clippy 2>&1 | tail -5", 101, False),
        ("timeout 60 make build", 124, None),
        ("make build", 137, None),
        ("make build", None, None),
        ("make test", 1, None),
        ("ruff format --check .", 1, False),
        ("ruff format .", 1, None),
        ("tsc --version", 0, None),
    ],
)
def test_builds_are_told_by_an_exit_code_of_their_own(
    command: str, exit_code: int | None, success: bool | None
) -> None:
    assert build_of(command, exit_code) is success


def test_a_build_that_was_not_there_did_not_fail() -> None:
    assert build_of("npm run lint", 1, 'npm ERR! Missing script: "lint"') is None
    assert build_of("python -m mypy .", 1, "/usr/bin/python: No module named mypy") is None


@pytest.mark.parametrize(
    "one",
    [
        turn(ran("pytest", "1 failed in 0.01s", 1), end="interrupted"),
        turn(ran("pytest", "1 failed in 0.01s", 1), ran("rm -r x", end="refused", exit_code=None)),
        turn(ran("pytest", "1 failed in 0.01s", 1), end="api_error"),
    ],
)
def test_what_was_interrupted_refused_or_cut_off_was_no_attempt(one: Turn) -> None:
    (row,) = inferred_outcomes(one)
    assert row["attempted"] is False


def test_what_was_said_of_a_turn_before_it_was_taken_back_is_taken_back_with_it() -> None:
    one = turn(ran("pytest", "1 failed in 0.01s", 1), fields={"branch": "abandoned"})
    assert [(row["basis_method"], row["attempted"]) for row in inferred_outcomes(one)] == [
        ("transcript_interrupt/1", False),
        ("transcript_tests/1", False),
    ]


def test_a_refusal_after_which_the_agent_went_on_decides_nothing() -> None:
    one = turn(ran("rm -r x", end="refused", exit_code=None), ran("pytest", "1 passed in 0.01s"))
    assert [row["basis_method"] for row in inferred_outcomes(one)] == ["transcript_tests/1"]


@pytest.mark.parametrize(
    ("command", "output", "exit_code", "success"),
    [
        ("git add . && git commit -m 'x'", "[main 1a2b3c4] x\n 1 file changed", 0, True),
        ("git -C app commit -qm x", "", 0, True),
        ("git commit -m x", "pre-commit failed", 1, None),
        ("git commit -m x | tail -1", "", 0, None),
        ("git commit -m x && git reset --hard HEAD~1", "[main 1a2b3c4] x", 0, None),
        ("git commit --dry-run", "", 0, None),
        ("git log --grep 'git commit'", "[main 1a2b3c4] x", 0, None),
    ],
)
def test_a_commit_that_stands_speaks_for_a_turn(
    command: str, output: str, exit_code: int, success: bool | None
) -> None:
    assert said(turn(ran(command, output, exit_code)), "transcript_commit/1") is success


def test_a_commit_that_the_next_prompt_takes_back_does_not() -> None:
    commit = ran("git commit -m x", "[main 1a2b3c4] x")
    assert said(turn(commit, next_prompt="please revert that"), "transcript_commit/1") is None
    assert said(turn(commit, next_prompt="now the docs"), "transcript_commit/1") is True


@each(
    ("prompt", "success"),
    [
        ("no, the other file", False),
        ("It still doesn't compile", False),
        ("that's wrong", False),
        ("Revert that", False),
        ("now the docs", None),
        ("nothing else, thanks", None),
        ("no problem", None),
        (None, None),
    ],
)
def test_corrections_are_looked_for_on_request_only(prompt: str | None, success: bool | None) -> None:
    one = turn(next_prompt=prompt)
    assert said(one, "transcript_correction/1", corrections=True) is success
    assert inferred_outcomes(one) == []


def test_without_the_outputs_that_no_rule_looks_at_the_same_is_said() -> None:
    calls = [
        ran("cat notes", "2 failed in 0.01s"),
        ran("cd app && cargo build", "error: no such command", 101),
        ran("pytest 'x", "1 passed in 0.01s"),
        ran("pytest | tail", "1 passed in 0.01s"),
        ran("git commit -m x", "[main 1a2b3c4] x"),
    ]
    shorter = with_needed_outputs(calls)
    assert [bool(one.output) for one in shorter] == [False, True, False, True, True]
    assert inferred_outcomes(turn(*calls)) == inferred_outcomes(turn(*shorter))


def test_a_turn_that_is_not_over_has_no_outcome() -> None:
    assert inferred_outcomes(turn(ran("pytest", "1 passed in 0.01s"), end="open")) == []
