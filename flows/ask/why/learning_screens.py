"""The one screen of a strategy, an error or an outcome: the case that was asked for first."""

from __future__ import annotations

from typing import Any

from slowwave.dashboards.links import case_command
from slowwave.flows.ask.why.items import all_command, look_next, why_command
from slowwave.flows.ask.why.layout import Fact, FactRow, one_line, short_id
from slowwave.flows.ask.why.learning import case_words, outcome_lines
from slowwave.flows.ask.why.strongest import evidence_fact, outcome_evidence
from slowwave.flows.kernel.terminal import format_count

Record = dict[str, Any]

_CASES = 3
_PATTERNS = 2
_ERRORS = 2
_HALF = 0.5


def strategy_facts(found: Record) -> list[Fact]:
    """Return the facts of a strategy in the first of its cases, which is the one that was asked for."""
    cases, wordings = found["uses"], found["wordings"]
    case = cases[0] if cases else {}
    evidence = outcome_evidence(case.get("outcomes", found["not_learned"]))
    said = case.get("strategy") or (wordings[0]["strategy"] if wordings else "")
    also = f", {format_count(len(wordings), 'wording')}" if len(wordings) > 1 else ""
    return [
        Fact("strategy", [f"{found['strategy_id']}{also}"]),
        Fact("text", [one_line(said)]),
        Fact("case", [case_words(case)] if case else ["no attempt with it is learned from"]),
        Fact("state", _state(case) if case else []),
        Fact("instead", [], _instead(case) if case else []),
        evidence_fact(evidence, "interaction"),
        Fact(
            "figures",
            _figures(case) if case else [f"{format_count(len(found['not_learned']), 'outcome')} not learned from"],
        ),
        Fact("other cases", _others(cases[1:])),
        Fact(
            "look next",
            look_next(
                "strategies",
                [
                    all_command(found, found["strategy_id"]),
                    *(case_command(row["strategy_id"], row) for row in cases[1:2]),
                    *(why_command(piece.id) for piece in evidence[:1]),
                ],
                open=f"strategy:{found['strategy_id']}",
            ),
        ),
    ]


def _state(case: Record) -> list[str]:
    patterns = case["anti_patterns"][:_PATTERNS]
    if patterns:
        return [f"{row['kind'].replace('_', ' ')} ({row['state']}): {row['why_bad']}" for row in patterns]
    if case["is_reliable"]:
        return ["reliable: enough attempts, and the lower end of its interval is above 0.50"]
    low = case["confidence_low"]
    is_unsure = low <= _HALF
    return [f"not reliable: {f'the lower end of its interval is {low:.2f}' if is_unsure else 'too few attempts'}"]


def _instead(case: Record) -> list[FactRow]:
    """What succeeds where it fails, each once."""
    better = {row["better_alternative_strategy_id"]: row["better_alternative"] for row in case["anti_patterns"]}
    return [
        FactRow(f"strategy:{id_}", None, one_line(says), f"{one_line(says)} ({short_id(id_)})")
        for id_, says in better.items()
        if id_
    ]


def _figures(case: Record) -> list[str]:
    attempts, sessions = format_count(case["attempts"], "attempt"), format_count(case["sessions"], "session")
    interval = f"{case['confidence_low']:.2f} to {case['confidence_high']:.2f}"
    own, relatives = f"{1 - case['prior_share']:.0%}", f"{case['prior_mean']:.2f}"
    return [
        f"{attempts} in {sessions}, {case['successes']:,} successful; trend {case['trend']}",
        f"estimated success of the next attempt {case['confidence']:.2f}",
        f"90 % credible interval for its share of successes in the next seven days {interval}",
        f"its own attempts decide {own} of the estimate, its relatives ({relatives}) the rest",
    ]


def _others(cases: list[Record]) -> list[str]:
    shown = [
        f"{case_words(case)}: {case['successes']:,} of {format_count(case['attempts'], 'attempt')} succeeded, "
        f"estimate {case['confidence']:.2f}"
        for case in cases[:_CASES]
    ]
    return shown + ([f"and {len(cases) - _CASES:,} more"] if len(cases) > _CASES else [])


def error_facts(found: Record) -> list[Fact]:
    """Return the facts of an error, or of a family of errors."""
    kind = found["kind"]
    errors, outcomes = found["errors"], found["outcomes"]
    id_ = found["error_id"] if kind == "error" else found["error_family"]
    text = errors[0]["error_template"] if kind == "error" else errors[0]["error_family_template"]
    evidence = outcome_evidence([{**row, "error": None} for row in outcomes])
    strategies = format_count(len({row["strategy_id"] for row in outcomes} - {None}), "strategy", "strategies")
    projects = ", ".join(dict.fromkeys(row["project"] or "(no project)" for row in errors))
    families = dict.fromkeys(row["error_family"] for row in errors if row.get("error_family") not in {None, id_})
    return [
        Fact("error" if kind == "error" else "error family", [f"{id_} in {projects}"]),
        Fact("text", [one_line(text)]),
        Fact("example", [one_line(row["example"]) for row in errors[:_ERRORS]]),
        evidence_fact(evidence, "interaction"),
        Fact(
            "figures",
            [
                f"{format_count(len(outcomes), 'outcome')} ended with it, of {strategies}",
                format_count(sum(row["messages"] for row in errors), "distinct message"),
                *([format_count(len(errors), "error")] if kind == "family" else []),
            ],
        ),
        Fact(
            "look next",
            look_next(
                "strategies",
                [
                    all_command(found, id_),
                    *map(why_command, families),
                    *(why_command(piece.id) for piece in evidence[:1]),
                ],
                open=f"{kind}:{id_}",
            ),
        ),
    ]


def outcome_facts(found: Record) -> list[Fact]:
    """Return the facts of an outcome: how it ended, how that is known, and as what it counts."""
    row = found["outcome"]
    first, *others = outcome_lines(row)
    ids = (row["interaction_id"], row["error_id"])
    named = {"interaction": row["interaction_id"], "strategy": row["strategy_id"], "error": row["error_id"]}
    return [
        Fact("outcome", [f"{short_id(row['outcome_id'])}: {first}"]),
        Fact("", others),
        Fact("error", [one_line(row["error"])] if row["error"] else []),
        Fact(
            "of",
            [],
            [FactRow(f"{name}:{id_}", None, name, f"{name} {short_id(id_)}") for name, id_ in named.items() if id_],
        ),
        Fact(
            "look next",
            look_next(
                "strategies",
                [
                    all_command(found, row["outcome_id"]),
                    case_command(row["strategy_id"], row) if row["strategy_id"] else "",
                    *(why_command(id_) for id_ in ids if id_),
                ],
                open=f"outcome:{row['outcome_id']}",
            ),
        ),
    ]
