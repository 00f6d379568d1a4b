"""The distinct words of each text, as places in a growing list of words: `text_terms.words`, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

# FNV-1a.
_START, _FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
# A word of so many bytes is its own key: it need not be looked up among the words' bytes.
_SHORT = 8


@compile_kernel(
    "int64(uint8[::1], int64[::1], int64, boolean[::1], uint64[:, ::1], uint64[::1], uint8[::1], int64[::1],"
    " int64[::1], int32[::1], int32[::1], int64[::1])"
)
def distinct_words(text, ends, first, is_word, slots, hashes, arena, word_ends, state, seen, found, found_ends):
    """List the words of the texts from `first` on; returns the first one for which there is no room.

    Args:
        text: lower case UTF-8, all texts end to end.
        ends: 0, and where each text ends.
        first: text to begin with.
        is_word: by code point, whether words hold it.
        slots: open addressing, by hash: key of a word, and its bytes * 2**32 + its place + 1, 0 free; at least twice as
            many as there is room for words.
        hashes: FNV-1a of each word.
        arena: the words' bytes, end to end.
        word_ends: 0, and where each word ends in the arena.
        state: numbers of words and of the last text.
        seen: by word, the last text that had it.
        found: words of the texts, end to end, each once per text, in order of appearance.
        found_ends: 0, and where each text ends in `found`.
    """
    mask = np.uint64(len(slots) - 1)
    count = state[0]
    for at in range(first, len(ends) - 1):
        size = ends[at + 1] - ends[at]
        filled = found_ends[at]
        most = size // 2 + 1
        if count + most > len(hashes) or word_ends[count] + size > len(arena) or filled + most > len(found):
            state[0] = count
            return at
        state[1] += 1
        place, last = ends[at], ends[at + 1]
        begin = place
        code, packed = _START, np.uint64(0)
        while True:
            # most of what is written: letters of one byte
            while place < last and text[place] < 0x80 and is_word[text[place]]:
                code = (code ^ np.uint64(text[place])) * _FACTOR
                packed = packed << np.uint64(8) | np.uint64(text[place])
                place += 1
            after = place + 1
            if place < last and text[place] >= 0x80:
                point = np.int64(text[place])
                if point >= 0xF0:
                    point = (
                        (point & 7) << 18
                        | (np.int64(text[place + 1]) & 63) << 12
                        | (np.int64(text[place + 2]) & 63) << 6
                        | (np.int64(text[place + 3]) & 63)
                    )
                    after = place + 4
                elif point >= 0xE0:
                    point = (
                        (point & 15) << 12 | (np.int64(text[place + 1]) & 63) << 6 | (np.int64(text[place + 2]) & 63)
                    )
                    after = place + 3
                else:
                    point = (point & 31) << 6 | (np.int64(text[place + 1]) & 63)
                    after = place + 2
                if is_word[point]:
                    for inner in range(place, after):
                        code = (code ^ np.uint64(text[inner])) * _FACTOR
                        packed = packed << np.uint64(8) | np.uint64(text[inner])
                    place = after
                    continue
            length = place - begin
            if length > 0:
                key = packed if length <= _SHORT else code
                slot = (code ^ (code >> np.uint64(29))) & mask
                while True:
                    held = slots[slot, 1]
                    if held == 0:
                        word = count
                        slots[slot, 0], slots[slot, 1] = key, np.uint64(length) << np.uint64(32) | np.uint64(word + 1)
                        hashes[word] = code
                        start = word_ends[word]
                        for inner in range(length):
                            arena[start + inner] = text[begin + inner]
                        word_ends[word + 1] = start + length
                        count += 1
                        break
                    if slots[slot, 0] == key and np.int64(held >> np.uint64(32)) == length:
                        word = np.int64(held & np.uint64(0xFFFFFFFF)) - 1
                        same = True
                        if length > _SHORT:
                            start = word_ends[word]
                            for inner in range(length):
                                if arena[start + inner] != text[begin + inner]:
                                    same = False
                                    break
                        if same:
                            break
                    slot = (slot + np.uint64(1)) & mask
                if seen[word] != state[1]:
                    seen[word] = state[1]
                    found[filled] = word
                    filled += 1
                code, packed = _START, np.uint64(0)
            if place >= last:
                break
            place = after
            begin = place
        found_ends[at + 1] = filled
    state[0] = count
    return len(ends) - 1


@compile_kernel("void(uint64[:, ::1], uint64[::1], uint8[::1], int64[::1], int64)")
def fill_slots(slots, hashes, arena, word_ends, count):
    """Put `count` words into empty slots; see `distinct_words`."""
    mask = np.uint64(len(slots) - 1)
    for word in range(count):
        begin, length = word_ends[word], word_ends[word + 1] - word_ends[word]
        key = hashes[word]
        if length <= _SHORT:
            key = np.uint64(0)
            for at in range(begin, begin + length):
                key = key << np.uint64(8) | np.uint64(arena[at])
        slot = (hashes[word] ^ (hashes[word] >> np.uint64(29))) & mask
        while slots[slot, 1] != 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot, 0], slots[slot, 1] = key, np.uint64(length) << np.uint64(32) | np.uint64(word + 1)
