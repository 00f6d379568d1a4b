"""Where an earlier publish has few rows to take over, all are written anew."""

from __future__ import annotations

from datetime import datetime
from unittest.mock import patch

from small_home import SmallHome, interaction, memory

from slowwave.flows.publish import base, publish


def test_few_rows_are_written_anew(tmp_path):
    home, bases, right = SmallHome(tmp_path / "home"), [], base.base_of
    home.land(memory("m1"), *[interaction(f"i{i}", memories_used=["m1"]) for i in range(3)])
    home.nightly(datetime(2026, 3, 3))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    with patch.object(publish, "base_of", lambda *given: bases.append(right(*given)) or bases[-1]):
        for fewest in (0, 10, 1):
            # three references, a memory's two days of history, and what landed
            with patch.object(base, "FEWEST_ROWS", fewest):
                home.nightly(datetime(2026, 3, 4 + fewest))  # noqa: DTZ001 - as above
    assert [found is None for found in bases] == [False, True, False]
