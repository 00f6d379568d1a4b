"""The tables that outcomes teach, those of strategies alone and those that memories have a part in."""

from __future__ import annotations

from slowwave.transforms.core.schema import State
from slowwave.transforms.learning.nodes import LEARNING
from slowwave.transforms.learning.tables import Scorecard

LEARNED = (*(table for node in LEARNING for table in node.tables if not issubclass(table, State)), Scorecard)
