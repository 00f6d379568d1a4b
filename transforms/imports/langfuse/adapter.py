"""The rows that an export of Langfuse makes: an interaction for each trace, an outcome for each score that judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from slowwave.transforms.imports.adapter import (
    KEEP_DAYS,
    Context,
    Located,
    Made,
    Record,
    Refused,
    check_names,
    names_stated,
)
from slowwave.transforms.imports.langfuse.cells import text
from slowwave.transforms.imports.langfuse.interactions import interaction_made
from slowwave.transforms.imports.langfuse.scores import outcomes_made
from slowwave.transforms.imports.langfuse.traces import Observed, raw, table_of, traces_of
from slowwave.transforms.imports.trace_values import parse_rules

# Columns that an export always has, besides those of its table.
_ALWAYS = frozenset({"id", "project_id"})


class Langfuse:
    """Rows of the tables traces, observations, observations_v2 and scores.

    Options: `evaluations`, rules by name (`rules_stated`); `memory_searches`, names of the observations whose output
    are memories found.
    """

    name = "langfuse"
    version = 3

    def detected(self, first: Sequence[Record]) -> str | None:
        """The table of the first row, if that is one of Langfuse's."""
        if not first or not first[0].keys() >= _ALWAYS:
            return None
        table = table_of(first[0])
        return f"Langfuse {table}" if table else None

    def kind_of_record(self, record: Record) -> str:
        """Return the table that a row is of."""
        return f"row of {table_of(record) or 'no table of Langfuse'}"

    def made(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """The rows of these traces and scores, which may be in any order and more than once.

        Raises OptionsError where an option cannot be used.
        """
        check_names(context.options, ("evaluations", "memory_searches", KEEP_DAYS))
        rules = parse_rules(context.options.get("evaluations", {}))
        searches = names_stated(context.options, "memory_searches")
        traces: list[Observed] = []
        scores: list[Observed] = []
        for one in records:
            row, table = Observed(one.number, one.record), table_of(one.record)
            if table is None:
                yield Refused(one.number, "it is a row of no table that Langfuse exports", raw(one.record))
            elif table == "scores":
                scores.append(row)
            elif not row.id or (table == "observations" and not text(one.record.get("trace_id"))):
                yield Refused(one.number, f"a row of {table} has no id, or names no trace", raw(one.record))
            else:
                traces.append(row)
        for trace in traces_of(traces):
            yield from interaction_made(trace, searches, context)
        yield from outcomes_made(scores, rules)
