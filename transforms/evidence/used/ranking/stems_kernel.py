"""Texts as stems, compiled: words are read from bytes, and each new word is cut into its stems once."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

# FNV-1a, spread by a multiplication (Knuth): words and stems are told apart by 64 bits, whichever text comes first.
_START, _FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_SPREAD, _HALF, _LOW = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(2**32 - 1)
_BASE, _WORD, _BEGINNING, _RUN = (np.uint64(kind) for kind in range(4))
# Code points of a beginning and of a run, see `shared_stems`.
_BEGINNING_POINTS, _RUN_POINTS = 5, 4


@compile_kernel("uint64(uint64)")
def _spread(code):
    code = (code ^ (code >> _HALF)) * _SPREAD
    code ^= code >> _HALF
    return code if code != 0 else _SPREAD  # 0 is a free slot


@compile_kernel("int64(uint64[:, ::1], uint64)")
def _slot_of(slots, code):
    """Where a code is, or the free slot that it would have: open addressing, a power of two slots."""
    mask = np.uint64(len(slots) - 1)
    slot = code & mask
    while slots[slot, 0] != 0 and slots[slot, 0] != code:
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot)


@compile_kernel("uint64[:, ::1](uint64[:, ::1])")
def _doubled(slots):
    """The same in twice as many slots."""
    wider = np.zeros((2 * len(slots), 2), np.uint64)
    for slot in range(len(slots)):
        if slots[slot, 0] != 0:
            wider[_slot_of(wider, slots[slot, 0])] = slots[slot]
    return wider


@compile_kernel(
    "Tuple((uint64[:, ::1], int64, int64))(uint8[::1], int64[::1], boolean[::1], uint64[:, ::1], int64, int64,"
    " int32[::1], int64[::1], int64[:, ::1])"
)
def distinct_words(text, ends, is_word, slots, count, before, found, found_ends, begins):
    """List the distinct words of each text by number; new ones get the next numbers, from `count` on.

    Args:
        text: lower case UTF-8, all texts end to end.
        ends: 0, and where each text ends.
        is_word: by code point, whether words hold it.
        slots: of the words known: code, and number with the last text that had it * 2**32.
        count: how many there are.
        before: texts that were read before.
        found: room for the words of all texts.
        found_ends: 0, and where each text ends in `found`, to be filled.
        begins: where each new word begins and ends, to be filled.

    Returns:
        `slots` and `count` as they are then, and how many words were found.
    """
    filled, first = 0, count
    for at in range(len(ends) - 1):
        place, last = ends[at], ends[at + 1]
        stamp = np.uint64(before + at + 1)
        while place < last:
            begin, code = place, _START
            after = place + 1
            while place < last:
                point, after = np.int64(text[place]), place + 1
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
                elif point >= 0x80:
                    point = (point & 31) << 6 | (np.int64(text[place + 1]) & 63)
                    after = place + 2
                if not is_word[point]:
                    break
                code = (code ^ np.uint64(point)) * _FACTOR
                place = after
            if place > begin:
                code = _spread(code)
                slot = _slot_of(slots, code)
                if slots[slot, 0] == 0:
                    if 2 * count >= len(slots):
                        slots = _doubled(slots)
                        slot = _slot_of(slots, code)
                    slots[slot, 0], slots[slot, 1] = code, np.uint64(count)
                    begins[count - first, 0], begins[count - first, 1] = begin, place
                    count += 1
                if slots[slot, 1] >> _HALF != stamp:
                    word = slots[slot, 1] & _LOW
                    slots[slot, 1] = stamp << _HALF | word
                    found[filled] = word
                    filled += 1
            place = after
        found_ends[at + 1] = filled
    return slots, count, filled


@compile_kernel(
    "Tuple((uint64[:, ::1], int64, int64))(uint8[::1], int64[::1], uint8[::1], int64[::1], uint64[:, ::1], int64,"
    " int32[::1], int64[::1])"
)
def word_stems(words, ends, bases, base_ends, slots, count, found, found_ends):
    """Number the stems of words, end to end, given what each is without inflection.

    `words`: each with a space at either end. Otherwise as in `distinct_words`.
    """
    filled = 0
    for word in range(len(ends) - 1):
        begin, end = ends[word], ends[word + 1]
        for kind in (_BASE, _WORD, _BEGINNING, _RUN):
            text, at, last, points = words, begin, end, -1
            if kind == _WORD:
                at, last = begin + 1, end - 1
            elif kind != _RUN:
                text, at, last = bases, base_ends[word], base_ends[word + 1]
                points = _BEGINNING_POINTS if kind == _BEGINNING else -1
            else:
                points = _RUN_POINTS
            while True:
                code, place, read = (_START ^ kind) * _FACTOR, at, 0
                while place < last and read != points:
                    code = (code ^ np.uint64(text[place])) * _FACTOR
                    place += 1
                    while place < last and text[place] & 0xC0 == 0x80:
                        code = (code ^ np.uint64(text[place])) * _FACTOR
                        place += 1
                    read += 1
                if kind == _RUN and read < points:
                    break
                code = _spread(code)
                slot = _slot_of(slots, code)
                if slots[slot, 0] == 0:
                    if 2 * count >= len(slots):
                        slots = _doubled(slots)
                        slot = _slot_of(slots, code)
                    slots[slot, 0], slots[slot, 1] = code, np.uint64(count)
                    count += 1
                found[filled] = slots[slot, 1]
                filled += 1
                if kind != _RUN:
                    break
                at += 1
                while at < last and text[at] & 0xC0 == 0x80:
                    at += 1
        found_ends[word + 1] = filled
    return slots, count, filled


@compile_kernel("int64(int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int32[::1], int64[::1])")
def distinct_stems(words, ends, stems, stem_ends, seen, found, found_ends):
    """List the distinct stems of texts that are given as words; returns how many.

    `stems` are those of all words, `seen` is 0 by stem, `found` has room enough, `found_ends` is to be filled.
    """
    filled = 0
    for text in range(len(ends) - 1):
        for at in range(ends[text], ends[text + 1]):
            for place in range(stem_ends[words[at]], stem_ends[words[at] + 1]):
                stem = stems[place]
                if seen[stem] != text + 1:
                    seen[stem] = text + 1
                    found[filled] = stem
                    filled += 1
        found_ends[text + 1] = filled
    return filled


@compile_kernel("int32[:, ::1](int32[::1], int64[::1], int16[:, ::1])")
def sum_vectors(words, ends, vectors):
    """Sum the vectors of each text's words: texts x dimensions."""
    found = np.zeros((len(ends) - 1, vectors.shape[1]), np.int32)
    for text in range(len(ends) - 1):
        for at in range(ends[text], ends[text + 1]):
            vector = vectors[words[at]]
            for place in range(len(vector)):
                found[text, place] += vector[place]
    return found
