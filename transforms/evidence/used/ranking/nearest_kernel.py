"""The memories nearest to each answer of some pools, compiled: `nearest_pairs.nearest_pairs` over lists of postings."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0913, PLR0915, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

# A square and a weight in one integer, as in `shared_stems`.
_SQUARE = 24
_WEIGHT = (1 << _SQUARE) - 1
_HALF, _LOW = 32, (1 << 32) - 1
_ANSWER, _PROMPT, _BOTH = 0, 1, 2
_TEXTS = 4


@compile_kernel("float64(int64, float64, float64, float64)")
def _cosine(squares, scale, root, document_root):
    return np.rint(scale * (squares / root) / document_root)


@compile_kernel(
    "Tuple((int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, :, ::1]))(int64[::1], int64[::1], int64[::1],"
    " int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int64, int64[:, ::1], int64[::1],"
    " int64[::1], int64[::1], float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64)"
)
def nearest_pairs(
    row_ends,
    document_ends,
    document_text,
    content_stems,
    content_ends,
    prompt_stems,
    prompt_ends,
    answer_stems,
    answer_ends,
    stems,
    weights,
    weights_of,
    unknown,
    memory,
    scale,
    first_span,
    valid_from,
    valid_until,
    at,
    limit,
):
    """Find the nearest memories of each row that its answer touches, and how its pool stands to it.

    Args:
        row_ends: by pool, where its rows end; 0 before the first.
        document_ends: likewise its documents.
        document_text: by document, its place in `content_ends`.
        content_stems: distinct stems of all texts of documents, end to end.
        content_ends: where each text ends in them; 0 before the first.
        prompt_stems: by row, as `content_stems`.
        prompt_ends: likewise.
        answer_stems: likewise.
        answer_ends: likewise.
        stems: how many stems there are.
        weights: of a stem by how many documents have it, as far as it tells; by size of pool.
        weights_of: by pool, which of these.
        unknown: by pool, the weight of a stem that no document has.
        memory: by document, whose passage it is, in order.
        scale: by document, what cosines are multiplied by.
        first_span: by memory, its first span; behind the last one all.
        valid_from: by span.
        valid_until: by span.
        at: by row, when.
        limit: memories kept by row.

    Returns:
        row, document, and packed what answer, prompt and both share with it; by row, weight and square of answer,
        prompt and both; by document, weight and square; by row and text sum, squares, best and second cosine.
    """
    rows, documents = len(at), len(memory)
    chosen, filled = np.empty((max(4 * rows, limit) + limit, 5), np.int64), 0
    row_masses, document_masses = np.zeros((rows, 6), np.int64), np.zeros((documents, 2), np.int64)
    standing = np.zeros((rows, _TEXTS, 4), np.int64)
    # of a stem: the pool that it was met in last, from 1 on, and its number there; the last row whose prompt has it
    met = np.zeros((stems, 2), np.int64)
    best_of = np.full(len(first_span), -1, np.int64)
    nearness_of = np.zeros(len(first_span), np.int64)
    cosines_of = np.zeros((len(first_span), _TEXTS), np.int64)
    nearest, nearest_by = np.zeros(limit + 1, np.int64), np.zeros(limit + 1, np.int64)
    cosine = np.zeros(_TEXTS, np.int64)
    whole, root = np.zeros(_TEXTS, np.int64), np.zeros(_TEXTS)
    for pool in range(len(row_ends) - 1):
        first_document, last_document = document_ends[pool], document_ends[pool + 1]
        table = weights[weights_of[pool]]
        # how many documents have a stem, then where its postings end
        cells = 0
        for document in range(first_document, last_document):
            text = document_text[document]
            cells += content_ends[text + 1] - content_ends[text]
        frequency, known = np.zeros(cells + 1, np.int64), 0
        for document in range(first_document, last_document):
            text = document_text[document]
            for place in range(content_ends[text], content_ends[text + 1]):
                stem = content_stems[place]
                if met[stem, 0] >> _HALF != pool + 1:
                    met[stem, 0] = (pool + 1) << _HALF | known
                    known += 1
                frequency[met[stem, 0] & _LOW] += 1
        weight, begins = np.zeros(known, np.int64), np.zeros(known + 1, np.int64)
        for number in range(known):
            weight[number] = table[frequency[number]] if frequency[number] < len(table) else 0
            begins[number + 1] = begins[number] + (frequency[number] if weight[number] > 0 else 0)
        postings, next_of = np.empty(begins[known], np.int32), begins[:known].copy()
        roots = np.empty(last_document - first_document)
        for document in range(first_document, last_document):
            text = document_text[document]
            for place in range(content_ends[text], content_ends[text + 1]):
                number = met[content_stems[place], 0] & _LOW
                if weight[number] > 0:
                    postings[next_of[number]] = document - first_document
                    next_of[number] += 1
                    document_masses[document, 0] += weight[number]
                    document_masses[document, 1] += weight[number] ** 2
            roots[document - first_document] = np.sqrt(max(document_masses[document, 1] * 1.0, 1.0))
        shared = np.zeros((last_document - first_document, 3), np.int64)
        touched = np.empty(last_document - first_document, np.int64)
        touched_memories = np.empty(last_document - first_document, np.int64)
        for row in range(row_ends[pool], row_ends[pool + 1]):
            count = 0
            for side in (_PROMPT, _ANSWER):
                of_side = prompt_stems if side == _PROMPT else answer_stems
                ends = prompt_ends if side == _PROMPT else answer_ends
                for place in range(ends[row], ends[row + 1]):
                    stem = of_side[place]
                    is_both = False
                    if side == _PROMPT:
                        met[stem, 1] = row + 1
                    else:
                        is_both = met[stem, 1] == row + 1
                    slot = met[stem, 0]
                    if slot >> _HALF != pool + 1:
                        mass = unknown[pool]
                    else:
                        number = slot & _LOW
                        mass = weight[number]
                        packed = (mass**2 << _SQUARE) + mass
                        for posting in range(begins[number], begins[number + 1]):
                            document = postings[posting]
                            if shared[document, _ANSWER] == 0 and shared[document, _PROMPT] == 0:
                                touched[count] = document
                                count += 1
                            shared[document, side] += packed
                            if is_both:
                                shared[document, _BOTH] += packed
                    row_masses[row, 2 * side] += mass
                    row_masses[row, 2 * side + 1] += mass**2
                    if is_both:
                        row_masses[row, 2 * _BOTH] += mass
                        row_masses[row, 2 * _BOTH + 1] += mass**2
            # the answer, what is new in it, the prompt, and all
            whole[0] = row_masses[row, 1]
            whole[1] = whole[0] - row_masses[row, 5]
            whole[2] = row_masses[row, 3]
            whole[3] = whole[1] + whole[2]
            for text in range(_TEXTS):
                root[text] = np.sqrt(max(whole[text] * 1.0, 1.0))
            memories = 0
            for place in range(count):
                document = touched[place]
                absolute = document + first_document
                own = memory[absolute]
                is_eligible = False
                for span in range(first_span[own], first_span[own + 1]):
                    if valid_from[span] <= at[row] < valid_until[span]:
                        is_eligible = True
                        break
                if not is_eligible:
                    continue
                cosine[0] = shared[document, _ANSWER] >> _SQUARE
                cosine[1] = cosine[0] - (shared[document, _BOTH] >> _SQUARE)
                cosine[2] = shared[document, _PROMPT] >> _SQUARE
                cosine[3] = cosine[1] + cosine[2]
                for text in range(_TEXTS):
                    cosine[text] = np.int64(_cosine(cosine[text], scale[absolute], root[text], roots[document]))
                nearness = cosine[0] + cosine[3]
                if best_of[own] < 0:
                    touched_memories[memories] = own
                    memories += 1
                elif nearness < nearness_of[own] or (nearness == nearness_of[own] and document > best_of[own]):
                    continue
                best_of[own], nearness_of[own] = document, nearness
                cosines_of[own] = cosine
            kept = 0
            for place in range(memories):
                own = touched_memories[place]
                document, nearness = best_of[own], nearness_of[own]
                best_of[own] = -1
                for text in range(_TEXTS):
                    value = cosines_of[own, text]
                    standing[row, text, 0] += value
                    standing[row, text, 1] += value**2
                    if value > standing[row, text, 2]:
                        standing[row, text, 3] = standing[row, text, 2]
                        standing[row, text, 2] = value
                    elif value > standing[row, text, 3]:
                        standing[row, text, 3] = value
                if shared[document, _ANSWER] == 0:
                    continue
                to = kept
                while to > 0 and (
                    nearness > nearest_by[to - 1] or (nearness == nearest_by[to - 1] and document < nearest[to - 1])
                ):
                    to -= 1
                if to == limit:
                    continue
                kept = min(kept + 1, limit)
                for later in range(kept - 1, to, -1):
                    nearest[later], nearest_by[later] = nearest[later - 1], nearest_by[later - 1]
                nearest[to], nearest_by[to] = document, nearness
            if filled + kept > len(chosen):
                wider = np.empty((2 * len(chosen) + kept, 5), np.int64)
                wider[:filled] = chosen[:filled]
                chosen = wider
            for document in np.sort(nearest[:kept]):
                chosen[filled, 0], chosen[filled, 1] = row, document + first_document
                for side in range(3):
                    chosen[filled, 2 + side] = shared[document, side]
                filled += 1
            for place in range(count):
                shared[touched[place]] = 0
    return chosen[:filled].copy(), row_masses, document_masses, standing


@compile_kernel("int64[::1](int16[:, ::1], int16[:, ::1], int64[::1], int64[::1])")
def dot_products(texts, contents, row, text):
    """Multiply each pair of a row of `texts` and one of `contents`; sums of products stay below 2**31."""
    found = np.empty(len(row), np.int64)
    for pair in range(len(row)):
        one, other = texts[row[pair]], contents[text[pair]]
        total = np.int32(0)
        for place in range(len(one)):
            total += np.int32(one[place]) * np.int32(other[place])
        found[pair] = total
    return found
