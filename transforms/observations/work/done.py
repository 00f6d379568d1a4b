"""Which steps that were to be done were done, each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slowwave.transforms.observations.turns.cues import Statement, StatusChange
from slowwave.transforms.observations.work.steps import WorkStep, is_carried_out, work_steps

_COMPARED = 16
_FAR = 64


def work_done(told: Iterable[Statement]) -> Iterator[StatusChange]:
    """Of each step that was done the statement that it was to be which shares most with it.

    A plan is carried out once: with it go all earlier ones of the same step, and one that is made anew takes the place
    of the earlier. What was done before it is said to be done is no news.
    """
    some = sorted(told, key=lambda one: (one.at, one.statement))
    if all(step.is_to_be for _, step in _steps(some[1:])):
        return  # and the first need not be read
    waiting: list[tuple[Statement, WorkStep] | None] = []
    by_mark: dict[tuple[int, str], list[int]] = {}
    for one, step in _steps(some):
        marks = [(one.scope, mark) for mark in _marks(step)]
        near = sorted({place for mark in marks for place in by_mark.get(mark, [])[-_COMPARED:]}, reverse=True)
        met = [
            (number, found)
            for number in near
            if (found := waiting[number]) is not None
            and found[0].at < one.at
            and _is_in_reach(found[1], step, len(waiting) - number)
            and is_carried_out(found[1], step)
        ]
        if step.is_to_be:
            for number, found in met:
                if found[1].item == step.item or not found[1].item:
                    waiting[number] = None
            for mark in marks:
                by_mark.setdefault(mark, []).append(len(waiting))
            waiting.append((one, step))
            continue
        best = max(met, key=lambda found: (_count_shared(found[1][1], step), found[0]), default=None)
        for number, _ in met:
            waiting[number] = None
        if best is not None and step.is_news:
            planned, plan = best[1]
            yield StatusChange(planned.statement, one.statement, "", "", plan.said, step.said)


def _steps(told: Iterable[Statement]) -> Iterator[tuple[Statement, WorkStep]]:
    for one in told:
        for step in work_steps(one.text):
            yield one, step


def _marks(step: WorkStep) -> list[str]:
    words = set() if step.step is None else step.step.names | step.step.others | step.step.stems
    return sorted({*words, f"[{step.item}]"} if step.item else words)


def _count_shared(plan: WorkStep, deed: WorkStep) -> tuple[int, int, int]:
    is_item = int(bool(plan.item) and plan.item == deed.item)
    if plan.step is None or deed.step is None:
        return is_item, 0, 0
    return is_item, len(plan.step.names & deed.step.names), len(plan.step.stems & deed.step.stems)


def _is_in_reach(plan: WorkStep, deed: WorkStep, apart: int) -> bool:
    """Whether so many steps may lie between: few, where no name in code and no item tells the one from others."""
    if apart <= _FAR or (plan.item and plan.item == deed.item):
        return True
    return plan.step is not None and deed.step is not None and not plan.step.names.isdisjoint(deed.step.names)
