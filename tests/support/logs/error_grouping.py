"""How well error messages are grouped: ours, and what others do, on messages marked with the error they are.

Run as a program, it prints every table: grouping accuracy of `error/3` (errors and families),
drain3 and regular expressions that mask figures, on messages made up by format, on the log lines in
../shared/data/loghub (where they are), on lines of systems made up for the purpose,
and on the messages of coding tools in tests/fixtures; in how many systems each rule of families fires, and what each
system gets from the rules that fire in three others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from statistics import fmean

import polars as pl
import real_rows
from coding_faults import NAMED
from error_formats import format_errors
from make_coding_errors import FILES, NAMES, WORDS
from system_lines import system_lines

from slowwave.transforms.grouping import error_variables
from slowwave.transforms.grouping.error_fingerprints import error_fingerprints
from slowwave.transforms.grouping.params import ErrorParams

CODING = Path(__file__).parents[2] / "fixtures" / "coding_errors.ndjson"
LOGHUB = real_rows.FOLDER / "loghub" / "clusters.parquet"
_MASKED = (
    r"(?i)\b[a-z][a-z0-9+]*://\S+",
    r"(?i)\b[0-9a-f]{8}-[0-9a-f-]{27}\b",
    r"\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b",
    r"(?:/[\w.@-]+)+/?",
    r"(?i)\b0x[0-9a-f]+\b",
    r"(?i)\b[0-9a-f]*\d[0-9a-f]{7,}\b",
    r"\d+(\.\d+)?",
    r"\"[^\"]*\"|'[^']*'",
)

# A rule stays when it fires in so many systems.
_SYSTEMS_OF_RULE = 3

Grouped = Callable[[pl.DataFrame], pl.Series]


def loghub_lines() -> pl.DataFrame:
    """Log lines with their gold template: project (the system), error, error_message."""
    return pl.read_parquet(LOGHUB).select(project="system", error="cluster_id", error_message="content")


def coding_errors() -> pl.DataFrame:
    """Messages of coding tools with the error they are: project ('': an agent meets all tools in one), system, ...

    `error` is the fault, whatever it names; `named` also says what it names, where that is the failing thing.
    """
    said = pl.read_ndjson(CODING)
    named = [f"{mark} {_named(mark, message)}" for mark, message in said.select("error", "message").iter_rows()]
    return said.select(project=pl.lit(""), system="tool", error="error", error_message="message").with_columns(
        named=pl.Series(named)
    )


def _named(mark: str, message: str) -> str:
    """What the blank that names the failing thing was filled with: of its words the one the message has most often."""
    words = {"name": NAMES, "file": FILES, "word": WORDS}.get(NAMED.get(mark, ""), ())
    found = Counter(re.findall(rf"(?<![a-z])(?:{'|'.join(words)})", message)) if words else Counter()
    return found.most_common(1)[0][0] if found else ""


def ours(level: str, params: ErrorParams | None = None) -> Grouped:
    """Our groups of messages (project, error_message), by error (error_id) or by family (error_family)."""

    def grouped(messages: pl.DataFrame) -> pl.Series:
        found = error_fingerprints(messages.select("project", "error_message"), params)
        on = ["project", "error_message"]
        return messages.join(found, on=on, how="left", maintain_order="left")[level]

    return grouped


def drain3(messages: pl.DataFrame) -> pl.Series:
    """drain3's groups, as it is when installed, the messages in the order given; line breaks are spaces to it."""
    from drain3 import TemplateMiner
    from drain3.template_miner_config import TemplateMinerConfig

    miners: dict[str, TemplateMiner] = {}
    found = []
    for project, message in messages.select("project", "error_message").iter_rows():
        miner = miners.setdefault(project, TemplateMiner(config=TemplateMinerConfig()))
        found.append(f"{project} {miner.add_log_message(' '.join(message.split()))['cluster_id']}")
    return pl.Series(found)


def masked(messages: pl.DataFrame) -> pl.Series:
    """Messages that are equal once figures, paths, addresses and quoted values are masked."""
    text = pl.col("error_message")
    for pattern in _MASKED:
        text = text.str.replace_all(pattern, "<*>")
    return messages.select(text.alias("masked"))["masked"]


def first_line(messages: pl.DataFrame) -> pl.Series:
    """Messages whose first lines are equal once their digits are masked."""
    line = pl.col("error_message").str.split("\n").list.first()
    return messages.select(line.str.replace_all(r"[0-9]+", "#").alias("line"))["line"]


METHODS: Mapping[str, Grouped] = {
    "error/3": ours("error_id"),
    "families": ours("error_family"),
    "drain3": drain3,
    "masking": masked,
    "1st line": first_line,
}


def grouping_accuracy(messages: pl.DataFrame, found: pl.Series, *by: str) -> dict[str, float]:
    """Share of messages, by `by`, whose group is exactly the gold group (Zhu et al., ICSE-SEIP 2019)."""
    both, gold, ours = (pl.len().over("project", *of) for of in (["error", "found"], ["error"], ["found"]))
    right = messages.with_columns(found=found).with_columns(right=(both == gold) & (both == ours))
    return dict(right.group_by(*by).agg(pl.col("right").mean()).sort(*by).iter_rows())


