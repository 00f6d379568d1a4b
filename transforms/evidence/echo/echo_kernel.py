r"""`echo/1` over the bytes of the texts, compiled: lower-cased and white space collapsed as they are read.

The patterns of a scope stand sorted, behind a bitmap and a hash table of their first bytes. A place in a text that
passes both is looked up by bisection: what stands there is the last pattern that does not sort after the text, and
patterns which that one begins with. So a place costs the same however many patterns there are and begin alike.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from slowwave.transforms.core.compiled import compile_kernel

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Whole = int | np.int64

# The one letter whose lower case depends on its neighbours: at the end of a word it is another one.
_SIGMA = "Σ"
# Beyond the second plane no letter has a lower case and nothing is white space.
FOLDED_CODE_POINTS = 0x20000

# A rolling polynomial modulo 2**64, and what spreads its low bits to the high ones.
_BASE, _SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HALF, _ALL_BITS = np.uint64(32), 64
_SLOTS_PER_BEGINNING, _BITS_PER_BEGINNING = 4, 32
_SPACE = 0x20
# Places of a text that are looked at together: few enough for the nearest cache.
_PLACES = 1024


@cache
def folding() -> NDArray[np.uint32]:
    """Per code point the UTF-8 bytes of its lower case, the first lowest; of white space a space; 0: itself."""
    codes = [code for code in range(FOLDED_CODE_POINTS) if not 0xD800 <= code < 0xE000]  # noqa: PLR2004 - surrogates
    char = pl.col("char")
    lower = pl.when(char.str.contains(r"^\s$")).then(pl.lit(" ")).otherwise(char.str.to_lowercase())
    folded = pl.DataFrame({"code": codes, "char": list(map(chr, codes))}).with_columns(lower.alias("lower"))
    table = np.zeros(FOLDED_CODE_POINTS, dtype=np.uint32)
    for code, lowered in folded.filter(char != pl.col("lower")).select("code", "lower").iter_rows():
        table[code] = int.from_bytes(lowered.encode(), "little")
    table[:128] = np.where(table[:128] == 0, np.arange(128), table[:128])
    return table


def echo_matches(texts: pl.DataFrame, patterns: pl.DataFrame) -> pl.DataFrame:
    """As `echo.echo_matches`; there must be patterns, and none may be empty."""
    has_sigma = texts["text"].str.contains(_SIGMA, literal=True).fill_null(value=False)
    if has_sigma.any():
        lowered = texts.filter(has_sigma).with_columns(pl.col("text").str.to_lowercase())
        texts = pl.concat([texts.filter(~has_sigma), lowered])
    # scope 0 is what is looked for everywhere
    scopes = texts.select("scope").unique().sort("scope").with_row_index("number", offset=1)
    scopes = scopes.with_columns(pl.col("number").cast(pl.Int64))
    ordered = (
        patterns.join(scopes, on="scope", how="left")
        .with_columns(pl.col("number").fill_null(0))
        .sort("number", "pattern")
    )
    counts = np.bincount(ordered["number"].to_numpy(), minlength=scopes.height + 1)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
    sought, offsets = _buffers(ordered["pattern"])
    hashed = int(np.diff(offsets).min())
    index = _index(sought, offsets, starts, hashed)
    of_texts = texts.select("scope").join(scopes, on="scope", maintain_order="left")["number"].to_numpy()
    read, read_offsets = _buffers(texts["text"].fill_null(""))
    at, found = _find_patterns(read, read_offsets, of_texts, folding(), sought, offsets, starts, hashed, *index)
    return pl.DataFrame({"text_id": texts["text_id"].gather(at), "pattern_id": ordered["pattern_id"].gather(found)})


def _buffers(texts: pl.Series) -> tuple[Bytes, Ints]:
    """The UTF-8 bytes of texts without NULL, and where each begins and the last ends."""
    array = texts.to_arrow()
    _, offsets, data = array.buffers()
    begins = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, np.uint8), begins


_BYTES, _INTS, _FOLDING = (f"Array({kind}, 1, 'C', readonly=True)" for kind in ("uint8", "int64", "uint32"))
_PATTERNS = f"{_BYTES}, {_INTS}, {_INTS}, int64"
_SLOTS = "int32[::1]"
_INDEX = f"int64[::1], int64[::1], int64[::1], int64[::1], {_SLOTS}, uint8[::1]"


@compile_kernel(f"int64({_BYTES}, int64, int64, {_BYTES}, int64, int64)")
def _alike(one: Bytes, at: int, end: int, other: Bytes, other_at: int, other_end: int) -> Whole:
    """How many bytes two stretches have in common from their beginnings on."""
    most = min(end - at, other_end - other_at)
    same = 0
    while same < most and one[at + same] == other[other_at + same]:
        same += 1
    return same


@compile_kernel(f"uint64({_BYTES}, int64, int64)")
def _hash(data: Bytes, at: int, hashed: int) -> np.uint64:
    """Hash of `hashed` bytes, before it is spread."""
    value = np.uint64(0)
    for i in range(at, at + hashed):
        value = value * _BASE + np.uint64(data[i])
    return value


@compile_kernel("uint64(uint64)")
def _spread(value: np.uint64) -> np.uint64:
    return (value ^ (value >> _HALF)) * _SPREAD


@compile_kernel(f"Tuple(({_INDEX}))({_PATTERNS})")
def _index(sought: Bytes, offsets: Ints, starts: Ints, hashed: int):  # noqa: ANN202 - see _INDEX
    """What the sorted patterns are found by.

    parents: the longest other pattern of the scope that each begins with, -1: none. ends: where the patterns end that
    share their first bytes, at the first of them. powers: of two, the slots of a scope; begins: the first of them.
    slots: the first pattern of those that share their first bytes, -1: free. bits: 8 for each slot.
    """
    count, scopes = offsets.size - 1, starts.size - 1
    parents, ends = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    powers, begins = np.ones(scopes, np.int64), np.zeros(scopes + 1, np.int64)
    for scope in range(scopes):
        first, beginnings = starts[scope], 0
        for i in range(starts[scope], starts[scope + 1]):
            shared = 0
            if i > starts[scope]:
                before = i - 1
                shared = _alike(sought, offsets[i], offsets[i + 1], sought, offsets[before], offsets[before + 1])
                while before >= 0 and offsets[before + 1] - offsets[before] > shared:
                    before = parents[before]
                parents[i] = before
            if shared < hashed:
                first, beginnings = i, beginnings + 1
            ends[first] = i + 1
        while 1 << powers[scope] < _SLOTS_PER_BEGINNING * beginnings:
            powers[scope] += 1
        begins[scope + 1] = begins[scope] + (1 << powers[scope])
    slots, bits = np.full(begins[scopes], -1, np.int32), np.zeros(begins[scopes], np.uint8)
    for scope in range(scopes):
        power, begin = powers[scope], begins[scope]
        i = starts[scope]
        while i < starts[scope + 1]:
            value = _spread(_hash(sought, offsets[i], hashed))
            bit = np.int64(value >> np.uint64(_ALL_BITS - 3 - power))
            bits[begin + (bit >> 3)] |= np.uint8(1 << (bit & 7))
            slot = bit >> 3
            while slots[begin + slot] >= 0:
                slot = (slot + 1) & ((1 << power) - 1)
            slots[begin + slot] = i
            i = ends[i]
    return parents, ends, powers, begins, slots, bits


@compile_kernel(f"int64({_BYTES}, int64, int64, {_FOLDING}, uint8[::1])")
def _fold_text(data: Bytes, at: int, end: int, fold: NDArray[np.uint32], out: Bytes) -> Whole:
    """Write the normalised text of `data[at:end]` to `out`; returns its length."""
    size, after_space = 0, 1
    while at < end:
        code, width = np.int64(data[at]), 1
        if code >= 0x80:  # noqa: PLR2004 - UTF-8 from here on
            if code < 0xE0:  # noqa: PLR2004
                code, width = (code & 0x1F) << 6 | (data[at + 1] & 0x3F), 2
            elif code < 0xF0:  # noqa: PLR2004
                code, width = (code & 0x0F) << 12 | (data[at + 1] & 0x3F) << 6 | (data[at + 2] & 0x3F), 3
            else:
                code = (code & 0x07) << 18 | (data[at + 1] & 0x3F) << 12 | (data[at + 2] & 0x3F) << 6
                code, width = code | (data[at + 3] & 0x3F), 4
        lower = fold[code] if code < FOLDED_CODE_POINTS else np.uint32(0)
        if lower == 0 and width > 1:
            out[size : size + width] = data[at : at + width]
            size, after_space = size + width, 0
        elif lower < 0x100:  # noqa: PLR2004 - one byte
            # a space after another is written over: no branch on what is met every few letters
            is_space = np.int64(lower == _SPACE)
            out[size] = lower
            size += 1 - (is_space & after_space)
            after_space = is_space
        else:
            while lower > 0:
                out[size] = lower & np.uint32(0xFF)
                size, lower = size + 1, lower >> np.uint32(8)
            after_space = 0
        at += width
    return size - 1 if size > 0 and after_space else size


@compile_kernel("int64(uint8[::1], int64, int64, int64, int64, int64, uint8[::1], uint64[::1], uint64[::1])")
def _candidates(
    text: Bytes,
    start: int,
    stop: int,
    hashed: int,
    power: int,
    begin: int,
    bits: Bytes,
    places: NDArray[np.uint64],
    slots_of: NDArray[np.uint64],
) -> Whole:
    """Write the places from `start` to before `stop` whose next bytes have their bit in a scope, and their slots."""
    leaving, value = np.uint64(1), np.uint64(0)
    for i in range(start, start + hashed):
        leaving *= _BASE
        value = value * _BASE + np.uint64(text[np.uint64(i)])
    # whatever is not unsigned is looked at for being negative
    shift, first, ahead = np.uint64(_ALL_BITS - 3 - power), np.uint64(begin), np.uint64(hashed)
    three, seven, one = np.uint64(3), np.uint64(7), np.uint64(1)
    count = np.uint64(0)
    for place in range(np.uint64(start), np.uint64(stop)):
        bit = _spread(value) >> shift
        slot = bit >> three
        places[count], slots_of[count] = place, slot
        count += (bits[first + slot] >> (bit & seven)) & one
        # there is room for one more byte behind a text
        value = value * _BASE + (np.uint64(text[place + ahead]) - np.uint64(text[place]) * leaving)
    return np.int64(count)


@compile_kernel(
    f"int64(uint8[::1], int64, int64, int64, int64, int64, {_BYTES}, {_INTS}, int64, int64[::1], int64[::1], {_SLOTS})"
)
def _longest(
    text: Bytes,
    place: int,
    size: int,
    slot: int,
    begin: int,
    power: int,
    sought: Bytes,
    offsets: Ints,
    hashed: int,
    parents: Ints,
    ends: Ints,
    slots: NDArray[np.int32],
) -> Whole:
    """The longest pattern of a scope that stands in the text at `place`, whose bytes have that slot; -1: none."""
    low = np.int64(slots[begin + slot])
    while low >= 0 and _alike(text, place, size, sought, offsets[low], offsets[low] + hashed) < hashed:
        slot = (slot + 1) & ((1 << power) - 1)
        low = np.int64(slots[begin + slot])
    if low < 0:
        return -1
    first, high = low, ends[low]
    while low < high:
        middle = (low + high) >> 1
        start, length = offsets[middle], offsets[middle + 1] - offsets[middle]
        same = _alike(text, place, size, sought, start, start + length)
        if same == length or (place + same < size and sought[start + same] < text[place + same]):
            low = middle + 1
        else:
            high = middle
    one = low - 1
    if one < first:
        return -1
    same = _alike(text, place, size, sought, offsets[one], offsets[one + 1])
    while one >= 0 and offsets[one + 1] - offsets[one] > same:
        one = parents[one]
    return one


@compile_kernel(f"Tuple((int64[::1], int64[::1]))({_BYTES}, {_INTS}, {_INTS}, {_FOLDING}, {_PATTERNS}, {_INDEX})")
def _find_patterns(  # noqa: ANN202 - see _INDEX
    read: Bytes,
    read_offsets: Ints,
    scopes: Ints,
    fold: NDArray[np.uint32],
    sought: Bytes,
    offsets: Ints,
    starts: Ints,
    hashed: int,
    parents: Ints,
    ends: Ints,
    powers: Ints,
    begins: Ints,
    slots: NDArray[np.int32],
    bits: Bytes,
):
    """Texts and the patterns that stand in them, each pair once; `scopes` is that of each text, besides 0."""
    texts = read_offsets.size - 1
    longest = 0
    for text in range(texts):
        longest = max(longest, read_offsets[text + 1] - read_offsets[text])
    out = np.empty(longest // 2 * 3 + 4, np.uint8)  # two bytes become three at most
    places, slots_of = np.empty(_PLACES, np.uint64), np.empty(_PLACES, np.uint64)
    seen_in = np.full(offsets.size, -1, np.int64)
    at, found, count = np.empty(1024, np.int64), np.empty(1024, np.int64), 0
    for text in range(texts):
        size = _fold_text(read, read_offsets[text], read_offsets[text + 1], fold, out)
        for scope in (np.int64(0), scopes[text]):
            if starts[scope] == starts[scope + 1]:
                continue
            power, begin = powers[scope], begins[scope]
            for start in range(0, size - hashed + 1, _PLACES):
                stop = min(start + _PLACES, size - hashed + 1)
                candidates = _candidates(out, start, stop, hashed, power, begin, bits, places, slots_of)
                for i in range(candidates):
                    place, slot = np.int64(places[i]), np.int64(slots_of[i])
                    one = _longest(out, place, size, slot, begin, power, sought, offsets, hashed, parents, ends, slots)
                    # what a pattern begins with was found with it
                    while one >= 0 and seen_in[one] != text:
                        seen_in[one] = text
                        if count == at.size:
                            at, found = np.append(at, at), np.append(found, found)
                        at[count], found[count], count = text, one, count + 1
                        one = parents[one]
    return at[:count], found[:count]
