"""What `error/3` makes of messages written by hand.

The file in tests/golden/error-3 is released: neither it nor its digest changes (see golden_tables).
"""

from __future__ import annotations

import polars as pl
from error_rows import frame
from golden_tables import assert_golden

from slowwave.transforms.grouping.error_fingerprints import error_fingerprints

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


_TAP = "not ok {1} - {0}/{1} # TODO later\nnot ok {1} parallel/test-{0} # time={1}ms\n  ---\n  exitcode: {1}\n"
_NAMED = (
    *(
        text.format(name, n)
        for text in (
            _TAP,
            "No module named '{0}' (0x7f{1}a)",
            'relation "{0}" does not exist at {1}',
            "FAIL src/{0}.test.ts",
            "--- FAIL: Test_{0} (0.{1}s)",
            "/opt/{0}/bin/tool: cannot open /tmp/run-{1}/{0}.csv of {0}.lan:80{1}",
            "FAIL: test_{0} (shop.Test.test_{0})\nAssertionError: {1} != 0",
            "  1 failing\n\n  1) Shop\n       sells {0}:\n     Error: {1}",
        )
        for name, n in (("cart2", 3), ("cart2", 71), ("user", 8))
    ),
)


def test_errors_and_families_are_those_that_were_published():
    said = [*MESSAGES, *_NAMED]
    found = [error_fingerprints(frame(part, name)) for name, part in (("atlas", said), ("borealis", said[::2]))]
    assert_golden(pl.concat(found).sort("project", "error_message"), "error-3/errors")
