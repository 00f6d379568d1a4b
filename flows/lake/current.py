"""What is published of a lake in a bucket: one object, and a pointer to it that is swapped where nobody else has.

Every home over the lake follows the pointer: it fetches the serving file once, checks it by its digest, and links it as
its own current.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.folder import TEMPORARY, fsync_path, make_durable_folder

if TYPE_CHECKING:
    from slowwave.flows.kernel.storage.bucket import Bucket


# The serving files of a home, and the link to the current one.

KEEP_RUNS = 7
GRACE_SECONDS = 24 * 3600.0


def run_path(settings: Settings, run_id: str) -> Path:
    """Where a run's serving file is."""
    return settings.serving / "runs" / f"{run_id}.duckdb"


def linked_run(settings: Settings) -> Path | None:
    """The serving file that is linked as current, or None; also where a copy that followed links left a file."""
    try:
        target = settings.serving / os.readlink(settings.current)  # noqa: PTH115 - the link's own words, unresolved
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.EINVAL}:
            return None
        raise
    return target if target.exists() else None


def old_runs(settings: Settings, current: Path | None, keep: int) -> list[Path]:
    """Serving files that may go: all but current and the `keep` newest others.

    None goes earlier than 24 hours after it ceased to be current: somebody may still be reading, or comparing.
    """
    others = [path for path in settings.serving.glob("runs/*.duckdb") if path != current]
    others.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [path for path in others[keep:] if path.stat().st_mtime < time.time() - GRACE_SECONDS]


def link_current(settings: Settings, run_id: str) -> None:
    """Make a run's file the current one of this home. Readers see the old file or the new one, never neither.

    The file that ceases to be current is touched, so that its age since then can be known.
    """
    before = linked_run(settings)
    link = settings.serving / f".current.{os.getpid()}{TEMPORARY}"
    link.unlink(missing_ok=True)
    link.symlink_to(Path("runs") / f"{run_id}.duckdb")
    if before is not None:
        os.utime(before)
    link.rename(settings.current)
    fsync_path(settings.serving)


_POINTER = ".published"
_FOLDER = "published"
# For so long the pointer is taken to be as it was: a command asks for current several times.
_FRESH_SECONDS = 2.0
_TRIES = 5
_followed_at: dict[Path, float] = {}


def bucket_of(settings: Settings) -> Bucket | None:
    """The bucket that the lake is in, if it is in one."""
    if "://" not in settings.lake:
        return None
    from slowwave.flows.kernel.storage.mounts import bucket_at

    return bucket_at(settings.lake_folder)


def ask_once(settings: Settings) -> None:
    """Where a bucket does not answer, say so for some time without asking it again: who looks on asks many times."""
    bucket = bucket_of(settings)
    if bucket is not None:
        bucket.client.asks_once = True


def published_path(settings: Settings, run_id: str) -> Path:
    """The object that a run's serving file is, in the bucket."""
    return settings.lake_folder / _FOLDER / f"{run_id}.duckdb"


def point_at(settings: Settings, bucket: Bucket, run_id: str) -> None:
    """Upload a run's serving file, and make it what every home over the lake shows.

    Raises FencedError where another writer has taken over, BucketError where the bucket refuses: the pointer stays.
    """
    from slowwave.flows.kernel.storage.client import FencedError

    path = run_path(settings, run_id)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    bucket.put(path, published_path(settings, run_id))
    bucket.settle()
    bucket.confirm()
    number = bucket.lease.number if bucket.lease else 0
    said = {"run_id": run_id, "sha256": digest, "bytes": path.stat().st_size, "number": number}
    for _ in range(_TRIES):
        before, tag = _read_pointer(bucket)
        if before.get("number", 0) > number:
            break
        content = json.dumps({**said, "written": uuid.uuid4().hex}).encode()
        if bucket.client.write_if(_POINTER, content, tag) is not None:
            return
    message = f"another writer has published from the lake {settings.lake}: what this run made is not shown"
    raise FencedError(message)


def follow(settings: Settings, bucket: Bucket) -> None:
    """Make current what the pointer names, fetching it where this home has not got it.

    Raises BucketError when the bucket cannot be read, or what is there is not what the pointer says.
    """
    at = _followed_at.get(settings.serving)
    if at is not None and time.monotonic() - at < _FRESH_SECONDS:
        return
    for again in range(_TRIES, 0, -1):
        named, _ = _read_pointer(bucket)
        if not named:
            break
        path = run_path(settings, named["run_id"])
        if not path.exists() or path.stat().st_size != named["bytes"]:
            try:
                _fetch(settings, bucket, named, path)
            except FileNotFoundError:  # the pointer has moved on
                if again > 1:
                    continue
                raise
        before = linked_run(settings)
        if before is None or before.stem != named["run_id"]:
            link_current(settings, named["run_id"])
            if before is not None and bucket.lease is None:  # who only reads has no night that would
                bucket.tidy_copies(GRACE_SECONDS)
                for old in old_runs(settings, path, KEEP_RUNS):
                    old.unlink(missing_ok=True)
        break
    _followed_at[settings.serving] = time.monotonic()


def _read_pointer(bucket: Bucket) -> tuple[dict[str, Any], str | None]:
    try:
        content, entry = bucket.client.read(_POINTER)
    except FileNotFoundError:
        return {}, None
    return json.loads(content), entry.tag


def _fetch(settings: Settings, bucket: Bucket, named: dict[str, Any], path: Path) -> None:
    from slowwave.flows.kernel.storage.client import BucketError

    make_durable_folder(path.parent)
    aside = path.parent / f".{path.name}.{uuid.uuid4().hex[:8]}{TEMPORARY}"
    try:
        bucket.client.download(f"{_FOLDER}/{path.name}", aside)
        with aside.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != named["sha256"]:
            message = (
                f"what is published in the lake {settings.lake} (run {named['run_id']}) is damaged: its digest is not "
                "the one it was published with; `slowwave nightly --full` publishes it anew"
            )
            raise BucketError(message)
        aside.rename(path)
    finally:
        aside.unlink(missing_ok=True)
    fsync_path(path.parent)


# Where what a run published is: its serving file, the link to the current one, its report.

__all__ = ["current_run", "report_file", "reports_folder", "run_path"]


def current_run(settings: Settings) -> Path | None:
    """The published serving file, or None; also where a copy that followed links left a file: it names no run.

    Of a lake in a bucket the pointer there says which, and it is fetched where this home has not got it.
    """
    bucket = bucket_of(settings)
    if bucket is not None:
        follow(settings, bucket)
    return linked_run(settings)


def reports_folder(settings: Settings) -> Path:
    """Where reports are."""
    return settings.home / "reports"


def report_file(settings: Settings, run_id: str) -> Path:
    """Where the report of a run is, or would be."""
    return reports_folder(settings) / f"{run_id}.html"
