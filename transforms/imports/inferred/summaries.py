"""What the runners of tests say themselves at the end of a run, each by the form of its own lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_LONGEST = 400  # characters of a line that can be a summary
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


@dataclass(frozen=True)
class Summary:
    """What one run came to. `failed` counts errors too; `is_whole`: nothing of it is left to be seen elsewhere."""

    runner: str
    line: int
    passed: int
    failed: int
    is_whole: bool = True


def printed_lines(output: str) -> list[str]:
    """The lines of an output as a person sees them: without colours, and of a line written over only its last state."""
    lines = _ESCAPE.sub("", output).split("\n")
    return [line.rstrip().rpartition("\r")[2] for line in lines]


def summaries(runner: str, lines: list[str]) -> list[Summary]:
    """Those that this runner left in these lines, in order. Of go, cargo and ExUnit all parts are one run."""
    return [] if any(map(_is_broken_off, lines)) else list(_SUMMARIES[runner](lines))


def _is_broken_off(line: str) -> bool:
    """Whether a runner says here that it did not get to the end, so that its counts are of a part."""
    return _BROKEN_OFF.match(line[:_LONGEST]) is not None


_BROKEN_OFF = re.compile(
    r"INTERNALERROR>|!+ (?:KeyboardInterrupt|_pytest\.outcomes\.Exit\b.*) !+$|Test run was interrupted"
)


def _number_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines) if line and len(line) <= _LONGEST)


_COUNT = (
    r"\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun"
    r"|subtests (?:passed|failed|skipped))"
)
_PYTEST = re.compile(rf"=*\s*({_COUNT}(?:, {_COUNT})*) in \d[\d.]* ?s(?:econds)?(?: \(\d[\d:a-z, ]*\))?\s*=*$")


def _of_pytest(lines: list[str]) -> Iterator[Summary]:
    for number, line in _number_lines(lines):
        if found := _PYTEST.match(line):
            counts = _counts(found[1])
            failed = sum(counts.get(name, 0) for name in ("failed", "error", "errors", "subtests failed"))
            yield Summary("pytest", number, counts.get("passed", 0), failed)


_RAN = re.compile(r"Ran (\d+) tests? in \d[\d.]*s$")
_UNITTEST = re.compile(r"(OK|FAILED|NO TESTS RAN)(?: \(([a-z ]+=\d+(?:, [a-z ]+=\d+)*)\))?$")


def _of_unittest(lines: list[str]) -> Iterator[Summary]:
    ran: int | None = None
    for number, line in _number_lines(lines):
        if found := _RAN.match(line):
            ran = int(found[1])
        elif (found := _UNITTEST.match(line)) and (ran is not None or found[2]):
            said = dict(part.split("=") for part in (found[2] or "").split(", ") if part)
            counts = {name: int(count) for name, count in said.items()}
            failed = sum(counts.get(name, 0) for name in ("failures", "errors", "unexpected successes"))
            if failed or ran is not None:
                not_run = counts.get("skipped", 0) + counts.get("expected failures", 0)
                passed = max((ran or 0) - failed - not_run, 0)
                yield Summary("unittest", number, passed, max(failed, found[1] == "FAILED"))
            ran = None


_JEST = re.compile(r"(Test Suites|Tests):\s+((?:\d+ [a-z]+, )*)\d+ (?:of \d+ )?total$")


def _of_jest(lines: list[str]) -> Iterator[Summary]:
    suites: dict[str, int] | None = None
    for number, line in _number_lines(lines):
        if found := _JEST.match(line):
            counts = _counts(found[2].rstrip(", "))
            if found[1] == "Test Suites":
                suites = counts
            else:
                failed = counts.get("failed", 0) or (suites or {}).get("failed", 0)
                yield Summary("jest", number, counts.get("passed", 0), failed, is_whole=suites is not None)
                suites = None


_VITEST = re.compile(r"\s*(Test Files|Tests|Errors)\s+(no tests|\d+ errors?|\d+ [a-z ]+(?: \| \d+ [a-z ]+)* \(\d+\))$")


def _of_vitest(lines: list[str]) -> Iterator[Summary]:
    files: dict[str, int] | None = None
    told: Summary | None = None
    for number, line in _number_lines(lines):
        if found := _VITEST.match(line):
            counts = _counts(found[2].partition(" (")[0].replace(" | ", ", "))
            if found[1] == "Test Files":
                if told:
                    yield told
                files, told = counts, None
            elif found[1] == "Tests":
                failed = counts.get("failed", 0) or (files or {}).get("failed", 0)
                told = Summary("vitest", number, counts.get("passed", 0), failed, is_whole=files is not None)
            elif told:
                errors = counts.get("error", 0) + counts.get("errors", 0)
                told = Summary("vitest", number, told.passed, told.failed + errors)
    if told:
        yield told


_GO_OK = re.compile(r"ok\s+\S+\s+(?:\(cached\)|\d[\d.]*s)(.*)$")
_GO_FAILED = re.compile(r"FAIL\s+\S+\s+(?:\[(?:build|setup) failed\]|\d[\d.]*s)$")


def _of_go(lines: list[str]) -> Iterator[Summary]:
    passed = failed = last = 0
    is_failed = False
    for number, line in _number_lines(lines):
        if found := _GO_OK.match(line):
            passed, last = passed + ("[no tests to run]" not in found[1]), number
        elif _GO_FAILED.match(line):
            failed, last = failed + 1, number
        elif line == "FAIL":
            is_failed, last = True, number
    if passed or failed or is_failed:
        yield Summary("go", last, passed, max(failed, int(is_failed)), is_whole=False)


_CARGO = re.compile(r"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; \d+ ignored;")
_CARGO_FAILED = re.compile(
    r"error: (?:test failed, to rerun pass|\d+ targets? failed:|could not compile `|doctest failed)"
)


def _of_cargo(lines: list[str]) -> Iterator[Summary]:
    passed = failed = last = 0
    is_failed = False
    for number, line in _number_lines(lines):
        if found := _CARGO.match(line):
            passed, failed, last = passed + int(found[1]), failed + int(found[2]), number
        elif _CARGO_FAILED.match(line):
            is_failed, last = True, number
    if passed or failed or is_failed:
        yield Summary("cargo", last, passed, max(failed, int(is_failed)), is_whole=False)


_RSPEC = re.compile(
    r"(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside of examples)?$"
)


def _of_rspec(lines: list[str]) -> Iterator[Summary]:
    for number, line in _number_lines(lines):
        if found := _RSPEC.match(line):
            examples, failures, pending, errors = (int(count or 0) for count in found.groups())
            yield Summary("rspec", number, max(examples - failures - pending, 0), failures + errors)


# Tests by type, of which projects may have further ones.
_EXUNIT = re.compile(r"((?:\d+ (?!examples?,)[a-z_]+, )+)(\d+) failures?((?:, \d+ (?:excluded|invalid|skipped))*)$")


def _of_exunit(lines: list[str]) -> Iterator[Summary]:
    passed = failed = last = 0
    for number, line in _number_lines(lines):
        if found := _EXUNIT.match(line):
            ran, others = sum(_counts(found[1]).values()), _counts(found[3].lstrip(", "))
            bad = int(found[2]) + others.get("invalid", 0)
            not_run = others.get("excluded", 0) + others.get("skipped", 0)
            passed, failed, last = passed + max(ran - bad - not_run, 0), failed + bad, number
        elif line.startswith("== Compilation error in file "):
            failed, last = failed + 1, number
    if passed or failed:
        yield Summary("exunit", last, passed, failed)


def _counts(text: str) -> dict[str, int]:
    """Of `2 failed, 3 passed` the count by its word."""
    parts = (part.partition(" ") for part in text.split(", ") if part[:1].isdigit())
    return {word: int(count) for count, _, word in parts}


_SUMMARIES: dict[str, Callable[[list[str]], Iterator[Summary]]] = {
    "pytest": _of_pytest,
    "unittest": _of_unittest,
    "jest": _of_jest,
    "vitest": _of_vitest,
    "go": _of_go,
    "cargo": _of_cargo,
    "rspec": _of_rspec,
    "exunit": _of_exunit,
}
