"""What nights cost in a bucket: objects there, bytes, and requests by kind, night by night of the sample logs.

`.venv/bin/python tests/support/buckets/bucket_costs.py [NIGHTS] [INTERACTIONS_A_DAY]`

The clock stands at each night's, and what may go a day later goes in the same night.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bucket_server import Proxy, environment, make_bucket, s3_server

from slowwave.data.sample import sample_files
from slowwave.flows.kernel import times
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage import bucket
from slowwave.flows.kernel.storage.client import BucketClient
from slowwave.flows.lake import current
from slowwave.flows.nightly import prune
from slowwave.flows.nightly.nightly import nightly
from slowwave.flows.publish.run import start_run

_KINDS = ("LIST", "GET", "HEAD", "PUT", "POST", "DELETE")
_LAKE = "s3://costs/lake"


def main(nights: int = 10, a_day: int = 120) -> None:
    """Print a line per night, one of a night that publishes again though nothing has landed, and objects by folder."""
    bucket._GRACE_SECONDS = current.GRACE_SECONDS = prune.GRACE_SECONDS = -1.0
    files = sample_files(days=nights, interactions_per_day=a_day)
    with s3_server() as port, tempfile.TemporaryDirectory() as folder:
        make_bucket(port, "costs")
        proxy = Proxy(port)
        os.environ.update(environment(proxy.port, _LAKE))
        settings = Settings(Path(folder))
        settings.inbox.mkdir(parents=True)
        print(f"{'night':<12}{'objects':>9}{'MB':>8}" + "".join(f"{kind:>8}" for kind in _KINDS))
        for day, dropped in itertools.groupby(files, lambda file: file.name[:10]):
            for file in dropped:
                (settings.inbox / file.name).write_bytes(file.content)
            _night(settings, proxy, day, datetime.fromisoformat(day) + timedelta(days=1))
        _night(settings, proxy, "again", None)
        folders = Counter(
            key.rpartition("/day=")[0] or key.partition("/")[0] for key, _ in BucketClient(_LAKE).entries("")
        )
        print(", ".join(f"{name} {count:,}" for name, count in folders.most_common()))
        proxy.close()


def _set_clock(now: datetime) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = UTC) -> datetime:
            return now.astimezone(tz)

    times.datetime = Clock


def _night(settings: Settings, proxy: Proxy, name: str, as_of: datetime | None) -> None:
    if as_of is not None:
        _set_clock((as_of + timedelta(hours=3)).replace(tzinfo=UTC))
    proxy.requests.clear()
    with writer_lock(settings, "nightly"):
        nightly(start_run(settings, "nightly"), as_of=as_of)
    asked = dict(proxy.requests)
    entries = [entry for _, entry in BucketClient(_LAKE).entries("")]
    size = sum(entry.size for entry in entries) / 1e6
    print(f"{name:<12}{len(entries):>9,}{size:>8.1f}" + "".join(f"{asked.get(kind, 0):>8,}" for kind in _KINDS))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
