"""A kind of store: which tables are read, what tells it from others, and the change log that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Made, Record, Undecided
from slowwave.transforms.imports.stores.change_log import Reading
from slowwave.transforms.imports.stores.facts import Fact

_UNCHANGED = "as it was when it was last read"


@dataclass(frozen=True)
class StoreTable:
    """A table that is read, and the columns without which it is not the one meant.

    `is_required`: without it the file is no such store. `left_out`: columns that are never read, such as vectors.
    `order`: columns to read it by, where the order in which rows were written will not do.
    """

    name: str
    needs: tuple[str, ...]
    is_required: bool = True
    left_out: tuple[str, ...] = ()
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Store:
    """The adapter of one kind of store; `called` is what people call it.

    `facts` takes records `{"table": …, "row": {column: value}}`, tables in the order of `tables`; of a store without
    tables, records as its own source gives them.
    """

    name: str
    version: int
    called: str
    facts: Callable[[Iterable[Located], Context], Iterator[Fact]]
    tables: tuple[StoreTable, ...] = ()

    def detected(self, first: Sequence[Record]) -> str | None:
        """As in Adapter, of one record `{"tables": {table: [column, …]}}` of a file's schema."""
        schema = first[0].get("tables") if first else None
        return self.called if isinstance(schema, Mapping) and self.tables and not self.lacks(schema) else None

    def lacks(self, schema: Mapping[str, Sequence[str]]) -> str:
        """What a file with this schema lacks to be such a store, '' for nothing."""
        for table in self.tables:
            columns = schema.get(table.name)
            missing = [] if columns is None else [name for name in table.needs if name not in columns]
            if columns is None and table.is_required:
                return f"no table {table.name}"
            if missing:
                return f"no column {missing[0]} in its table {table.name}"
        return ""

    def kind_of_record(self, record: Record) -> str:
        """Return the table that a row is of."""
        table = record.get("table")
        return f"row of {table}" if isinstance(table, str) else "file"

    def made(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """As in Adapter: what is new beside `context.before`. All records of the store are taken, or none count.

        Raises ValueError without `context.before`.
        """
        if context.before is None:
            message = "a store is read beside what was seen of it before"
            raise ValueError(message)
        reading = Reading(context.before, self.version)
        yield from reading.made(self.facts(records, context))
        if reading.unchanged:
            yield LeftOut(_UNCHANGED, reading.unchanged, is_settled=True)
        if reading.is_too_much and not context.before.accepts_vanished:
            yield Undecided(
                f"{len(reading.vanished):,} of its {reading.had:,} memories are gone at once, more than a fifth, so "
                "none was archived: if it is the right store and they are to go, import it with --accept-vanished"
            )
        else:
            yield from reading.archived()
