"""What the words on screens, in reports and in answers mean, each one thing, and how sentences write numbers."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

GLOSSARY: Mapping[str, str] = {
    "interaction": "One prompt to an agent and its answer.",
    "memory": "A text that an agent keeps and may be given again: knowledge, a preference, an instruction.",
    "candidate": "A memory that is not in use yet: a person promotes or rejects it.",
    "eligible": "A memory that an interaction could have used: it was active, and its project, scope and user fit.",
    "offered": "A memory that the retriever ranked for a prompt.",
    "injected": "A memory that was put into the prompt.",
    "quoted": "The memory's own words stand in the answer.",
    "used": "The answer relies on the memory in other words, as far as that can be detected: a minimum.",
    "expected use": "How many answers rely on a memory by all probabilities, found or not.",
    "not used": "Hardly a use is expected, and one should have been found if each injection had used it.",
    "detectability": "How likely a use of a memory is found; too low, it is undetectable.",
    "cited": "The answer names the memory itself.",
    "reference": "An interaction in which a memory was quoted or used.",
    "checked": "An answer of which a check can tell whether it follows an instruction, such as by its length.",
    "followed": "The answer does what the instruction says, by such a check. Of all other answers nothing is said.",
    "ignored": "An instruction that most answers do not follow: the 90 % interval of the share that do is below half.",
    "attempt": "A real try with a known end; what was skipped, cancelled or refused is none.",
    "outcome": "How an attempt ended: reported by program or person, evaluated by a grader, or inferred by a rule.",
    "inferred": "Known by a rule alone. Inferred attempts are shown, and not counted unless you choose so.",
    "confirmed": "Quoted or used in an attempt that succeeded.",
    "contradicted": "Quoted or used in an attempt that failed.",
    "confidence": "Of a strategy the estimated success of its next attempt; of a memory how often its uses ended well.",
    "score by quotes": "What its owner stated of a memory, raised by each quote (reinforced_confidence).",
    "interval": "Where the true value lies with a probability of 90 %, as far as the assumptions hold.",
    "effect": "Success with a memory less success without it, in points of a hundred.",
    "lift": "The effect of one memory as a share: 0.10 is ten points.",
    "randomised": "Chance decided who got the memory, so nothing but the memory explains the difference.",
    "not randomised": "Compared within project, agent and kind of task: other causes are possible.",
    "not comparable": "All attempts with a memory against all without: no statement about the memories.",
    "simple average (Laplace)": "(successes + 1) / (attempts + 2), to compare better estimates with.",
    "cost": "What producers logged for an interaction, in their unit; of memories the part of their tokens.",
    "strategy": "The way in which an agent went about a kind of task, as the log names it.",
    "hard task": "A kind of task at which nobody succeeds, whatever the strategy.",
    "best so far": "Of the tried strategies the one with the highest lower end of its interval.",
    "strength": "What is left of a memory's evidence: it halves every half-life without a reference.",
    "need": "Probability that a memory is referenced in the next 30 days.",
    "trend": "How its use changes: new, strengthening, stable, weakening, stale; unproven where too little is known.",
    "verdict": "The one recommendation for a memory: keep, review, forget, harmful or unproven.",
    "needs review": "A person has to decide.",
    "observation": "A fact that memories or answers state.",
    "as of": "The time a publish describes: what landed later is not in it.",
    "data-quality warning": "A check of the published tables that found something, and did not stop the publish.",
}
"""By word what it means, in one sentence."""


def decimals(number: pl.Expr) -> pl.Expr:
    """Two decimals, as in -0.12; NULL where the number is NULL or not finite."""
    hundredths = (number.abs() * 100).round().cast(pl.Int64, strict=False)
    sign = pl.when(number < 0).then(pl.lit("-")).otherwise(pl.lit(""))
    return pl.format("{}{}.{}", sign, hundredths // 100, (hundredths % 100).cast(pl.String).str.zfill(2))


def tenths(number: pl.Expr) -> pl.Expr:
    """One decimal, as in 11.4 or 0.3, of a number that is not negative; NULL where it is NULL or not finite."""
    found = (number * 10).round().cast(pl.Int64, strict=False)
    return pl.format("{}.{}", found // 10, found % 10)


def count_with_noun(count: pl.Expr, noun: str) -> pl.Expr:
    """The count and its noun, as in 1 injection or 41 injections; NULL where the count is NULL."""
    return pl.format("{} {}", count, pl.when(count == 1).then(pl.lit(noun)).otherwise(pl.lit(f"{noun}s")))
