"""Likeness of words to words of many memories: found once, and given to each project that has those."""

# ruff: noqa: ANN001, ANN201, C901, RUF100 - see the signatures
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel


@compile_kernel(
    "UniTuple(int64, 2)(int32[::1], int64, int64, int64, int32[::1], int32[::1], int32[::1], int32[::1], int64,"
    " int32[::1], int32[::1], int32[::1], int32[::1])"
)
def words_begun(
    words, era, total, often, times, era_of, done_of, newest_part, turned, common_column_of, common_run, found, left
):
    """Begin an era for the words that are new to it; returns how many of `found` and of `left` are filled.

    Args:
        words: places of words; more than once is once.
        era: that begins for them.
        total: number of columns of the era.
        often: eras from which on a word comes often.
        times: by word, its eras so far.
        era_of: by word; see `used_likeness_kernel.compared_words`, as for the next two.
        done_of: by word.
        newest_part: by word.
        turned: columns of the era that `turned_lists` gave to common words, or 0.
        common_column_of: by word, its common column, or -1.
        common_run: by common column, its word's run of entries in the turned columns, or -1.
        found: filled with those that come often.
        left: filled with those that were not compared with all columns.
    """
    count, more = 0, 0
    for nth in range(len(words)):
        word = words[nth]
        if era_of[word] != era:
            era_of[word] = era
            done_of[word] = 0
            newest_part[word] = -1
            times[word] += 1
            if turned > 0 and common_column_of[word] >= 0:
                done_of[word] = turned
                newest_part[word] = common_run[common_column_of[word]]
            elif times[word] >= often:
                found[count] = word
                count += 1
        if done_of[word] < total:
            left[more] = word
            more += 1
    return count, more


@compile_kernel(
    "int64(int32[::1], int64, int64, int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1],"
    " int16[::1], int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int16[::1], int64[::1])"
)
def taken_over(
    words, first, listed, common_part, column_of, common_next, common_begin, common_end, common_column, common_value,
    done_of, newest_part, part_next, part_begin, part_end, entry_column, entry_value, state,
):  # fmt: skip
    """Give words of an era the entries of its first columns, from what is known of all projects' common columns.

    Args:
        words: places of words.
        first: the first of them.
        listed: number of the era's columns that are common.
        common_part: by word, its newest run of entries in common columns, or -1.
        column_of: by common column, the era's column of its word, or -1.
        common_next: by run; so are the next two.
        common_begin: its first entry.
        common_end: the entry after its last.
        common_column: by entry; so is `common_value`.
        common_value: how much.
        done_of: by word; see `compared_words`, as for all that follow.
        newest_part: by word.
        part_next: by run.
        part_begin: by run.
        part_end: by run.
        entry_column: by entry.
        entry_value: by entry.
        state: numbers of runs and of entries.

    Returns the first word for which there is no room.
    """
    parts, entries = state[0], state[1]
    for nth in range(first, len(words)):
        word = words[nth]
        if parts == len(part_next) or entries + listed > len(entry_column):
            state[0], state[1] = parts, entries
            return nth
        begin = entries
        run = np.int64(common_part[word])
        while run >= 0:
            for entry in range(common_begin[run], common_end[run]):
                column = column_of[common_column[entry]]
                if column >= 0:
                    entry_column[entries] = column
                    entry_value[entries] = common_value[entry]
                    entries += 1
            run = np.int64(common_next[run])
        done_of[word] = listed
        if entries > begin:
            part_begin[parts], part_end[parts] = begin, entries
            part_next[parts] = -1
            newest_part[word] = parts
            parts += 1
    state[0], state[1] = parts, entries
    return len(words)


@compile_kernel("int64(int32[::1], int32[::1], int32[::1], int64[::1], int64[::1])")
def entries_of(words, newest_part, part_next, part_begin, part_end):
    """Number of entries of these words together; see `compared_words`."""
    count = np.int64(0)
    for nth in range(len(words)):
        run = np.int64(newest_part[words[nth]])
        while run >= 0:
            count += part_end[run] - part_begin[run]
            run = np.int64(part_next[run])
    return count


@compile_kernel(
    "void(int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int16[::1], int32[::1], int32[::1],"
    " int64[::1], int64[::1], int32[::1], int16[::1], int64[::1])"
)
def turned_lists(
    columns, common_part, common_next, common_begin, common_end, common_column, common_value, common_run,
    part_next, part_begin, part_end, entry_column, entry_value, state,
):  # fmt: skip
    """Give the words of common columns their entries in an era's columns: likeness is the same in both directions.

    Args:
        columns: words of the era's columns, each compared with all common columns.
        common_part: by word; see `taken_over`, as for the next five.
        common_next: by run.
        common_begin: by run.
        common_end: by run.
        common_column: by entry.
        common_value: by entry.
        common_run: filled: by common column, the run of its word, or -1.
        part_next: by run; see `compared_words`, as for all that follow. There is room for a run of each common column.
        part_begin: by run.
        part_end: by run.
        entry_column: by entry. There is room for as many as the columns' words have.
        entry_value: by entry.
        state: numbers of runs and of entries.
    """
    common_run[:] = 0
    for column in range(len(columns)):
        run = np.int64(common_part[columns[column]])
        while run >= 0:
            for entry in range(common_begin[run], common_end[run]):
                common_run[common_column[entry]] += 1
            run = np.int64(common_next[run])
    parts, entries = state[0], state[1]
    for common in range(len(common_run)):
        count = np.int64(common_run[common])
        common_run[common] = -1
        if count > 0:
            common_run[common] = parts
            part_begin[parts], part_end[parts], part_next[parts] = entries, entries, -1
            parts += 1
            entries += count
    for column in range(len(columns)):
        run = np.int64(common_part[columns[column]])
        while run >= 0:
            for entry in range(common_begin[run], common_end[run]):
                own = np.int64(common_run[common_column[entry]])
                at = part_end[own]
                entry_column[at], entry_value[at] = column, common_value[entry]
                part_end[own] = at + 1
            run = np.int64(common_next[run])
    state[0], state[1] = parts, entries


@compile_kernel("void(int64, int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int16[::1], int64[::1])")
def runs_joined(count, newest_part, part_next, part_begin, part_end, entry_column, entry_value, state):
    """Drop the runs of entries that are not of the first `count` words, and make one of each word's.

    Args:
        count: number of words.
        newest_part: by word; see `compared_words`, as for all that follow. -1 for those without.
        part_next: by run.
        part_begin: by run.
        part_end: by run.
        entry_column: by entry.
        entry_value: by entry.
        state: numbers of runs and of entries.
    """
    columns, values = entry_column[: state[1]].copy(), entry_value[: state[1]].copy()
    nexts, begins, ends = part_next[: state[0]].copy(), part_begin[: state[0]].copy(), part_end[: state[0]].copy()
    parts, entries = np.int64(0), np.int64(0)
    for word in range(count):
        run = np.int64(newest_part[word])
        if run < 0:
            continue
        begin = entries
        while run >= 0:
            for entry in range(begins[run], ends[run]):
                entry_column[entries], entry_value[entries] = columns[entry], values[entry]
                entries += 1
            run = np.int64(nexts[run])
        part_begin[parts], part_end[parts], part_next[parts] = begin, entries, -1
        newest_part[word] = parts
        parts += 1
    state[0], state[1] = parts, entries
