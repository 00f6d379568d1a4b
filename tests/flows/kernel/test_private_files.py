"""Files that are their owner's alone: in the order that a power cut asks for, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from slowwave.flows.kernel import store
from slowwave.flows.kernel.store import write_private


def test_contents_last_before_the_name_and_the_name_before_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    told: list[str] = []
    flush, rename = os.fsync, Path.rename

    def flushed(handle: int) -> None:
        told.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        flush(handle)

    def renamed(path: Path, target: Any) -> Path:
        told.append("name")
        assert path.name.startswith(".")
        assert path.read_bytes() == b"ab"
        return rename(path, target)

    monkeypatch.setattr(store.os, "fsync", flushed)
    monkeypatch.setattr(Path, "rename", renamed)
    os.umask(0)
    try:
        write_private(tmp_path / "a", [b"a", b"b"])
    finally:
        os.umask(0o077)
    assert told == ["file", "name", "folder"]
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("step", [0, 1])
def test_what_cannot_be_made_to_last_is_not_there(step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    steps = iter(range(2))

    def full(_: int) -> None:
        if next(steps) == step:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(store.os, "fsync", full)
    with pytest.raises(OSError, match="Input/output"):
        write_private(tmp_path / "a", [b"a"])
    assert list(tmp_path.iterdir()) == []
