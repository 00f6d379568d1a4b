"""Words cut into the tokens of a byte-pair vocabulary, and the sums of their vectors, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compile_kernel("void(int64[::1], int64[::1])")
def pairs_placed(pairs, slots):
    """Put the places of pairs (left token * 2**32 + right) into slots, by hash; -1 is free."""
    mask = np.uint64(len(slots) - 1)
    for at in range(len(pairs)):
        code = np.uint64(pairs[at]) * _SPREAD
        slot = np.int64((code >> np.uint64(32)) & mask)
        while slots[slot] >= 0:
            slot = (slot + 1) & np.int64(mask)
        slots[slot] = at


@compile_kernel(
    "int64(uint8[::1], int64[::1], int64, int32[::1], int32, int32, int64[::1], int32[::1], int64[::1], int32[::1],"
    " int64[::1])"
)
def tokens_of(text, ends, first, characters, start, byte, pairs, merged, slots, tokens, token_ends):
    """Cut words from `first` on, as the merges say, the earliest first; returns the first word that is too long.

    Args:
        text: UTF-8, words end to end.
        ends: 0, and where each word ends.
        first: word to begin with.
        characters: by code point, its token, or -1.
        start: token that stands before a word.
        byte: token of byte 0, for what has no other.
        pairs: pairs of tokens in the order in which they merge.
        merged: the token that each becomes.
        slots: see `pairs_placed`.
        tokens: filled, end to end.
        token_ends: 0, and where each word ends in `tokens`.
    """
    longest = 256
    own = np.empty(longest + 1, np.int32)
    rank = np.empty(longest + 1, np.int64)
    mask = np.uint64(len(slots) - 1)
    never = len(pairs)
    for word in range(first, len(ends) - 1):
        if ends[word + 1] - ends[word] >= longest:
            return word
        own[0] = start
        count = 1
        place = ends[word]
        while place < ends[word + 1]:
            lead = text[place]
            point = np.int64(lead)
            size = 1
            if lead >= 0xF0:
                point, size = point & 7, 4
            elif lead >= 0xE0:
                point, size = point & 15, 3
            elif lead >= 0xC0:
                point, size = point & 31, 2
            for after in range(1, size):
                point = point << 6 | (np.int64(text[place + after]) & 63)
            if characters[point] >= 0:
                own[count] = characters[point]
                count += 1
            else:
                for at in range(size):
                    own[count] = byte + np.int32(text[place + at])
                    count += 1
            place += size
        changed_from, changed_to = 0, count - 1
        while count > 1:
            for at in range(changed_from, changed_to):
                pair = np.int64(own[at]) << 32 | np.int64(own[at + 1])
                slot = np.int64(((np.uint64(pair) * _SPREAD) >> np.uint64(32)) & mask)
                rank[at] = never
                while slots[slot] >= 0:
                    if pairs[slots[slot]] == pair:
                        rank[at] = slots[slot]
                        break
                    slot = (slot + 1) & np.int64(mask)
            best = 0
            for at in range(1, count - 1):
                if rank[at] < rank[best]:
                    best = at
            if rank[best] == never:
                break
            own[best] = merged[rank[best]]
            count -= 1
            for at in range(best + 1, count):
                own[at] = own[at + 1]
            for at in range(best + 1, count - 1):
                rank[at] = rank[at + 1]
            changed_from, changed_to = max(best - 1, 0), min(best + 1, count - 1)
        begin = token_ends[word]
        for at in range(count):
            tokens[begin + at] = own[at]
        token_ends[word + 1] = begin + count
    return len(ends) - 1


@compile_kernel("void(int32[::1], int64[::1], int16[:, ::1], int16[:, ::1])")
def token_sums(tokens, ends, table, sums):
    """Add up the vectors of each word's tokens, within 16 bits."""
    size = table.shape[1]
    total = np.empty(size, np.int32)
    for word in range(len(ends) - 1):
        total[:] = 0
        for at in range(ends[word], ends[word + 1]):
            # a row of its own, or the loop is not vectorised
            row = table[tokens[at]]
            for place in range(size):
                total[place] = np.int32(total[place] + np.int32(row[place]))
        for place in range(size):
            sums[word, place] = np.int16(min(max(total[place], -32767), 32767))
