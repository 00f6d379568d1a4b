"""A params.toml that cannot be used does not stop the receiver: it says so once, and takes what is posted."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_process import receiving


@pytest.mark.parametrize("stated", ["nonsense = 1\n", "[confidence]\nmethod = 'banana/7'\n", "no toml"])
def test_rows_are_taken_whatever_the_params_say(tmp_path: Path, stated: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "params.toml").write_text(stated)
    with receiving(home) as receiver:
        for number in range(3):
            row = {"interaction_id": f"i{number}", "prompt": "Which port?", "created_at": "2026-03-01T00:00:00Z"}
            status, said = receiver.post("/interactions", row)
            assert status == 200, said
    warned = (tmp_path / "capture.log").read_text()
    assert warned.count("params.toml cannot be used") == 1
    assert "rows are taken" in warned
