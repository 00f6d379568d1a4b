"""The runner: each node of a graph once, behind what it takes, with what it declares and nothing else."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, ClassVar

import polars as pl
import pytest

from slowwave.flows.kernel.stage_costs import StageCosts, heard_by
from slowwave.flows.publish import runner as publishing
from slowwave.flows.publish.runner import Runner
from slowwave.transforms.core.frames import FrameError
from slowwave.transforms.core.node import Handed, LandedInput, Node, TableInput, in_order
from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.graph import NODES
from slowwave.transforms.landing.tables import Interactions
from slowwave.transforms.params import Params

AS_OF = datetime(2026, 3, 2, 12)  # noqa: DTZ001 - naive times hold UTC
DAYS = [date(2026, 3, 1), date(2026, 3, 2)]
HERE = f"{__name__}:"
calls: list[str] = []


class Counts(Table):
    """Kept by day."""

    name: ClassVar[str] = "counts"
    key: ClassVar[tuple[str, ...]] = ("word",)

    word: str = column("Key.")
    day: date = column("The day.")


class Words(Table):
    """Published."""

    name: ClassVar[str] = "words"
    key: ClassVar[tuple[str, ...]] = ("word",)

    word: str = column("Key.")
    length: int = column("Characters.")
    run_id: str = column("The run.")
    as_of: datetime = column("What is known.")


class Longest(Words):
    """Published, from part of the others."""

    name: ClassVar[str] = "longest"


class ByDay(Words):
    """Published by day."""

    name: ClassVar[str] = "by_day"


ROWS = LandedInput(Interactions, ("interaction_id", "prompt"))
SPLIT, LIMIT = Handed("split", "Words."), Handed("limit", "The longest that counts.")


def split(interactions: pl.LazyFrame) -> pl.LazyFrame:
    """Words of prompts."""
    calls.append("split")
    return interactions.select(pl.col("prompt").str.split(" ").alias("word")).explode("word")


def words(split: pl.DataFrame, limit: int) -> pl.DataFrame:
    """Their lengths."""
    calls.append("words")
    lengths = pl.col("word").str.len_chars().cast(pl.Int64).alias("length")
    return split.select("word", lengths).filter(pl.col("length") <= limit)


def longest(words: pl.DataFrame, params: Any, as_of: datetime) -> pl.DataFrame:
    """The longest, with its length."""
    calls.append(f"longest of {words.columns} as of {as_of:%H}")
    seen.append(params)
    return words.sort("length").tail(1).with_columns(word=pl.lit("longest"))


def by_day(counts: pl.LazyFrame, split: pl.DataFrame) -> pl.LazyFrame:
    """The words of a day that were split."""
    calls.append("by_day")
    known = counts.join(split.lazy(), on="word", how="semi").select("word")
    return known.with_columns(pl.col("word").str.len_chars().cast(pl.Int64).alias("length"))


def too_much(words: pl.DataFrame) -> pl.DataFrame:
    """A column more than is declared."""
    return words.with_columns(more=1)


seen: list[Any] = []
SPLITTING = Node(f"{HERE}split", outputs=(SPLIT,), inputs={"interactions": ROWS})
COUNTING = Node("", outputs=(Counts,), inputs={"interactions": ROWS}, grain="day", is_in_lake=True)
LIMITING = Node("", outputs=(LIMIT,), inputs={})
MEASURING = Node(f"{HERE}words", outputs=(Words,), inputs={"split": SPLIT, "limit": LIMIT}, stage="history")
CHOOSING = Node(
    f"{HERE}longest",
    outputs=(Longest,),
    inputs={"words": TableInput(Words, ("word", "length"))},
    params=("evidence", "need"),
)
DAILY = Node(f"{HERE}by_day", outputs=(ByDay,), inputs={"counts": Counts, "split": SPLIT}, grain="day")


class Shell(publishing.Shell):
    """A log of two days, whose tables go into a dict."""

    def __init__(self) -> None:
        self.written: dict[str, list[pl.DataFrame]] = {}
        self.asked: list[Sequence[date] | None] = []

    def reader(self, given: Any) -> Callable[[Runner], Any] | None:
        return (lambda _: 5) if given is LIMIT else None

    def rows(self, rows: LandedInput, days: Iterable[date] | None, keys: pl.DataFrame | None = None) -> pl.LazyFrame:
        assert rows is ROWS
        assert keys is None
        assert days is None
        return pl.LazyFrame({"prompt": ["a bb", "ccc dddddd"]})

    def partitions(self, table: type[Table]) -> dict[date, str]:
        return {day: f"{table.name} of {day}" for day in DAYS}

    def is_stored(self, table: type[Table]) -> bool:
        return table is Counts

    def scan_table(self, table: type[Table], days: Iterable[date] | None) -> pl.LazyFrame:
        assert table is Counts
        of_days = DAYS if days is None else list(days)
        self.asked.append(of_days)
        return pl.LazyFrame([(word, day) for day in of_days for word in ("a", "e")], COUNTS, orient="row")

    def days_together(self, node: Node, runner: Runner) -> Iterator[Sequence[date]]:
        assert node is DAILY
        assert isinstance(runner, Runner)
        yield from ([day] for day in DAYS)

    def write(self, table: type[Table], pieces: Iterator[pl.DataFrame]) -> int:
        self.written[table.name] = list(pieces)
        return sum(piece.height for piece in self.written[table.name])

    def release_memory(self) -> None:
        pass


COUNTS = {"word": pl.String, "day": pl.Date}


def published(*nodes: Node) -> list[type[Table]]:
    """The tables that these give, and that are not kept by day."""
    return [table for node in nodes for table in node.tables if table is not Counts]


def ran(*nodes: Node, shell: Shell | None = None) -> tuple[Runner, Shell]:
    """Nodes, run."""
    calls.clear()
    seen.clear()
    shell = shell or Shell()
    runner = Runner(in_order(nodes), published(*nodes), shell, Params(), AS_OF)
    runner.run(lambda _done, _total: None)
    return runner, shell


def test_each_node_once_and_behind_what_it_takes():
    _, shell = ran(CHOOSING, MEASURING, SPLITTING, LIMITING)
    assert calls == ["split", "words", "longest of ['word', 'length'] as of 12"]
    assert shell.written["words"][0].rows() == [("a", 1), ("bb", 2), ("ccc", 3)]
    assert shell.written["longest"][0].rows() == [("longest", 3)]


def test_what_nobody_publishes_is_not_computed():
    _, shell = ran(SPLITTING, LIMITING)
    assert calls == []
    assert shell.written == {}


def test_what_nobody_takes_any_more_is_let_go():
    runner, _ = ran(CHOOSING, MEASURING, SPLITTING, LIMITING)
    with pytest.raises(KeyError):
        runner.value(SPLIT)


def test_of_a_table_only_the_columns_are_kept_that_are_taken_later():
    seen_widths: list[int] = []

    class Watching(Shell):
        def release_memory(self) -> None:
            if Words in runner._values:
                seen_widths.append(runner._values[Words].width)

    one = Node(
        f"{HERE}longest", outputs=(Longest,), inputs={"words": TableInput(Words, ("word",))}, params=("evidence",)
    )
    nodes = [one, MEASURING, SPLITTING, LIMITING]
    runner = Runner(in_order(nodes), published(*nodes), Watching(), Params(), AS_OF)
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        runner.run(lambda _done, _total: None)
    assert seen_widths == [1]


def test_a_value_that_is_asked_for_early_is_computed_once_and_written_in_its_turn():
    calls.clear()
    shell = Shell()
    nodes = [CHOOSING, MEASURING, SPLITTING, LIMITING]
    runner = Runner(in_order(nodes), published(*nodes), shell, Params(), AS_OF)
    assert runner.value(Words).height == 3
    assert shell.written == {}
    runner.run(lambda _done, _total: None)
    assert calls.count("words") == 1
    assert [*shell.written] == ["words", "longest"]


def test_a_function_gets_the_params_it_declares_and_no_others():
    ran(CHOOSING, MEASURING, SPLITTING, LIMITING)
    (params,) = seen
    assert params.evidence == Params().evidence
    assert not hasattr(params, "strength")


def test_part_of_a_table_is_that_part():
    some = Node(
        f"{HERE}longest", outputs=(Longest,), inputs={"words": TableInput(Words, ("word",))}, params=("evidence",)
    )
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="length"):
        ran(some, MEASURING, SPLITTING, LIMITING)


def test_days_are_read_so_many_at_a_time_and_written_as_they_come():
    runner, shell = ran(DAILY, COUNTING, SPLITTING)
    assert shell.asked == [[DAYS[0]], [DAYS[1]]]
    assert [piece.rows() for piece in shell.written["by_day"]] == [[("a", 1)], [("a", 1)]]
    assert runner.rows == {"by_day": 2}


def test_a_stream_is_taken_piece_by_piece():
    class Streaming(Shell):
        def reader(self, given: Any) -> Callable[[Runner], Any] | None:
            pieces = (pl.DataFrame({"word": [word], "day": [DAYS[0]]}) for word in ("a", "bb"))
            return (lambda _: pieces) if given is streamed else super().reader(given)

    streamed = Handed("streamed", "Piece by piece.")
    source = Node("", outputs=(streamed,), inputs={})
    daily = Node(f"{HERE}by_day", outputs=(ByDay,), inputs={"counts": streamed, "split": SPLIT}, grain="day")
    _, shell = ran(daily, source, SPLITTING, shell=Streaming())
    assert [piece.rows() for piece in shell.written["by_day"]] == [[("a", 1)], [("bb", 2)]]
    assert calls.count("split") == 1


def test_a_frame_of_another_table_is_refused_by_name():
    wrong = Node(f"{HERE}too_much", outputs=(Longest,), inputs={"words": Words})
    with pytest.raises(FrameError, match="not a frame of longest: columns are not declared: more"):
        ran(wrong, MEASURING, SPLITTING, LIMITING)


def test_costs_are_told_by_step_and_by_stage():
    with heard_by(StageCosts()) as costs:
        ran(CHOOSING, MEASURING, SPLITTING, LIMITING)
    assert set(costs.of_steps) == {"split", "limit", "words", "longest"}
    assert set(costs.seconds) == {"history", "publish"}


def test_progress_is_told_node_by_node():
    told: list[tuple[int, int]] = []
    nodes = [MEASURING, SPLITTING, LIMITING]
    runner = Runner(in_order(nodes), published(*nodes), Shell(), Params(), AS_OF)
    runner.run(lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_node_is_plain_data():
    for node in NODES:
        again = pickle.loads(pickle.dumps(node))  # noqa: S301 - our own
        assert (again.name, again.function, again.outputs) == (node.name, node.function, node.outputs)
