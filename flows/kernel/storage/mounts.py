"""Buckets by their URL: each is mounted once in a process, at a folder of the home that holds its copies."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.storage.bucket import Bucket
from slowwave.flows.kernel.storage.client import SCHEMES
from slowwave.flows.kernel.storage.storage import mount

COPIES = "copies"
_buckets: dict[Path, Bucket] = {}


def bucket_folder(url: str, home: Path) -> Path:
    """Where the bucket of this URL is mounted in a home. Raises UserError for a URL of another kind."""
    url = url.rstrip("/")
    scheme, _, rest = url.partition("://")
    if scheme not in SCHEMES or not rest.strip("/"):
        known = ", ".join(f"{scheme}://BUCKET/PREFIX" for scheme in SCHEMES)
        message = f"SLOWWAVE_LAKE is {url}, which is no lake: name a folder, or a bucket as in {known}"
        raise UserError(message)
    folder = home.absolute() / COPIES / sha256(url.encode()).hexdigest()[:16]
    if folder not in _buckets:
        _buckets[folder] = Bucket(url, folder)
        mount(folder, _buckets[folder])
    return folder


def bucket_at(folder: Path) -> Bucket | None:
    """The bucket that is mounted at a folder, or above it; None where files are as they are."""
    return next((bucket for at, bucket in _buckets.items() if folder.is_relative_to(at)), None)
