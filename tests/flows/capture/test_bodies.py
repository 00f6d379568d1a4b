"""Bodies that are packed: what they hold, and that none costs much more than it is long."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.flows.capture.app import RefusedBodyError, _Taken, _unpack_gzip
from slowwave.flows.capture.limits import BufferedBytes

MOST = 2**21


def unpacked(packed: bytes, held: BufferedBytes | None = None) -> bytes:
    return _unpack_gzip(packed, MOST, _Taken(held or BufferedBytes(2**30)))


def refused(packed: bytes) -> tuple[int, str]:
    with pytest.raises(RefusedBodyError) as error:
        unpacked(packed)
    return error.value.answer.status, json.loads(error.value.answer.body)["error"]


@given(parts=st.lists(st.binary(max_size=200), min_size=1, max_size=5), times=st.integers(1, 2_000))
def test_members_are_read_one_after_the_other(parts: list[bytes], times: int):
    assert unpacked(b"".join(gzip.compress(part * times) for part in parts)) == b"".join(part * times for part in parts)


def test_what_is_packed_over_many_blocks_is_whole():
    text = bytes(range(256)) * 4_000 + zlib.compress(b"odd") * 1_000
    packed = gzip.compress(text, 0)  # longer than what is given to it at once
    assert unpacked(packed + gzip.compress(b"end")) == text + b"end"
    held = BufferedBytes(2**30)
    unpacked(packed, held)
    assert held.bytes == len(text)


@pytest.mark.parametrize(
    ("packed", "status", "why"),
    [
        (gzip.compress(b"x" * (MOST + 1)), 413, "unpacked"),
        (gzip.compress(b"x" * MOST) + gzip.compress(b"x"), 413, "unpacked"),
        (gzip.compress(b"x" * 100)[:-9], 400, "cut short"),
        (gzip.compress(b"x" * 100)[:5], 400, "cut short"),
        (gzip.compress(b"x" * 100) + b"odd", 400, "no gzip"),
        (b"{}", 400, "no gzip"),
        (gzip.compress(b"") * 10_001, 400, "more than 10,000 parts"),
    ],
    ids=("long", "long in two", "without its end", "without its head", "with more behind", "another", "many parts"),
)  # the bytes hold the time: as names they would differ between processes
def test_what_is_no_gzip_or_a_bomb_is_refused(packed: bytes, status: int, why: str):
    found, said = refused(packed)
    assert found == status
    assert why in said
