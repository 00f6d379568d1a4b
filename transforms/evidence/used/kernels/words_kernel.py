"""The distinct words of each text, as places in a growing list of words: `text_terms.words`, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compiled


@compiled(
    "int64(uint8[::1], int64[::1], int64, boolean[::1], int32[::1], uint64[::1], uint8[::1], int64[::1], int64[::1],"
    " int32[::1], int32[::1], int64[::1])"
)
def distinct_words(text, ends, first, is_word, slots, hashes, arena, word_ends, state, seen, found, found_ends):
    """List the words of the texts from `first` on; returns the first one for which there is no room.

    Args:
        text: lower case UTF-8, all texts end to end.
        ends: 0, and where each text ends.
        first: text to begin with.
        is_word: by code point, whether words hold it.
        slots: open addressing, by hash: places of words, -1 free; twice as many as there is room for words.
        hashes: FNV-1a of each word.
        arena: the words' bytes, end to end.
        word_ends: 0, and where each word ends in the arena.
        state: numbers of words and of the last text.
        seen: by word, the last text that had it.
        found: words of the texts, end to end, each once per text, in order of appearance.
        found_ends: 0, and where each text ends in `found`.
    """
    mask = len(slots) - 1
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
        inside = False
        code = np.uint64(0xCBF29CE484222325)
        while place <= last:
            held = False
            after = place + 1
            if place < last:
                byte = text[place]
                point = np.int64(byte)
                if byte >= 0xF0:
                    point = (
                        (point & 7) << 18
                        | (np.int64(text[place + 1]) & 63) << 12
                        | (np.int64(text[place + 2]) & 63) << 6
                        | (np.int64(text[place + 3]) & 63)
                    )
                    after = place + 4
                elif byte >= 0xE0:
                    point = (
                        (point & 15) << 12 | (np.int64(text[place + 1]) & 63) << 6 | (np.int64(text[place + 2]) & 63)
                    )
                    after = place + 3
                elif byte >= 0xC0:
                    point = (point & 31) << 6 | (np.int64(text[place + 1]) & 63)
                    after = place + 2
                held = is_word[point]
            if held:
                if not inside:
                    inside = True
                    begin = place
                    code = np.uint64(0xCBF29CE484222325)
                for inner in range(place, after):
                    code = (code ^ np.uint64(text[inner])) * np.uint64(0x100000001B3)
            elif inside:
                inside = False
                length = place - begin
                slot = np.int64((code ^ (code >> np.uint64(29))) & np.uint64(mask))
                while True:
                    word = np.int64(slots[slot])
                    if word < 0:
                        word = count
                        slots[slot] = word
                        hashes[word] = code
                        start = word_ends[word]
                        for inner in range(length):
                            arena[start + inner] = text[begin + inner]
                        word_ends[word + 1] = start + length
                        count += 1
                        break
                    if hashes[word] == code and word_ends[word + 1] - word_ends[word] == length:
                        start = word_ends[word]
                        same = True
                        for inner in range(length):
                            if arena[start + inner] != text[begin + inner]:
                                same = False
                                break
                        if same:
                            break
                    slot = (slot + 1) & mask
                if seen[word] != state[1]:
                    seen[word] = state[1]
                    found[filled] = word
                    filled += 1
            place = after
        found_ends[at + 1] = filled
    state[0] = count
    return len(ends) - 1


@compiled("void(int32[::1], uint64[::1], int64)")
def placed(slots, hashes, count):
    """Put `count` words into empty slots."""
    mask = len(slots) - 1
    for word in range(count):
        slot = np.int64((hashes[word] ^ (hashes[word] >> np.uint64(29))) & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word