def printed(title: str, messages: pl.DataFrame, by: str) -> dict[str, dict[str, float]]:
    """Each method's accuracy by `by`, printed with the mean."""
    of = {name: grouping_accuracy(messages, grouped(messages), by) for name, grouped in METHODS.items()}
    systems = list(next(iter(of.values())))
    print(f"\n{title}: {messages.height} messages of {messages['error'].n_unique()} errors")
    print(f"{'':22}" + "".join(f"{name:>9}" for name in of))
    for system in systems:
        print(f"{system!s:22}" + "".join(f"{accuracy[system]:9.3f}" for accuracy in of.values()))
    print(f"{'mean':22}" + "".join(f"{fmean(accuracy.values()):9.3f}" for accuracy in of.values()))
    hard = {name: sorted(accuracy.values())[: max(len(systems) - 2, 1)] for name, accuracy in of.items()}
    print(f"{'mean without best two':22}" + "".join(f"{fmean(of_hard):9.3f}" for of_hard in hard.values()))
    return of


def rule_systems(messages: pl.DataFrame) -> list[set[str]]:
    """The systems in which each rule of families changes a message (system, error_message), in the rules' order."""
    said = messages.select("system", "error_message").unique().with_columns(text=pl.col("error_message"))
    found = []
    for pattern, value in error_variables.RULES:
        after = said.with_columns(after=pl.col("text").str.replace_all(pattern, value))
        found.append(set(after.filter(pl.col("after") != pl.col("text"))["system"]))
        said = after.select("system", "error_message", text="after")
    return found


def told_by_others(lines: pl.DataFrame, tools: pl.DataFrame) -> dict[str, float]:
    """The accuracy on each system of `lines` with the rules alone that fire in three other systems or tools."""
    rules = error_variables.RULES
    fires = rule_systems(pl.concat([lines.with_columns(system="project"), tools], how="diagonal"))
    accuracy = {}
    try:
        for (system,), of_system in lines.group_by("project", maintain_order=True):
            error_variables.RULES = tuple(
                rule for rule, where in zip(rules, fires, strict=True) if len(where - {system}) >= _SYSTEMS_OF_RULE
            )
            accuracy |= grouping_accuracy(of_system, METHODS["families"](of_system), "project")
    finally:
        error_variables.RULES = rules
    return accuracy


def with_bounds_of_others(lines: pl.DataFrame) -> dict[str, float]:
    """The accuracy on each system with the bounds of evidence that are best on all others (of equals, the defaults)."""
    names = ("min_words_in_place", "min_words_beside_few", "min_words_in_first_place")
    grid = sorted(product((4, 5, 6), (5, 7, 9), (6, 8, 12)), key=lambda bounds: bounds != (5, 7, 8))
    of_bounds = []
    for bounds in grid:
        params = ErrorParams.model_validate(dict(zip(names, bounds, strict=True)))
        of_bounds.append(grouping_accuracy(lines, ours("error_family", params)(lines), "project"))
    return {
        system: max(of_bounds, key=lambda of: sum(value for name, value in of.items() if name != system))[system]
        for system in of_bounds[0]
    }


def by_lines(messages: pl.DataFrame) -> pl.DataFrame:
    """With the column lines: one or many."""
    is_long = pl.col("error_message").str.contains("\n", literal=True)
    return messages.with_columns(lines=pl.when(is_long).then(pl.lit("many")).otherwise(pl.lit("one")))


def main() -> None:
    """Print all tables."""
    coding = coding_errors()
    printed("Log lines of systems made up", system_lines(), "project")
    of_formats = format_errors()
    printed("Messages made up by format, by failing thing", of_formats, "project")
    printed("The same by family", of_formats.with_columns(error="family"), "project")
    printed("Messages of coding tools, by fault", coding, "system")
    printed("The same by fault and what it names", coding.with_columns(error="named"), "system")
    printed("The same by number of lines", by_lines(coding), "lines")
    if not LOGHUB.exists():
        return
    lines = loghub_lines()
    printed("Log lines of real systems", lines, "project")
    left_out = {
        "the rules that fire in three others": told_by_others(lines, coding),
        "the bounds that are best on the others": with_bounds_of_others(lines),
    }
    for what, accuracy in left_out.items():
        shown = ", ".join(f"{system} {value:.3f}" for system, value in accuracy.items())
        print(f"\nWith {what}: mean {fmean(accuracy.values()):.3f}; {shown}")
    fires = rule_systems(pl.concat([lines.with_columns(system="project"), coding], how="diagonal"))
    for (pattern, _), where in zip(error_variables.RULES, fires, strict=True):
        print(f"{len(where):3} {pattern[:100]!r}")


if __name__ == "__main__":
    main()
