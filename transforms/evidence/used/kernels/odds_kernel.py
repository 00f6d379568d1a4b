"""Log-odds that an answer relied on a memory: `used_features.candidate_features` and the model, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

_ONE = 256
_DIMENSIONS = 256
_STEPS = 10_000
_SQUARE = 2000.0**2
# Of an interaction; most have fewer.
_WORDS = 1_024
_PROMPT, _ANSWER = 1, 2
_COVERED, _NEARLY, _COSINE, _BLEND, _STRENGTH, _SHARE, _RAREST, _MEANING = range(8)
# what of a column is noted: likeness to words of the prompt alone, of the answer alone and of both, the same weighted,
# which of them have its word
_NEAR, _BLENDS, _HAS, _TOUCHED = 0, 3, 6, 7


@compile_kernel(
    "void(int32[::1], int32[::1], uint8[::1], int64[::1], int64[:, ::1], int64[:, ::1], float64[:, ::1],"
    " int16[:, :, ::1], int32[:, ::1], int32[::1], int64[::1], int64[::1], int64[::1], float64[::1], int16[:, ::1],"
    " int64[::1], boolean[::1], int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1],"
    " int16[::1], int64[:, ::1], int32[::1], float64, float64[::1], int64[:, ::1])"
)
def log_odds(
    words, weights, marks, ends, masses, squares, log_masses,
    sides, chosen, kept, kept_ends, memory_masses, memory_squares, log_memory_masses, memory_sides,
    column_weights, is_name, column_of, newest_part, part_next, part_begin, part_end, entry_column,
    entry_value, noted, touched, intercept, coefficients, odds,
):  # fmt: skip
    """Fill `odds` of each interaction's candidates, in steps of 1/10,000; -2**62 where the answer does not touch one.

    Args:
        words: of interactions, with `weights`, `marks`, `ends`, `masses`, `squares`, `sides`: see `weighed_texts`.
        weights: of words.
        marks: of words.
        ends: of interactions in `words`.
        masses: by interaction.
        squares: by interaction.
        log_masses: by interaction, ln(1 + mass / 1024) of prompt, answer and both.
        sides: by interaction.
        chosen: by interaction, its candidates, -1 none.
        kept: columns of memories, with `kept_ends`, masses, squares and sides: see `prepare_pool`.
        kept_ends: by memory.
        memory_masses: by memory.
        memory_squares: by memory.
        log_memory_masses: by memory.
        memory_sides: by memory.
        column_weights: by column; so is `is_name`.
        is_name: by column.
        column_of: by word, or -1.
        newest_part: by word, with the parts and entries: see `compared_words`.
        part_next: by part.
        part_begin: by part.
        part_end: by part.
        entry_column: by entry.
        entry_value: by entry.
        noted: zeros, by column: room to work in; so is `touched`.
        touched: by column.
        intercept: of the model.
        coefficients: in the order of `used_coefficients.COEFFICIENTS`.
        odds: filled by interaction and candidate.
    """
    limit = chosen.shape[1]
    value = np.zeros((24, limit))
    z = np.zeros((12, limit))
    lead = np.zeros((12, limit))
    foreign = np.zeros(limit)
    named = np.zeros((2, limit))
    missed = np.zeros((2, limit))
    near, blend = np.zeros(3, np.int64), np.zeros(3, np.int64)
    same, same_squares, rarest = np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(3, np.int64)
    shared = np.zeros(3, np.int64)
    length = np.zeros(3)
    # of the words of an interaction: their columns, their newest runs of entries, and where these begin
    columns, runs = np.empty((2, _WORDS), np.int32)
    begins = np.empty(_WORDS, np.int64)
    standing = (_COSINE, _BLEND, _STRENGTH, _MEANING)
    for row in range(len(chosen)):
        real = 0
        while real < limit and chosen[row, real] >= 0:
            real += 1
        # what the words of this interaction touch
        count = 0
        names_of_prompt, names_of_answer = 0, 0
        own = words[ends[row] : ends[row + 1]]
        if len(own) > len(runs):
            columns, runs = np.empty((2, 2 * len(own)), np.int32)
            begins = np.empty(len(runs), np.int64)
        # one after the other without a jump, so that what is looked up does not wait for what was looked up before
        for nth in range(len(own)):
            columns[nth], runs[nth] = column_of[np.uint32(own[nth])], newest_part[np.uint32(own[nth])]
        for nth in range(len(own)):
            begins[nth] = part_begin[np.uint32(max(runs[nth], 0))]
        for nth in range(len(own)):
            at = ends[row] + nth
            weight = np.int64(weights[at])
            in_prompt = np.int64(marks[at] & _PROMPT)
            in_answer = np.int64(marks[at] & _ANSWER) >> 1
            near_place, blend_place = _NEAR + np.int64(marks[at]) - 1, _BLENDS + np.int64(marks[at]) - 1
            column = columns[nth]
            if column >= 0:
                if noted[column, _TOUCHED] == 0:
                    noted[column, _TOUCHED] = 1
                    touched[count] = column
                    count += 1
                noted[column, _HAS] = np.int64(marks[at])
                if is_name[column]:
                    names_of_prompt += in_prompt
                    names_of_answer += in_answer
            part, begin = np.int64(runs[nth]), begins[nth]
            while part >= 0:
                for entry in range(begin, part_end[part]):
                    column = np.uint32(entry_column[entry])
                    if noted[column, _TOUCHED] == 0:
                        noted[column, _TOUCHED] = 1
                        touched[count] = column
                        count += 1
                    close = np.int64(entry_value[entry])
                    noted[column, near_place] += close
                    noted[column, blend_place] += close * weight
                part = np.int64(part_next[part])
                begin = part_begin[max(part, 0)]
        for text in range(3):
            length[text] = np.sqrt(float(max(squares[row, text], 1)))
        # candidate by candidate: what they have in common
        for nth in range(real):
            memory = chosen[row, nth]
            near[:], blend[:], same[:], same_squares[:], rarest[:], shared[:] = 0, 0, 0, 0, 0, 0
            names = 0
            for at in range(kept_ends[memory], kept_ends[memory + 1]):
                column = kept[at]
                names += is_name[column]
                if noted[column, _TOUCHED] == 0:
                    continue
                weight = column_weights[column]
                has = noted[column, _HAS]
                of_prompt, of_answer, of_both = noted[column, _NEAR], noted[column, _NEAR + 1], noted[column, _NEAR + 2]
                near[0] += weight * min(of_prompt + of_both, _ONE)
                near[1] += weight * min(of_answer + of_both, _ONE)
                near[2] += weight * min(of_prompt + of_answer + of_both, _ONE)
                of_both = noted[column, _BLENDS + 2]
                blend[0] += weight * (noted[column, _BLENDS] + of_both)
                blend[1] += weight * (noted[column, _BLENDS + 1] + of_both)
                blend[2] += weight * (noted[column, _BLENDS] + noted[column, _BLENDS + 1] + of_both)
                if has == 0:
                    continue
                for text in range(3):
                    if has & (text + 1):
                        same[text] += weight
                        same_squares[text] += weight * weight
                        rarest[text] = max(rarest[text], weight)
                        shared[text] += is_name[column]
            mass = float(max(memory_masses[memory], 1))
            own = np.sqrt(float(max(memory_squares[memory], 1)))
            for text in range(3):
                base = 8 * text
                across = own * length[text]
                value[base + _COVERED, nth] = same[text] / mass
                value[base + _NEARLY, nth] = near[text] / (mass * _ONE)
                value[base + _COSINE, nth] = same_squares[text] / across
                value[base + _BLEND, nth] = blend[text] / (across * _ONE)
                value[base + _STRENGTH, nth] = near[text] / (own * _ONE)
                value[base + _SHARE, nth] = same[text] / float(max(masses[row, text], 1))
                value[base + _RAREST, nth] = rarest[text] / (8.0 * _ONE)
                alike = np.int32(0)
                for at in range(_DIMENSIONS):
                    alike = np.int32(alike + np.int32(sides[row, text, at]) * np.int32(memory_sides[memory, at]))
                value[base + _MEANING, nth] = alike / _SQUARE
                for kind in range(8):
                    value[base + kind, nth] = np.rint(value[base + kind, nth] * _STEPS)
            foreign[nth] = names > shared[2]
            named[0, nth], named[1, nth] = shared[0] > 0, shared[1] > 0
            missed[0, nth], missed[1, nth] = names_of_prompt > shared[0], names_of_answer > shared[1]
        for nth in range(count):
            noted[touched[nth], :] = 0
        # how each stands among the candidates
        for text in range(3):
            for nth_kind in range(4):
                line = 4 * text + nth_kind
                source = 8 * text + standing[nth_kind]
                total, squared = 0.0, 0.0
                # places without a candidate hold 0
                first = 0.0 if real < limit else -np.inf
                second = 0.0 if real < limit - 1 else -np.inf
                for nth in range(real):
                    one = value[source, nth]
                    total += one
                    squared += one * one
                    if one > first:
                        first, second = one, first
                    elif one > second:
                        second = one
                if limit == 1:
                    second = 0.0
                mean = total / max(real, 1)
                spread = np.sqrt(max(squared / max(real, 1) - mean * mean, 0.0))
                for nth in range(real):
                    one = value[source, nth]
                    z[line, nth] = np.rint(_STEPS * (one - mean) / (spread + _STEPS / 50))
                    lead[line, nth] = one - second if one >= first else one - first
        # the model, its terms in the order of the coefficients
        for nth in range(limit):
            if nth >= real or not value[8 + _NEARLY, nth] > 0:
                odds[row, nth] = -(2**62)
                continue
            found = intercept
            for place in range(24):
                found += coefficients[place] * (value[place, nth] / _STEPS)
            for place in range(12):
                found += coefficients[24 + place] * (z[place, nth] / _STEPS)
            for place in range(12):
                found += coefficients[36 + place] * (lead[place, nth] / _STEPS)
            found += coefficients[48] * log_masses[row, 1]
            found += coefficients[49] * log_masses[row, 0]
            found += coefficients[50] * log_memory_masses[chosen[row, nth]]
            found += coefficients[51] * foreign[nth]
            found += coefficients[52] * named[0, nth]
            found += coefficients[53] * missed[0, nth]
            found += coefficients[54] * named[1, nth]
            found += coefficients[55] * missed[1, nth]
            odds[row, nth] = np.int64(np.rint(min(max(found, -25.0), 25.0) * _STEPS))
