"""The one graph: every derived table, what it is made from, and so what is published, what is kept, what follows.

A node is declared in its room; here they stand together, each behind what it takes. Only declarations are imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from slowwave.transforms.core.node import Given, LandedInput, Node, Reuse, ReuseByDay, ReuseByDifference, in_order
from slowwave.transforms.core.schema import Landed, State, Table
from slowwave.transforms.decisions.nodes import DECIDING
from slowwave.transforms.evidence.nodes import EVIDENCE_NODES, TEXTS
from slowwave.transforms.health.nodes import HEALTH
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.ledger_tables import LEDGER, RunSteps
from slowwave.transforms.landing.nodes import LANDING
from slowwave.transforms.learning.nodes import LEARNING
from slowwave.transforms.lift.nodes import LIFT
from slowwave.transforms.llm.nodes import ANSWERING
from slowwave.transforms.observations.nodes import OBSERVATIONS
from slowwave.transforms.usage.nodes import USAGE

NODES: tuple[Node, ...] = in_order(
    (*LANDING, *EVIDENCE_NODES, *LEARNING, *USAGE, *HEALTH, *LIFT, *OBSERVATIONS, *DECIDING, *ANSWERING)
)
_GIVEN_BY: dict[Given, Node] = {given: node for node in NODES for given in node.outputs}


def node_of(given: Given) -> Node:
    """The node that gives it."""
    return _GIVEN_BY[given]


# The landed tables that anything is made from.
READ_LANDED: tuple[type[Landed], ...] = tuple(dict.fromkeys(rows.of for node in NODES for rows in node.landed))
# Kept in the lake, a file per table and day, named after what it was computed from.
EVIDENCE: tuple[type[Table], ...] = tuple(table for node in NODES if node.is_in_lake for table in node.tables)
# Of them those that planning a day finds, those that may be deleted by age, those that a large day has found bucket by
# bucket, and of these those that are found in texts.
PLANNED: tuple[type[Table], ...] = tuple(table for table in EVIDENCE if node_of(table).reads)
EXPIRING: tuple[type[Table], ...] = tuple(table for table in EVIDENCE if node_of(table).expires)
BUCKETED: tuple[type[Table], ...] = tuple(table for table in EVIDENCE if node_of(table).in_buckets)
FOUND_IN_TEXTS: tuple[type[Table], ...] = tuple(table for table in BUCKETED if TEXTS in node_of(table).landed)
# Carried from night to night: kept in the lake, of each run that changed it.
STATES: tuple[type[State], ...] = tuple(node.state for node in NODES if node.state is not None)
# Computed anew by each publish, but for the days whose rows it takes over.
_GIVEN = [table for node in NODES if not node.is_in_lake for table in node.tables if table not in STATES]
# In the order of the graph, but what people look for first stands first wherever tables are listed.
PUBLISHED: tuple[type[Table], ...] = tuple(sorted(_GIVEN, key=lambda table: table != MemoryHealth))
SERVING: tuple[type[Table], ...] = (*PUBLISHED, *LEDGER, RunSteps)

# How the rows of published tables are reused; all others are written whole each night.
REUSE: Mapping[type[Table], Reuse] = {table: reuse for node in NODES for table, reuse in node.reuse.items()}
BY_DAY: Mapping[type[Table], ReuseByDay] = {t: how for t, how in REUSE.items() if isinstance(how, ReuseByDay)}
BY_DIFFERENCE: Mapping[type[Table], ReuseByDifference] = {
    table: how for table, how in REUSE.items() if isinstance(how, ReuseByDifference)
}


@cache
def params_behind(given: Given) -> frozenset[str]:
    """The full names of the params that it follows from, by whatever nodes; a section stands for all that is in it."""
    node = _GIVEN_BY[given]
    behind = (params_behind(taken) for taken in node.taken if not isinstance(taken, LandedInput))
    return frozenset(node.params).union(*behind)
