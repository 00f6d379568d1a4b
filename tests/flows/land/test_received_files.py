"""The receiver's files are merged and claimed, and whatever is killed, each row is in one of those that are landed."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land import received_files as received
from slowwave.flows.land.inbox import inbox_deliveries, inbox_otlp, passed_over
from slowwave.flows.land.received_files import (
    Lane,
    ReceivedFile,
    claim,
    held_elsewhere,
    is_received,
    merge,
    received_files,
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(tmp_path / "home")
    settings.inbox.mkdir(parents=True)
    return settings


def written(settings: Settings, *numbers: int, lane: Lane = "rows", stage: str = "capture") -> None:
    for number in numbers:
        file = ReceivedFile(settings.inbox, "capture" if stage == "capture" else "received", lane, number, number)
        file.path.write_text(f"{lane} {number}\n")


def lines(settings: Settings) -> Counter[str]:
    return Counter(line for file in received_files(settings.inbox) for line in file.path.read_text().splitlines())


def test_many_become_one_in_their_order_and_lanes_stay_apart(settings: Settings):
    written(settings, *range(1, 40))
    written(settings, 40, 41, lane="otlp")
    before = lines(settings)
    merge(settings, before=100, waits=False)
    assert [file.name for file in received_files(settings.inbox)] == [
        f"capture-{40:017d}-{41:017d}.otlp.jsonl",
        f"capture-{1:017d}-{39:017d}.jsonl",
    ]
    assert lines(settings) == before
    assert received_files(settings.inbox)[1].path.read_text().splitlines() == [f"rows {n}" for n in range(1, 40)]
    assert received_files(settings.inbox)[0].path.stat().st_mode & 0o777 == 0o600


def test_a_write_that_may_be_under_way_is_not_merged(settings: Settings):
    written(settings, 1, 2, 3)
    merge(settings, before=3, waits=False)
    assert [(file.first, file.last) for file in received_files(settings.inbox)] == [(1, 2), (3, 3)]


def test_what_a_landing_claims_is_merged_no_more(settings: Settings):
    written(settings, 1, 2)
    claim(settings)
    written(settings, 3, 4)
    merge(settings, before=100, waits=False)
    names = [file.name for file in received_files(settings.inbox)]
    assert names == [f"received-{1:017d}-{2:017d}.jsonl", f"capture-{3:017d}-{4:017d}.jsonl"]
    assert [one.source for one in inbox_deliveries(settings.inbox)] == sorted(names)


def test_large_files_are_claimed_as_they_are(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(received, "_LARGE_BYTES", 5)
    written(settings, 1, 2, 3)
    claim(settings)
    assert [file.stage for file in received_files(settings.inbox)] == ["received"] * 3


def test_a_merged_file_has_its_bounds(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(received, "_MOST_BYTES", 20)
    written(settings, *range(1, 8))
    before = lines(settings)
    merge(settings, before=100, waits=True)
    assert [(file.first, file.last) for file in received_files(settings.inbox)] == [(1, 2), (3, 4), (5, 6), (7, 7)]
    assert lines(settings) == before


@pytest.mark.parametrize("ends", ["merge", "claim"])
@pytest.mark.parametrize("step", range(14))
def test_killed_at_any_step_no_row_is_lost_nor_landed_twice(
    step: int, ends: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    written(settings, 1, 2, 3, 4)
    before = lines(settings)
    steps = itertools.count()

    class Killed(BaseException):
        pass

    def counted(real):
        def act(*arguments, **options):
            if next(steps) >= step:
                raise Killed
            return real(*arguments, **options)

        return act

    with monkeypatch.context() as patched:
        for name in ("unlink", "rename"):
            patched.setattr(Path, name, counted(getattr(Path, name)))
        patched.setattr("slowwave.flows.kernel.store.os.fsync", counted(lambda _: None))
        try:
            merge(settings, before=100, waits=True)
            claim(settings)
        except Killed:
            pass
    assert set(lines(settings)) == set(before)
    if ends == "claim":
        claim(settings)
    else:
        merge(settings, before=100, waits=True)
        claim(settings)
    assert lines(settings) == before
    assert all(file.stage == "received" for file in received_files(settings.inbox))
    assert list(settings.inbox.glob(".received*")) == []


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4), st.booleans()), max_size=8))
def test_only_what_a_larger_file_holds_is_held_elsewhere(ranges: list[tuple[int, int, bool]]):
    files = sorted(
        {
            ReceivedFile(Path(), "capture" if c else "received", "rows", first, first + more)
            for first, more, c in ranges
        },
        key=lambda one: (one.lane, one.first, -one.last, one.stage),
    )
    gone = held_elsewhere(files)
    left = [file for file in files if file not in gone]
    for file in gone:
        assert any(other.holds(file) or replace(other, stage=file.stage) == file for other in left if other != file)


def test_nothing_of_the_receivers_is_passed_over_or_landed_as_rows(settings: Settings):
    written(settings, 1, lane="otlp")
    (settings.inbox / ".capture-1.jsonl.ab12.tmp").write_text("")
    assert passed_over(settings.inbox) == []
    assert inbox_deliveries(settings.inbox) == []
    assert len(inbox_otlp(settings.inbox)) == 1


def test_a_name_is_the_receivers_or_not():
    assert is_received(ReceivedFile(Path(), "received", "rows", 1, 2).name)
    assert is_received(ReceivedFile(Path(), "capture", "otlp", 10**16, 10**16).name)
    assert not is_received("received-1-2.jsonl")
    assert not is_received(f"xcapture-{1:017d}-{2:017d}.jsonl")
