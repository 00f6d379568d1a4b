"""What OpenTelemetry writes and is not OTLP JSON, and what to do to have that."""

from __future__ import annotations

from collections.abc import Sequence

from slowwave.transforms.imports.adapter import Record
from slowwave.transforms.imports.otlp.parts import why_not_otlp

_ZSTD = b"\x28\xb5\x2f\xfd"
# The first field of every message of OTLP: a list of resources, as length-delimited messages.
_FIRST_FIELD = 0x0A
_SIZE_BYTES = 4
_CONTROL = frozenset(range(9))
_PROTO = (
    "is protobuf, as the collector's file exporter writes with `format: proto`: set `format: json` in its configuration"
)
_COMPRESSED = (
    "has blocks as the collector's file exporter writes with `compression: zstd`: leave `compression` out of its"
    " configuration; finished files may be packed with gzip or zstd"
)


def misfit(head: bytes, first: Sequence[Record]) -> str | None:
    """What a file is that OpenTelemetry wrote and that cannot be read, as the rest of a sentence; None for others."""
    if first:
        return why_not_otlp(first[0])
    if head[_SIZE_BYTES : 2 * _SIZE_BYTES] == _ZSTD:
        return _COMPRESSED
    size = int.from_bytes(head[:_SIZE_BYTES], "big")
    is_block = head[_SIZE_BYTES : _SIZE_BYTES + 1] == bytes([_FIRST_FIELD]) and 0 < size < 2**31
    is_message = head[:1] == bytes([_FIRST_FIELD])
    return _PROTO if (is_block or is_message) and not _CONTROL.isdisjoint(head) else None
