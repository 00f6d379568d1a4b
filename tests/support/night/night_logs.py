"""Logs of a month for the benchmarks, to the amount asked for: memories, interactions and outcomes as Parquet by day.

    night_logs.py FOLDER --interactions 100000 --memories 10000 --projects 100 [--days 30] [--more 0] [--seed 1]

Equal arguments give equal files; `--more` days follow apart in the folder `more`. Texts of an interaction (prompt,
answer, summary) hold 1.5 kB on average, log-normal.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import night_words as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from night_memories import DAY_US, Held, Size, ranges, times_of, write_memories
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

MORE = "more"  # folder of the days after those asked for
_CHUNK = 8_000  # interactions composed together
_MEAN_ANSWER, _MEAN_PROMPT, _SPREAD = 140, 36, 0.8  # words; of the log-normal
_MOST_WORDS = 6_000
_ECHOES, _PARAPHRASES, _STATEMENTS, _SNIPPETS = 0.05, 0.08, 0.05, 0.12
_TASKS = ("testing", "review", "migration", "debugging", "deployment", "research", "writing", "planning", "support")
_VERBS = ("retry", "split", "cache", "review", "trace", "stage", "batch", "mock", "pin", "profile", "inline", "rebase")
_NOUNS = ("request", "migration", "schema", "payload", "test", "branch", "index", "prompt", "token", "session", "lock")
_WAYS = ("in small steps", "with a checkpoint", "behind a flag", "before the merge", "after a dry run", "one at a time")
_STRATEGIES_PER_PROJECT = 25
_ERRORS = (
    "HTTP {} from shard {} after {} s",
    "TimeoutError: no answer from worker {} within {} ms (attempt {})",
    "AssertionError: expected {} rows, found {} in part {}",
    "KeyError: 'field_{}' in record {} of batch {}",
    "Permission denied: /srv/data/{}/part-{}.parquet ({})",
    "merge conflict in file {} at line {}: {} hunks",
)


def write_logs(folder: Path, size: Size) -> None:
    """Write memories-*.parquet, interactions-DD.parquet and outcomes-DD.parquet into `folder`."""
    for path in (folder, folder / MORE)[: 2 if size.more else 1]:
        path.mkdir(parents=True, exist_ok=True)
    words = nw.vocabulary(size.seed)
    held = write_memories(folder, size, words)
    chance = np.random.default_rng([size.seed, 3])
    weight = np.where(np.arange(size.days) % 7 < 1, 0.4, 1.0)  # 1 March 2026 is a Sunday
    weight[6::7] = 0.4
    per_day = chance.multinomial(size.interactions, weight / weight.sum())
    taste = chance.lognormal(0, 0.7, size.projects)
    rates = chance.beta(4, 2, (size.projects, _STRATEGIES_PER_PROJECT))
    for day, count in enumerate([*per_day, *[size.interactions // size.days] * size.more]):
        of_day = np.random.default_rng([size.seed, 4, day])
        into = folder if day < size.days else folder / MORE
        _write_day(into, size, held, day, int(count), taste / taste.sum(), rates, of_day)
        if (day + 1) % 10 == 0:
            print(f"  logs: day {day + 1} of {size.days}", file=sys.stderr, flush=True)


# -------------------------------------------------------------------------------------------------------- interactions


def _write_day(
    folder: Path,
    size: Size,
    held: Held,
    day: int,
    count: int,
    taste: NDArray[np.float64],
    rates: NDArray[np.float64],
    chance: np.random.Generator,
) -> None:
    if not count:
        return
    sessions = max(1, count // 6)
    of = np.sort(chance.integers(0, sessions, count))
    project = chance.choice(size.projects, sessions, p=taste)[of]
    agent = chance.integers(0, 5, sessions)[of]
    begin = np.clip(chance.normal(13, 4, sessions), 0.1, 22.0)[of] * 3.6e9
    nth = np.arange(count) - np.searchsorted(of, of)
    at = np.minimum(begin + (nth + chance.random(count)) * 1.5e8, DAY_US - 1e6).astype(np.int64) + day * DAY_US
    about = pl.DataFrame(
        {
            "interaction_id": pl.Series(np.arange(count)).cast(pl.String).str.zfill(6).str.replace("^", f"i-{day:02}-"),
            "created_at": times_of(at),
            "project": pl.Series(project).cast(pl.String).str.replace("^", "project-"),
            "agent": pl.Series(agent).cast(pl.String).str.replace("^", "agent-"),
            "client": pl.Series(["editor", "terminal", "ci"]).gather(chance.integers(0, 3, sessions)[of]),
            "session_id": pl.Series(of).cast(pl.String).str.replace("^", f"s-{day:02}-"),
            "user_id": pl.Series(chance.integers(0, 40, sessions)[of]).cast(pl.String).str.replace("^", "user-"),
        }
    )
    writer = None
    for first in range(0, count, _CHUNK):
        part = slice(first, first + _CHUNK)
        rows = _with_texts(about[part], size, held, project[part], chance)
        if writer is None:
            writer = pq.ParquetWriter(
                folder / f"interactions-{day:02}.parquet", rows.schema, compression="zstd", compression_level=1
            )
        writer.write_table(rows)
    if writer is not None:
        writer.close()
    _outcomes(about, project, rates, chance).write_parquet(folder / f"outcomes-{day:02}.parquet")


def _with_texts(about: pl.DataFrame, size: Size, held: Held, project: Numbers, chance: np.random.Generator) -> pa.Table:
    """A chunk of interactions with its texts and the memories they were given."""
    count = about.height
    longer = chance.lognormal(0, _SPREAD, count)  # who asks at length is answered at length

    def lengths(mean: float, spread: float) -> Numbers:
        drawn = mean / np.exp((_SPREAD**2 + spread**2) / 2) * longer * chance.lognormal(0, spread, count)
        return np.clip(np.rint(drawn), 3, _MOST_WORDS).astype(np.int64)

    memory = _popular(size, project, chance)  # the one the answer may draw upon
    is_echo = chance.random(count) < _ECHOES
    is_paraphrase = ~is_echo & (chance.random(count) < _PARAPHRASES)
    is_parroted = is_echo & (chance.random(count) < 0.1)
    echoes = _echoes(held.texts.gather(memory), chance)
    asked = _Texts(held, project, lengths(_MEAN_PROMPT, 0.5), chance)
    asked.insert(np.flatnonzero(is_parroted), echoes.filter(is_parroted))
    answered = _Texts(held, project, lengths(_MEAN_ANSWER, 0.4), chance, memory, np.flatnonzero(is_paraphrase))
    answered.insert_static(chance.random(count) < _SNIPPETS, held.words.snippets, held.words.size)
    answered.insert_static(chance.random(count) < _STATEMENTS, held.words.openers, held.words.snippets)
    answered.insert(np.flatnonzero(is_echo), echoes.filter(is_echo))
    is_summarised = chance.random(count) < 0.2
    summed_up = _Texts(held, project, np.where(is_summarised, chance.integers(12, 50, count), 0), chance)
    answers = answered.written()
    return pa.table(
        {
            **{column.name: column.to_arrow(compat_level=pl.CompatLevel.oldest()) for column in about},
            "prompt": asked.written(),
            "response": _where(chance.random(count) >= 0.01, answers),
            "response_summary": _where(is_summarised, summed_up.written()),
            **_given(size, held.ids, project, memory, is_echo | is_paraphrase, chance),
            "tokens": pc.cast(pc.call_function("binary_length", [answers]), pa.int64()),
            "reinforce": pa.array(chance.random(count) >= 0.01),
        }
    )


def _where(is_there: NDArray[np.bool_], texts: pa.StringArray) -> pa.Array:
    return pc.call_function("if_else", [pa.array(is_there), texts, None])


class _Texts:
    """Texts in the making."""

    def __init__(
        self, held: Held, project: Numbers, lengths: Numbers, chance: np.random.Generator,
        memory: Numbers | None = None, paraphrased: Numbers | None = None,
    ) -> None:  # fmt: skip
        self._words, self._chance, self._extra = held.words, chance, list[pl.Series]()
        self._starts, row = nw.places(lengths)
        forms = nw.drawn_forms(held.words, chance, held.own, project[row], 0.15)
        if memory is not None and paraphrased is not None:
            self._paraphrase(held, forms, memory, paraphrased)
        self._tokens = nw.tokens_of(forms, nw.marks(chance, nw.ANSWER_MARKS, self._starts), self._starts)
        nw.sprinkle(held.words, chance, self._tokens, self._extra)

    def _paraphrase(self, held: Held, forms: NDArray[np.int32], memory: Numbers, rows: Numbers) -> None:
        """Say three quarters of a memory's words, some in another form, in almost the same order."""
        chance = self._chance
        rows = rows[np.diff(self._starts)[rows] > 45]  # longer than any memory
        length = np.diff(held.starts)[memory[rows]]
        said = held.forms[ranges(held.starts[memory[rows]], length)]
        starts, text = nw.places(length)
        at = np.arange(len(said))
        order = np.argsort(text * 1e3 + (at - starts[text]) + chance.random(len(said)) * 3, kind="stable")
        said = said[order]
        inflected = chance.random(len(said)) < 0.3
        said[inflected] = said[inflected] // nw.FORMS * nw.FORMS + chance.integers(0, nw.FORMS, inflected.sum())
        room = np.diff(self._starts)[rows] - length
        into = self._starts[rows] + (chance.random(len(rows)) * room).astype(np.int64)
        kept = chance.random(len(said)) < 0.75
        forms[ranges(into, length)[kept]] = said[kept]

    def insert(self, rows: Numbers, strings: pl.Series) -> None:
        """Put a string into each of these texts, in place of a word."""
        first = self._words.size + sum(map(len, self._extra))
        self._tokens[self._anywhere(rows)] = first + np.arange(len(strings))
        self._extra.append(strings)

    def insert_static(self, chosen: NDArray[np.bool_], first: int, last: int) -> None:
        """Put one of the static tokens from `first` to `last` into the chosen texts."""
        rows = np.flatnonzero(chosen)
        self._tokens[self._anywhere(rows)] = self._chance.integers(first, last, len(rows))

    def _anywhere(self, rows: Numbers) -> Numbers:
        length = np.diff(self._starts)[rows]
        return self._starts[rows] + (self._chance.random(len(rows)) * length).astype(np.int64)

    def written(self) -> pa.StringArray:
        """The texts."""
        return nw.joined(self._words, self._tokens, self._starts, self._extra)


