"""What a lake needs of a bucket, tried out with an object that is deleted at once."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from slowwave.flows.kernel.storage.client import BucketClient

_PROBE = ".doctor"


def bucket_lacks(client: BucketClient) -> list[str]:
    """What cannot be done, each as a verb with the reason; [] when the bucket will do.

    Raises BucketError where it cannot even be listed.
    """
    client.holds_any()
    first, second = (f"{step} {uuid.uuid4().hex}".encode() for step in ("first", "second"))
    tags: list[str | None] = [None]

    def create() -> bool:
        tags[0] = client.write_if(key, first, None)
        return tags[0] is not None

    key = f"{_PROBE}/{uuid.uuid4().hex}"
    steps: dict[str, Callable[[], bool]] = {
        "write an object": create,
        "keep an object that is there from being written as new (If-None-Match)": lambda: (
            client.write_if(key, second, None) is None
        ),
        "keep an object that has changed from being replaced (If-Match)": lambda: (
            client.write_if(key, second, '"of another"') is None
        ),
        "replace an object that has not changed": lambda: client.write_if(key, second, tags[0]) is not None,
        "read what was written": lambda: client.read(key)[0] == second,
    }
    missing = []
    for ability, tries in steps.items():
        try:
            if not tries():
                missing.append(ability)
        except OSError as error:
            missing.append(f"{ability} ({error})")
            break
    try:
        client.delete([key], lambda: None)
    except OSError as error:
        missing.append(f"delete an object ({error})")
    return missing
