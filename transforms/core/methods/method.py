"""What is declared of one version of one method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Method:
    """One version of one method. A released one does not change: what is better is a new version.

    `implementation`: what computes it, or the full name of that. `chosen_by`: the params that may name it; '' for none,
    it then goes with a method that has it among its `brings`. `reads`: the params it reads, or whole sections of them.
    `changed`: what is other than in the version before, and why. `golden`: the tables (in tests/golden) that fix it, or
    else `not_golden` says why there is none.
    """

    id: str
    computes: str
    implementation: Any
    chosen_by: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    changed: str = ""
    golden: tuple[str, ...] = ()
    not_golden: str = ""
    brings: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The method without its version."""
        return self.id.partition("/")[0]

    def is_reading(self, param: str) -> bool:
        """Whether it reads the param with this full name."""
        return any(param == read or param.startswith(f"{read}.") for read in self.reads)


@dataclass(frozen=True)
class RetiredMethod:
    """One version of one method that is not computed any more.

    `computed`: what it told. `reason`: what was wrong with it. `successor`: the id that replaced it, which may be
    retired too. `last_release`: the last release that had it; '' for none, it was superseded before one. `golden`: the
    tables that fixed it, with their SHA-256.
    """

    id: str
    computed: str
    reason: str
    successor: str
    last_release: str = ""
    golden: dict[str, str] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The method without its version."""
        return self.id.partition("/")[0]
