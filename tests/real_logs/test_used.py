"""`used/1` judged on dialogues whose facts are linked to the turns and answers they came from.

The features and the fit are those that ship; no conversation is scored by a fit that saw it. Links are made by turn, so
precision is understated: an answer without a link is not proven not to use a memory.
"""

import numpy as np
import pytest
import real_rows
import used_fits
from used_fits import Scored, conversations, fitted, measures

from slowwave.transforms.used_coefficients import COEFFICIENTS
from slowwave.transforms.used_params import UsedParams

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout"),
]
FLOORS = {
    "answers": {"hit@1": 0.71, "recall@5": 0.78, "AP linked": 0.53, "AP all": 0.47},
    "turns": {"hit@1": 0.87, "recall@5": 0.94, "AP linked": 0.84, "AP all": 0.74},
}
THRESHOLD = UsedParams().threshold
NEARLY = list(COEFFICIENTS).index("answer_nearly")


@pytest.fixture(scope="module")
def judged() -> dict[str, list[tuple[Scored, np.ndarray]]]:
    """Every conversation with log-odds from a fit to the other conversations."""
    full = {kind: conversations(kind) for kind in FLOORS}
    few = {kind: conversations(kind, few=True) for kind in FLOORS}
    found = {kind: [] for kind in FLOORS}
    for held in full["turns"]:
        cases = [
            (part, used_fits.WEIGHTS[kind])
            for parts in (full, few)
            for kind in FLOORS
            for name, part in parts[kind].items()
            if name != held
        ]
        coefficients = fitted(cases)
        for kind in FLOORS:
            found[kind].append((full[kind][held], full[kind][held].scores(coefficients)))
    return found


@pytest.mark.parametrize("kind", FLOORS)
def test_ranking_beats_the_floors(kind, judged):
    found = measures([(scores[~part.is_wrong], part.gold[~part.is_wrong]) for part, scores in judged[kind]])
    print(f"\n{kind}: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()))
    for name, floor in FLOORS[kind].items():
        assert found[name] >= floor, name


def _counted(part: Scored, scores: np.ndarray, threshold: float) -> np.ndarray:
    """Pairs that count at a threshold: sure enough, and touched by the answer."""
    touched = np.zeros(part.gold.shape, bool)
    row, nth = np.nonzero((part.features[:, :, NEARLY] > 0) & (part.memory >= 0))
    touched[row, part.memory[row, nth]] = True
    return touched & (scores >= np.log(threshold / (1 - threshold)))


def test_what_counts_is_right_four_times_in_five(judged):
    for threshold in sorted({0.5, 0.6, THRESHOLD, 0.8}):
        sums = {kind: np.zeros(3) for kind in FLOORS}
        wrong = []
        for kind, parts in judged.items():
            for part, scores in parts:
                counts = _counted(part, scores, threshold)
                wrong += [bool(row.any()) for row in counts[part.is_wrong]]
                counts, gold = counts[~part.is_wrong], part.gold[~part.is_wrong]
                sums[kind] += [(counts & gold).sum(), counts.sum(), gold.sum()]
        sums["both"] = sums["answers"] + sums["turns"]
        precision = {kind: hits / count for kind, (hits, count, _) in sums.items()}
        recall = {kind: hits / linked for kind, (hits, _, linked) in sums.items()}
        said = "; ".join(f"{kind}: precision {precision[kind]:.3f}, found {recall[kind]:.3f}" for kind in sums)
        print(f"\nfrom {threshold}: {said}; wrong answers counted {np.mean(wrong):.3f} of {len(wrong)}")
        if threshold == THRESHOLD:
            assert precision["both"] >= 0.8
            assert precision["turns"] >= 0.85
            assert precision["answers"] >= 0.75
            assert recall["both"] >= 0.35
            assert np.mean(wrong) <= 0.4
