"""Which pieces of evidence `slowwave why` shows first: one rule per kind of thing.

| of | strongest first |
|---|---|
| a memory | of a harmful one a failed attempt that it was injected into; a counted outcome that was reported or evaluated, one that was inferred; an injection that a correction did not reach; a quote, a use, a quote that repeats the prompt, a citation, an injection alone |
| a strategy, an error | an outcome that was reported or evaluated, one that was inferred |
| an observation | an answer that quotes one of its memories, one that uses it, a source |
| an interaction | a memory that it quotes, uses or cites, one that was injected alone |
| a run | the file with the most refused rows |

Among equals the newest comes first, then the first id.
"""  # noqa: E501 - a row of a table is one line

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slowwave.flows.ask.why.layout import PIECES, Fact, FactRow, short_id
from slowwave.flows.ask.why.text import basis_words
from slowwave.flows.kernel.terminal import format_count

Record = dict[str, Any]

_INFERRED = "inferred"
_QUOTES = "echo/"  # methods that find a memory's words in an answer


@dataclass(frozen=True)
class EvidenceEvent:
    """What happened at a time, and the id that shows more of it: of an interaction where one is known."""

    id: str
    at: datetime
    says: str
    kind: str = "interaction"  # '' is not known

    @property
    def row(self) -> FactRow:
        """Itself as a row of a fact."""
        line = f"{self.at:%Y-%m-%d}  {short_id(self.id)}  {self.says}"
        return FactRow(f"{self.kind}:{self.id}" if self.kind else self.id, self.at, self.says, line)


def strongest(kinds: Sequence[Iterable[EvidenceEvent]]) -> list[EvidenceEvent]:
    """Return one piece of evidence per id, the strongest first.

    `kinds`: strongest first. An id stands where its strongest kind does, and says what every kind says of it.
    """
    rank: dict[str, int] = {}
    at: dict[str, datetime] = {}
    says: dict[str, list[str]] = {}
    of_kind: dict[str, str] = {}
    for number, kind in enumerate(kinds):
        for piece in kind:
            rank.setdefault(piece.id, number)
            at.setdefault(piece.id, piece.at)
            of_kind.setdefault(piece.id, piece.kind)
            said = says.setdefault(piece.id, [])
            if piece.says not in said:
                said.append(piece.says)
    ids = sorted(rank)
    ids.sort(key=at.__getitem__, reverse=True)
    ids.sort(key=rank.__getitem__)
    return [EvidenceEvent(id_, at[id_], "; ".join(says[id_]), of_kind[id_]) for id_ in ids]


def memory_evidence(found: Record) -> list[EvidenceEvent]:
    """Return the interactions of a memory, the strongest evidence first."""
    ended = [(row, word) for word in ("confirmed", "contradicted") for row in found[word]]
    outcomes = [(row, _attempt(row, is_success=word == "confirmed")) for row, word in ended]
    harm = found["failed_with"] if found["memory"]["is_harmful"] else []
    return strongest(
        [
            [_attempt(row, is_success=False) for row in harm],
            [piece for row, piece in outcomes if row.get("basis") != _INFERRED],
            [piece for row, piece in outcomes if row.get("basis") == _INFERRED],
            [_of(row, f"injected while {row['status']}") for row in found["stale"]],
            [_of(row, "not followed") for row in found["not_followed"]],
            [_of(row, "quoted") for row in found["echoed"] if not row["in_prompt"]],
            [_of(row, "used") for row in found["used"]],
            [_of(row, "quoted, as the prompt did") for row in found["echoed"] if row["in_prompt"]],
            [_of(row, "cited") for row in found["cited"]],
            [_of(row, "injected") for row in found["injected"]],
        ]
    )


def outcome_evidence(outcomes: Sequence[Record]) -> list[EvidenceEvent]:
    """Return the interactions of these outcomes (an outcome without one stands for itself), the strongest first."""
    pieces = [(row, _outcome(row)) for row in outcomes]
    return strongest(
        [
            [piece for row, piece in pieces if row.get("basis") != _INFERRED],
            [piece for row, piece in pieces if row.get("basis") == _INFERRED],
        ]
    )


def observation_evidence(found: Record) -> list[EvidenceEvent]:
    """Return the answers that quote or use the memories of an observation, then its sources."""
    quoting = [row for row in found["references"] if any(method.startswith(_QUOTES) for method in row["methods"])]
    return strongest(
        [
            [_of(row, f"quoted {row['memory_id']}") for row in quoting],
            [_of(row, f"used {row['memory_id']}") for row in found["references"] if row not in quoting],
            [
                EvidenceEvent(row["source_id"], row["cited_at"], "first cited as a source", "")
                for row in found["sources"]
            ],
        ]
    )


def interaction_memories(found: Record) -> list[Record]:
    """Return the memories of an interaction: quoted, used, cited and injected ones, in this order, then by id."""
    cited = {row["memory_id"] for row in found["cited"]}

    def rank(row: Record) -> tuple[bool, bool, bool, str]:
        return (not row["is_quoted"], not row["is_used"], row["memory_id"] not in cited, row["memory_id"])

    return sorted(found["memories"], key=rank)


def refused_files(found: Record) -> list[Record]:
    """Return the files of a run of which rows were refused, most of them first, then in the order of delivery."""
    refused = [row for row in found["files"] if row["quarantined"] > 0]
    return sorted(refused, key=lambda row: (-row["quarantined"], row["file_number"]))


def evidence_fact(evidence: Sequence[EvidenceEvent], one: str, many: str = "") -> Fact:
    """Return the strongest three, and of how many they are the strongest."""
    if not evidence:
        return Fact("evidence", ["none yet"])
    shown = [piece.row for piece in evidence[:PIECES]]
    of = format_count(len(evidence), one, many)
    return Fact("evidence", [f"the strongest {len(shown)} of {of}:" if len(evidence) > PIECES else f"{of}:"], shown)


def _of(row: Record, says: str) -> EvidenceEvent:
    return EvidenceEvent(row["interaction_id"], row["occurred_at"], says)


def _attempt(row: Record, *, is_success: bool) -> EvidenceEvent:
    return _of(row, f"the attempt {_describe_outcome(row, is_success=is_success)}")


def _outcome(row: Record) -> EvidenceEvent:
    error = f": {' '.join(row['error'].split())}" if row.get("error") and not row["success"] else ""
    says = f"{_describe_outcome(row, is_success=row['success'])}{error}"
    id_, kind = (row["interaction_id"], "interaction") if row["interaction_id"] else (row["outcome_id"], "outcome")
    return EvidenceEvent(id_, row["created_at"], says, kind)


def _describe_outcome(row: Record, *, is_success: bool) -> str:
    known = basis_words(row)
    return ("succeeded" if is_success else "failed") + (f" ({known})" if known else "")
