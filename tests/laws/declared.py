"""What the declarations of the published tables promise of every value."""

from __future__ import annotations

from slowwave.transforms.core.schema import columns
from slowwave.transforms.graph import SERVING
from tests.laws.home import Home


def assert_declared(home: Home) -> None:
    """Every published value is as its declaration promises."""
    for table in SERVING:
        found = home.rows(f'FROM "{table.name}"')
        keys = [tuple(row[name] for name in table.key) for row in found]
        assert len(set(keys)) == len(keys), table.name
        assert all(part is not None for key in keys for part in key), table.name
        for column in columns(table):
            values = [row[column.name] for row in found]
            assert column.nullable or None not in values, column
            known = {value for value in values if value is not None and column.choices}
            assert known <= set(column.choices), column
            if column.name.endswith("_count"):
                assert all(value >= 0 for value in values), column
