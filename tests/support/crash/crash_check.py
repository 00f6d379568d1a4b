"""What must hold after a fault in a step, and after the step was run again."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crash_cases import Driver, Fault, Point, points
from thorough import IS_THOROUGH

# Where this fails before a byte was sent, Python copies the file by reading and writing instead.
HAS_ANOTHER_WAY = frozenset({"sendfile"})
# A database appends to its log many times before anybody sees the file: what follows is the same at each.
_OF_A_KIND = 4


@dataclass(frozen=True)
class Subject:
    """A step on a prepared home: what is there before it, after it, and after everything; and its fault points.

    `mended`: what was found when the step was run again, by what the fault had left.
    """

    driver: Driver
    step: str
    template: Path
    points: list[Point]
    before: dict[str, Any]
    done: dict[str, Any]
    final: dict[str, Any]
    mended: dict[str, dict[str, Any]] = field(default_factory=dict)


def prepared(driver: Driver, step: str) -> Path:
    """The prepared home of a step, to copy."""
    home = driver.folder / "home"
    template = driver.folder / f"{step}-template"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    driver.run(f"prepare_{step}", home)
    return home.rename(template)


def subject(driver: Driver, step: str) -> Subject:
    """Prepare the home of a step, and run it undisturbed once, traced."""
    template = prepared(driver, step)
    home = driver.folder / "home"
    before = driver.run("look", driver.copy(template))
    traced = driver.trace(step, driver.copy(template))
    finished = driver.run("finish", home)
    return Subject(driver, step, template, points(traced), before, finished["before"], finished["after"])


def spread(found: Sequence[Point], fault: Fault) -> list[Point]:
    """The points to try a fault at; what the disk says takes turns: each is refused by one error or the other.

    `make test-all` tries of the calls of one kind on one path at most `_OF_A_KIND`, the first and last too; else it is
    one point of each kind of call on each kind of file, drawn by SLOWWAVE_SEED.
    """
    kept = _of_each_path(found) if IS_THOROUGH else _one_of_each_kind(found)
    return kept if fault == "SIGKILL" else kept[("EIO", "ENOSPC").index(fault) :: 2]


def _one_of_each_kind(found: Sequence[Point]) -> list[Point]:
    chance = random.Random(os.environ.get("SLOWWAVE_SEED", ""))
    kinds: dict[tuple[str, str], list[Point]] = {}
    for point in found:
        kinds.setdefault((point.name, _kind_of_file(point.path)), []).append(point)
    chosen = {chance.choice(points_of_kind) for points_of_kind in kinds.values()}
    return [point for point in found if point in chosen]


def _kind_of_file(path: str) -> str:
    """A path without days, ids and hashes; all evidence is written by one function."""
    if path.startswith("lake/evidence/"):
        path = "/".join(["lake", "evidence", *path.split("/")[3:]])
    return re.sub(r"\d{4}-\d\d-\d\d|\d{8}T\d+Z?|[0-9a-f]{8,}|\d+", "*", path)


def _of_each_path(found: Sequence[Point]) -> list[Point]:
    kinds: dict[tuple[str, str], list[Point]] = {}
    for point in found:
        kinds.setdefault((point.name, point.path), []).append(point)
    chosen = set()
    for points_of_kind in kinds.values():
        last = len(points_of_kind) - 1
        count = min(_OF_A_KIND, last + 1)
        chosen |= {points_of_kind[last * i // max(count - 1, 1)] for i in range(count)}
    return [point for point in found if point in chosen]


def _has_another_way(point: Point) -> bool:
    """Whether the program goes on without this call: a serving file that cannot be compacted is published as built."""
    return point.name in HAS_ANOTHER_WAY or ".compact." in str(point.path)


def faults_found(subject: Subject, point: Point, fault: Fault) -> list[str]:
    """What is wrong after one fault at a point, and after running again; nothing when all is well."""
    home = subject.driver.copy(subject.template)
    outcome = subject.driver.disturbed(subject.step, home, point, fault)
    wrong = []
    if not outcome["is_hit"]:
        wrong.append("the point was not reached")
    if "crash" in outcome:
        wrong.append(f"an error nobody expects: {outcome['crash']}")
    elif fault != "SIGKILL" and "error" not in outcome and not _has_another_way(point):
        wrong.append("the fault was passed over")
    elif "error" in outcome and (not outcome["error"].strip() or "\n" in outcome["error"].strip()):
        wrong.append(f"the error is no sentence: {outcome['error']!r}")
    try:
        seen = _run_again(subject, home)
    except AssertionError as error:
        return [*wrong, f"what was left cannot be read or run again: {error}"]
    wrong += _wreck_faults(subject, seen["before"]) + _final_faults(subject, seen["after"])
    return [f"{fault} at {point}: {text}" for text in wrong]


def _run_again(subject: Subject, home: Path) -> dict[str, Any]:
    """What `finish` finds; where another fault left the very same home behind, what it found then."""
    left = _contents(home)
    if left not in subject.mended:
        subject.mended[left] = subject.driver.run("finish", home)
    return subject.mended[left]


def _contents(home: Path) -> str:
    """Digest of the names, kinds and contents of everything in a home."""
    found = hashlib.sha256()
    for path in sorted(home.rglob("*")):
        if path.is_symlink():
            kind, content = "link", os.readlink(path).encode()  # noqa: PTH115 - as it is written
        else:
            kind, content = ("folder", b"") if path.is_dir() else ("file", path.read_bytes())
        name = str(path.relative_to(home)).encode()
        found.update(b"%s %d %d " % (kind.encode(), len(name), len(content)) + name + content)
    return found.hexdigest()


def _wreck_faults(subject: Subject, seen: dict[str, Any]) -> list[str]:
    """Nothing lost, and readers see the old or the new, right after the fault."""
    wrong = []
    if seen["current"] not in (subject.before["current"], subject.done["current"]):
        wrong.append(f"current is neither the old nor the new: {seen['current']}")
    gone = sorted(set(subject.before["inbox"]) - set(seen["inbox"]))
    if gone and any(seen[name] != subject.done[name] for name in ("rows", "quarantine", "files")):
        wrong.append(f"{gone} left the inbox before all rows were in the lake")
    for table, rows in seen["rows"].items():
        if not set(subject.before["rows"][table]) <= set(rows) <= set(subject.done["rows"][table]):
            wrong.append(f"rows of {table} were lost, or are none that was delivered")
    if seen["unaccounted"]:
        wrong.append("delivered is not accepted + duplicate + quarantined")
    return wrong


def _final_faults(subject: Subject, seen: dict[str, Any]) -> list[str]:
    """After running again, all is as if nothing had happened."""
    wrong = [
        f"{name} differ after running again: {seen[name]}, undisturbed {subject.final[name]}"
        for name in ("current", "rows", "quarantine", "files", "inbox", "unaccounted", "leftovers")
        if seen[name] != subject.final[name]
    ]
    if seen["runs"].get(seen["current_run"]) != "published":
        wrong.append(f"current is run {seen['current_run']}, which the ledger does not know as published")
    return wrong