def _popular(size: Size, project: Numbers, chance: np.random.Generator) -> Numbers:
    """A memory of each project, some asked for much more often than others."""
    each = np.maximum(1, (size.memories - project + size.projects - 1) // size.projects)
    rank = (each ** chance.random(len(project))).astype(np.int64) - 1  # by Zipf's law
    return rank * size.projects + project


def _echoes(texts: pl.Series, chance: np.random.Generator) -> pl.Series:
    """Memories as answers repeat them: verbatim, their beginning, in capitals, with other white space."""
    how = pl.Series(chance.integers(0, 5, len(texts)))
    cut = pl.Series(chance.integers(85, 140, len(texts)))
    text = pl.col("text")
    forms = (
        text,
        text.str.slice(0, pl.col("cut")),
        text.str.to_uppercase(),
        text.str.replace_all(" ", "  "),
        text.str.replace_all(" ", "\n "),
    )
    chosen = pl.coalesce(*(pl.when(pl.col("how") == n).then(form) for n, form in enumerate(forms)))
    return pl.DataFrame({"text": texts, "how": how, "cut": cut}).select(pl.format(" {} ", chosen)).to_series()


def _given(
    size: Size,
    ids: pa.StringArray,
    project: Numbers,
    memory: Numbers,
    is_drawn_upon: NDArray[np.bool_],
    chance: np.random.Generator,
) -> dict[str, pa.Array]:
    """memories_used, memories_offered and injection_probability.

    A sixth of the projects log nothing of the kind, a fifth log what was offered, a tenth inject by chance.
    """
    count = len(project)
    many = np.where(chance.random(count) < 0.7, chance.integers(1, 6, count), 0)
    row = np.repeat(np.arange(count), many)
    asked = np.flatnonzero(is_drawn_upon & (chance.random(count) < 0.85))
    rows = np.concatenate([row, asked])
    which = np.concatenate([_popular(size, project[row], chance), memory[asked]])
    pairs = np.unique(rows * size.memories + which)  # sorted by row
    rows, which = pairs // size.memories, pairs % size.memories
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.int32)
    silent, offers, is_random = project % 6 == 5, project % 5 == 1, project % 10 == 3
    struct = pa.StructArray.from_arrays(
        [
            ids.take(pa.array(which)),
            pa.array(np.arange(len(rows)) - starts[rows] + 1),
            pa.array(np.round(chance.random(len(rows)), 4)),
        ],
        ["id", "rank", "score"],
    )
    used = pa.ListArray.from_arrays(pa.array(starts), ids.take(pa.array(which)), mask=pa.array(silent))
    offered = pa.ListArray.from_arrays(pa.array(starts), struct, mask=pa.array(~offers))
    return {
        "memories_used": used,
        "memories_offered": offered,
        "injection_probability": pa.array(np.full(count, 0.5), mask=~is_random),
    }


