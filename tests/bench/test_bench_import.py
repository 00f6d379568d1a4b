"""What importing transcripts takes beside reading and decoding them, measured in the same run."""

from __future__ import annotations

from pathlib import Path

import pytest
from large_transcripts import Client, import_cost, write_transcripts

MEGABYTES = 100
# Of start-up and landing a large import takes little.
MOST_TIMES_READING = {"claude-code": 12, "pi": 20}


@pytest.mark.bench
@pytest.mark.parametrize("client", [*MOST_TIMES_READING])
def test_an_import_takes_a_few_times_what_reading_takes(client: Client, tmp_path: Path) -> None:
    write_transcripts(tmp_path / "large", client, MEGABYTES * 10**6, 24)
    write_transcripts(tmp_path / "small", client, MEGABYTES * 10**6, 1_500)
    large, small = (import_cost(client, tmp_path / name, tmp_path / f"home-{name}") for name in ("large", "small"))
    print(f"\n{client}: {large}\n{client}: {small}")
    assert large.times_reading <= MOST_TIMES_READING[client]
    assert small.seconds <= 1.5 * large.seconds
