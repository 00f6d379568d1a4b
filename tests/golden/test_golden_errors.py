"""What `error/2` makes of messages written by hand.

The files in tests/golden/error-2 are released: neither they nor their digests change (see golden_tables).
"""

from __future__ import annotations

import polars as pl
from error_rows import frame
from golden_tables import assert_golden

from slowwave.transforms.grouping.errors.fingerprints import error_fingerprints
from slowwave.transforms.grouping.errors.params import ErrorParams

_USERS = ("ann", "bea", "cleo", "dora", "eve", "fay")
_TRACEBACK = "Traceback (most recent call last):\n  File \"/srv/{0}.py\", line {1}, in f\n    x\nKeyError: '{0}'\n"
_JAVA = 'Exception in thread "main" java.io.IOException: disk {1} is full\n\tat a.{0}.b(C.java:{1})\nCaused by: X: y\n'
_PYTEST = (
    "seed {1}\nE   assert 3 == {1}\n= short test summary info =\nFAILED tests/t.py::test_{0}[{1}] - assert 3 == {1}\n"
)
_RUST = "{0}\nthread 'main' panicked at src/{0}.rs:{1}:5:\nindex out of bounds: the len is 2 but the index is {1}\n"
MESSAGES = (
    *(f"no room left for user {user} on the disk today" for user in _USERS),
    *(
        f"job {user} moved from {other} to the queue of tomorrow"
        for user, other in zip(_USERS, _USERS[::-1], strict=True)
    ),
    *(f"nobody has seen {user} since then" for user in _USERS[:2]),
    *(text.format(name, n) for text in (_TRACEBACK, _JAVA, _PYTEST, _RUST) for name, n in (("a", 3), ("views", 71))),
    *("Connection refused", "Connection reset", "could not open file", "could not read file", "HTTP 404", "HTTP 500"),
    *(
        "timed out after 30s",
        "timed out after 1 min",
        "sent 3 of 17 rows to db7.lan:5432",
        "sent 4 of 9 rows to backup",
    ),
    *("request failed, status=503, owner=ann", "request failed, status=503, owner=bea", "Exit code 1", "Exit code 127"),
    *(
        "src/a.py:3:1: F401 `x` imported but unused",
        "error TS2304: Cannot find name 'x'.",
        "fatal: not a git repository",
    ),
    *("Error code: 429 - {'error': {'message': 'Limit 30 reached', 'type': 'tokens', 'param': 'p-1'}}", "", "…"),
    *(
        '{\n  "error": {\n    "message": "overloaded",\n    "id": 7\n  }\n}',
        "Exit code 2\ncompiling 3\nfatal: no branch",
    ),
)


def test_what_was_published_is_published():
    found = pl.concat(
        [
            error_fingerprints(frame(said, project), ErrorParams(method="error/2"))
            for project, said in (("atlas", MESSAGES), ("borealis", MESSAGES[::2]))
        ]
    )
    assert_golden(found.sort("project", "error_message"), "error-2/errors")
