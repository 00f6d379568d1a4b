"""Signs and n-grams of words: `used_words.word_signs` and `text_terms.gram_counts`, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

# BLAKE2b: RFC 7693.
_START = np.array(
    [
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    ],
    np.uint64,
)  # fmt: skip
_ORDER = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ],
    np.int64,
)
_MIXED = np.array(
    [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
     [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]],
    np.int64,
)  # fmt: skip
_BLOCK = 128
_SIZE = 32
# As in text_terms.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_DROPPED_BITS = np.uint64(64 - 20)


@compile_kernel("uint64(uint64, int64)")
def _rotate_right(value, bits):
    """Rotated to the right."""
    return (value >> np.uint64(bits)) | (value << np.uint64(64 - bits))


@compile_kernel("void(uint8[::1], int64[::1], int8[:, ::1])")
def hashed_signs(text, ends, signs):
    """The bits of each word's BLAKE2b digest of 32 bytes, highest first, as -1 and 1."""
    state = np.empty(8, np.uint64)
    work = np.empty(16, np.uint64)
    block = np.empty(16, np.uint64)
    for word in range(len(ends) - 1):
        state[:] = _START
        state[0] ^= np.uint64(0x01010000 | _SIZE)
        first, last = ends[word], ends[word + 1]
        begin = first
        while True:
            is_last = last - begin <= _BLOCK
            size = min(last - begin, _BLOCK)
            block[:] = 0
            for at in range(size):
                block[at >> 3] |= np.uint64(text[begin + at]) << np.uint64(8 * (at & 7))
            work[:8] = state
            work[8:] = _START
            work[12] ^= np.uint64(begin + size - first)
            if is_last:
                work[14] = ~work[14]
            for turn in range(12):
                for step in range(8):
                    a, b, c, d = _MIXED[step, 0], _MIXED[step, 1], _MIXED[step, 2], _MIXED[step, 3]
                    work[a] = work[a] + work[b] + block[_ORDER[turn % 10, 2 * step]]
                    work[d] = _rotate_right(work[d] ^ work[a], 32)
                    work[c] = work[c] + work[d]
                    work[b] = _rotate_right(work[b] ^ work[c], 24)
                    work[a] = work[a] + work[b] + block[_ORDER[turn % 10, 2 * step + 1]]
                    work[d] = _rotate_right(work[d] ^ work[a], 16)
                    work[c] = work[c] + work[d]
                    work[b] = _rotate_right(work[b] ^ work[c], 63)
            for at in range(8):
                state[at] ^= work[at] ^ work[at + 8]
            begin += size
            if is_last:
                break
        for at in range(8 * _SIZE):
            byte = state[at >> 6] >> np.uint64(8 * ((at >> 3) & 7))
            signs[word, at] = 1 if (byte >> np.uint64(7 - (at & 7))) & np.uint64(1) else -1


@compile_kernel("void(uint8[::1], int64[::1], int32[::1], int32[::1], int64[::1], int64[::1])")
def counted_grams(text, ends, grams, counts, gram_ends, squares):
    """The n-grams of words of letters and digits, a space at either end of each.

    Args:
        text: UTF-8, words end to end.
        ends: 0, and where each word ends.
        grams: filled: hashes of each word's n-grams, end to end, sorted.
        counts: filled: how often the word has each.
        gram_ends: where the first word begins in `grams`, and filled: where each ends.
        squares: filled by word: sum of squared counts.
    """
    longest = 0
    for word in range(len(ends) - 1):
        longest = max(longest, ends[word + 1] - ends[word])
    points = np.empty(longest + 2, np.uint64)
    found = np.empty(3 * longest + 6, np.int32)
    for word in range(len(ends) - 1):
        points[0] = 32
        count = 1
        place = ends[word]
        while place < ends[word + 1]:
            lead = text[place]
            point = np.uint64(lead)
            size = 1
            if lead >= 0xF0:
                point, size = point & np.uint64(7), 4
            elif lead >= 0xE0:
                point, size = point & np.uint64(15), 3
            elif lead >= 0xC0:
                point, size = point & np.uint64(31), 2
            for after in range(1, size):
                point = point << np.uint64(6) | (np.uint64(text[place + after]) & np.uint64(63))
            points[count] = point
            count += 1
            place += size
        points[count] = 32
        count += 1
        filled = 0
        for size in range(3, 6):
            for begin in range(count - size + 1):
                code = np.uint64(size)
                for at in range(begin, begin + size):
                    code = (code ^ points[at]) * _MULTIPLIER
                    code ^= code >> np.uint64(29)
                found[filled] = np.int32((code * _MULTIPLIER) >> _DROPPED_BITS)
                filled += 1
        if filled > 64:
            found[:filled] = np.sort(found[:filled])
        else:
            for at in range(1, filled):
                gram = found[at]
                before = at - 1
                while before >= 0 and found[before] > gram:
                    found[before + 1] = found[before]
                    before -= 1
                found[before + 1] = gram
        end = gram_ends[word]
        square = 0
        at = 0
        while at < filled:
            after = at + 1
            while after < filled and found[after] == found[at]:
                after += 1
            grams[end] = found[at]
            counts[end] = after - at
            square += (after - at) * (after - at)
            end += 1
            at = after
        gram_ends[word + 1] = end
        squares[word] = square


@compile_kernel("void(int16[:, ::1], float64[::1], int64[::1])")
def sizes(vectors, squares, largest):
    """Of each vector the sum of squares and the largest component, whatever its sign."""
    for row in range(len(vectors)):
        vector = vectors[row]
        square, most = np.int64(0), np.int32(0)
        for at in range(len(vector)):
            one = np.int32(vector[at])
            square += np.int64(one * one)
            most = max(most, abs(one))
        squares[row] = square
        largest[row] = most