# ------------------------------------------------------------------------------------------------------------ outcomes


def _outcomes(
    about: pl.DataFrame, project: Numbers, rates: NDArray[np.float64], chance: np.random.Generator
) -> pl.DataFrame:
    """How a third of a day's interactions ended."""
    told = np.flatnonzero(chance.random(about.height) < 1 / 3)
    count, project = len(told), project[told]
    own = np.minimum(chance.geometric(0.15, count) - 1, _STRATEGIES_PER_PROJECT - 1)
    text = (project * 7 + own * (1 + project % 5)) % (len(_VERBS) * len(_NOUNS) * len(_WAYS))
    verbs, nouns, ways = len(_VERBS), len(_NOUNS), len(_WAYS)
    strategy = pl.DataFrame(
        {
            "verb": pl.Series(_VERBS).gather(text % verbs),
            "noun": pl.Series(_NOUNS).gather(text // verbs % nouns),
            "way": pl.Series(_WAYS).gather(text // verbs // nouns % ways),
            "how": pl.Series(chance.integers(0, 8, count)),
        }
    ).select(
        pl.when(pl.col("how") == 0).then(pl.format("{} the {} {}.", pl.col("verb").str.to_titlecase(), "noun", "way"))
        .when(pl.col("how") == 1).then(pl.format("{} each {}, {}", "verb", "noun", "way"))
        .otherwise(pl.format("{} the {} {}", "verb", "noun", "way"))
    ).to_series()  # fmt: skip
    success = chance.random(count) < rates[project, own]
    number = [pl.Series(chance.integers(1, most, count)).cast(pl.String) for most in (500, 5_000, 50)]
    template = pl.Series((text + chance.integers(0, 2, count)) % len(_ERRORS))
    numbers = pl.DataFrame({"kind": template, **{f"n{n}": one for n, one in enumerate(number)}})
    errors = numbers.select(
        pl.coalesce(
            *(pl.when(pl.col("kind") == at).then(pl.format(form, "n0", "n1", "n2")) for at, form in enumerate(_ERRORS))
        )
    ).to_series()
    task = pl.Series(_TASKS).gather((text * 3 + chance.integers(0, 2, count)) % len(_TASKS))
    of = about[told]
    return of.select(
        pl.col("interaction_id").str.replace("^i", "o").alias("outcome_id"),
        "interaction_id",
        pl.col("created_at") + pl.Series(chance.integers(0, 600_000_000, count)).cast(pl.Duration("us")),
        "project", "agent", "session_id", "user_id",
        task.alias("task_type"),
        pl.format("{} for {}", task, "project").alias("task"),
        strategy.alias("strategy"),
        pl.Series(success).alias("success"),
        pl.when(pl.Series(~success & (chance.random(count) < 0.9))).then(errors).alias("error_message"),
        pl.Series(np.round(chance.lognormal(9, 1, count))).alias("duration_ms"),
        pl.Series(chance.integers(200, 9_000, count)).alias("tokens"),
        pl.when(pl.Series(chance.random(count) < 0.02)).then(pl.lit("that is not what I asked for")).alias("feedback"),
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Write the logs that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, default in (
        ("interactions", 10_000),
        ("memories", 1_000),
        ("projects", 10),
        ("days", 30),
        ("seed", 1),
        ("more", 0),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    said = vars(parser.parse_args(arguments))
    write_logs(said.pop("folder"), Size(**said))


if __name__ == "__main__":
    main()
