"""Why an import made no row of what it read, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from slowwave.flows.imports.importing import ImportReport
from slowwave.flows.imports.sources import Source
from slowwave.flows.kernel.terminal import counted, shortened

_MOST = 3
_LONGEST = 300


def why_no_rows(source: Source, report: ImportReport, paths: Sequence[Path]) -> str:
    """Return why nothing came of the records of an import of `paths`, with the command to use, as a sentence.

    '' where rows were made, where there was nothing to read, where files were imported before, and where nothing is
    missing, as of a store that has not changed, a turn that goes on, or records older than --since.
    """
    tally = report.tally
    read = tally.records.total()
    if tally.kinds or tally.settled or report.unchanged or not read:
        return ""
    ranked = tally.refused or tally.left_out  # what was refused should have made rows
    why = _ranked(ranked) if ranked else f"they are {_ranked(tally.records)}, and hold no question of a person's"
    said = f"no row came of {counted(read, 'record')} of {source.described}: {why}"
    return f"{said}. {_instead(source, paths)}"


def _ranked(counts: Counter[str]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    said = [f"{count:,} × {shortened(sort, _LONGEST)}" for sort, count in ranked[:_MOST]]
    return "; ".join([*said, *([f"{len(ranked) - _MOST:,} more kinds"] if len(ranked) > _MOST else [])])


def _instead(source: Source, paths: Sequence[Path]) -> str:
    """The command that reads more: the usual place of the source, or the folder with all of its files."""
    usual = [root for root in source.roots if Path(root).expanduser() not in paths]
    if usual:
        return f"Usually they lie in {usual[0]}: `slowwave import {source.name} {usual[0]}`"
    return f"If others of its files hold the texts, import them together: `slowwave import {source.name} FOLDER`"
